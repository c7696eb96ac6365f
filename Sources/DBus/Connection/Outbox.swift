import DBusValues

/// The messages of a turn, until its end.
///
/// A reply that reports the state divides them: later changes are sent after it. Otherwise its reader would take the reply for newer
/// than these changes.
struct Outbox {
  enum Entry {
    /// A successful reply.
    case success(OutgoingMessage, to: ReplyAddress)
    /// A successful reply that is made in a later round of its client.
    case laterReply(ReplyAddress, () -> OutgoingMessage?)
    case call(OutgoingMessage, PendingCall)
    case signal(OutgoingMessage)
    /// An error, a call without a reply, or a reply from an earlier turn.
    case message(OutgoingMessage)
  }

  /// The messages up to the last reply that reports the state, in the order in which they are sent.
  private(set) var first: [Entry] = []
  private(set) var signals: [OutgoingMessage] = []
  private(set) var entries: [Entry] = []
  /// The size of all messages, in bytes.
  private(set) var size = 0
  /// Whether the signals of the last turn wait for the messages of this one.
  var areSignalsDelayed = false
  /// Whether signals were dropped since there was room for the last time.
  var hasDroppedSignals = false

  mutating func append(_ entry: Entry) {
    entries.append(entry)
    switch entry {
    case .success(let message, _), .call(let message, _), .signal(let message), .message(let message):
      size += message.bytes.count
    case .laterReply: break
    }
  }

  /// Appends a reply that reports the state, after all messages so far.
  /// - Parameter changes: the signals of all changes of objects so far.
  mutating func append(reading reply: Entry, after changes: [OutgoingMessage]) {
    first += (signals + changes).map(Entry.signal) + entries
    signals.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    append(reply)
    first.append(entries.removeLast())
  }

  mutating func append(signal: OutgoingMessage) {
    signals.append(signal)
    size += signal.bytes.count
  }

  /// Removes the messages of the turn, but keeps the memory that a usual turn needs.
  mutating func removeAll() {
    first.removeAll(keepingCapacity: first.count <= 64)
    signals.removeAll(keepingCapacity: signals.count <= 64)
    entries.removeAll(keepingCapacity: entries.count <= 64)
    size = 0
  }

  var isEmpty: Bool { signals.isEmpty && isWithoutReplies }

  /// Whether there are no other messages than signals.
  var isWithoutReplies: Bool { first.isEmpty && entries.isEmpty }

  mutating func mapEntries(_ body: (Entry) -> Entry) {
    first = first.map(body)
    entries = entries.map(body)
  }
}

extension Connection {
  /// Emits a signal, at the end of the turn.
  /// - Throws: `DBusError` if an argument cannot be sent (see ``OutgoingMessage/call(_:of:on:at:_:)``); then nothing is emitted.
  public func emit<Args>(
    _ signal: Signal<Args>, from path: ObjectPath, _ arguments: consuming Args
  ) throws(DBusError) {
    guard isOpen else { return }
    outbox.append(signal: try signal.message(from: path, arguments))
  }

  /// Replaces every successful reply of this turn by an error, because its changes could not be kept. Use it in ``beforeFlush``.
  public func failReplies(with error: DBusError) {
    outbox.mapEntries { entry in
      switch entry {
      case .success(_, let address), .laterReply(let address, _):
        return (try? address.error(error)).map { Outbox.Entry.message($0) } ?? entry
      default: return entry
      }
    }
  }

  func enqueue(_ entry: Outbox.Entry) {
    if isOpen { outbox.append(entry) }
  }

  /// Sends a reply that reports the current state, at the end of the turn.
  func enqueue(reading reply: Outbox.Entry) {
    guard isOpen else { return }
    let changes = takeChangeSignals()
    outbox.append(reading: reply, after: changes.added + changes.changed + changes.removed)
  }

  /// Whether the messages of this turn have so many bytes that further calls are served in the next turn.
  var isTurnFull: Bool { outbox.size > limits.outgoingBytesPerTurn }

  /// Sends the messages of the turn.
  func sendOutbox() {
    guard !outbox.isEmpty || !objects.changes.all.isEmpty else { return }
    var dropped = 0
    for entry in outbox.first { dropped += send(entry) }
    dropped += sendSignals(outbox.signals)
    let changes = takeChangeSignals()
    dropped += sendSignals(changes.added) + sendSignals(changes.changed) + sendSignals(changes.removed)
    for entry in outbox.entries { dropped += send(entry) }
    outbox.removeAll()
    if dropped > 0 {
      outbox.hasDroppedSignals = true
      handlers.onSignalsDropped?(dropped)
    }
  }

  /// - Returns: the number of signals that were dropped because of ``Limits/outgoingBytes``.
  private func sendSignals(_ signals: [OutgoingMessage]) -> Int {
    var dropped = 0
    for signal in signals {
      if isFull { dropped += 1 } else { _ = transport.send(signal) }
    }
    return dropped
  }

  /// - Returns: the number of signals that were dropped.
  private func send(_ entry: Outbox.Entry) -> Int {
    switch entry {
    case .signal(let signal): return sendSignals([signal])
    case .success(let message, _), .message(let message): _ = transport.send(message)
    case .laterReply(let address, let make):
      rounds.append({ [weak self] in make().map { self?.enqueue(.message($0)) } }, of: address.caller, size: 0)
      scheduleDrain()
    case .call(let message, let pending): send(message, pending)
    }
    return 0
  }
}

import DBusValues

/// The messages of a turn, until its end, and the replies that wait longer for room (``later``), which nothing else here counts.
///
/// A reply that reports the state divides them: later changes are sent after it. Otherwise its reader would take the reply for newer
/// than these changes.
struct Outbox {
  /// The kind of a reply.
  enum ReplyKind {
    case success
    case error
    /// The call was not accepted.
    case refusal
  }

  enum Entry {
    case reply(OutgoingMessage, ReplyKind, to: ReplyAddress)
    case call(OutgoingMessage, PendingCall?)
    /// A successful reply that is made when there is room for it.
    case laterReply(ReplyAddress, () -> OutgoingMessage?)
    case signal(OutgoingMessage)
  }

  /// The messages up to the last reply that reports the state, in the order in which they are sent.
  private(set) var first: [Entry] = []
  private(set) var signals: [OutgoingMessage] = []
  private(set) var entries: [Entry] = []
  /// The size of all messages, in bytes.
  private(set) var size = 0
  /// Replies of this turn and earlier ones that are made when there is room.
  var later: ArraySlice<(address: ReplyAddress, make: () -> OutgoingMessage?)> = []
  /// Whether the signals of the last turn wait for the messages of this one.
  var areSignalsDelayed = false
  /// Whether signals were dropped since there was room for the last time.
  var hasDroppedSignals = false

  mutating func append(_ entry: Entry) {
    entries.append(entry)
    switch entry {
    case .reply(let message, _, _), .call(let message, _), .signal(let message): size += message.bytes.count
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
  /// - Parameter client: the only recipient; nil for all subscribers.
  /// - Throws: `DBusError` if an argument cannot be sent (see ``OutgoingMessage/call(_:of:on:at:_:)``); then nothing is emitted.
  public func emit<Args>(
    _ signal: Signal<Args>, from path: ObjectPath, to client: BusName? = nil, _ arguments: consuming Args
  ) throws(DBusError) {
    guard isOpen else { return }
    let message = try signal.message(from: path, arguments)
    outbox.append(signal: client.map(message.directed) ?? message)
  }

  /// Replaces every successful reply of this turn by an error, because its changes could not be kept. Use it in ``beforeFlush``.
  public func failReplies(with error: DBusError) {
    outbox.mapEntries { entry in
      switch entry {
      case .reply(_, .success, let address), .laterReply(let address, _):
        return (try? address.error(error)).map { Outbox.Entry.reply($0, .error, to: address) } ?? entry
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

  /// Sends the messages of the turn, and makes and sends later replies while there is room.
  func sendOutbox() {
    if !outbox.isEmpty || !objects.changes.all.isEmpty {
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
    sendLaterReplies()
  }

  func sendLaterReplies() {
    let end = transport.sentSize + limits.outgoingBytesPerTurn
    while transport.sentSize < end, hasRoomForReplies, let reply = outbox.later.popFirst() {
      if let message = reply.make() { send(message, .success, to: reply.address) }
    }
    // Frees the memory of the array.
    if outbox.later.isEmpty { outbox.later = [] }
  }

  /// Whether the bus has read most of the messages, so that a reply is not far behind others.
  public var hasRoomForReplies: Bool { transport.outgoingSize < limits.outgoingBytesPerTurn && !isCongested }

  /// - Returns: the number of signals that were dropped because of ``Limits/outgoingBytes``.
  private func sendSignals(_ signals: [OutgoingMessage]) -> Int {
    var dropped = 0
    for signal in signals {
      if isFull {
        dropped += 1
      } else if signal.destination == nil, let recipients = slowReaders.recipients(of: signal) {
        for recipient in recipients {
          if isFull { dropped += 1 } else { _ = transport.send(signal.directed(to: recipient)) }
        }
      } else {
        _ = transport.send(signal)
      }
    }
    return dropped
  }

  /// Sends a reply, or an error if the caller does not read and the reply is too large for it.
  ///
  /// The error is sent even if such a caller is sent nothing else: there are at most as many errors as calls that were accepted before
  /// it stopped reading, and without one the caller would wait for ever. A refusal is sent when the caller reads again, since it may
  /// make endless calls that are refused.
  private func send(_ reply: OutgoingMessage, _ kind: Outbox.ReplyKind, to address: ReplyAddress) {
    if isRead(reply) {
      _ = transport.send(reply)
    } else if kind == .refusal {
      slowReaders.postponeRefusal(of: address)
    } else if let error = try? address.error(limits.unreadReplies) {
      _ = transport.send(error)
    }
  }

  /// - Returns: the number of signals that were dropped.
  private func send(_ entry: Outbox.Entry) -> Int {
    switch entry {
    case .signal(let signal): return sendSignals([signal])
    case .reply(let message, let kind, let address): send(message, kind, to: address)
    case .laterReply(let address, let make): outbox.later.append((address, make))
    case .call(let message, let pending?): send(message, pending)
    case .call(let message, nil): _ = transport.send(message)
    }
    return 0
  }
}

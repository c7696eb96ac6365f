import DBusValues

/// The messages of a turn, until its end.
struct Outbox {
  enum Entry {
    /// `to` is the caller for a reply that reports success, nil for an error.
    case reply(OutgoingMessage, to: ReplyAddress? = nil)
    case call(OutgoingMessage, PendingCall?)
  }

  var signals: [OutgoingMessage] = []
  var entries: [Entry] = []
}

extension Connection {
  /// Emits a signal, at the end of the turn.
  /// - Throws: if an argument cannot be sent (see ``OutgoingMessage/call(_:of:on:at:_:)``); nothing is emitted then.
  public func emit<Args>(_ signal: Signal<Args>, from path: ObjectPath, _ arguments: Args) throws(DBusError) {
    guard isOpen else { return }
    outbox.signals.append(try signal.message(from: path, arguments))
  }

  /// Replaces every successful reply of this turn by an error, because its changes could not be kept. For use in
  /// ``beforeFlush``.
  public func failReplies(with error: DBusError) {
    outbox.entries = outbox.entries.map { entry in
      guard case .reply(_, let address?) = entry, let message = try? address.error(error) else { return entry }
      return .reply(message)
    }
  }

  func enqueue(_ entry: Outbox.Entry) {
    if isOpen { outbox.entries.append(entry) }
  }

  func sendOutbox() {
    // Usually once: a call that cannot be sent fails, and its completion may make more messages.
    while !outbox.signals.isEmpty || !outbox.entries.isEmpty || !changes.all.isEmpty {
      let sending = outbox
      outbox = Outbox()
      var dropped = sendSignals(sending.signals)
      dropped += sendSignals(takeChangeSignals())
      for entry in sending.entries { send(entry) }
      if dropped > 0 { onSignalsDropped?(dropped) }
    }
  }

  /// - Returns: the number of signals dropped because of ``Limits/outgoingBytes``.
  private func sendSignals(_ signals: [OutgoingMessage]) -> Int {
    var dropped = 0
    for signal in signals {
      if transport.outgoingSize > limits.outgoingBytes {
        dropped += 1
      } else {
        _ = transport.send(signal)
      }
    }
    return dropped
  }

  private func send(_ entry: Outbox.Entry) {
    switch entry {
    case .reply(let message, _): _ = transport.send(message)
    case .call(let message, let pending?): send(message, pending)
    case .call(let message, nil): _ = transport.send(message)
    }
  }
}

// Why this file exists: what is sent in a turn goes out in an order of its own, so that nobody hears of an answer
// before the changes that it speaks of.

import DBusValues

/// What was made in a turn and waits for its end.
struct Outbox {
  enum Answer {
    /// `to`: whom it tells of a success.
    case reply(OutgoingMessage, to: ReplyAddress? = nil)
    case call(OutgoingMessage, PendingCall?)
  }

  var signals: [OutgoingMessage] = []
  var answers: [Answer] = []
}

extension Connection {
  /// Emits a signal, at the end of the turn.
  /// - Throws: where an argument cannot be sent (see ``OutgoingMessage/call(_:of:on:at:_:)``); nothing is emitted then.
  public func emit<Args>(_ signal: Signal<Args>, from path: ObjectPath, _ arguments: Args) throws(DBusError) {
    guard isOpen else { return }
    outbox.signals.append(try signal.message(from: path, arguments))
  }

  /// Turns every success that this turn was to answer into an error, since what was done does not hold. For
  /// ``beforeFlush``.
  public func failReplies(with error: DBusError) {
    outbox.answers = outbox.answers.map { answer in
      guard case .reply(_, let address?) = answer, let message = try? address.error(error) else { return answer }
      return .reply(message)
    }
  }

  func enqueue(_ answer: Outbox.Answer) {
    if isOpen { outbox.answers.append(answer) }
  }

  func sendOutbox() {
    // Rarely more than once: what is sent may make calls fail, and that may make more.
    while !outbox.signals.isEmpty || !outbox.answers.isEmpty || !changes.all.isEmpty {
      let sending = outbox
      outbox = Outbox()
      var dropped = sendSignals(sending.signals)
      dropped += sendSignals(takeChangeSignals())
      for answer in sending.answers { send(answer) }
      if dropped > 0 { onSignalsDropped?(dropped) }
    }
  }

  /// - Returns: how many were dropped since too much waits to be written.
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

  private func send(_ answer: Outbox.Answer) {
    switch answer {
    case .reply(let message, _): _ = transport.send(message)
    case .call(let message, let pending?):
      guard !pending.isDone else { return }
      if let serial = transport.send(message) {
        pending.serial = serial
        pendingCalls[serial] = pending
      } else {
        pending.finish(.failure(.disconnected()))
      }
    case .call(let message, nil): _ = transport.send(message)
    }
  }
}

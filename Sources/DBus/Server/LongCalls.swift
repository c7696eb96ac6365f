import DBusValues
import EventLoops

/// The clients whose last call took long, or made very much to send. Their next calls are held until those of others were
/// served, so that a client that sends many such calls at once keeps nobody waiting behind all of them (L2).
///
/// The calls of others may still be on their way: behind megabytes of the first client's arguments, in the order in which
/// the bus passes everything on.
struct LongCalls {
  /// How long nothing comes from the bus once it has passed all on.
  fileprivate static let pause = Duration.milliseconds(1)
  /// How long calls may be held, even after a call that took less.
  fileprivate static let leastLimit = Duration.milliseconds(10)

  fileprivate var clients: Set<BusName> = []
  /// When messages were last received from the bus, or looked for.
  fileprivate var lastReceived = EventLoop.Instant(nanoseconds: 0)

  mutating func noteReceived(on loop: EventLoop) {
    if !clients.isEmpty { lastReceived = loop.now }
  }
}

extension Connection {
  /// Serves a call. If that takes long, holds the next calls of its client until nothing more comes from the bus, at most
  /// for as long again.
  func yieldingToOthers(_ client: BusName, _ serve: () -> Void) {
    let (size, start) = (outbox.size, loop.now)
    serve()
    let now = loop.now
    guard isOpen, outbox.size - size > limits.outgoingBytesPerCall || now - start > limits.timePerCall,
      longCalls.clients.insert(client).inserted
    else { return }
    hold(client, refusing: limits.unreadReplies)
    let limit = now + max(now - start, LongCalls.leastLimit)
    // The next turn shows whether more comes. If not, a client that waits for each answer is not held up.
    loop.soon { [loop, weak self] in
      loop.timer(after: .zero) { self?.serve(client, ifNothingCameSince: now, limit) }
    }
  }

  private func serve(_ client: BusName, ifNothingCameSince time: EventLoop.Instant, _ limit: EventLoop.Instant) {
    let now = loop.now
    guard longCalls.lastReceived > time, now < limit else {
      longCalls.clients.remove(client)
      return release(client)
    }
    loop.timer(after: LongCalls.pause) { [weak self] in self?.serve(client, ifNothingCameSince: now, limit) }
  }
}

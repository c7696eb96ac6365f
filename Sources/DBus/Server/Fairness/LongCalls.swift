import DBusValues
import DequeModule
import EventLoops

/// The clients whose last call took long, or made very much to send. Their next calls are held until those of others were served. So no
/// client has to wait behind all of them if one sends many such calls at once (L2).
///
/// The calls of others may still be on their way, behind megabytes of the first client's arguments: the bus keeps the order of
/// messages. Replies to others wait behind everything that was not written before them. So the clients are released one by one, each
/// when few bytes are left to be written.
struct LongCalls {
  /// The time without messages from the bus after which it has passed on all of them.
  fileprivate static let pause = Duration.milliseconds(1)
  /// The shortest limit for holding calls, even after a call that took less time.
  fileprivate static let leastLimit = Duration.milliseconds(10)

  fileprivate var clients: Set<BusName> = []
  /// The clients that wait only until earlier messages are written.
  fileprivate(set) var waitingForRoom: Deque<BusName> = []
  fileprivate var isReleasing = false
  /// The time at which messages were last received from the bus, or looked for.
  fileprivate var lastReceived = EventLoop.Instant(nanoseconds: 0)

  mutating func noteReceived(on loop: EventLoop) {
    if !clients.isEmpty { lastReceived = loop.now }
  }
}

extension ServingOrder {
  /// Serves a call. If it takes long, the next calls of its client are held until nothing more comes from the bus, but at most for the
  /// same time again.
  func yieldingToOthers(_ client: BusName, _ serve: () -> Void) {
    let (size, start) = (output.turnSize, loop.now)
    serve()
    let now = loop.now
    guard output.isOpen, output.turnSize - size > limits.outgoingBytesPerCall || now - start > limits.timePerCall,
      longCalls.clients.insert(client).inserted
    else { return }
    hold(client, refusing: limits.unreadReplies)
    let limit = now + max(now - start, LongCalls.leastLimit)
    // The next turn shows whether more messages come. If not, a client that waits for each answer is not delayed.
    loop.soon { [loop, weak self] in
      loop.timer(after: .zero) { self?.serve(client, ifNothingCameSince: now, limit) }
    }
  }

  private func serve(_ client: BusName, ifNothingCameSince time: EventLoop.Instant, _ limit: EventLoop.Instant) {
    let now = loop.now
    guard longCalls.lastReceived > time, now < limit else {
      longCalls.waitingForRoom.append(client)
      return continueLongCalls()
    }
    loop.timer(after: LongCalls.pause) { [weak self] in self?.serve(client, ifNothingCameSince: now, limit) }
  }

  /// Releases the next client if there is room for the output of its calls. Call this at the end of a turn, after its messages were sent.
  func continueLongCalls() {
    guard !longCalls.waitingForRoom.isEmpty, !longCalls.isReleasing, hasRoomForLargeReply else { return }
    let client = longCalls.waitingForRoom.removeFirst()
    longCalls.isReleasing = true
    loop.soon { [weak self] in
      guard let self else { return }
      longCalls.isReleasing = false
      longCalls.clients.remove(client)
      release(client)
    }
  }
}

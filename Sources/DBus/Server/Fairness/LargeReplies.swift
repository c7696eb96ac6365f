import DBusValues
import EventLoops

/// Calls whose replies may be large, such as the whole state. They are served one at a time: each when the last reply has left this
/// process, and in a separate turn unless nothing else waits. So other clients are served in between, and at most one such reply is in
/// memory.
struct LargeReplies {
  /// The waiting calls, in the order of arrival. A client has at most one, since its later calls are held.
  fileprivate var waiting: [(client: BusName, prepare: (() -> Bool)?, serve: () -> Void)] = []
  /// The client whose reply has not left yet.
  fileprivate var current: BusName?
  fileprivate var isScheduled = false

  /// Whether no large reply is being made or waits.
  fileprivate var isIdle: Bool { current == nil && waiting.isEmpty }
}

extension ServingOrder {
  /// The largest number of unwritten bytes with which the next large reply is made.
  private static let largeReplyRest = 256 << 10

  /// The largest number of waiting calls, each of another client.
  private static let maxWaiting = 4096

  /// Serves a call with a large reply after those that wait already, and holds the client's later calls until then.
  /// - Parameters:
  ///   - prepare: does a part of the work in advance, in a separate turn each time. It returns whether the work is done.
  ///   - refuse: called instead of `serve` if too many clients wait.
  func serveAlone(
    _ client: BusName, preparing prepare: (() -> Bool)?, refuse: (DBusError) -> Void, _ serve: @escaping () -> Void
  ) {
    guard largeReplies.waiting.count < Self.maxWaiting else {
      return refuse(
        DBusError(
          name: .limitsExceeded,
          message: "expected at most \(Self.maxWaiting) clients to wait for a large reply, found more; call again later"
        ))
    }
    hold(client, refusing: limits.unreadReplies)
    // Most of these replies are small after all, and another turn would wake the bus once more.
    if prepare == nil, output.isQuiet, largeReplies.isIdle, hasRoomForLargeReply, !output.isStalled(client) {
      largeReplies.current = client
      return serve()
    }
    largeReplies.waiting.append((client, prepare, serve))
    scheduleLargeReply()
  }

  /// Whether so few bytes wait to be written that a large reply may be made.
  var hasRoomForLargeReply: Bool { output.outgoingSize <= Self.largeReplyRest }

  /// Serves the next call if the last reply has left. Call this at the end of a turn, after its messages were sent.
  func continueLargeReplies() {
    guard !largeReplies.isIdle, hasRoomForLargeReply else { return }
    if let client = largeReplies.current {
      largeReplies.current = nil
      loop.soon { [weak self] in self?.release(client) }
    }
    scheduleLargeReply()
  }

  private func scheduleLargeReply() {
    guard largeReplies.current == nil, !largeReplies.isScheduled,
      largeReplies.waiting.contains(where: { !output.isStalled($0.client) })
    else { return }
    largeReplies.isScheduled = true
    loop.soon { [weak self] in self?.serveLargeReply() }
  }

  private func serveLargeReply() {
    largeReplies.isScheduled = false
    guard hasRoomForLargeReply,
      let index = largeReplies.waiting.firstIndex(where: { !output.isStalled($0.client) })
    else { return }
    if let prepare = largeReplies.waiting[index].prepare, !prepare() { return scheduleLargeReply() }
    let (client, _, serve) = largeReplies.waiting.remove(at: index)
    largeReplies.current = client
    serve()
  }
}

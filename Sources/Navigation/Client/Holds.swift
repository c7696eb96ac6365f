import CoordinatorAPI
import DBusValues
import PresentationModel

/// A reason for which a hold is in force: a client, a presentation or a fact of the session (H1).
///
///     for hold in try await coordinator.holds() {
///       print(hold.name, hold.message, hold.client ?? hold.binding ?? "a fact of the session", hold.since ?? 0)
///       if !hold.isOwned, hold.timeoutLeft == nil, let cookie = hold.cookie { try await coordinator.release(hold: hold.name, cookie) }
///     }
public struct HoldState: Hashable, Sendable {
  /// The name of the hold.
  public let name: String
  /// The number with which the hold is released; nil for a fact of the session and for a presentation, which cannot be released (H2, H8).
  public let cookie: UInt64?
  /// The unique name of the client that holds; nil for a fact of the session and for a presentation.
  public let client: String?
  /// The binding of the presentation that holds, as its destination declares; nil otherwise (H8).
  public let binding: String?
  /// The purpose of the hold, for people.
  public let message: String
  /// Whether the hold ends when its client leaves the bus.
  public let isOwned: Bool
  /// The time at which the hold began, in milliseconds since 1970; nil if it is not known.
  public let since: UInt64?
  /// The time until the hold ends by itself; nil for never.
  public let timeoutLeft: Duration?

  init(_ entry: HoldEntry) {
    name = entry.name ?? ""
    cookie = entry.cookie
    client = entry.client
    binding = entry.binding
    message = entry.message ?? ""
    isOwned = entry.owned ?? false
    since = entry.since
    timeoutLeft = entry.timeoutLeft.map { .milliseconds($0) }
  }
}

extension Coordinator {
  /// Begins a hold. Until it is released, items wait, end or are refused, as their destinations declare (H1).
  ///
  ///     let hold = try await coordinator.hold("panels", message: "the presentation runs")
  ///     try await coordinator.release(hold: "panels", hold)
  ///
  /// - Parameters:
  ///   - name: the name of the hold, such as `dnd`.
  ///   - isOwned: whether the hold ends when this program leaves the bus.
  ///   - timeout: the time until the hold ends by itself, in whole milliseconds; nil or zero for never, and a negative time for at once.
  ///   - message: the purpose of the hold, for people.
  /// - Returns: the number for ``release(hold:_:)``, which is never used twice.
  /// - Throws: `refused` with `invalidArgument` for an invalid name, `limitExceeded`, or `accessDenied` in a sandbox.
  public func hold(
    _ name: String, isOwned: Bool = true, timeout: Duration? = nil, message: String = ""
  ) async throws(NavigationError) -> UInt64 {
    var options: Properties = [:]
    options[Options.holdOwned] = isOwned
    options[Options.holdTimeout] = timeout.map(\.milliseconds)
    if !message.isEmpty { options[Options.holdMessage] = message }
    return try await change(Rows.hold, (name, options))
  }

  /// Ends what clients hold by a name, whoever they are.
  ///
  ///     let count = try await coordinator.release(hold: "panels")
  ///
  /// - Parameters:
  ///   - name: the name of the hold.
  ///   - cookie: the number of the only holder to end, as ``hold(_:isOwned:timeout:message:)`` has returned it; nil for all of them.
  /// - Returns: how many have ended; 0 if no client holds by the name, or the number.
  /// - Throws: `refused` with `invalidArgument` for an invalid name, or `accessDenied` in a sandbox.
  @discardableResult
  public func release(hold name: String, _ cookie: UInt64? = nil) async throws(NavigationError) -> UInt32 {
    try await change(Rows.releaseHold, (name, cookie ?? 0))
  }

  /// Reads the holds of clients and presentations, and the true facts of the session.
  ///
  ///     let isHeld = try await coordinator.holds().contains { $0.name == "panels" }
  public func holds() async throws(NavigationError) -> [HoldState] {
    try await read(Rows.holds, ()).map { HoldState(HoldEntry($0)) }
  }
}

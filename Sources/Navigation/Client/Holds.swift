import CoordinatorAPI
import DBusValues
import PresentationModel

/// One of those for whom a hold is in force (rule H1).
public struct HoldState: Hashable, Sendable {
  /// The name of the hold.
  public let name: String
  /// The number by which it is released; nil for a fact of the session, and for a presentation, which nobody can release (H2, H8).
  public let cookie: UInt64?
  /// The unique name of the client that holds; nil for a fact of the session, and for a presentation.
  public let client: String?
  /// The binding of the presentation that holds, as its destination says (H8); nil for the others.
  public let binding: String?
  /// Its purpose, for people.
  public let message: String
  /// Whether it ends when its client leaves the bus.
  public let isOwned: Bool
  /// When it began, in milliseconds since 1970; nil if that is not known.
  public let since: UInt64?
  /// The time until it ends by itself; nil for never.
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
  /// Begins to hold: until it is released, items wait, end or are refused, as their destinations say (H1).
  /// - Parameters:
  ///   - name: the name of the hold, such as `dnd`.
  ///   - isOwned: whether it ends when this program leaves the bus.
  ///   - timeout: the time until it ends by itself, in whole milliseconds; nil or zero for never, and a negative
  ///     one for at once.
  ///   - message: its purpose, for people.
  /// - Returns: the number for ``release(hold:)``, which is never used twice.
  /// - Throws: `refused` with `invalidArgument` for what is no name, `limitExceeded`, or `accessDenied` in a sandbox.
  public func hold(
    _ name: String, isOwned: Bool = true, timeout: Duration? = nil, message: String = ""
  ) async throws(NavigationError) -> UInt64 {
    var options: Properties = [:]
    options[Options.holdOwned] = isOwned
    options[Options.holdTimeout] = timeout.map(\.milliseconds)
    if !message.isEmpty { options[Options.holdMessage] = message }
    return try await change(Rows.hold, (name, options))
  }

  /// Ends what this client or another one holds.
  /// - Throws: `refused` with `invalidArgument` if nothing is held by that number.
  public func release(hold cookie: UInt64) async throws(NavigationError) { try await change(Rows.releaseHold, cookie) }

  /// Reads who holds what, and the facts of the session that are true.
  public func holds() async throws(NavigationError) -> [HoldState] {
    try await read(Rows.holds, ()).map { HoldState(HoldEntry($0)) }
  }
}

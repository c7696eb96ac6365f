import PresentationModel

/// The sizes that navd accepts. A request that exceeds one is refused, with the name of the limit (L1). At these limits, the work of each
/// input is proportionate to the state, and small (L2).
///
/// Bytes of values are counted approximately as D-Bus marshals them. A plain record: one property for each limit of `docs/limits.md`.
public struct Limits: Sendable, Hashable {
  /// Bytes of a text that only presenters and people interpret, such as an id, a style, a title or a message.
  public var text = 4096
  /// Bytes of an item's value, container values, platform data, command, directory, environment or input, of an action's parameters, of
  /// a result, and of the variables for commands together.
  public var value = 1 << 20
  /// Bytes of all items together, of all remembered tags, and of all remembered endings: the bus allows arrays of at most 64 MiB, and the
  /// whole state has to fit into one.
  public var state = 8 << 20
  /// Bytes of the defaults of all declared container values: an answer of `Members` has them for each member.
  public var defaults = 8192
  /// Items in all.
  public var items = 2048
  /// Items that one client presented, so that others have place.
  public var itemsPerClient = 1024
  /// Requests in one transaction, and elements of all their paths.
  public var transaction = 1024
  /// Items on one stack: every change of a stack sends its whole path to each watcher.
  public var stack = 1024
  /// Items in one group's queue: every change of a queue sends all its tags to each watcher, and each new place as a signal.
  public var queue = 1024
  /// Destinations that clients registered; holders of holds; variables for commands; commands of `on-present` and `on-dismiss` that run or
  /// wait.
  public var entries = 1024
  /// Endings, and tags of all groups; the oldest are dropped.
  public var remembered = 1024
  /// Calls of one client that wait for presentations. dbus-daemon iterates over those of all clients for each answer.
  public var waits = 512
  /// Programs whose windows are hidden (N8). Beyond the limit, a dismissal closes the windows.
  public var parked = 64
  /// Unanswered calls to one presenter on the bus. Beyond the limit, it is not asked to show new items.
  public var callsPerPresenter = 4096
  /// Unanswered calls to all other programs. Beyond the limit, a presenter has only ``guaranteedCalls``. The bus allows navd 50 000;
  /// the rest is for the service manager. A presenter gets at most ``shareOfCalls`` of the calls that are left.
  public var calls = 40_960

  /// Calls that wait for presentations in all.
  var allWaits: Int { waits.multipliedReportingOverflow(by: 4).overflow ? .max : 4 * waits }
  /// Bytes of a command's standard output that become part of its result; the rest is cut off.
  public var output: Int { value / 16 }
  /// Nested containers in a value. Signals nest it deeper, and the bus allows 64.
  static let valueDepth = 32

  /// The share of the calls that are left which one presenter may have: one in this number. So one presenter may have
  /// ``callsPerPresenter``, and dozens that never answer leave some for others.
  public static let shareOfCalls = 8
  /// Unanswered calls that a presenter may have even if none are left, up to ``allCalls`` of all presenters.
  public static let guaranteedCalls = 8
  /// Unanswered calls to all other programs, with the guaranteed ones beyond ``calls``.
  public var allCalls: Int { calls + calls / 10 }

  public init() {}

  /// All limits, by the names that errors and the bus use: those of the properties, as in `items-per-client`.
  public var byName: [String: UInt64] {
    var limits: [String: UInt64] = [:]
    for case (let property?, let limit as Int) in Mirror(reflecting: self).children {
      let name = property.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
      limits[name] = UInt64(limit)
    }
    return limits
  }

  /// Refuses a number of waiting calls.
  /// - Parameters:
  ///   - count: the calls of one client.
  ///   - all: the calls of all clients.
  public func checkWaits(_ count: Int, all: Int) throws(Refusal) {
    try check("waits", count, waits, of: "calls of Wait")
    try check("waits", all, allWaits, of: "calls of Wait by all clients")
  }

  /// Refuses a text that is too long.
  func check(text: String, as name: String) throws(Refusal) {
    try check("text", text.utf8.count, self.text, of: "bytes of \(name)")
  }

  /// Refuses a count that exceeds its limit.
  func check(_ name: String, _ count: Int, _ max: Int, of unit: @autoclosure () -> String) throws(Refusal) {
    guard count > max else { return }
    throw Refusal(
      .limitExceeded,
      "\(unit()): found \(count), expected at most \(max) (limit “\(name)”); \(Self.remedy(name))")
  }

  /// Advice for a request that exceeds a limit.
  private static func remedy(_ name: String) -> String {
    switch name {
    case "items", "items-per-client", "state": "dismiss something first"
    case "queue": "dismiss a queued item, or wait until one is presented"
    case "stack": "pop something first"
    case "waits": "wait for fewer presentations at a time"
    case "transaction": "split it into several"
    case "defaults": "use a declared key, or a smaller default"
    case "entries": "unregister or release one first"
    default: "use fewer"
    }
  }
}

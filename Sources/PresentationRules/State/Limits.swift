import PresentationModel

/// The sizes that navd accepts. A request that exceeds one is refused, with the name of the limit (L1).
///
/// Bytes of values are counted approximately as D-Bus marshals them. A plain record: one property for each limit of `docs/limits.md`.
public struct Limits: Sendable, Hashable {
  /// Bytes of a binding, group or stack.
  public var binding = BindingID.maxBytes
  /// Bytes of an id, a style or a title.
  public var id = 4096
  /// Bytes of a tag.
  public var tag = 255
  /// Bytes of a destination's name.
  public var destination = 255
  /// Bytes of an item's value, platform data, command, directory, environment or input, or of an action's parameters.
  public var value = 1 << 20
  /// Nested containers in a value. Signals nest it deeper, and the bus allows 64.
  public var valueDepth = 32
  /// Bytes of an item's container values.
  public var containerValues = 64 << 10
  /// Container values that may be declared.
  public var declaredContainerValues = 1024
  /// Bytes of a result.
  public var result = 1 << 20
  /// Bytes of a command's standard output that become part of its result; the rest is cut off.
  public var output = 64 << 10
  /// Bytes of all items together: the bus allows arrays of at most 64 MiB, and the whole state has to fit into one.
  public var state = 8 << 20
  /// Bytes of all tags remembered, and of all endings; the oldest are dropped.
  public var remembered = 16 << 20
  /// Items in all: one array on the bus holds all their objects.
  public var items = 100_000
  /// Items that one client presented.
  public var itemsPerClient = 50_000
  /// Calls of one client that wait for presentations.
  public var waitsPerClient = 512
  /// Calls that wait for presentations in all. dbus-daemon iterates over all of them for each answer, which delays the answers to
  /// others.
  public var waits = 4096
  /// Requests in one transaction, or elements of their paths.
  public var transaction = 4096
  /// Steps of one request or transaction: everything that it looks at besides its own arguments, such as an item on whose parents and
  /// stack another one depends, or a part of a value that it edits.
  public var work = 4_000_000
  /// Bytes of all members of a container, with the default of each declared container value.
  public var members = 16 << 20
  /// Presentations that one transaction ends.
  public var ends = 8192
  /// Items on one stack. Every change of a stack sends its whole path to each watcher.
  public var stack = 2048
  /// Items in one group's queue.
  public var queue = 1024
  /// Tags remembered by all groups together; the oldest is dropped.
  public var tags = 8192
  /// Tags that one group remembers from requests; the oldest is dropped. Also the tags that registrations declare for one group.
  public var tagsPerGroup = 256
  /// Endings remembered; the oldest is dropped.
  public var endings = 1024
  /// Destinations that clients registered.
  public var registrations = 4096
  /// Holders of holds.
  public var holds = 1024
  /// Variables that clients have given for commands.
  public var variables = 256
  /// Bytes of the names and values of these variables.
  public var environment = 128 << 10
  /// Commands of `on-present` and `on-dismiss` that run or wait; further ones are left out.
  public var hooks = 1024
  /// Programs whose windows are hidden (N8). Beyond the limit, a dismissal closes the windows.
  public var parked = 64
  /// Unanswered calls to one presenter on the bus. Beyond the limit, it is not asked to show new items.
  public var callsPerPresenter = 4096
  /// Unanswered calls to all other programs. Beyond the limit, a presenter has only ``guaranteedCalls``. The bus allows navd 50 000;
  /// the rest is for the service manager. A presenter gets at most ``shareOfCalls`` of the calls that are left.
  public var calls = 40_960

  /// The share of the calls that are left which one presenter may have: one in this number. So one presenter may have
  /// `callsPerPresenter`, and dozens that never answer leave some for others.
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
    try check("waits-per-client", count, waitsPerClient, of: "calls of Wait")
    try check("waits", all, waits, of: "calls of Wait by all clients")
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
    case "waits-per-client", "waits": "wait for fewer presentations at a time"
    case "transaction", "work", "ends": "split it into several"
    case "stack": "pop something first"
    case "members": "ask for a group, a stack or a parent with fewer"
    case "declared-container-values": "use a declared key"
    case "registrations", "tags-per-group": "unregister a destination first"
    case "holds": "release one first"
    case "value-depth": "use a flatter value"
    default: "use fewer"
    }
  }
}

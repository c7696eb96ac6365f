// Why this file exists: every size has a limit that is written down (L1), in one place that the daemon also publishes.

import PresentationModel

/// The sizes that navd accepts; going past one is refused, naming it (L1).
///
/// Bytes of values are counted as they would be marshalled, roughly.
public struct Limits: Sendable, Hashable {
  /// Bytes of a binding, group or stack.
  public var binding = BindingID.mostBytes
  /// Bytes of an id, a style or a title.
  public var id = 4096
  /// Bytes of a tag.
  public var tag = 255
  /// Bytes of a destination's name.
  public var destination = 255
  /// Bytes of an item's value, platform data, command, directory, environment, or parameters of an action.
  public var value = 1 << 20
  /// Containers in each other in a value; what is told of it stands deeper, and the bus takes no more than 64.
  public var valueDepth = 32
  /// Bytes of an item's container values.
  public var containerValues = 64 << 10
  /// Container values that may be declared.
  public var declaredContainerValues = 1024
  /// Bytes of a result.
  public var result = 1 << 20
  /// Bytes of a command's standard output that become part of its result; the rest is cut.
  public var output = 64 << 10
  /// Bytes of all items together: the bus takes no array over 64 MiB, and the state has to fit into one.
  public var state = 8 << 20
  /// Bytes of all tags remembered, and of all endings; the oldest are dropped.
  public var remembered = 16 << 20
  /// Items in all: the bus's arrays hold the objects of these.
  public var items = 100_000
  /// Items whose last new request came from one client.
  public var itemsPerClient = 50_000
  /// Calls of one client that wait for presentations.
  public var waitsPerClient = 16_384
  /// Requests in one transaction, elements in one path.
  public var transaction = 4096
  /// Items that wait in one group's queue.
  public var queue = 1024
  /// Tags remembered, of all groups; the oldest is dropped.
  public var tags = 8192
  /// Endings remembered; the oldest is dropped.
  public var endings = 1024
  /// Destinations that clients registered.
  public var registrations = 4096
  /// Calls that one presenter on the bus has not answered, past which nothing new is to be shown by it: the bus lets navd
  /// have 50 000 calls open in all.
  public var callsPerPresenter = 4096

  public init() {}

  /// All limits by the names that errors and the bus use.
  public var byName: [String: UInt64] {
    [
      "binding": UInt64(binding), "id": UInt64(id), "tag": UInt64(tag), "destination": UInt64(destination),
      "value": UInt64(value),
      "value-depth": UInt64(valueDepth), "container-values": UInt64(containerValues),
      "declared-container-values": UInt64(declaredContainerValues), "result": UInt64(result),
      "output": UInt64(output),
      "state": UInt64(state),
      "remembered": UInt64(remembered), "items": UInt64(items), "items-per-client": UInt64(itemsPerClient),
      "waits-per-client": UInt64(waitsPerClient), "transaction": UInt64(transaction),
      "queue": UInt64(queue), "tags": UInt64(tags), "endings": UInt64(endings),
      "registrations": UInt64(registrations), "calls-per-presenter": UInt64(callsPerPresenter),
    ]
  }

  /// Refuses a client's so many calls that wait.
  public func checkWaits(_ count: Int) throws(Refusal) {
    try check("waits-per-client", count, waitsPerClient, of: "calls of Wait")
  }

  /// Refuses `count` where it is over the limit of that name.
  func check(_ name: String, _ count: Int, _ most: Int, of what: @autoclosure () -> String) throws(Refusal) {
    guard count > most else { return }
    throw Refusal(
      .limitExceeded, "\(what()): \(count), but the limit “\(name)” is \(most); \(Self.remedy(name)) would do")
  }

  /// What to do about a limit.
  private static func remedy(_ name: String) -> String {
    switch name {
    case "items", "items-per-client", "state": "dismissing something first"
    case "queue": "dismissing one that waits, or waiting until one is shown,"
    case "waits-per-client": "waiting for fewer of them at a time"
    case "transaction": "several requests"
    case "declared-container-values": "one that is declared"
    case "registrations": "unregistering one first"
    case "value-depth": "a flatter value"
    default: "fewer"
    }
  }
}

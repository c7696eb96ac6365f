import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRecord
import TestSupport
import Testing

@testable import CoordinatorDaemon
@testable import PresentationRules

/// A private bus with the connection of the code under test and any number of peers, all on one loop: for code that needs a real
/// bus and scripted programs on it. The clock of the loop stands still until the test advances it, so that no timeout takes real
/// time.
final class BusFixture {
  let loop: EventLoop
  /// The connection of the code under test.
  let connection: Connection
  let log = LogLines()
  var logger: Logger { Logger(label: "navd") { [log] _ in RecordingLog(lines: log) } }
  private let bus: PrivateBus
  private let clock = ManualClock()
  private var connections: [Connection]
  private var peers: [AnyObject] = []

  private final class ManualClock {
    var now = MonotonicInstant.now
  }

  init(limits: Connection.Limits = .init()) throws {
    bus = try PrivateBus()
    loop = try EventLoop(clock: { [clock] in clock.now })
    connection = try .open(address: bus.address, loop: loop, limits: limits)
    connections = [connection]
  }

  /// Another program on the bus.
  func connect(name: BusName? = nil) throws -> Connection {
    let peer = try Connection.open(address: bus.address, loop: loop)
    connections.append(peer)
    if let name { try own(name, peer) }
    return peer
  }

  /// Gives a name on the bus to a peer.
  func own(_ name: BusName, _ peer: Connection) throws {
    var isOwner = false
    peer.requestName(name) { isOwner = (try? $0.get()) != nil }
    try wait { isOwner }
  }

  /// Keeps a peer's implementation as long as its connection.
  func keep(_ peer: AnyObject) { peers.append(peer) }

  /// Turns the loop until the condition holds.
  func wait(until condition: () -> Bool) throws {
    let isFulfilled = loop.turn(until: condition)
    try #require(isFulfilled)
  }

  /// Turns the loop until all messages so far were received and answered, and the answers were received.
  func settle() throws {
    for _ in 0..<4 {
      let open = connections.filter(\.isOpen)
      var answered = 0
      for connection in open {
        connection.call(Bus.getID, on: Bus.name, at: Bus.path, (), timeout: nil) { _ in answered += 1 }
      }
      try wait { answered == open.count }
    }
  }

  /// Closes the connection of a peer. The bus may notice that later than calls of other peers.
  func close(_ peer: Connection) throws {
    peer.close()
    var hasOwner = true
    while hasOwner {
      var isAnswered = false
      connection.call(Bus.nameHasOwner, on: Bus.name, at: Bus.path, peer.uniqueName.text, timeout: nil) {
        isAnswered = true
        hasOwner = (try? $0.get()) ?? false
      }
      try wait { isAnswered }
    }
    try settle()
  }

  /// Moves the clock, and handles the timers that are due.
  func advance(by duration: Duration) throws {
    clock.now = clock.now + duration
    try settle()
  }
}

/// Log messages, each with its metadata as `message key=value`.
final class LogLines: @unchecked Sendable {
  fileprivate(set) var lines: [String] = []
  func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
}

private struct RecordingLog: LogHandler {
  let lines: LogLines
  var logLevel = Logger.Level.trace
  var metadata: Logger.Metadata = [:]

  init(lines: LogLines) { self.lines = lines }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    lines.lines.append("\(event.message)\(details)")
  }
}

extension Presentation {
  /// A presentation of the binding `panel`.
  static func example(
    _ number: UInt64 = 1, _ presenter: Destination.Presenter, id: String = "1", value: Properties = [:],
    phase: Lifecycle = .presenting, _ change: (inout Item) -> Void = { _ in }
  ) throws -> Presentation {
    var item = Item(id: id)
    item.destination = Shared<Destination>(
      Destination(name: "panel", presenter: presenter, source: .file(path: "panel.toml")))
    item.value = value
    change(&item)
    var presentation = Presentation(
      handle: Handle(number), binding: try BindingID("panel"), item: Shared<Item>(item), parent: nil, creator: nil)
    presentation.phase = phase
    return presentation
  }
}

extension RecoveredSession {
  /// A previous session of the same boot.
  /// - Parameter names: names on the bus that mean the same clients as in the record.
  static func example(token: String = "token", names: Set<String> = [], isSameBoot: Bool = true) -> RecoveredSession {
    RecoveredSession(
      memories: [:], token: token, names: names, isSameBoot: isSameBoot, isOfOtherSession: false, isFirst: false,
      setAside: nil, session: Record.Session(bus: "bus", boot: "boot", clock: 0, token: token))
  }
}

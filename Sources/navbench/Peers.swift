// Why this file exists: everything that is measured is started here, and ended here by its own number.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoop
import Glibc
import Processes

/// What could not be measured, and why.
struct MeasuringFailure: Error, CustomStringConvertible {
  let description: String
}

/// The programs that are measured, running on the session bus.
final class Peers {
  static let echo: BusName = "org.navd.Bench.Echo"

  let loop: EventLoop
  let connection: Connection
  let directory: String
  private let keeper: ProcessKeeper
  private var trees: [ProcessTree] = []

  /// Starts navd and the echo, and waits until both can be called.
  /// - Parameter programs: the directory of navd and navctl.
  init(programs: String) throws {
    loop = try EventLoop()
    connection = try Connection.session(loop: loop)
    directory = programs
    keeper = ProcessKeeper(loop: loop, markerVariable: "NAVBENCH_MARKER")
    try start(["\(programs)/navd", "--log-level", "error"], until: CoordinatorNames.bus)
    try start(["dbus-test-tool", "echo", "--name=\(Self.echo)"], until: Self.echo)
  }

  func stop() {
    for tree in trees { tree.terminate() }
    while trees.contains(where: \.isLive) { _ = loop.turn(wait: .seconds(10)) }
  }

  private func start(_ arguments: [String], until name: BusName) throws {
    let tree = try spawn(arguments, environment: .ofThisProcess())
    trees.append(tree)
    var isThere = false
    let watch = connection.watchName(name) { isThere = $0 != nil }
    defer { watch.cancel() }
    while !isThere {
      guard tree.isLive else { throw MeasuringFailure(description: "\(arguments[0]) ended before it had its name") }
      _ = loop.turn(wait: .seconds(10))
    }
  }

  private var started = 0

  private func spawn(_ arguments: [String], environment: ProcessEnvironment) throws -> ProcessTree {
    started += 1
    return try keeper.spawn(
      Command(arguments.map { ByteString($0) }, environment: environment),
      marker: ByteString("\(getpid())-\(started)"))
  }
}

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Processes

/// A process with many connections that receive every signal of the coordinator's interface, from any sender, and ignore it.
enum Watchers {
  static func name(_ count: Int) -> BusName { BusName("org.navd.Bench.Watchers\(count)")! }

  /// Runs until the process is killed.
  static func serve(_ count: Int) throws {
    // Each connection uses a descriptor.
    try DescriptorLimit.current().raise()
    let loop = try EventLoop()
    let connections = try (0..<count).map { _ in try Connection.session(loop: loop) }
    var ready = 0
    for connection in connections {
      connection.subscribe(MatchRule(interface: CoordinatorInterface.name)) { _ in
        ready += 1
        if ready == count { connection.requestName(name(count)) { _ in } }
      } _: { _ in
      }
    }
    withExtendedLifetime(connections) { loop.run() }
  }
}

// Why this file exists: what is announced costs by who listens, so there are listeners to be had, in a process of their own.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops

/// Connections that receive every signal of the coordinator's interface, whoever sends it, and do nothing about it.
enum Watchers {
  static func name(_ count: Int) -> BusName { BusName("org.navd.Bench.Watchers\(count)")! }

  /// Serves until it is killed.
  static func serve(_ count: Int) throws {
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

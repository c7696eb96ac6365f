import DBus
import DBusValues
import TestSupport

/// Programs that never answer, for tests of limits and timeouts.
extension Session {
  /// Starts a program that owns a name on the bus and reads nothing: libdbus would answer a ping for one that reads.
  func startBlackHole(_ name: BusName) throws -> Program {
    let program = try start(
      program: "/usr/bin/dbus-test-tool", ["black-hole", "--no-read", "--session", "--name=\(name)"])
    var hasOwner = false
    let watch = client.watchName(name) { hasOwner = $0 != nil }
    defer { watch.cancel() }
    try wait("\(name) has an owner") { hasOwner || program.hasEnded }
    return program
  }
}

import CoordinatorAPI
import DBusValues
import EventLoops
import Glibc
import TestSupport
import Testing

// navd as a service itself: its notifications to the service manager, and the watchdog.

private typealias Rows = CoordinatorInterface

/// The socket on which a service manager receives the notifications of its services.
private final class NotifySocket {
  private(set) var said: [String] = []
  private let descriptor: Int32
  private var watch: Watch?

  /// - Parameter name: a path, or the abstract name without `@`.
  init(_ name: String, isAbstract: Bool, _ loop: EventLoop) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = (isAbstract ? [0] : []) + Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    try #require(result == 0)
    watch = try loop.watch(descriptor, .read) { [unowned self] _ in
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 { said.append(String(decoding: buffer[..<count], as: UTF8.self)) }
    }
  }

  var pings: [String] { said.filter { $0.hasPrefix("WATCHDOG=1\n") } }

  deinit {
    watch?.cancel()
    close(descriptor)
  }
}

@Test(
  "navd notifies its service manager that it is ready, alive and stopping, and of its status", arguments: [false, true])
func ownService_manager_isNotified(isAbstract: Bool) throws {
  let session = try Session(starting: false)
  let name = session.path("notify")
  let socket = try NotifySocket(name, isAbstract: isAbstract, session.loop)
  session.environment["NOTIFY_SOCKET"] = isAbstract ? "@" + name : name
  session.environment["WATCHDOG_USEC"] = "100000"
  try session.start()
  try session.wait("navd sends keep-alives") { socket.pings.count >= 3 }
  #expect(socket.said.first == "READY=1")
  #expect(socket.pings.last == "WATCHDOG=1\nSTATUS=0 presented or waiting, serial 0")

  // These variables are meant for navd alone, and not for its commands.
  let path = try session.present("fact", "1", ["command": ["env"].value])
  let output = try session.ending(of: path).result["output"]
  guard case .bytes(let bytes)? = output else {
    Issue.record("there is no output")
    return
  }
  let variables = String(decoding: bytes, as: UTF8.self)
  #expect(variables.contains("NAVD_BINDING=fact"))
  #expect(!variables.contains("NOTIFY_SOCKET") && !variables.contains("WATCHDOG"), "\(variables)")
  try session.present("note")
  try session.wait("navd sends its status") {
    socket.pings.last?.hasPrefix("WATCHDOG=1\nSTATUS=1 presented or waiting, serial ") == true
  }

  // A stopped navd sends nothing, and continues when it runs again.
  session.navd?.send(SIGSTOP)
  session.loop.turn(wait: .zero)
  try session.poll("navd is stopped") { try stateOfProcess(session) == "T" }
  session.loop.turn(wait: .zero)
  let before = socket.said.count
  session.navd?.send(SIGCONT)
  try session.wait("the keep-alives continue") { socket.said.count > before }
  try session.stop()
  #expect(socket.said.last == "STOPPING=1")
}

private func stateOfProcess(_ session: Session) throws -> String? {
  guard let navd = session.navd else { return nil }
  let status = try session.run(program: "/bin/ps", ["-o", "state=", "-p", "\(navd.processID)"])
  return status.outputText.split(separator: "\n").first.map(String.init)
}

@Test("navd ignores a watchdog meant for another process and an invalid notification socket")
func ownService_ofAnotherProcess_isNotNotified() throws {
  let session = try Session(starting: false)
  let name = session.path("notify")
  let socket = try NotifySocket(name, isAbstract: false, session.loop)
  session.environment["NOTIFY_SOCKET"] = name
  session.environment["WATCHDOG_USEC"] = "1000"
  session.environment["WATCHDOG_PID"] = "1"
  try session.start()
  try session.present("fact")
  try session.stop()
  #expect(socket.said == ["READY=1", "STOPPING=1"])
  for name in ["/nowhere/notify", "nonsense", "", "@", String(repeating: "/x", count: 100)] {
    session.environment["NOTIFY_SOCKET"] = name
    session.environment["WATCHDOG_PID"] = nil
    try session.start()
    #expect(try session.call(Rows.get, "fact").0 != .root)
    try session.stop()
  }
}

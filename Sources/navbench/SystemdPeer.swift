import DBus
import DBusValues
import EventLoops
import Glibc

/// A private user manager with two units that conflict with each other.
final class SystemdPeer {
  private static let name: BusName = "org.freedesktop.systemd1"
  private static let path: ObjectPath = "/org/freedesktop/systemd1"
  private static let interface: InterfaceName = "org.freedesktop.systemd1.Manager"
  private static let subscribe = Method(interface, "Subscribe")
  private static let startUnit = Method(
    interface, "StartUnit", in: Arg<String>("name"), Arg<String>("mode"), out: Arg<ObjectPath>("job"))
  private static let jobRemoved = Signal(
    interface, "JobRemoved", Arg<UInt32>("id"), Arg<ObjectPath>("job"), Arg<String>("unit"), Arg<String>("result"))

  private let loop: EventLoop
  private let connection: Connection
  private let manager: pid_t
  /// The results of finished jobs.
  private var results: [ObjectPath: String] = [:]

  /// - Parameters:
  ///   - directory: the manager's home and runtime directory.
  ///   - commands: the commands of the two units.
  /// - Throws: `BenchmarkError` if no manager can be started.
  init(directory: String, commands: [[String]]) throws {
    guard access("/run/systemd/system", F_OK) == 0 else {
      throw BenchmarkError(description: "systemd is not running: there is no /run/systemd/system")
    }
    for (unit, other) in [(0, 1), (1, 0)] {
      try Self.write(
        """
        [Unit]
        Conflicts=bench-panel\(other).service
        After=bench-panel\(other).service
        StartLimitIntervalSec=0
        [Service]
        Type=exec
        ExecStart=\(commands[unit].joined(separator: " "))
        """, to: "\(directory)/systemd/user/bench-panel\(unit).service")
    }
    manager = try spawn(
      [
        "env", "-i", "PATH=/usr/bin:/bin", "HOME=\(directory)", "XDG_RUNTIME_DIR=\(directory)", "/lib/systemd/systemd",
        "--user",
      ],
      reading: open("/dev/null", O_RDONLY), writing: open("/dev/null", O_WRONLY))
    loop = try EventLoop()
    connection = try Self.connect("unix:path=\(directory)/bus", loop, manager)
    connection.subscribe(to: Self.jobRemoved, from: Self.name, at: Self.path) { [unowned self] arguments, _ in
      results[arguments.1] = arguments.3
    }
    _ = try connection.callAndWait(Self.subscribe, on: Self.name, at: Self.path, ())
  }

  /// Returns when the unit runs and the other one has ended.
  func start(_ panel: Int) throws {
    let job = try connection.callAndWait(
      Self.startUnit, on: Self.name, at: Self.path, ("bench-panel\(panel).service", "replace"))
    while results[job] == nil {
      guard loop.turn(wait: .seconds(10)) else {
        throw BenchmarkError(description: "systemd has not finished a job within 10 s")
      }
    }
    let result = results.removeValue(forKey: job) ?? ""
    guard result == "done" else {
      throw BenchmarkError(description: "expected the result “done” of a systemd job, found “\(result)”")
    }
  }

  func end() {
    connection.close()
    kill(manager, SIGTERM)
    waitForExit(manager)
  }

  /// Tries to connect until the manager listens, for at most 20 s.
  private static func connect(_ address: String, _ loop: EventLoop, _ manager: pid_t) throws -> Connection {
    let end = loop.now + .seconds(20)
    while true {
      do throws(DBusError) {
        return try Connection.open(address: address, loop: loop)
      } catch {
        guard loop.now < end, waitpid(manager, nil, WNOHANG) == 0 else {
          throw BenchmarkError(description: "the user manager cannot be started: \(error)")
        }
        _ = loop.turn(wait: .milliseconds(20))
      }
    }
  }

  private static func write(_ text: String, to path: String) throws {
    for end in path.indices where path[end] == "/" && end != path.startIndex { mkdir(String(path[..<end]), 0o700) }
    guard let file = fopen(path, "w") else {
      throw BenchmarkError(description: SystemError(path).description)
    }
    fputs(text, file)
    fclose(file)
  }
}

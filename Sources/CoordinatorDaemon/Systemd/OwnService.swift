import CLinux
import EventLoops
import Glibc

/// The systemd service that navd runs as, if any. It notifies its manager (`sd_notify(3)`), and tells whether its unit restricts
/// navd and thereby every process that navd starts.
final class OwnService {
  /// Whether navd runs as a service. Its environment is then an older copy of the manager's.
  static let isService = getenv("SYSTEMD_EXEC_PID").map { String(cString: $0) == String(getpid()) } ?? false
  /// Whether the unit takes privileges from navd that navd's child processes could not regain.
  static let isRestricted = isService && linux_has_no_new_privileges() == 1

  private let loop: EventLoop
  private let address: [UInt8]?
  private let socket: Int32
  private var watchdog: Timer?

  /// - Parameter variable: looks up an environment variable.
  init(_ loop: EventLoop, _ variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }) {
    self.loop = loop
    address = variable("NOTIFY_SOCKET").flatMap(Self.address)
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    socket = address == nil ? -1 : Glibc.socket(AF_UNIX, kind, 0)
    interval = Self.interval(variable)
  }

  deinit { if socket >= 0 { close(socket) } }

  /// The interval of watchdog messages; nil if the manager expects none.
  private let interval: Duration?

  /// Sends assignments such as `READY=1` without waiting for the manager.
  func notify(_ assignments: String...) {
    guard let address, socket >= 0 else { return }
    let text = Array(assignments.joined(separator: "\n").utf8)
    _ = address.withUnsafeBytes { address in
      text.withUnsafeBytes { text in
        sendto(
          socket, text.baseAddress, text.count, Int32(MSG_NOSIGNAL),
          address.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
      }
    }
  }

  /// Sends a watchdog message and the status at each interval, as long as the loop runs.
  func startWatchdog(status: @escaping () -> String) {
    guard let interval else { return }
    notify("WATCHDOG=1", "STATUS=\(status())")
    watchdog = loop.timer(after: interval) { [weak self] in self?.startWatchdog(status: status) }
  }

  /// Half the manager's limit, if the limit applies to this process.
  private static func interval(_ variable: (String) -> String?) -> Duration? {
    guard let limit = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), limit > 0 else { return nil }
    if let process = variable("WATCHDOG_PID"), process != String(getpid()) { return nil }
    return .microseconds(max(1, limit / 2))
  }

  /// A `sockaddr_un` of minimal length; a name that begins with `@` is an abstract socket.
  private static func address(_ name: String) -> [UInt8]? {
    var path = Array(name.utf8)
    guard let first = path.first, first == UInt8(ascii: "@") || first == UInt8(ascii: "/") else { return nil }
    if first == UInt8(ascii: "@") { path[0] = 0 } else { path.append(0) }
    guard path.count <= MemoryLayout<sockaddr_un>.size - MemoryLayout<sa_family_t>.size else { return nil }
    return withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + path
  }
}

// Why this file exists: the manager that runs navd wants to know how it is, and ends one that does not say so any more;
// and what it allows navd, it allows what navd starts.

import CLinux
import EventLoops
import Glibc

/// The service that navd itself is.
final class OwnService {
  /// Whether it is one, so that its variables are the manager's, only older.
  static let isService = getenv("SYSTEMD_EXEC_PID").map { String(cString: $0) == String(getpid()) } ?? false
  /// Whether its unit takes something from it that what it starts would not get back.
  static let isRestricted = isService && linux_has_no_new_privileges() == 1

  private let loop: EventLoop
  private let address: [UInt8]?
  private let socket: Int32
  private var ping: Timer?

  /// - Parameter variable: looks up an environment variable.
  init(_ loop: EventLoop, _ variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }) {
    self.loop = loop
    address = variable("NOTIFY_SOCKET").flatMap(Self.address)
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    socket = address == nil ? -1 : Glibc.socket(AF_UNIX, kind, 0)
    interval = Self.interval(variable)
  }

  deinit { if socket >= 0 { close(socket) } }

  /// How often the manager wants to hear of it; nil if it does not.
  private let interval: Duration?

  /// Says something in the manager's words (`sd_notify(3)`), such as `READY=1`. One who does not listen is not waited for.
  func tell(_ assignments: String...) {
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

  /// Says from now on, as long as the loop turns, that it does, and how things are.
  func keepTelling(status: @escaping () -> String) {
    guard let interval else { return }
    tell("WATCHDOG=1", "STATUS=\(status())")
    ping = loop.timer(after: interval) { [weak self] in self?.keepTelling(status: status) }
  }

  /// Twice as often as the manager asks for, if it asks this process.
  private static func interval(_ variable: (String) -> String?) -> Duration? {
    guard let limit = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), limit > 0 else { return nil }
    if let process = variable("WATCHDOG_PID"), process != String(getpid()) { return nil }
    return .microseconds(max(1, limit / 2))
  }

  /// A `sockaddr_un` as long as it has to be; a name that begins with `@` is none in the file system.
  private static func address(_ name: String) -> [UInt8]? {
    var path = Array(name.utf8)
    guard let first = path.first, first == UInt8(ascii: "@") || first == UInt8(ascii: "/") else { return nil }
    if first == UInt8(ascii: "@") { path[0] = 0 } else { path.append(0) }
    guard path.count <= MemoryLayout<sockaddr_un>.size - MemoryLayout<sa_family_t>.size else { return nil }
    return withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + path
  }
}

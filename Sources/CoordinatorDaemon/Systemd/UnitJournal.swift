import Glibc
import Processes

/// The journal of systemd, if there is one (systemd.journal-fields(7)).
final class UnitJournal {
  private static let path = "/run/systemd/journal/socket"
  private let manager: SystemdManager

  init(of manager: SystemdManager) { self.manager = manager }

  /// Writes one entry, which may have several lines.
  /// - Returns: whether the journal has taken it.
  func write(_ text: [UInt8], of unit: ByteString) -> Bool {
    let end = [UInt8(ascii: "\n")]
    // A field with lines is written with its length (systemd's “Native Journal Protocol”).
    let length = withUnsafeBytes(of: UInt64(text.count).littleEndian) { Array($0) }
    let entry =
      Array("PRIORITY=6\nSYSLOG_IDENTIFIER=navd\nUSER_UNIT=\(unit)\nMESSAGE\n".utf8) + length + text + end
    let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    // The manager's journal may not be the one that this process sees, for example in a container.
    return manager.process.map { send(entry, by: socket, to: "/proc/\($0)/root" + Self.path) } ?? false
      || send(entry, by: socket, to: Self.path)
  }

  private func send(_ entry: [UInt8], by socket: Int32, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(
          socket, entry, entry.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), $0,
          socklen_t(MemoryLayout<sockaddr_un>.size)) == entry.count
      }
    }
  }
}

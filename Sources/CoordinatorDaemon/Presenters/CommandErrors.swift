import DBusValues
import EventLoops
import Glibc
import Processes
import TextFormats

/// The standard error of commands. Each line is passed on to the journal of the command's unit, or to navd's own standard error,
/// and the last line is kept for the result of a command that fails (D7).
final class CommandErrors {
  private var files: ErrorFiles!
  /// The units of commands that the service manager runs, by their markers, until no more lines of them will come.
  private(set) var units: [ByteString: UnitName] = [:]
  private let journal = Journal()

  private let manager: SystemdManager

  /// - Parameter manager: the service manager that owns the journal.
  init(_ loop: EventLoop, _ runtime: RuntimeDirectory, _ manager: SystemdManager) {
    self.manager = manager
    files = ErrorFiles(directory: ByteString(runtime.name), loop: loop) { [unowned self] marker, line in
      write(line, of: marker)
    } onLeftOut: { [unowned self] marker, count in
      let why = "navd left out \(count) lines of a command: more than \(ErrorFiles.maxLinesPerSecond) in a second"
      write(Array(why.utf8), of: marker)
    } onEnd: { [unowned self] marker in
      units[marker] = nil
    }
  }

  private func write(_ line: [UInt8], of marker: ByteString) {
    if let unit = units[marker], journal.write(line, of: unit, manager.process) { return }
    StandardError.write(String(decoding: line, as: UTF8.self).escapingControls().utf8)
  }

  /// Creates the file for the errors of a command.
  /// - Parameter unit: the command's unit, if the service manager runs it.
  /// - Returns: the descriptor for the command's standard error; nil if there is no room for a file, so that the command gets navd's.
  func begin(_ marker: ByteString, unit: UnitName?) -> Descriptor? {
    guard let file = try? files.create(marker) else { return nil }
    units[marker] = unit
    return Descriptor(owning: file)
  }

  /// Follows the files of the previous navd.
  /// - Parameter running: the commands that may still run, with their units.
  func resume(_ running: [ByteString: UnitName?]) {
    units = running.compactMapValues { $0 }
    files.resume { running.keys.contains($0) }
  }

  /// Notes the unit in which the previous navd started a command, if it is another one.
  func rename(_ marker: ByteString, to unit: UnitName) { units[marker] = unit }

  /// Ends following the errors of a command that has ended.
  /// - Returns: the command's last line, as people read it; nil if there was none.
  func finish(_ marker: ByteString) -> String? { ErrorText(files.finish(marker))?.text }
}

/// The journal of systemd, if there is one (systemd.journal-fields(7)).
private final class Journal {
  private static let path = "/run/systemd/journal/socket"
  private lazy var socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)

  deinit { close(socket) }

  /// - Parameter manager: the process of the manager. In a container, for example, its journal may not be the one that this process sees.
  /// - Returns: whether the journal has taken it.
  func write(_ line: [UInt8], of unit: UnitName, _ manager: UInt32?) -> Bool {
    let fields =
      Array("PRIORITY=6\nSYSLOG_IDENTIFIER=navd\nUSER_UNIT=\(unit)\nMESSAGE=".utf8) + line + [UInt8(ascii: "\n")]
    return manager.map { send(fields, to: "/proc/\($0)/root" + Self.path) } ?? false || send(fields, to: Self.path)
  }

  private func send(_ fields: [UInt8], to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(
          socket, fields, fields.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), $0,
          socklen_t(MemoryLayout<sockaddr_un>.size)) == fields.count
      }
    }
  }
}

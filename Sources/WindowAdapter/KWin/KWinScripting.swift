import DBus
import DBusValues
import EventLoops
import Glibc

/// Runs scripts in KWin, one after another, by its object on the session bus.
final class KWinScripting {
  typealias Completion = (Result<Void, DBusError>) -> Void

  static let bus: BusName = "org.kde.KWin"
  private static let object: ObjectPath = "/Scripting"
  private static let interface: InterfaceName = "org.kde.kwin.Scripting"
  private static let load = Method(
    interface, "loadScript", in: Arg<String>("file"), Arg<String>("name"), out: Arg<Int32>("number"))
  private static let start = Method(interface, "start")
  private static let unload = Method(interface, "unloadScript", in: Arg<String>("name"), out: Arg<Bool>("was loaded"))

  private let connection: Connection
  /// The directory of the files from which KWin reads scripts.
  private let directory: String

  init(_ connection: Connection) {
    self.connection = connection
    directory = Environment["XDG_RUNTIME_DIR"] ?? Environment["TMPDIR"] ?? "/tmp"
  }

  /// Starts a script, and replaces one with the same name.
  /// - Parameter completion: called when KWin has accepted the script, which it reads after that.
  func start(_ script: String, as name: String, _ completion: @escaping Completion) {
    let path = self.path(of: name)
    do throws(SystemError) { try Self.write(script, to: path) } catch {
      return completion(.failure(DBusError(name: .failed, message: "\(path) cannot be written: \(error.reason)")))
    }
    let (connection, bus, object) = (connection, Self.bus, Self.object)
    connection.call(Self.unload, on: bus, at: object, name) { _ in
      connection.call(Self.load, on: bus, at: object, (path, name)) { result in
        switch result {
        case .failure(let error): completion(.failure(error))
        // The script is not run by its number: KWin 5 reuses the numbers of ended scripts.
        case .success: connection.call(Self.start, on: bus, at: object, ()) { completion($0) }
        }
      }
    }
  }

  /// Writes a file, and replaces an existing one.
  static func write(_ script: String, to path: String) throws(SystemError) {
    unlink(path)
    let file = try check("open") { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
    defer { close(file) }
    let bytes = Array(script.utf8)
    let written = try check("write") { Glibc.write(file, bytes, bytes.count) }
    // The disk is full, or the file would be larger than the limit.
    guard written == bytes.count else { throw SystemError(code: ENOSPC, operation: "write") }
  }

  /// Removes the file of a script that KWin has read.
  func forgetFile(of name: String) { unlink(path(of: name)) }

  /// Ends a script.
  func end(_ name: String) {
    forgetFile(of: name)
    connection.call(Self.unload, on: Self.bus, at: Self.object, name) { _ in }
  }

  private func path(of name: String) -> String { "\(directory)/\(name)-\(getpid()).js" }
}

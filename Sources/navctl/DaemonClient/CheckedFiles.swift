import CoordinatorAPI
import DBusValues
import EventLoops
import Glibc
import TextFormats

/// The configuration files as `navd --check-config` reads them with navctl's variables. navctl sends these variables with its
/// requests, so the commands of these requests get them, too.
struct CheckedFiles {
  let directories: [String]
  let destinations: [String]
  /// What destinations say of windows, by the names of the destinations.
  let windows: [String: Properties]
  /// The mistakes and warnings, one line each.
  let mistakes: [String]
  let warnings: [String]

  /// - Parameter address: the address of the bus; nil for the session bus.
  /// - Throws: `Failure` if navd cannot be run.
  init(_ operation: String, address: String?) throws(Failure) {
    if let address { setenv("DBUS_SESSION_BUS_ADDRESS", address, 1) }
    let output = try Self.outputOfNavd(operation)
    guard let report = try? JSON.parse(String(decoding: output, as: UTF8.self)) else {
      throw Failure(operation, "navd cannot check the configuration files", hint: "run “navctl check-config”")
    }
    func texts(_ key: String) -> [String] { report[key]?.array?.compactMap(\.string) ?? [] }
    func lines(_ key: String) -> [String] { report[key]?.array?.prefix(Self.maxLines).map(Self.line) ?? [] }
    (directories, destinations) = (texts("directories"), texts("destinations"))
    windows = (report["windows"]?.object ?? [:]).mapValues { ($0.object ?? [:]).compactMapValues(Self.value) }
    (mistakes, warnings) = (lines("faults"), lines("warnings"))
  }

  /// The limit of lines, as in navd's description of itself.
  private static let maxLines = 100

  /// A value of `window` as on the bus: a text, a boolean, or a number of pixels or milliseconds.
  private static func value(_ json: JSON) -> Value? {
    switch json {
    case .string(let text): .string(text)
    case .boolean(let flag): .boolean(flag)
    default: json.unsigned.map { .uint32(UInt32(clamping: $0)) }
    }
  }

  /// The mistakes in the file of a destination.
  func mistakes(ofDestination name: String) -> [String] { mistakes.filter { $0.parted(at: "/\(name).toml:") != nil } }

  private static func line(_ fault: JSON) -> String {
    let position = [fault["line"], fault["column"]].compactMap { $0?.text }
    return ([fault["file"]?.string ?? ""] + position).joined(separator: ":") + ": " + (fault["message"]?.string ?? "")
  }

  private static func outputOfNavd(_ operation: String) throws(Failure) -> [UInt8] {
    var ends: [Int32] = [-1, -1]
    let process: pid_t
    do throws(SystemError) {
      try check("pipe") { pipe(&ends) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      defer { close(ends[1]) }
      let command = [CheckConfiguration.beside ?? "navd", "--check-config", "--json"]
      process = try spawn(command, reading: STDIN_FILENO, writing: ends[1])
    } catch {
      close(ends[0])
      throw Failure(
        operation, SystemError(code: error.code, operation: "cannot run navd").description,
        hint: "install it beside navctl or in PATH")
    }
    defer { close(ends[0]) }
    let output = try? contents(of: ends[0])
    waitForExit(process)
    return output ?? []
  }
}

import CLinux
import CoordinatorAPI
import EventLoops
import Glibc
import TextFormats

/// The configuration files as `navd --check-config` reads them with navctl's variables. navctl sends these variables with its
/// requests, so the commands of these requests get them, too.
struct CheckedFiles {
  let directories: [String]
  let destinations: [String]
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
    (mistakes, warnings) = (lines("faults"), lines("warnings"))
  }

  /// The limit of lines, as in navd's description of itself.
  private static let maxLines = 100

  private static func line(_ fault: JSON) -> String {
    let position = [fault["line"], fault["column"]].compactMap { $0?.text }
    return ([fault["file"]?.string ?? ""] + position).joined(separator: ":") + ": " + (fault["message"]?.string ?? "")
  }

  private static func outputOfNavd(_ operation: String) throws(Failure) -> [UInt8] {
    func failure(_ error: Int32) -> Failure {
      Failure(
        operation, SystemError(code: error, operation: "cannot run navd").description,
        hint: "install it beside navctl or in PATH")
    }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure(errno) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    for end in ends { posix_spawn_file_actions_addclose(&actions, end) }
    let command = ["navd", "--check-config", "--json"]
    var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var process: pid_t = 0
    let error = posix_spawnp(
      &process, CheckConfiguration.beside ?? "navd", &actions, nil, &words, linux_environment())
    close(ends[1])
    guard error == 0 else { throw failure(error) }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      if count > 0 { output += buffer[..<count] } else if count == 0 || errno != EINTR { break }
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return output
  }
}

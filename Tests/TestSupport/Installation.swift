// Why this file exists: what `make install` puts in place is tried where it was put, in more than one test file.

import Glibc

/// What stands for this package's directory.
private let package = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

extension Session {
  /// Installs what was built beside the tests, as a user does for themselves; or takes it away again.
  /// - Throws: `Failure` with what `make` said.
  public func make(_ target: String) throws {
    let built = String(Self.program("").dropLast())
    let run = try run(
      program: "/usr/bin/make",
      ["--no-print-directory", "-C", package, target, "PREFIX=\(path(".local"))", "BUILT=\(built)"])
    guard run.exitCode == 0 else { throw Failure("make \(target): \(run.outputText)\(run.errorText)") }
  }

  /// Runs the installed navctl to its end.
  public func installedNavctl(_ arguments: String...) throws -> Program {
    try run(program: path(".local/bin/navctl"), arguments)
  }

  /// The process that is navd as a service; nil while there is none.
  public func navdProcess() throws -> pid_t? {
    let lines = try systemctl("show", "--property=MainPID", "--value", "navd.service").lines
    return lines.first.flatMap { pid_t($0) }.flatMap { $0 == 0 ? nil : $0 }
  }

  public func isActive(_ unit: String) throws -> Bool { try systemctl("is-active", unit).exitCode == 0 }

  /// A file of the session's user among the manager's units, which it then reads again.
  /// - Parameter name: as in `navd.service.d/test.conf`.
  public func write(_ text: String, toUnit name: String) throws {
    let units = "config/systemd/user"
    var directory = path("config")
    for part in (units + "/" + name).split(separator: "/").dropFirst().dropLast() {
      directory += "/" + part
      mkdir(directory, 0o700)
    }
    guard let file = fopen(path(units + "/" + name), "w") else { throw Failure("\(name) cannot be written") }
    fputs(text, file)
    fclose(file)
    let reload = try systemctl("daemon-reload")
    guard reload.exitCode == 0 else { throw Failure("daemon-reload: \(reload.errorText)") }
  }
}

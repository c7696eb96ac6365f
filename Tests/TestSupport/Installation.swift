import Glibc

/// Tests of navd as an installed service: installing, and running the installed programs.
extension Session {
  /// Runs a target of the Makefile (`install`, `uninstall`) for the session's user, with the programs built beside the
  /// tests.
  /// - Parameter variables: variables of the Makefile, such as ``noTexts``.
  /// - Throws: `Failure` with the output of `make`.
  public func make(_ target: String, _ variables: [String] = []) throws {
    let built = String(Self.program("").dropLast())
    let run = try run(
      program: "/usr/bin/make",
      ["--no-print-directory", "-C", Files.package, target, "PREFIX=\(path(".local"))", "BUILT=\(built)"] + variables)
    guard run.exitCode == 0 else { throw Failure("make \(target): \(run.outputText)\(run.errorText)") }
  }

  /// Variables of the Makefile for an installation without manual pages and completions, which debug programs take seconds to write.
  public static let noTexts = ["MANUALS=", "COMPLETIONS="]

  /// Runs the installed navctl and waits for its end.
  public func installedNavctl(_ arguments: String...) throws -> Program {
    try run(program: path(".local/bin/navctl"), arguments)
  }

  /// The process ID of navd as a service; nil while navd does not run.
  public func navdProcess() throws -> pid_t? {
    let lines = try systemctl("show", "--property=MainPID", "--value", "navd.service").lines
    return lines.first.flatMap { pid_t($0) }.flatMap { $0 == 0 ? nil : $0 }
  }

  public func isActive(_ unit: String) throws -> Bool { try systemctl("is-active", unit).exitCode == 0 }

  /// Writes a unit file of the session's user and reloads the manager.
  /// - Parameter name: the name, for example `navd.service.d/test.conf`.
  public func write(_ text: String, toUnit name: String) throws {
    try write(text, to: "config/systemd/user/\(name)")
    let reload = try systemctl("daemon-reload")
    guard reload.exitCode == 0 else { throw Failure("daemon-reload: \(reload.errorText)") }
  }
}

import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing

// Privacy of arguments, environments and results (D6).

private typealias Rows = CoordinatorInterface

private let secrets = ["secret-argument", "secret-variable", "secret-output"]

/// The options of a command with a secret argument.
private func command(_ words: String...) -> Properties { ["command": (words + ["secret-argument"]).value] }

/// Items with secrets: commands that run, have ended, or never start, and results that a presenter and another client return.
extension Session {
  fileprivate func endCommandWithSecrets() throws {
    let options = command("sh", "-c", "echo secret-output; exit 3", "sh").merging([
      "environment": ["TOKEN": "secret-variable"].value, "directory": .string("/tmp"), "group": .string("panels"),
    ]) { $1 }
    let result = try ending(of: present("fact", "1", options)).result
    #expect(result["output"] == .bytes(Array("secret-output\n".utf8)))
  }

  fileprivate func presentMissingCommand() throws {
    #expect(try ending(of: present("missing", "", command("/nowhere/program"))).reason == "failed")
  }

  /// Presents a command that runs.
  @discardableResult
  fileprivate func presentWaitingCommand(_ binding: String) throws -> ObjectPath {
    let path = try present(binding, "", command("sh", "-c", "sleep 60"))
    #expect(try call(Rows.wait, (path, "presented")).0 == "")
    return path
  }

  /// Presents a command whose end another client reports.
  fileprivate func closeCommandWithResult() throws {
    let closed = try presentWaitingCommand("closed")
    try call(Rows.closed, (closed, ["token": .string("secret-output")]))
    _ = try ending(of: closed)
  }

  /// Dismisses an item whose presenter returns a result.
  fileprivate func dismissItemWithResult(of presenter: BusPresenter) throws {
    presenter.result = ["token": .string("secret-output")]
    let shown = try present("shown")
    #expect(try call(Rows.wait, (shown, "presented")).0 == "")
    try dismiss("shown")
    #expect(try ending(of: shown).result["token"] == .string("secret-output"))
  }

  /// The answers to everybody who asks.
  fileprivate func answers() throws -> [String] {
    var answers: [String] = []
    for arguments in [["list"], ["show", "waiting"], ["history"], ["members", "--all"], ["destinations"]] {
      let run = try run(program: Self.program("navctl"), arguments + ["--json"])
      #expect(run.exitCode == 0, "\(run.errorText)")
      answers.append(run.outputText)
    }
    let objects = try run(
      program: "/usr/bin/gdbus",
      [
        "call", "--session", "--dest", CoordinatorNames.bus.text, "--object-path", CoordinatorNames.object.text,
        "--method", "org.freedesktop.DBus.ObjectManager.GetManagedObjects",
      ])
    #expect(objects.exitCode == 0)
    return answers + [objects.outputText]
  }
}

@Test("D6: arguments, environment and results appear in no signal, property, history, state or log")
func privacy_argumentsAndResults_areNotDisclosed() throws {
  let session = try Session(starting: false)
  try session.start(["--log-level", "trace"])
  let monitor = try session.start(
    program: "/usr/bin/gdbus", ["monitor", "--session", "--dest", CoordinatorNames.bus.text])
  try session.wait("the monitor is listening") { monitor.outputText.contains("is owned by") }

  try session.endCommandWithSecrets()
  try session.presentMissingCommand()
  try session.closeCommandWithResult()
  try session.presentWaitingCommand("waiting")
  let presenter = try BusPresenter(session, destination: "shown")
  try session.dismissItemWithResult(of: presenter)
  try session.wait("the monitor has seen all messages") {
    monitor.outputText.contains("Dismissed ('shown'") && monitor.outputText.contains("InterfacesRemoved")
  }

  for text in try session.answers() + [monitor.outputText, session.navd?.errorText ?? ""] {
    #expect(!text.isEmpty)
    for secret in secrets { #expect(!text.contains(secret), "\(secret) in: \(text)") }
  }
}

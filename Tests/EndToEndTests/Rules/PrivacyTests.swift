import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing

// Privacy of arguments, environments and results (D6).

private typealias Rows = CoordinatorInterface

@Test("D6: arguments, environment and results appear in no signal, property, history, state or log")
func privacy_argumentsAndResults_areNotDisclosed() throws {
  let session = try Session(starting: false)
  try session.start(["--log-level", "trace"])
  let monitor = try session.start(
    program: "/usr/bin/gdbus", ["monitor", "--session", "--dest", CoordinatorNames.bus.text])
  try session.wait("the monitor is listening") { monitor.outputText.contains("is owned by") }

  let command = ["sh", "-c", "echo secret-output; exit 3", "sh", "secret-argument"]
  let options: Properties = [
    "command": command.value, "environment": ["TOKEN": "secret-variable"].value, "directory": .string("/tmp"),
    "group": .string("panels"),
  ]
  let handle = try session.present("fact", "1", options)
  let result = try session.ending(of: handle).result
  #expect(result["output"] == .bytes(Array("secret-output\n".utf8)))
  // One command was never started, and another client reports the end of the other one.
  let missing = try session.present("missing", "", ["command": ["/nowhere/program", "secret-argument"].value])
  #expect(try session.ending(of: missing).reason == "failed")
  let closed = try session.present("closed", "", ["command": ["sh", "-c", "sleep 60", "secret-argument"].value])
  #expect(try session.call(Rows.wait, (closed, "presented")).0 == "")
  try session.call(Rows.closed, (closed, ["token": .string("secret-output")]))
  _ = try session.ending(of: closed)
  let waiting = try session.present("waiting", "", ["command": ["sh", "-c", "sleep 60", "secret-argument"].value])
  #expect(try session.call(Rows.wait, (waiting, "presented")).0 == "")
  let presenter = try BusPresenter(session, destination: "shown")
  presenter.result = ["token": .string("secret-output")]
  let shown = try session.present("shown")
  #expect(try session.call(Rows.wait, (shown, "presented")).0 == "")
  try session.dismiss("shown")
  #expect(try session.ending(of: shown).result["token"] == .string("secret-output"))
  try session.wait("the monitor has seen all messages") {
    monitor.outputText.contains("Dismissed ('shown'") && monitor.outputText.contains("InterfacesRemoved")
  }

  var told = [monitor.outputText, session.navd?.errorText ?? ""]
  for arguments in [["list"], ["show", "waiting"], ["history"], ["members", "--all"], ["destinations"]] {
    let run = try session.run(program: Session.program("navctl"), arguments + ["--json"])
    #expect(run.exitCode == 0, "\(run.errorText)")
    told.append(run.outputText)
  }
  let objects = try session.run(
    program: "/usr/bin/gdbus",
    [
      "call", "--session", "--dest", CoordinatorNames.bus.text, "--object-path", CoordinatorNames.object.text,
      "--method", "org.freedesktop.DBus.ObjectManager.GetManagedObjects",
    ])
  #expect(objects.exitCode == 0)
  told.append(objects.outputText)
  for text in told {
    #expect(!text.isEmpty)
    for secret in ["secret-argument", "secret-variable", "secret-output"] {
      #expect(!text.contains(secret), "\(secret) in: \(text)")
    }
  }
}

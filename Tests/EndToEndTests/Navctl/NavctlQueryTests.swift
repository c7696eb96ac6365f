import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// The verbs of navctl that only ask: list, show, destinations, history and check-config.

private typealias Rows = CoordinatorInterface

@Test("navctl list prints tab-separated lines in a pipe, and the whole state with --json")
func navctl_list_printsTheState() throws {
  let session = try Session(destinations: ["sleeper": "command = [\"sleep\", \"60\"]\n"])
  #expect(try session.navctl("list").outputText == "")
  let empty = try #require(try session.navctl("list", "--json").json)
  #expect(try empty == session.state() && empty["presentations"] == [] && empty["serial"] == 0)
  try session.present("volume", "", ["group": .string("panels"), "title": .string("A\tB\nC")])
  let path = try session.present("fact", "7", ["destination": .string("sleeper")])
  _ = try session.call(Rows.wait, (path, "presented"))
  let plain = try session.navctl("list")
  let rows = plain.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  #expect(rows.count == 2)
  #expect(rows.first?.prefix(8) == ["1", "volume", "", "presented", "", "panels", "volume", ""])
  #expect(rows.first?.count == 9)
  #expect(rows.last?.prefix(5) == ["2", "fact", "7", "presented", "sleeper"])
  let json = try session.navctl("list", "--json")
  #expect(json.lines.count == 1)
  #expect(json.json == (try session.state()))
  #expect(
    json.json?["presentations"]?.array?.last?["pid"]?.unsigned == session.processes().first.map { UInt64($0.pid) })
  #expect(try session.navctl("list", "--group", "panels").lines.count == 1)
  #expect(try session.navctl("list", "--group", "none").lines.count == 0)
}

@Test("navctl show and is-presented report one binding")
func navctl_showAndIsPresented_reportOneBinding() throws {
  let session = try Session()
  try session.present("fact", "7", ["title": .string("T"), "value": ["n": Value.int64(3)].value])
  let shown = try session.navctl("show", "fact", "--json")
  let since = try #require(shown.json?["since"])
  #expect(
    shown.json == [
      "binding": "fact", "id": "7", "presentation": 1, "handle": "/org/navd/Coordinator1/presentation/1",
      "phase": "presented", "title": "T", "value": ["n": 3],
      "container-values": [:], "serial": 1, "since": since, "destination-kind": "state", "presented-serial": 1,
    ])
  #expect(try session.navctl("show", "fact").outputText.contains("title\tT\n"))
  for (arguments, code, word) in [
    (["fact"], 0, "yes"), (["fact", "7"], 0, "yes"), (["fact", "8"], 3, "no"), (["note"], 3, "no"),
  ] as [([String], Int32, String)] {
    let run = try session.run(program: Session.program("navctl"), ["is-presented"] + arguments)
    #expect(run.exitCode == code)
    #expect(run.outputText == "\(word)\n")
    #expect(run.errorText == "")
    let json = try session.run(program: Session.program("navctl"), ["is-presented", "--json"] + arguments)
    #expect(json.json?["presented"]?.text == (code == 0 ? "true" : "false"))
    #expect(json.exitCode == code)
  }
  #expect(try session.navctl("is-presented", "fact", "-q").outputText == "")
}

@Test("navctl destinations, history, introspect, --version and --help print their lists")
func navctl_otherQueries_areAnswered() throws {
  let session = try Session(destinations: [
    "volume": "command = [\"pulsemixer\", \"-x\"]\ngroup = \"panels\"\n", "state": "",
    "wall": """
    command = ["sleep", "9"]
    restart = "always"
    restore = "login"
    inhibit = ["sleep", "idle"]
    holds = { locked = "dismiss", dnd = "postpone" }
    """,
  ])
  let rows = try session.navctl("destinations").lines
  #expect(
    rows == [
      "state\tstate\t\t\t\t", "volume\tcommand\tpanels\t\tpulsemixer -x\t",
      "wall\tcommand\t\t\tsleep 9\trestart=always restore=login inhibit=idle,sleep holds=dnd:postpone,locked:dismiss",
    ])
  let json = try session.navctl("destinations", "--json").json
  let entries = try #require(json?.array)
  #expect(entries[1]["name"] == "volume")
  #expect(entries[1]["command"] == ["pulsemixer", "-x"])
  #expect(entries[1]["file"]?.string == session.destinationPath("volume"))
  #expect(entries[2]["holds"]?["locked"] == "dismiss")
  #expect(entries[2]["inhibit"] == ["idle", "sleep"])
  #expect(entries[2]["restore"] == "login")
  #expect(entries[2]["restart"]?["limit"] == 10)

  try session.present("a", "1")
  try session.present("a", "2")
  #expect(try session.navctl("history").outputText.hasPrefix("1\ta\t1\treplaced\t\t3\t"))
  #expect(try session.navctl("history", "--json").json?.array?.first?["reason"] == "replaced")

  let text = try session.navctl("introspect")
  for name in [
    "org.navd.Coordinator1", "org.navd.Presentation1", "org.navd.Group1", "org.navd.Stack1", "org.navd.Hold1",
    "org.navd.Presenter1", "org.navd.WindowSystem1", "Present (s binding, s id, a{sv} options)",
  ] {
    #expect(text.outputText.contains(name))
  }
  #expect(try session.navctl("introspect", "--json").json?.array?.count == 7)
  #expect(try session.navctl("introspect", "org.navd.Nothing").exitCode == 4)
  for program in ["navctl", "navd", "navd-windows"] {
    for option in ["--version", "-V"] {
      let version = try session.run(program: Session.program(program), [option])
      #expect(version.exitCode == 0 && version.outputText == "\(program) \(Release.version)\n", "\(program) \(option)")
    }
  }
  #expect(try session.navctl("--help").outputText.contains("is-presented"))
}

@Test("navctl reload and check-config report the file, line and mistake")
func navctl_configuration_isChecked() throws {
  let session = try Session(destinations: ["fact": "style = \"sheet\"\n"])
  #expect(try session.navctl("reload").exitCode == 0)
  let good = try session.navctl("check-config")
  #expect(good.exitCode == 0, "\(good.errorText)")
  try session.write("style = \"sheet\"\n\ncolour = 3\n", toDestination: "fact")
  for arguments in [["reload"], ["check-config"], ["check-config", session.path("config")]] {
    let bad = try session.run(program: Session.program("navctl"), arguments)
    #expect(bad.exitCode == 1, "\(arguments)")
    #expect((bad.outputText + bad.errorText).contains("fact.toml:3"), "\(arguments): \(bad.outputText)\(bad.errorText)")
    #expect((bad.outputText + bad.errorText).contains("colour"), "\(arguments)")
  }
  #expect(try session.navctl("check-config", "/nowhere").exitCode != 0)
  let empty = try session.navctl("check-config", "")
  #expect(empty.exitCode == 2)
  #expect(
    empty.errorText.hasPrefix("navctl: check-config: expected a file or a directory, found an empty text; "),
    "\(empty.errorText)"
  )
  // A missing program is only a warning: navd may have another PATH.
  try session.write("command = [\"no-such-program\"]\n", toDestination: "fact")
  let warned = try session.navctl("check-config")
  #expect(warned.exitCode == 0)
  #expect(
    warned.lines.first?.hasPrefix("\(session.destinationPath("fact")): warning: no-such-program: not found") == true)
  try session.write("style = \"sheet\"\n\ncolour = 3\n", toDestination: "fact")
  try session.stop()
  #expect(try session.navctl("check-config").exitCode == 1)
}

@Test("navctl reload starts navd if necessary, and reports mistakes in the files")
func navctl_reload_startsNavd() throws {
  let session = try Session(destinations: ["fact": "colour = 3\n"], starting: false, activatable: true)
  let bad = try session.navctl("reload")
  #expect(bad.exitCode == 1)
  #expect(bad.errorText.contains("fact.toml:1"), "\(bad.errorText)")
  #expect(try session.navctl("list").exitCode == 0)
  try session.write("style = \"sheet\"\n", toDestination: "fact")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.navctl("quit").exitCode == 0)
}

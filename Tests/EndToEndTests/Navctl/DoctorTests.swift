import CoordinatorAPI
import DBus
import Glibc
import TestSupport
import Testing
import TextFormats

// navctl doctor: what it finds in a session, and what it advises.

private typealias Rows = CoordinatorInterface

@Test("The doctor finds nothing to do in a session in order, and says where things are")
func doctor_inOrder_saysOK() throws {
  let session = try Session(destinations: ["fact": "command = [\"sleep\", \"60\"]\n"])
  let healthy = try session.navctl("doctor")
  #expect(healthy.exitCode == 0, "\(healthy.outputText)")
  let rows = healthy.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  #expect(rows.map { $0[0] } == Array(repeating: "ok", count: rows.count))
  #expect(rows.map { $0[1] } == ["bus", "navd", "commands", "record", "files", "programs", "windows", "failures"])
  func text(_ subject: String) -> String { rows.first { $0[1] == subject }?[2] ?? "" }
  #expect(text("navd").contains("process \(session.navd?.processID ?? 0)"), "\(text("navd"))")
  #expect(text("navd").contains(Release.version) && text("navd").contains("started by "))
  #expect(text("files").hasPrefix("1 destination, no mistakes"))
  #expect(text("windows") == "no adapter is running, and no destination follows windows")
}

@Test("The doctor says so if a destination follows windows and nothing knows these")
func doctor_withoutWindowSystem_saysWhatToDo() throws {
  let session = try Session(destinations: ["files": "command = [\"sleep\", \"60\"]\nwindow = true\n"])
  let missing = try session.navctl("doctor")
  #expect(missing.exitCode == 1)
  let line = missing.lines.first { $0.contains("\twindows\t") } ?? ""
  #expect(
    line.hasPrefix(
      "!!\twindows\tno adapter is running, so windows of files are not followed, raised or hidden: an item is open while its "
        + "program runs; start navd-windows"), "\(line)")
  // The item is shown all the same (N2).
  #expect(try session.navctl("present", "files").exitCode == 0)
  try session.poll("it is shown") { try session.navctl("list").outputText.contains("presented") }
  let adapter = try ScriptedWindowSystem(session)
  let known = try session.navctl("doctor")
  #expect(known.exitCode == 0)
  #expect(known.lines.contains("ok\twindows\tknown by the backend “scripted”"))
  adapter.connection.close()
}

@Test(
  "The doctor says so if the adapter knows the windows of Hyprland or niri by a protocol that tells little",
  arguments: [
    "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET",
  ])
private func doctor_withAnotherBackendThanThatOfTheSocket_saysWhatToDo(_ socket: String) throws {
  let session = try Session()
  let adapter = try ScriptedWindowSystem(session)
  adapter.backend = "wlr"
  func finding() throws -> String { try session.navctl("doctor").lines.first { $0.contains("\twindows\t") } ?? "" }
  #expect(try finding() == "ok\twindows\tknown by the backend “wlr”")
  session.environment[socket] = session.path("socket")
  let line = try finding()
  #expect(
    line.hasPrefix("!!\twindows\tknown by the backend “wlr”, which tells no processes, though \(socket) is set here; "))
  #expect(line.hasSuffix("dbus-update-activation-environment --systemd \(socket), then start navd-windows again"))
  adapter.backend = "niri"
  #expect(try finding() == "ok\twindows\tknown by the backend “niri”")
  adapter.connection.close()
}

@Test("The doctor says what is wrong with files, programs and the last failures, and what to do")
func doctor_withTrouble_saysWhatToDo() throws {
  let session = try Session(destinations: ["fact": "command = [\"no-such-program\"]\n", "note": "colour = 3\n"])
  try session.present("fact")
  try session.poll("it has failed") { try session.navctl("history").outputText.contains("failed") }
  let doctor = try session.navctl("doctor", "--json")
  #expect(doctor.exitCode == 1)
  let findings = try #require(doctor.json?.array)
  let wrong = findings.filter { $0["ok"] == false }
  #expect(wrong.map { $0["subject"]?.string } == ["files", "programs", "failures"])
  #expect(wrong.allSatisfy { $0["advice"]?.string?.isEmpty == false })
  let texts = wrong.map { $0["text"]?.string ?? "" }
  #expect(texts[0].contains("note.toml:1:1") && texts[0].contains("colour"))
  #expect(texts[1].contains("fact.toml") && texts[1].contains("no-such-program"))
  #expect(texts[2].hasPrefix("1, the last one of fact") && texts[2].contains("no-such-program"))
  // The list of destinations also tells the mistakes.
  #expect(try session.navctl("destinations").errorText.contains("note.toml:1:1"))
}

@Test("The doctor forgets a failure when the item is open again, as the list to which it points does")
func doctor_whenWhatFailedIsOpenAgain_findsNothing() throws {
  let session = try Session(destinations: ["fact": "command = [\"no-such-program\"]\n"])
  try session.present("fact")
  try session.poll("it has failed") { try session.navctl("history").outputText.contains("failed") }
  try session.write("command = [\"sleep\", \"60\"]\n", toDestination: "fact")
  #expect(try session.navctl("reload").exitCode == 0)
  #expect(try session.navctl("open", "fact", "2").exitCode == 0)
  #expect(try session.navctl("list", "--failed").outputText.isEmpty)
  let doctor = try session.navctl("doctor")
  #expect(doctor.exitCode == 0 && doctor.lines.contains("ok\tfailures\tnone"), "\(doctor.outputText)")
}

@Test("The doctor tells a missing program from other warnings, and what to do about each")
func doctor_withWarnings_saysWhatToDoAboutEach() throws {
  let session = try Session(destinations: [
    "my panel": "command = [\"sleep\", \"60\"]\n", "menu": "command = [\"no-such-program\"]\n",
  ])
  let launcher = session.path("bin/rofi")
  try session.write("#!/bin/sh\n", to: "bin/rofi")
  try #require(chmod(launcher, 0o700) == 0)
  try session.write("command = [\"\(launcher)\"]\n", toDestination: "apps")
  for isRunning in [true, false] {
    if !isRunning { try session.stop() }
    let findings = try #require(try session.navctl("doctor", "--json").json?.array)
    let wrong = findings.filter { $0["ok"] == false && $0["subject"] != "navd" }
    #expect(wrong.map { $0["subject"]?.string } == ["files", "files", "programs"], "\(wrong)")
    let texts = wrong.map { $0["text"]?.string ?? "" }
    #expect(texts.first { $0.contains("my panel.toml: an item cannot have the name") } != nil, "\(texts)")
    #expect(texts.first { $0.contains("apps.toml: rofi: what it starts ends with it") } != nil, "\(texts)")
    #expect(texts.last?.contains("menu.toml: no-such-program: not found in PATH") == true, "\(texts)")
    #expect(
      wrong.map { $0["advice"]?.string } == [
        "change the file, unless this is meant", "change the file, unless this is meant",
        "install the program, or correct the file",
      ])
  }
}

@Test("The doctor says so if navd is not running, or if there is no bus, and looks at everything else")
func doctor_withoutNavd_looksAtTheRest() throws {
  let session = try Session(
    destinations: ["fact": "command = [\"no-such-program\"]\n", "note": "colour = 3\n"], starting: false)
  func rows(_ doctor: Program) -> [[String]] {
    doctor.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  }
  let stopped = try session.navctl("doctor")
  #expect(stopped.exitCode == 1)
  let found = rows(stopped)
  #expect(found.map { $0[1] } == ["bus", "navd", "commands", "files", "programs", "windows", "log"])
  #expect(found.map { $0[0] } == ["ok", "!!", "ok", "!!", "!!", "ok", "ok"])
  #expect(found[1][2].hasPrefix("navd is not running, and the bus cannot start it; install it"), "\(found[1])")
  #expect(found[2][2] == "the bus has no user manager")
  #expect(found[3][2].contains("note.toml:1:1: “colour”"), "\(found[3])")
  #expect(found[4][2].contains("fact.toml: no-such-program: not found in PATH"), "\(found[4])")
  #expect(found[6][2].contains("journalctl --user -u navd"))
  try session.write("command = [\"sleep\", \"60\"]\nwindow = true\n", toDestination: "files")
  session.environment["SWAYSOCK"] = session.path("socket")
  let windows = try session.navctl("doctor").lines.first { $0.contains("\twindows\t") } ?? ""
  #expect(windows.hasPrefix("!!\twindows\tno adapter is running, so windows of files are not followed"), "\(windows)")
  #expect(windows.contains("this is sway: write “exec navd-windows” into ~/.config/sway/config"), "\(windows)")
  let startable = rows(try Session(starting: false, activatable: true).navctl("doctor"))
  // navd is started by the bus, as after an installation.
  #expect(startable[1][0] == "ok", "\(startable)")
  #expect(startable[1][2].hasPrefix("navd is not running; verbs that change something start it"), "\(startable)")
  let alone = try session.navctl("--address", "unix:path=/nowhere", "doctor")
  #expect(alone.exitCode == 1)
  #expect(rows(alone).map { $0[1] } == ["bus", "files", "programs"], "\(alone.outputText)")
}

@Test("The doctor names the variables that the user manager lacks, and is content when its advice was followed")
func doctor_variablesOfTheDesktop_areThoseOfTheManager() throws {
  let session = try Session(managed: true)
  func row() throws -> String { try session.navctl("doctor").lines.first { $0.contains("\tvariables\t") } ?? "" }
  #expect(try row() == "ok\tvariables\tthis shell has none of a desktop, with which to compare others")
  // Browsers choose between Wayland and X11 by XDG_SESSION_TYPE.
  session.environment["WAYLAND_DISPLAY"] = "wayland-7"
  session.environment["XDG_SESSION_TYPE"] = "wayland"
  let missing = try row()
  #expect(
    missing.hasPrefix(
      "!!\tvariables\tthe user manager has another value, or none, of WAYLAND_DISPLAY, XDG_SESSION_TYPE; when the desktop "
        + "starts: "), "\(missing)")
  let advice = missing.split(separator: " ").suffix(4).map(String.init)
  #expect(advice == ["dbus-update-activation-environment", "--systemd", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"])
  let run = try session.run(program: "/usr/bin/\(advice[0])", Array(advice.dropFirst()))
  #expect(run.exitCode == 0, "\(run.errorText)")
  #expect(try row() == "ok\tvariables\tthe user manager has those of this desktop")
}

@Test("The doctor looks for programs in the PATH that the command gets, and not in navd's")
func doctor_programInThePathOfTheShell_isFound() throws {
  let session = try Session(destinations: ["own": "command = [\"own-program\"]\n"])
  try session.write("#!/bin/sh\nsleep 1000\n", to: "bin/own-program")
  let program = session.path("bin/own-program")
  try #require(chmod(program, 0o700) == 0)
  func inThePath(_ arguments: String...) throws -> Program {
    let script = "PATH=\(session.path("bin")):$PATH exec '\(Session.program("navctl"))' \"$@\""
    return try session.run(program: "/bin/sh", ["-c", script, "sh"] + arguments)
  }
  let elsewhere = try session.navctl("doctor")
  #expect(elsewhere.exitCode == 1 && elsewhere.outputText.contains("own.toml: own-program: not found in PATH"))
  let found = try inThePath("doctor")
  #expect(found.exitCode == 0, "\(found.outputText)")
  #expect(found.lines.contains("ok\tprograms\tthose of all destinations are found"))
  #expect(try inThePath("present", "own").exitCode == 0)
  try session.poll("it is there") { try session.navctl("list").outputText.contains("presented") }
}

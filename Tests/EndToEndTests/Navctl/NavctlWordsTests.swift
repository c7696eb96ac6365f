import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// The words of the people who use navctl: open, close and status, names in place of verbs, and notes where nothing happens.

private typealias Rows = CoordinatorInterface

private let sleeper = "command = [\"sleep\", \"1000\"]\n"

extension Session {
  /// Runs navctl with the words of a line.
  fileprivate func navctl(line: String) throws -> Program {
    try run(program: Session.program("navctl"), line.split(separator: " ").map(String.init))
  }
}

@Test("navctl open and close are present and dismiss")
func navctlWords_openAndClose_arePresentAndDismiss() throws {
  let session = try Session(destinations: ["mixer": sleeper])
  #expect(try session.navctl(line: "open mixer").exitCode == 0)
  #expect(try session.navctl(line: "open mixer 2 --title T -v").outputText == "2\n")
  #expect(try session.call(Rows.get, "mixer").1["title"] == .string("T"))
  #expect(try session.navctl(line: "close mixer --json").json?["changed"] == true)
  #expect(try session.navctl(line: "is-presented mixer").exitCode == 3)
  #expect(try session.navctl(line: "open mixer").exitCode == 0)
  #expect(try session.navctl(line: "close --all -v").outputText == "1\n")
  // Failures begin with the word that was typed.
  #expect(try session.navctl(line: "open mixr").errorText.hasPrefix("navctl: open mixr: there is no destination"))
  #expect(try session.navctl(line: "open").errorText.hasPrefix("navctl: open: "))
}

@Test("The first command of the README needs no file: navctl toggle NAME -- COMMAND opens it, and again closes it")
func navctlWords_toggleOfACommand_closesAtTheSecondPress() throws {
  let session = try Session()
  for isOpen in [true, false, true, false] {
    #expect(try session.navctl(line: "toggle hello -- sleep 1000").exitCode == 0)
    #expect(try session.navctl(line: "is-presented hello").exitCode == (isOpen ? 0 : 3))
  }
}

@Test("navctl says what a word in place of a verb means: a name, or a verb that means the same")
func navctlWords_unknownVerb_isExplained() throws {
  let session = try Session(destinations: ["mixer": sleeper + "group = \"panels\"\n"])
  #expect(try session.navctl(line: "present note --state").exitCode == 0)
  for (line, advice) in [
    ("mixer", "“mixer” is a destination: navctl toggle mixer"),
    ("mixer --json", "“mixer” is a destination: navctl toggle mixer"),
    ("note", "“note” is open: navctl close note"),
    ("panels", "“panels” is a group with mixer: navctl select panels mixer"),
    ("mixr", "did you mean “navctl toggle mixer”?"),
    ("start mixer", "did you mean “open”? "), ("kill mixer", "did you mean “close”? "),
    ("hide mixer", "did you mean “close”? "), ("stop", "did you mean “close”? "), ("ls", "did you mean “list”? "),
    ("clsoe mixer", "did you mean “close”? "), ("presenterr", "did you mean “present”? "),
    ("colsed 17", "did you mean “close”? "),
  ] {
    let run = try session.navctl(line: line)
    #expect(run.exitCode == 2, "\(line)")
    #expect(run.errorText.contains(": no such verb; \(advice)"), "\(line): \(run.errorText)")
    #expect(!run.errorText.contains("“closed”") && !run.errorText.contains("“presenter”"), "\(run.errorText)")
  }
  // While navd does not run, the names of destinations are in their files.
  let stopped = try Session(destinations: ["mixer": sleeper], starting: false)
  #expect(try stopped.navctl(line: "mixer").errorText.contains("“mixer” is a destination: navctl toggle mixer"))
}

@Test("navctl says so where nothing was meant to happen")
func navctlWords_requestWithoutEffect_isNoted() throws {
  let session = try Session(destinations: [
    "mixer": sleeper + "group = \"panels\"\nholds = { quiet = \"postpone\" }\n", "wifi": sleeper,
  ])
  for (line, note) in [
    ("dismiss all", "nothing is called “all”; did you mean “--all”?"),
    ("close all", "nothing is called “all”; did you mean “--all”?"),
    ("dismiss mixr", "nothing is open as “mixr”, and no destination has that name; did you mean “mixer”?"),
    ("dismiss panels", "“panels” is a group; did you mean “navctl deselect panels”?"),
    ("deselect panel", "there is no group “panel”; did you mean “panels”?"),
    ("release dnd", "nothing holds “dnd”, and no file has a hold of that name; “navctl holds” shows what is held up"),
    ("release quite", "nothing holds “quite”, and no file has a hold of that name; did you mean “quiet”?"),
    ("release mixer", "nothing holds “mixer”, which is no hold; did you mean “navctl close mixer”?"),
    ("release all", "no hold is called “all”; did you mean “--all”?"),
  ] {
    let run = try session.navctl(line: line)
    // A script can ask whether anything was held.
    #expect(run.exitCode == (line.hasPrefix("release") ? 3 : 0), "\(line)")
    let operation = line
    #expect(run.errorText == "navctl: \(operation): \(note)\n", "\(line)")
    #expect(try session.navctl(line: "\(line) -q").errorText == "")
  }
  for known in ["dismiss mixer", "release quiet", "release locked", "deselect panels"] {
    #expect(try session.navctl(line: known).errorText == "", "\(known)")
  }
}

@Test("navctl toggle says that an id is a destination's name, and that a name is a group's")
func navctlWords_idThatIsADestination_isNoted() throws {
  let session = try Session(destinations: ["mixer": sleeper + "group = \"panels\"\n", "wifi": sleeper])
  let run = try session.navctl(line: "toggle mixer wifi")
  #expect(run.exitCode == 0)
  #expect(
    run.errorText
      == "navctl: toggle mixer: “wifi” is taken for an id of “mixer”, and is also a destination; to open that: navctl toggle wifi\n"
  )
  #expect(try session.navctl(line: "present mixer 17").errorText == "")
  let group = try session.navctl(line: "toggle panels")
  #expect(group.exitCode == 4)
  #expect(
    group.errorText.hasPrefix(
      "navctl: toggle panels: there is no destination “panels”, which is a group with mixer; open one of these"),
    "\(group.errorText)")
}

@Test("D2: a request for a destination whose file has a mistake says so, and that the version before is used")
func navctlWords_fileWithAMistake_isNoted() throws {
  let session = try Session(destinations: ["mixer": sleeper])
  try session.write("comand = 1\n", toDestination: "mixer")
  let run = try session.navctl(line: "present mixer")
  #expect(run.exitCode == 0)
  #expect(run.errorText.hasPrefix("navctl: present mixer: \(session.destinationPath("mixer")):1:"), "\(run.errorText)")
  #expect(run.errorText.hasSuffix("; navd uses what the file said before\n"), "\(run.errorText)")
  #expect(try session.navctl(line: "status mixer").lines.contains { $0.hasSuffix("; the version before is used") })
}

@Test("navctl list says why nothing is there after a program that ended at once")
func navctlWords_listAfterAFailure_saysWhy() throws {
  let session = try Session()
  #expect(try session.navctl("present", "mixer", "--wait", "--", "sh", "-c", "echo no sound >&2; exit 3").exitCode == 0)
  let list = try session.navctl(line: "list")
  #expect(list.outputText == "")
  #expect(
    list.errorText
      == "navctl: list: “mixer” is not open: its program ended at once with status 3: no sound; see “navctl list --failed”\n"
  )
}

@Test("navctl status of a name says what it is, why it is not there, and the last failure with its cause")
func navctlWords_statusOfAName_isOnePage() throws {
  let session = try Session(destinations: [
    "mixer":
      "command = [\"sh\", \"-c\", \"echo no sound >&2; exit 3\"]\ngroup = \"panels\"\nwindow = { app-id = \"mixer\" }\n",
    "wifi": sleeper + "group = \"panels\"\n",
  ])
  #expect(try session.navctl(line: "present mixer --wait").exitCode == 0)
  let failed = try session.navctl(line: "status mixer")
  #expect(failed.exitCode == 0, "\(failed.errorText)")
  let text = failed.outputText
  for part in [
    "state\tnot open; ", "shown by\tsh -c echo no sound >&2; exit 3\n", "file\t\(session.destinationPath("mixer"))\n",
    "member of\tpanels\n", "windows\tthose with app-id “mixer”, not followed, since no adapter is running",
    "last failure\t", ": its program ended at once with status 3: no sound\n", "history\t",
  ] {
    #expect(text.contains(part), "\(part): \(text)")
  }
  #expect(try session.navctl(line: "present wifi").exitCode == 0)
  #expect(try session.navctl(line: "status wifi").outputText.hasPrefix("state\tpresent"))
  let group = try session.navctl(line: "status panels").outputText
  #expect(group.contains("group\tselected: wifi\n") && group.contains("group\tmembers: mixer, wifi\n"), "\(group)")
  let json = try session.navctl(line: "status mixer --json").json
  #expect(json?["failure"]?["error"] == "no sound")
  let unknown = try session.navctl(line: "status mixr")
  #expect(unknown.exitCode == 4)
  #expect(unknown.errorText.contains("did you mean “mixer”?"), "\(unknown.errorText)")
}

@Test("navctl status of what a file showed that has another name now says that nothing shows it, and names the nearest")
func navctlWords_statusOfAGoneFile_saysSo() throws {
  let session = try Session(destinations: ["calendar": sleeper])
  #expect(try session.navctl(line: "present calendar").exitCode == 0)
  #expect(try session.navctl(line: "dismiss calendar --wait").exitCode == 0)
  #expect(rename(session.destinationPath("calendar"), session.destinationPath("calender")) == 0)
  try session.call(Rows.reload, ())
  let text = try session.navctl(line: "status calendar").outputText
  #expect(
    text.contains("shown by\tnothing, since there is no destination “calendar” any more; did you mean “calender”?\n"),
    "\(text)")
}

@Test("navctl status of a member that waits to be presented again does not say that it waits for itself (K3)")
func navctlWords_statusOfARestart_saysSo() throws {
  let session = try Session(destinations: [
    "crash": "command = [\"false\"]\ngroup = \"panels\"\nrestart = \"always\"\nrestart-delay = \"1m\"\n"
  ])
  _ = try session.navctl(line: "present crash")
  var text = ""
  try session.poll("it waits for its restart") {
    text = try session.navctl(line: "status crash").outputText
    return text.contains("waiting (restart 1)")
  }
  #expect(!text.contains("until crash"), "\(text)")
}

@Test("navctl status without a name says what is open, what failed, what is held up, and whether windows are followed")
func navctlWords_status_isOnePage() throws {
  let session = try Session(destinations: ["mixer": sleeper, "wifi": sleeper + "holds = { dnd = \"postpone\" }\n"])
  #expect(
    try session.navctl(line: "status").outputText.hasPrefix("open\tnothing\nfailed\tnothing\nwindows\tnot followed"))
  #expect(try session.navctl(line: "present mixer").exitCode == 0)
  #expect(try session.navctl(line: "hold dnd").exitCode == 0)
  #expect(try session.navctl(line: "present wifi").exitCode == 0)
  #expect(try session.navctl("present", "broken", "--wait", "--", "sh", "-c", "exit 3").exitCode == 0)
  let text = try session.navctl(line: "status").outputText
  for part in [
    "open\tmixer: present", "open\twifi: waiting (held by dnd)", "held\tdnd, for which wifi waits\n", "failed\tbroken ",
  ] {
    #expect(text.contains(part), "\(part): \(text)")
  }
  let unreachable = try Session(starting: false).navctl(line: "status")
  #expect(unreachable.exitCode == 8)
}

@Test("navctl is-presented answers no without navd")
func navctlWords_isPresentedWithoutNavd_isNo() throws {
  let session = try Session(starting: false)
  let run = try session.navctl(line: "is-presented mixer")
  #expect(run.exitCode == 3 && run.outputText == "no\n" && run.errorText == "")
  #expect(try session.navctl(line: "is-presented mixer --json").json == ["presented": false, "serial": 0])
}

@Test("Empty lists say so on a terminal, and print nothing in a pipe")
func navctlWords_emptyLists_sayTheyAreEmpty() throws {
  let session = try Session()
  let adapter = try ScriptedWindowSystem(session, [])
  for (line, text) in [
    ("destinations", "There are no destinations; "), ("holds", "Nothing is held up."),
    ("windows", "There are no windows."),
    ("members --all", "Nothing is open there."), ("list", "Nothing is open."), ("history", "Nothing has closed yet."),
    ("list --failed", "Nothing has failed."),
  ] {
    #expect(try session.navctl(line: line).outputText == "", "\(line)")
    let shown = try session.run(
      program: "/usr/bin/script", ["-q", "-e", "-c", "'\(Session.program("navctl"))' \(line)", "/dev/null"])
    #expect(shown.outputText.hasPrefix(text), "\(line): \(shown.outputText)")
  }
  adapter.connection.close()
}

@Test("A second navd says that one runs, with its process, and succeeds with --if-not-running")
func navd_second_saysThatOneRuns() throws {
  let session = try Session()
  let pid = try #require(try session.navctl(line: "doctor --json").json?.array?.first { $0["subject"] == "navd" })
  let number = try #require(pid["text"]?.string?.split(separator: " ").drop { $0 != "process" }.dropFirst().first)
    .filter(\.isNumber)
  let second = try session.run(program: Session.program("navd"), [])
  #expect(second.exitCode == 1)
  #expect(second.errorText.contains("navd already runs (pid \(number)); “navctl quit” ends it"), "\(second.errorText)")
  let allowed = try session.run(program: Session.program("navd"), ["--if-not-running"])
  #expect(allowed.exitCode == 0 && allowed.errorText == "", "\(allowed.errorText)")
}

@Test("Root gets no service of another user's bus, and hears whose it is", .enabled(if: geteuid() == 0))
func navctl_asRootOnAUsersBus_saysWhoseItIs() throws {
  let session = try Session(starting: false)
  let socket = session.path("foreign-bus")
  try session.write("", to: "foreign-bus")
  #expect(chown(socket, 1, 1) == 0)
  session.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(socket)"
  for (program, arguments, status) in [("navctl", ["list"], 8), ("navctl", ["present", "a"], 8), ("navd", [], 1)] {
    let run = try session.run(program: Session.program(program), arguments)
    #expect(run.exitCode == Int32(status))
    #expect(run.errorText.contains("this bus belongs to daemon; run it without sudo"), "\(run.errorText)")
  }
}

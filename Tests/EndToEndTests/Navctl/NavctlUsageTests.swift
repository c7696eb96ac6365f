import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing
import TextFormats

// The usage of navctl: mistakes on the command line, the messages about them, and options for all verbs.

private typealias Rows = CoordinatorInterface

extension Session {
  fileprivate func navctlAtATerminal(_ arguments: String) throws -> Program {
    let command = "'\(Self.program("navctl"))' \(arguments)"
    return try run(program: "/usr/bin/script", ["-q", "-e", "-c", command, "/dev/null"])
  }
}

@Test(
  "navctl refuses incomplete command lines and prints the usage",
  arguments: [
    "present", "toggle", "dismiss", "dismiss a --group g", "update a", "select g", "deselect", "toggle-selection g",
    "selection", "push s", "pop", "pop s x", "pop-to", "set-path", "path", "show", "is-presented", "members",
    "members --group g --all", "wait", "wait a --presentation 3", "value", "value declare k", "value get a",
    "value set a k", "act 1", "act x press", "closed", "apply", "present a --if-busy maybe", "present a --timeout soon",
    "present a 1 2", "present a --value b", "check-config a b", "history -n x",
    "present a --", "toggle a 1 --", "push s a --", "select g t --", "present a 1 --id=2",
  ])
func navctlUsage_incomplete_isRefused(line: String) throws {
  // navd does not run, and is not called.
  let session = try Session(starting: false)
  let arguments = line.split(separator: " ").map(String.init)
  let run = try session.run(program: Session.program("navctl"), arguments)
  #expect(run.exitCode == 2, "\(run.errorText)")
  let verb = arguments[0] == "value" ? arguments.prefix(2).joined(separator: " ") : arguments[0]
  #expect(run.errorText.hasPrefix("navctl: \(verb): "), "\(run.errorText)")
  #expect(run.errorText.contains("\nUsage: navctl \(verb)"), "\(run.errorText)")
  #expect(run.outputText == "")
}

@Test("navctl: an unknown verb is reported in one line, with the nearest verb")
func navctlUsage_mistypedVerb_namesTheNearest() throws {
  let session = try Session(starting: false)
  let many = (0..<5000).map { "word\($0)" }
  for (arguments, line) in [
    (["presnt", "a"], "navctl: presnt: no such verb; did you mean “present”? “navctl --help” lists all verbs\n"),
    (
      ["--json", "-w", "3", "togle-selection"] + many,
      "navctl: togle-selection: no such verb; did you mean “toggle-selection”? “navctl --help” lists all verbs\n"
    ),
    (["frobnicate"] + many, "navctl: frobnicate: no such verb; “navctl --help” lists all verbs\n"),
    (["value", "foo"], "navctl: value foo: no such verb; “navctl help value” lists all verbs\n"),
    (
      ["-w", "3", "value", "--json", "gett", "a", "b"],
      "navctl: value gett: no such verb; did you mean “get”? “navctl help value” lists all verbs\n"
    ),
    (
      [String(repeating: "x", count: 5000)],
      "navctl: \(String(repeating: "x", count: 300))…: no such verb; “navctl --help” lists all verbs\n"
    ),
  ] {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 2)
    #expect(run.errorText == line)
  }
  // The message of ArgumentParser repeats all arguments; navctl abridges it.
  let long = try session.run(program: Session.program("navctl"), ["list"] + many)
  #expect(long.exitCode == 2)
  #expect(long.errorText.count < 800)
  #expect(long.errorText.hasPrefix("navctl: list: 5000 unexpected arguments: 'word0', 'word1', "))
  #expect(try session.navctl("help", "present").exitCode == 0)
  let help = try session.navctl("help", "presnt")
  #expect(help.exitCode == 2)
  #expect(help.errorText.contains("no such verb; did you mean “present”?"), "\(help.errorText)")
}

@Test("navctl: values and ids that begin with “-” are written with “=”")
func navctlUsage_valuesThatBeginWithADash_areWrittenWithAnEqualsSign() throws {
  let session = try Session()
  #expect(try session.navctl("present", "--state", "fact", "--id=-1", "--title=-x", "--value=a=-b").exitCode == 0)
  let shown = try session.navctl("show", "fact", "--json").json
  #expect(shown?["id"] == "-1" && shown?["title"] == "-x" && shown?["value"] == ["a": "-b"])
  #expect(try session.navctl("is-presented", "fact", "--id=-1").exitCode == 0)
  #expect(try session.navctl("is-presented", "fact", "--id=-2").exitCode == 3)
  #expect(try session.navctl("dismiss", "fact", "--expected-id=-2").exitCode == 6)
  #expect(try session.navctl("toggle", "fact", "--id=-1", "-v").outputText == "dismissed\n")
  #expect(try session.navctl("push", "--state", "main", "a", "--id=--").exitCode == 0)
  #expect(try session.navctl("path", "main").outputText == "a\t--\n")
  for (arguments, remedy) in [
    (["present", "fact", "--title", "-x"], "write a value that begins with “-” as --title=-x"),
    (["present", "fact", "--expected-id", "-1"], "write a value that begins with “-” as --expected-id=-1"),
    (["select", "g", "t", "--id", "-1"], "write a value that begins with “-” as --id=-1"),
    (["present", "fact", "-1"], "write an id that begins with “-” as --id=-1"),
    (["push", "main", "fact", "-1"], "write an id that begins with “-” as --id=-1"),
  ] {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 2)
    #expect(run.errorText.contains(remedy), "\(run.errorText)")
  }
}

@Test("navctl: arguments that are not UTF-8 are refused; those of a program are passed on unchanged")
func navctlUsage_argumentsThatAreNotUTF8_areRefused() throws {
  let session = try Session()
  func run(_ script: String) throws -> Program {
    try session.run(
      program: "/bin/sh", ["-c", "bad=$(printf 'a\\377'); exec \"$0\" \(script)", Session.program("navctl")])
  }
  for (script, argument) in [
    ("present \"$bad\"", 2), ("present fact \"$bad\"", 3), ("present fact --title \"$bad\"", 4), ("\"$bad\"", 1),
    ("present fact --value \"k=$bad\" -- true", 4), ("apply \"$bad\"", 2), ("check-config \"$bad\"", 2),
  ] {
    let refused = try run(script)
    #expect(refused.exitCode == 2, "\(script)")
    #expect(
      refused.errorText.hasPrefix("navctl: argument \(argument): “") && refused.errorText.contains("is not UTF-8; "),
      "\(refused.errorText)")
  }
  #expect(try session.state()["serial"] == 0)
  let shown = try run("present fact --wait -- printf %s \"$bad\"")
  #expect(shown.exitCode == 0, "\(shown.errorText)")
  #expect(shown.output == Array("a".utf8) + [0xff])
}

@Test("D2: navctl opens nothing by the name of a file with a mistake, and shows the mistake")
func navctlUsage_destinationWithAMistake_isRefusedWithIt() throws {
  let session = try Session(destinations: ["osd": "comand = [\"sleep\", \"1000\"]\n"])
  let path = session.destinationPath("osd")
  for arguments in [["present", "osd"], ["toggle", "osd"], ["select", "panels", "osd"]] {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 4, "\(arguments)")
    let expected = ": there is no destination “osd”, since its file has a mistake: \(path):1:1: "
    #expect(run.errorText.contains(expected), "\(run.errorText)")
  }
  try session.write("command = [\"sleep\", \"1000\"]\n", to: "config/navd/destinations/osd.toml")
  #expect(try session.navctl("present", "osd").exitCode == 0)
}

@Test("D2: navctl opens nothing by a name that nothing knows, and names the nearest one")
func navctlUsage_mistypedName_isRefused() throws {
  let session = try Session(destinations: ["mixer": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n"])
  #expect(try session.navctl("select", "panels", "mixer").exitCode == 0)
  for (arguments, error) in [
    (["toggle", "mixr"], "there is no destination “mixr”; did you mean “mixer”? Otherwise write"),
    (["present", "Mixer"], "there is no destination “Mixer”; did you mean “mixer”? Otherwise write"),
    (
      ["present", "editor", "foot"],
      "there is no destination “editor”; write “navd/destinations/editor.toml” in ~/.config, or "
        + "in $XDG_CONFIG_HOME if that is set; to show the program “foot”: navctl present editor -- foot"
    ),
    (["push", "main", "mixr"], "there is no destination “mixr”; did you mean “mixer”?"),
    (["set-path", "main", "mixr"], "element 0: there is no destination “mixr”; did you mean “mixer”?"),
    (["select", "pannels", "mixer"], "there is no group “pannels”; did you mean “panels”?"),
    (
      ["select", "panels", "calendar"],
      "the group “panels” has no tag “calendar”; present an item with this group and tag once; "
        + "for a member that a program shows by itself, add --state"
    ),
    (["select", "panels", "mixr"], "the group “panels” has no tag “mixr”; did you mean “mixer”?"),
    (["toggle-selection", "panels", "mixr"], "the group “panels” has no tag “mixr”; did you mean “mixer”?"),
  ] {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 4, "\(arguments)")
    let what = arguments.prefix(
      arguments[0] == "present" || arguments[0] == "toggle" || arguments[0] == "set-path" ? 2 : 3)
    #expect(
      run.errorText.hasPrefix("navctl: \(what.joined(separator: " ")): \(error)"), "\(arguments): \(run.errorText)")
  }
  #expect(try session.navctl("selection", "panels").outputText == "mixer\n")
  // Items that are state only are still there, for clients that ask for them; an open item is known.
  #expect(try session.navctl("present", "note", "1", "--state").exitCode == 0)
  #expect(try session.navctl("present", "note", "1", "--title", "T").exitCode == 0)
  #expect(try session.navctl("toggle", "note").exitCode == 0)
  #expect(try session.call(Rows.present, ("other", "", .state)).2)
}

@Test("navctl dismiss of a name that nothing knows says so on a terminal")
func navctlUsage_dismissalOfAnUnknownName_isReportedOnATerminal() throws {
  let session = try Session(destinations: ["mixer": "command = [\"sleep\", \"1000\"]\n"])
  let mistyped = try session.navctlAtATerminal("dismiss mixr")
  #expect(mistyped.exitCode == 0)
  #expect(
    mistyped.outputText.hasPrefix(
      "navctl: dismiss mixr: nothing is open as “mixr”, and no destination has that name; did you mean “mixer”?"),
    "\(mistyped.outputText)")
  try session.present("note")
  try session.dismiss("note")
  for quiet in ["dismiss mixer", "dismiss note", "dismiss mixr -q"] {
    #expect(try session.navctlAtATerminal(quiet).outputText == "", "\(quiet)")
  }
  #expect(try session.navctl("dismiss", "mixr").errorText.hasPrefix("navctl: dismiss mixr: nothing is open as “mixr”"))
  let waiting = try session.navctl("dismiss", "mixr", "--wait")
  #expect(waiting.exitCode == 0 && waiting.errorText.hasPrefix("navctl: dismiss mixr: nothing is open as “mixr”"))
  #expect(try session.navctl("dismiss", "mixr", "--json").errorText == "")
}

/// Commands with a container or a binding that nothing knows, and what navctl says on a terminal.
private let unknownContainers = [
  ("deselect pannels", "deselect pannels: there is no group “pannels”; did you mean “panels”?"),
  ("deselect panels mixr", "deselect panels: the group “panels” has no tag “mixr”; did you mean “mixer”?"),
  ("forget pannels mixer", "forget pannels mixer: there is no group “pannels”; did you mean “panels”?"),
  ("forget panels mixr", "forget panels mixr: the group “panels” has no tag “mixr”; did you mean “mixer”?"),
  ("members --group pannels", "members --group pannels: there is no group “pannels”; did you mean “panels”?"),
  ("members --stack mian", "members --stack mian: there is no stack “mian”; did you mean “main”?"),
  (
    "members --from pge",
    "members --from pge: nothing is open as “pge”, and no destination has that name; did you mean “page”?"
  ),
  ("list --group pannels", "list: there is no group “pannels”; did you mean “panels”?"),
  ("list --stack nothing", "list: there is no stack “nothing”; “navctl list” shows what there is"),
  ("dismiss --group pannels", "dismiss: there is no group “pannels”; did you mean “panels”?"),
  ("dismiss --stack mian", "dismiss: there is no stack “mian”; did you mean “main”?"),
  (
    "dismiss --root mixr",
    "dismiss: nothing is open as “mixr” or below it, and no destination has that name; did you mean “mixer”?"
  ),
  ("pop mian", "pop mian: there is no stack “mian”; did you mean “main”?"),
  ("pop-to mian", "pop-to mian: there is no stack “mian”; did you mean “main”?"),
]

/// Commands with a container that something knows, or once knew, and commands that are for scripts.
private let knownContainers = [
  "deselect panels", "deselect panels mixer", "forget panels mixer", "members --group panels", "members --stack former",
  "members --from mixer", "list --group panels", "list --group bars-DP-1", "dismiss --group gone",
  "dismiss --stack former", "dismiss --root mixer", "dismiss --root old", "pop former", "pop-to former", "pop mian -q",
  "dismiss --root mixr -q", "deselect pannels -q", "deselect pannels --json", "list --group pannels --json",
]

@Test("navctl says on a terminal that nothing knows a group, a tag, or a stack")
func navctlUsage_unknownContainer_isReportedOnATerminal() throws {
  let session = try Session(destinations: [
    "mixer": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n",
    "bar": "command = [\"sleep\", \"1000\"]\ngroup = \"bars-{output}\"\n",
  ])
  try session.present("page", "", ["stack": .string("main")])
  try session.present("old", "", ["stack": .string("former"), "group": .string("gone")])
  try session.dismiss("old")
  for (arguments, message) in unknownContainers {
    let told = try session.navctlAtATerminal(arguments)
    #expect(told.exitCode == 0, "\(arguments)")
    #expect(told.outputText.contains("navctl: \(message)"), "\(arguments): \(told.outputText)")
    let piped = try session.run(
      program: Session.program("navctl"), arguments.split(separator: " ").map(String.init))
    #expect(piped.exitCode == 0 && piped.errorText.contains("navctl: \(message)"), "\(arguments): \(piped.errorText)")
  }
  for known in knownContainers {
    #expect(try !session.navctlAtATerminal(known).outputText.contains("navctl: "), "\(known)")
  }
}

@Test("navctl: a program where an id is expected is mentioned with “--”")
func navctlUsage_programWithoutDashes_mentionsThem() throws {
  let session = try Session(destinations: ["mixer": "command = [\"sleep\", \"1000\"]\n"])
  for (arguments, hint) in [
    (["present", "editor", "sleep"], "navctl present editor -- sleep"),
    (["toggle", "editor", "/bin/sh"], "navctl toggle editor -- /bin/sh"),
    (["push", "main", "editor", "sleep"], "navctl push main editor -- sleep"),
  ] {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 4)
    #expect(
      run.errorText.contains(": there is no destination “editor”; write")
        && run.errorText.hasSuffix("; to show the program “\(arguments.last ?? "")”: \(hint)\n"), "\(run.errorText)")
  }
  for arguments in [["present", "editor", "no-such-program"], ["present", "editor", "sleep", "--to", "mixr"]] {
    #expect(try !session.run(program: Session.program("navctl"), arguments).errorText.contains(" -- "))
  }
}

@Test("navctl graph and path of a group or stack that does not exist have exit status 4")
func navctlUsage_unknownGroupOrStack_isAnError() throws {
  let session = try Session()
  try session.call(Rows.select, ("panels", "mixer", .state))
  for arguments in [["graph", "--group", "nope"], ["graph", "--stack", "nope"], ["path", "nope"]] {
    let run = try session.run(program: Session.program("navctl"), arguments)
    #expect(run.exitCode == 4, "\(arguments)")
    #expect(run.errorText.contains("“nope”; “navctl list” shows what there is"), "\(run.errorText)")
  }
  #expect(try session.navctl("graph", "--group", "panels").exitCode == 0)
}

@Test("P3: a command without an id has its command line as its id, so another command replaces it")
func navctlUsage_anotherCommandWithoutAnID_replacesTheFirst() throws {
  let session = try Session()
  #expect(try session.navctl("present", "q", "--", "sleep", "600").exitCode == 0)
  #expect(try session.navctl("present", "q", "--json", "--", "sleep", "600").exitCode == 0)
  #expect(try session.call(Rows.get, "q").1["id"] == .string("sleep 600"))
  #expect(try session.navctl("present", "q", "--json", "--", "sleep", "700").json?["changed"] == true)
  #expect(try session.call(Rows.get, "q").1["id"] == .string("sleep 700"))
  // The message names both commands if they have the same id.
  let same = try session.navctl("present", "q", "--id=sleep 700", "--", "sleep", "800")
  #expect(same.exitCode == 2)
  #expect(
    same.errorText.hasPrefix(
      "navctl: present q: command is “sleep 800”, but the item “sleep 700” at “q” has “sleep 700”; dismiss it first"),
    "\(same.errorText)")
}

@Test("navctl --notify shows a failure as a notification of the desktop")
func navctlUsage_notify_showsTheFailure() throws {
  let session = try Session()
  let notifications = try Notifications(of: session)
  #expect(try session.navctl("dismiss", "mixr", "--notify").exitCode == 0)
  #expect(try session.navctl("present", "mixr", "--notify").exitCode == 4)
  #expect(try session.navctl("present", "mixr").exitCode == 4)
  #expect(notifications.shown.count == 1)
  let missing = "navctl present mixr: there is no destination “mixr”; write"
  #expect(notifications.shown.first?.hasPrefix(missing) == true, "\(notifications.shown)")
  // A key binding with a mistake shows it, too.
  for (arguments, text) in [
    (
      ["present", "mixer", "--notify", "--timeout", "abc"], "navctl present: The value &#39;abc&#39; is invalid for"
    ),
    (["--notify", "presnt", "mixer"], "navctl presnt: no such verb; did you mean “present”?"),
    (["present", "--notify"], "navctl present: Missing expected argument"),
  ] {
    notifications.shown = []
    #expect(try session.run(program: Session.program("navctl"), arguments).exitCode == 2)
    let shown = notifications.shown
    #expect(shown.count == 1 && shown.first?.hasPrefix(text) == true, "\(shown)")
    #expect(shown.first?.contains("\n") == false, "\(shown)")
  }
  // The words after “--” belong to another program.
  notifications.shown = []
  #expect(try session.navctl("present", "--", "a", "--notify").exitCode == 2)
  #expect(notifications.shown.isEmpty)
}

@Test("navctl --quiet prints nothing; verbs that print until they end refuse it")
func navctlUsage_quiet_printsNothingOrIsRefused() throws {
  let session = try Session(destinations: ["bad": "comand = 3\n"], starting: false)
  for json in [[], ["--json"]] {
    let check = try session.run(program: Session.program("navctl"), ["check-config", "-q"] + json)
    #expect(check.exitCode == 1)
    #expect(check.outputText == "" && check.errorText == "", "\(check.outputText)\(check.errorText)")
  }
  let doctor = try session.navctl("doctor", "-q")
  #expect(doctor.exitCode == 1 && doctor.outputText == "" && doctor.errorText == "")
  for arguments in [
    ["watch", "-q"], ["-q", "watch", "--events"], ["presenter", "a", "--quiet"],
    ["history", "--follow", "--json", "-q"],
  ] {
    let refused = try session.run(program: Session.program("navctl"), arguments)
    #expect(refused.exitCode == 2, "\(arguments)")
    #expect(
      refused.errorText.contains("--quiet is not supported, since this prints until it ends"),
      "\(refused.errorText)")
  }
}

@Test(
  "The error of a wrong number or duration says what was expected",
  arguments: [
    ("history -n x", "expected a number from 0 to 4294967295, found “x”"),
    ("present a --priority=abc", "expected a number from -2147483648 to 2147483647, found “abc”"),
    ("pop s 99999999999", "expected a number from 0 to 4294967295, found “99999999999”"),
    ("apply - --expected-serial x", "expected a number from 0 to 18446744073709551615, found “x”"),
    ("hold dnd --for soon", "expected a duration such as 500ms, 3s or 1m30s, found “soon”"),
    ("hold dnd --for 9999999999999h", "expected at most 5124095576030 hours, found “9999999999999h”"),
    ("history --since yesterday", "--since: expected a duration such as 500ms, 3s or 1m30s, found “yesterday”"),
  ])
func navctlUsage_wrongNumber_saysWhatWasExpected(line: String, why: String) throws {
  let session = try Session(starting: false)
  let run = try session.run(program: Session.program("navctl"), line.split(separator: " ").map(String.init))
  #expect(run.exitCode == 2)
  #expect(run.errorText.contains(why), "\(run.errorText)")
}

@Test("navctl names the address of a bus that it cannot reach", arguments: ["x", "unixexec:path=/bin/true"])
func navctlUsage_busUnreachable_namesTheAddress(address: String) throws {
  let session = try Session(starting: false)
  for (variables, options) in [([:], ["--address", address]), (["DBUS_SESSION_BUS_ADDRESS": address], [])] {
    let environment = session.environment.merging(variables) { $1 }
    let run = try Program(session.loop, [Session.program("navctl"), "list"] + options, environment: environment)
    try session.wait("navctl ends") { run.hasEnded }
    #expect(run.exitCode == 8)
    #expect(
      run.errorText.hasPrefix("navctl: list: cannot connect to the bus “\(address)”: ")
        && run.errorText.contains("; run navctl in a desktop session") && !run.errorText.contains(".;"),
      "\(run.errorText)")
  }
}

@Test("navctl check-config checks one file")
func navctlUsage_checkConfigOfAFile_checksThatOne() throws {
  let session = try Session(destinations: ["good": "command = ['sh']\n", "bad": "comand = 3\n"], starting: false)
  let good = try session.navctl("check-config", session.destinationPath("good"))
  #expect(good.exitCode == 0)
  #expect(good.outputText == "1 destination, 0 container values, no mistakes\n")
  let bad = try session.navctl("check-config", session.destinationPath("bad"))
  #expect(bad.exitCode == 1)
  #expect(bad.outputText.hasPrefix("\(session.destinationPath("bad")):1:1: “comand” is not a key"), "\(bad.outputText)")
  try session.write("inline-commands = 3\n", to: "config/navd/navd.toml")
  #expect(try session.navctl("check-config", session.path("config/navd/navd.toml")).exitCode == 1)
  try session.write("", to: "note.txt")
  #expect(try session.navctl("check-config", session.path("note.txt")).outputText.contains("expected a file NAME.toml"))
}

@Test("H1: navctl names the characters that the name of a hold cannot contain")
func navctlUsage_holdWithABlank_isRefused() throws {
  let session = try Session()
  let blank = try session.navctl("hold", "a b")
  #expect(blank.exitCode == 2)
  #expect(
    blank.errorText == "navctl: hold a b: the hold “a b” contains a blank; letters, digits, _ and - are allowed\n")
  let parts = try session.navctl("hold", "a.b")
  #expect(
    parts.exitCode == 2 && parts.errorText.contains("the hold “a.b” has several parts; expected one name such as “dnd”")
  )
  let release = try session.navctl("release", "a.b")
  #expect(release.exitCode == 2 && release.errorText.hasPrefix("navctl: release a.b: the hold “a.b” has several parts"))
}

@Test("V1: navctl says in plain words why a key cannot be declared")
func navctlUsage_declarationRefused_saysWhy() throws {
  let session = try Session()
  #expect(try session.navctl("value", "declare", "badge", "x", "0").exitCode == 0)
  for (arguments, message) in [
    (
      ["badge", "s", "text"],
      "“badge” is declared already, with the type “x”, and the new default has the type “s”; give the same default, or use "
        + "another key"
    ),
    (
      ["badge", "x", "1"],
      "“badge” is declared already, with another default; give the same default, or use another key"
    ),
    (
      ["a b", "x", "1"],
      "the key “a b” is not a valid name; use letters, digits, “_” and “-”, starting with a letter or “_”"
    ),
  ] {
    let refused = try session.run(program: Session.program("navctl"), ["value", "declare"] + arguments)
    #expect(refused.exitCode == 2)
    #expect(refused.errorText.hasSuffix(": \(message)\n"), "\(refused.errorText)")
  }
}

@Test("G7: navctl forget makes a group forget a mistyped tag")
func navctlUsage_forget_removesATag() throws {
  let session = try Session(destinations: ["mixer": "command = [\"sleep\", \"1000\"]\ngroup = \"panels\"\n"])
  for tag in ["mixr", "mixer"] { #expect(try session.navctl("select", "panels", tag, "--state").exitCode == 0) }
  #expect(try session.navctl("forget", "panels", "mixr", "--json").json?["changed"] == true)
  #expect(try session.navctl("forget", "panels", "mixr", "--json").json?["changed"] == false)
  #expect(try session.navctl("forget", "panels", "mixer", "--json").json?["changed"] == true)
  #expect(try session.state()["groups"]?["panels"]?["tags"] == ["mixer"])
  #expect(try session.navctl("select", "panels", "mixr").exitCode == 4)
}

@Test(
  "navctl says that its standard output is closed, and writes to no other file instead", arguments: ["list", "watch"])
func navctlUsage_standardOutputClosed_saysSo(verb: String) throws {
  let session = try Session()
  try session.present("fact")
  let navctl = try session.run(
    program: "/bin/sh", ["-c", "exec \"$0\" \"$@\" >&-", session.executable("navctl"), verb])
  #expect(navctl.exitCode == 1)
  #expect(navctl.errorText.hasSuffix("standard output: Bad file descriptor\n"), "\(navctl.errorText)")
}

@Test("In the locale C, messages, help and logs have ASCII quotes; names and JSON keep their own quotes")
func navctlUsage_localeC_hasASCIIQuotes() throws {
  let session = try Session()
  try session.present("item", "“1”")
  for (name, value) in [("LC_ALL", "C"), ("LC_ALL", "POSIX"), ("LANG", "")] {
    session.environment["LANG"] = ""
    session.environment["LC_ALL"] = nil
    session.environment[name] = value
    let mistake = try session.navctl("toggel")
    #expect(mistake.errorText.contains("did you mean \"toggle\"?"), "\(name)=\(value): \(mistake.errorText)")
    #expect(try session.navctl("--help").outputText.contains("such as \"mixer\""))
    let navd = try session.run(program: Session.program("navd"), ["--colour"])
    #expect(navd.errorText.contains("no option \"--colour\""), "\(navd.errorText)")
    #expect(try session.navctl("list").outputText.contains("“1”"))
    #expect(try session.navctl("list", "--json").outputText.contains("“1”"))
  }
  session.environment["LC_ALL"] = "C"
  session.environment["LC_CTYPE"] = "C.UTF-8"
  #expect(try session.navctl("toggel").errorText.contains("did you mean \"toggle\"?"), "LC_ALL comes first")
  session.environment["LC_ALL"] = ""
  #expect(try session.navctl("toggel").errorText.contains("did you mean “toggle”?"))
}

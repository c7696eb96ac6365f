import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// navctl presenter, by which shells and scripts show items: lines of JSON in both directions.

private typealias Rows = CoordinatorInterface

private func isPresented(_ session: Session, _ path: ObjectPath) throws {
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
}

/// Presents the calendar, and reports as its shell that it is presented.
private func showCalendar(of shell: LineShell, in session: Session) throws -> (path: ObjectPath, number: UInt64) {
  let path = try session.present("calendar")
  let number = try #require(try shell.call()["presentation"]?.unsigned)
  shell.say(#"{"presented":\#(number)}"#)
  try isPresented(session, path)
  return (path, number)
}

@Test("P6: an action in a presentation that has ended changes nothing, and navctl says so")
func navctlAct_onAnEndedPresentation_changesNothing() throws {
  let session = try Session()
  func changed(_ verb: String, _ number: String, _ more: String...) throws -> JSON? {
    let run = try session.run(program: Session.program("navctl"), [verb, number, "--json"] + more)
    #expect(run.exitCode == 0, "\(run.errorText)")
    return run.json?["changed"]
  }
  try session.present("note")
  #expect(try changed("act", "1", "press") == true)
  try session.dismiss("note")
  #expect(try changed("act", "1", "press") == false)
  #expect(try changed("closed", "1") == false)
  #expect(try session.navctl("act", "9", "press").exitCode == 4)
}

extension Session {
  /// Requires that everybody who looks at an item sees that it asks its user.
  fileprivate func expectAsking(_ binding: String, _ id: String) throws {
    try poll("it asks") { try navctl("list").outputText.contains("dismissing (asking)") }
    #expect(try navctl("show", binding).lines.contains("phase\tdismissing (asking)"))
    #expect(try navctl("show", binding, "--json").outputText.contains(#""asking":true"#))
    let bar = try startNavctl("watch", "--waybar", "--binding", binding)
    try wait("the bar says so; \(bar.lines)") {
      bar.lines.last?.contains(#""dismissing","asking""#) == true
        && bar.lines.last?.contains("\(binding) \(id): dismissing (asking)") == true
    }
  }
}

@Test("A shell presents, updates, declines and dismisses by lines of JSON")
func presenter_lines_areCallsAndAnswers() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar clock --group panels --style popover --start-timeout 1m --grace 1m")
  let path = try session.present("panels.calendar", "7", ["destination": .string("calendar")])
  let number = try #require(CoordinatorNames.number(of: path))
  let call = try shell.call()
  #expect(call["call"] == "present" && call["presentation"]?.unsigned == number)
  #expect(call["binding"] == "panels.calendar" && call["id"] == "7" && call["destination"] == "calendar")
  #expect(call["item"]?["style"] == "popover" && call["item"]?["group"] == "panels")
  shell.say(#"{"presented":\#(number)}"#)
  try isPresented(session, path)

  try session.runNavctl("update", "panels.calendar", "month=5")
  let update = try shell.call()
  #expect(update["call"] == "update" && update["item"]?["value"]?["month"] == "5")
  shell.say(#"{"update":\#(number),"value":{"month":6}}"#)
  try session.poll("its own update") {
    try session.state()["presentations"]?.array?.first?["value"]?["month"]?.unsigned == 6
  }
  let watcher = try session.watch()
  shell.say(#"{"act":\#(number),"action":"open","parameters":{"day":1}}"#)
  try session.wait("its action") { watcher.events.last?.json["action"] == "open" }

  // The panel asks, and declines; the other panel is not shown.
  try session.runNavctl("select", "panels", "clock")
  let dismiss = try shell.call()
  #expect(dismiss["call"] == "dismiss" && dismiss["reason"] == "deselected" && dismiss["forced"] == false)
  #expect(dismiss["animated"] == true)
  shell.say(#"{"asking":\#(number),"message":"Save?"}"#)
  try session.expectAsking("panels.calendar", "7")
  shell.say(#"{"declined":\#(number),"message":"not saved"}"#)
  try session.wait("it is kept") { watcher.lines.contains("declined panels.calendar 7") }

  // Two panels never overlap: the next one is called when the first is gone.
  try session.runNavctl("select", "panels", "clock", "--no-animation")
  #expect(try shell.call()["animated"] == false)
  shell.say(#"{"dismissed":\#(number),"result":{"answer":"bye"}}"#)
  #expect(try session.ending(of: path).result == ["answer": .string("bye")])
  let next = try shell.call()
  #expect(next["call"] == "present" && next["destination"] == "clock")
  let clock = try #require(next["presentation"]?.unsigned)
  shell.say(#"{"failed":\#(clock),"error":"no screen"}"#)
  let (reason, result) = try session.ending(of: CoordinatorNames.presentation(clock))
  #expect(reason == "failed" && "\(result)".contains("no screen"))
  #expect(shell.program.errorText == "")
}

@Test("A line that is wrong is answered with its number and what was expected, and changes nothing")
func presenter_wrongLines_changeNothing() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar")
  let path = try session.present("calendar")
  let number = try #require(CoordinatorNames.number(of: path))
  _ = try shell.call()
  let serial = try session.state()["serial"]
  let wrong: [(line: String, error: String)] = [
    ("", "line 1: byte 1: expected"),
    ("presented 1", "line 2: byte 1: expected"),
    ("[1]", "line 3: expected an object, found a list"),
    ("{}", "line 4: expected exactly one of presented"),
    (#"{"presented":1,"closed":1}"#, "line 5: expected exactly one of"),
    (#"{"presented":"1"}"#, "line 6: presented: expected the number of a presentation, found \"1\""),
    (#"{"presented":\#(number),"result":{}}"#, "line 7: unknown member “result” of “presented”; expected none"),
    (#"{"closed":\#(number),"result":1}"#, "line 8: result: expected"),
    (#"{"act":\#(number)}"#, "line 9: act: expected “action”, found none"),
    (#"{"dismissed":\#(number)}"#, "line 10: navd has not asked for this answer about presentation \(number)"),
    (#"{"presented":99}"#, "line 11: presentation 99 is not shown here"),
    (String(repeating: "x", count: 5 << 20), "line 12: expected at most 4 MiB, found more"),
  ]
  for (line, error) in wrong {
    shell.say(line)
    try shell.waitForError("navctl: presenter: \(error)")
  }
  #expect(try session.state()["serial"] == serial)
  shell.say(#"{"presented":\#(number)}"#)
  try isPresented(session, path)
}

@Test("A shell reports that its user closed a panel, and the panels that are shown end with standard input")
func presenter_closesAndLeaves() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar")
  let (first, number) = try showCalendar(of: shell, in: session)
  shell.say(#"{"closed":\#(number),"result":{"day":3}}"#)
  let (reason, result) = try session.ending(of: first)
  #expect(reason == "closed" && result == ["day": .int64(3)])

  let (second, _) = try showCalendar(of: shell, in: session)
  shell.end()
  #expect(try session.ending(of: second).reason == "failed")
  try session.wait("it has ended") { shell.program.hasEnded }
  #expect(shell.program.exitCode == 0 && shell.program.errorText == "")
}

@Test(
  "A shell is registered again with the next navd, which presents again the panels that are shown",
  arguments: [SIGKILL, SIGTERM])
func presenter_navdRestarted_presentsAgain(_ signal: Int32) throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar")
  let shown = try session.present("calendar", "1")
  let number = try #require(CoordinatorNames.number(of: shown))
  _ = try shell.call()
  shell.say(#"{"presented":\#(number)}"#)
  try isPresented(session, shown)
  // Another panel is being dismissed, and a third is to be shown.
  try session.present("calendar", "2")
  #expect(try shell.call()["call"] == "dismiss")
  let third = try session.present("third", "", ["destination": .string("calendar")])
  #expect(try shell.call()["call"] == "present")
  try session.stop(signal)
  try session.start()
  // The calls come again, in the order of the handles or of the ends.
  let calls = try [shell.call(), shell.call()]
  #expect(Set(calls.compactMap { $0["call"]?.string }) == ["dismiss", "present"])
  shell.say(#"{"dismissed":\#(number)}"#)
  shell.say(#"{"presented":\#(CoordinatorNames.number(of: third) ?? 0)}"#)
  try isPresented(session, third)
  let next = try shell.call()
  #expect(next["call"] == "present" && next["id"] == "2")
  try session.poll("it is registered again") {
    try session.call(Rows.destinations, ()).contains { $0.fields.0 == "calendar" }
  }
}

@Test("A shell that makes a report while navd does not run is told so")
func presenter_reportsWithoutNavd_isToldThatItDoesNotRun() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar")
  try session.present("calendar")
  let number = try #require(try shell.call()["presentation"]?.unsigned)
  try session.stop(SIGKILL)
  shell.say(#"{"act":\#(number),"action":"open"}"#)
  try shell.waitForError("navctl: presenter: line 1: navd is not running")
}

@Test("A shell gets the calls of navd, and none of others on the bus")
func presenter_callsOfOthers_areRefused() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar")
  let presenter = try #require(try session.presenter(of: "calendar"))
  let (shown, number) = try showCalendar(of: shell, in: session)
  func refuses<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws {
    let error = #expect(throws: DBusError.self, "\(method.name)") {
      try session.call(method, input, at: presenter.path, on: presenter.name)
    }
    #expect(error?.name == .accessDenied && error?.message.contains(CoordinatorNames.bus.text) == true)
  }
  try refuses(PresenterInterface.present, (CoordinatorNames.presentation(99), "false", "", [:]))
  try refuses(PresenterInterface.update, (shown, ["title": .string("false")]))
  try refuses(PresenterInterface.dismiss, (shown, "dismissed", [:]))
  // The next line is a call of navd.
  try session.runNavctl("update", "calendar", "month=5")
  #expect(try shell.call()["call"] == "update")
  shell.say(#"{"dismissed":\#(number)}"#)
  try shell.waitForError("line 2: navd has not asked for this answer about presentation \(number)")
}

@Test("P15: if a shell declines a forced dismissal, navctl says that it cannot, and takes its next answer")
func presenter_declinesForcedDismissal_answersLater() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar --grace 1m")
  let (path, number) = try showCalendar(of: shell, in: session)
  try session.runNavctl("dismiss", "calendar", "--force")
  #expect(try shell.call()["forced"] == true)
  shell.say(#"{"declined":\#(number),"message":"not saved"}"#)
  try shell.waitForError("line 2: the dismissal of presentation \(number) is forced, so it cannot be declined")
  shell.say(#"{"dismissed":\#(number),"result":{"answer":"bye"}}"#)
  #expect(try session.ending(of: path).result == ["answer": .string("bye")])
  #expect(!shell.program.errorText.contains("line 3"))
}

@Test("P15: a shell that declines a dismissal still answers a forced one that has followed")
func presenter_declinesBeforeForcedDismissal_answersBoth() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar --grace 1m")
  let (path, number) = try showCalendar(of: shell, in: session)
  try session.runNavctl("dismiss", "calendar")
  #expect(try shell.call()["forced"] == false)
  try session.runNavctl("dismiss", "calendar", "--force")
  #expect(try shell.call()["forced"] == true)
  shell.say(#"{"declined":\#(number),"message":"not saved"}"#)
  shell.say(#"{"dismissed":\#(number),"result":{"answer":"bye"}}"#)
  #expect(try session.ending(of: path).result == ["answer": .string("bye")])
  #expect(shell.program.errorText == "")
}

@Test("A panel that its user closes while navd is away is reported to the next navd")
func presenter_closesWithoutNavd_isReportedToTheNext() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar")
  let (path, number) = try showCalendar(of: shell, in: session)
  try session.stop(SIGKILL)
  shell.say(#"{"closed":\#(number),"result":{"day":3}}"#)
  // The next line is read after this one.
  shell.say(#"{"closed":\#(number)}"#)
  try shell.waitForError("line 3: presentation \(number) is not shown here")
  try session.start()
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed" && result == ["day": .int64(3)])
  #expect(shell.program.lines.count == 1 && !shell.program.errorText.contains("line 2"))
}

@Test(
  "R6: the result of a panel is told to the next navd if navd is killed before it has recorded the result",
  arguments: [true, false])
func presenter_dismissesAndNavdIsKilled_tellsTheNext(_ isRunning: Bool) throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar --grace 1m")
  let (path, number) = try showCalendar(of: shell, in: session)
  try session.runNavctl("dismiss", "calendar")
  #expect(try shell.call()["call"] == "dismiss")
  if isRunning {
    session.navd?.send(SIGSTOP)
  } else {
    try session.stop(SIGKILL)
    shell.say(#"{"act":\#(number),"action":"open"}"#)
    try shell.waitForError("line 2: navd is not running")
  }
  shell.say(#"{"dismissed":\#(number),"result":{"answer":"bye"}}"#)
  shell.say(#"{"dismissed":\#(number)}"#)
  try shell.waitForError("presentation \(number) is not shown here")
  if isRunning { try session.stop(SIGKILL) }
  try session.start()
  #expect(try session.ending(of: path).result == ["answer": .string("bye")])
  #expect(shell.program.lines.count == 2)
}

@Test("For a shell that only listens, navctl answers")
func presenter_automatic_answers() throws {
  let session = try Session()
  let navctl = session.executable("navctl")
  let listener = try session.start(
    program: "/bin/sh", ["-c", "exec \(navctl) presenter calendar --auto-present --auto-dismiss 1ms </dev/null"])
  try session.poll("it is registered; \(listener.errorText)") {
    try session.call(Rows.destinations, ()).contains { $0.fields.0 == "calendar" }
  }
  let path = try session.present("calendar")
  try isPresented(session, path)
  try session.dismiss("calendar")
  #expect(try session.ending(of: path).reason == "dismissed")
  try session.wait("both lines") { listener.lines.count == 2 }
}

@Test(
  "A shell that reads nothing delays neither navd nor other clients, and a shell that is gone counts as having left")
func presenter_readerSlowOrGone_delaysNobody() throws {
  let session = try Session()
  // Nobody reads from it.
  let reader = try InputPipe(session, "panels")
  let shell = try LineShell(session, "calendar --auto-present --start-timeout 1m", redirection: ">\"$HOME/panels\"")
  // The value is more than a pipe takes.
  let large: Properties = [
    "destination": .string("calendar"),
    "value": (["text": .string(String(repeating: "x", count: 200_000))] as Properties).value,
  ]
  let path = try session.present("calendar", "", large)
  try session.present("other")
  #expect(try session.state()["presentations"]?.array?.map { $0["phase"] } == ["presenting", "presented"])
  // The reader of the calls ends.
  reader.close()
  try session.wait("it ends") { shell.program.hasEnded }
  #expect(try session.ending(of: path).reason == "failed")
  #expect(shell.program.errorText == "")
}

@Test("L2: a shell that reports more than navd answers has to wait, and none of its reports is lost")
func presenter_reportsWithoutEnd_hasToWait() throws {
  let session = try Session()
  let shell = try LineShell(session, "calendar")
  let (_, number) = try showCalendar(of: shell, in: session)
  let watcher = try session.watch()
  let line = #"{"act":\#(number),"action":"open"}"#
  session.navd?.send(SIGSTOP)
  let most = 4 << 20
  var written = 0
  try session.poll("it reads no more") {
    let before = written
    while written < most, shell.tryToSay(line) { written += line.utf8.count + 1 }
    return written >= most || written == before && shell.isWaiting
  }
  #expect(written < 256 << 10)
  session.navd?.send(SIGCONT)
  shell.say(#"{"act":\#(number),"action":"last"}"#)
  try session.wait("its last report") { watcher.events.last?.json["action"] == "last" }
  #expect(watcher.events.count { $0.json["action"] == "open" } == written / (line.utf8.count + 1))
}

import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// Presenters on the bus: their answers, updates, departures, registrations and activation (D1, D4, D8).

private typealias Rows = CoordinatorInterface

private let dialog: Properties = ["destination": .string("dialog")]

extension Properties {
  fileprivate var error: String { self["error"].flatMap { String(value: $0) } ?? "" }
}

extension Watcher {
  /// The lines of the log about ended presentations.
  fileprivate var ends: [String] { lines.filter { $0.hasPrefix("dismissed") } }
}

/// Presents the item `fact 1` by a presenter on the bus.
/// - Parameter answering: whether the presenter answers. If so, returns once the item is presented; if not, once Present
///   is called.
private func presentItem(
  answering: Bool = true
) throws -> (session: Session, presenter: BusPresenter, watcher: Watcher, path: ObjectPath) {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  presenter.isAnswering = answering
  let watcher = try session.watch()
  let path = try session.present("fact", "1", dialog)
  try session.wait("the presenter is called") { presenter.log == ["present fact 1"] }
  if answering { try session.wait("it is presented") { watcher.lines.last == "presented fact 1" } }
  return (session, presenter, watcher, path)
}

// MARK: Answers

@Test("D4: an item is presented when its presenter answers Present, and not before")
func presenter_reply_isTheAcknowledgement() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  presenter.isAnswering = false
  let watcher = try session.watch()
  let path = try session.present("fact", "1", dialog)
  let shown = session.begin(Rows.wait, (path, "presented"))
  try session.wait("the presenter is called") { presenter.log == ["present fact 1"] }
  #expect(watcher.lines == ["phase fact 1 presenting"])
  #expect(shown.result == nil)
  presenter.isAnswering = true
  #expect(try session.answer(to: shown).0 == "")
  #expect(watcher.lines.last == "presented fact 1")

  presenter.isAnswering = false
  try session.dismiss("fact")
  try session.wait("Dismiss is called") { presenter.log.count == 2 }
  // The next item waits for the answer to Dismiss (P3).
  try session.present("fact", "2", dialog)
  #expect(presenter.log == ["present fact 1", "dismiss dismissed"])
  #expect(watcher.ends == [])
  presenter.isAnswering = true
  #expect(try session.ending(of: path).reason == "dismissed")
  try session.wait("the next is presented") { watcher.lines.last == "presented fact 2" }
}

@Test("D4: a presentation fails with the presenter's error, and fails if the presenter does not implement Present")
func presenter_thatRefuses_hasFailed() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  presenter.refusal = DBusError(name: "org.example.Error.NoScreen", message: "no screen")
  let watcher = try session.watch()
  let (reason, result) = try session.ending(of: session.present("fact", "1", dialog))
  #expect(reason == "failed")
  #expect(result.error.contains("no screen"))
  #expect(result.error.contains("org.example.Error.NoScreen"))
  // The presenter answered that it does not show the item, so Dismiss is not called.
  #expect(presenter.log == ["present fact 1"])
  #expect(watcher.ends == ["dismissed fact 1 failed"])

  let other = try session.connect()
  try session.call(Rows.registerPresenter, ("empty", "/nothing", [:]), by: other)
  let nothing = try session.ending(of: session.present("fact", "2", ["destination": .string("empty")]))
  #expect(nothing.reason == "failed")
  #expect(nothing.result.error.contains("/nothing"), "\(nothing.result)")
}

@Test("D4, P12: an error in answer to Dismiss ends the presentation with the original reason")
func presenter_thatRefusesToDismiss_isGone() throws {
  let (session, presenter, watcher, path) = try presentItem()
  presenter.result = nil
  try session.dismiss("fact")
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result.error.contains("it is stuck"))
  #expect(watcher.ends == ["dismissed fact 1 dismissed"])
}

@Test("D4, P14: after the time limits of Present and Dismiss, late answers change nothing")
func presenter_late_changesNothing() throws {
  let session = try Session()
  let presenter = try BusPresenter(
    session, destination: "dialog", ["start-timeout": .uint64(100), "grace": .uint64(100)])
  presenter.isAnswering = false
  let watcher = try session.watch()
  let (reason, result) = try session.ending(of: session.present("fact", "1", dialog))
  #expect(reason == "failed")
  #expect(result.error.contains("start-timeout"))
  #expect(presenter.log == ["present fact 1", "dismiss failed forced"])

  // Both answers come now, for a handle that no longer exists; the slot has another presentation by now.
  let next = try session.present("fact", "2")
  presenter.isAnswering = true
  presenter.isAnswering = false
  let slow = try session.present("note", "1", dialog)
  try session.wait("the presenter is called") { presenter.log.last == "present note 1" }
  presenter.isAnswering = true
  try session.wait("it is presented") { watcher.lines.last == "presented note 1" }
  #expect(try session.call(Rows.get, "fact").0 == next)

  // A dismissal without an answer also ends with its reason.
  presenter.isAnswering = false
  try session.dismiss("note")
  let ending = try session.ending(of: slow)
  #expect(ending.reason == "dismissed")
  #expect(ending.result.error.contains("grace"), "\(ending.result)")
  presenter.isAnswering = true
  // This call is answered only after navd has processed the late answers.
  try session.call(Rows.unregisterPresenter, "dialog", by: presenter.connection)
  #expect(watcher.ends == ["dismissed fact 1 failed", "dismissed note 1 dismissed"])
}

@Test(
  "P4: a presenter that is dismissed before it has answered Present ends once, whatever it answers",
  arguments: [false, true])
func presenter_cancelled_endsOnce(refusing: Bool) throws {
  let (session, presenter, watcher, path) = try presentItem(answering: false)
  try session.dismiss("fact")
  try session.wait("Dismiss is called") { presenter.log.count == 2 }
  if refusing { presenter.refusal = DBusError(name: .failed, message: "cancelled") }
  presenter.result = ["answer": .string("none")]
  presenter.isAnswering = true
  let (reason, _) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(watcher.lines == ["phase fact 1 presenting", "phase fact 1 dismissing", "dismissed fact 1 dismissed"])
}

@Test("P12: a presenter that reports Closed while Dismiss is pending completes the dismissal")
func presenter_closingWhileDismissing_completesIt() throws {
  let (session, presenter, watcher, path) = try presentItem()
  presenter.isAnswering = false
  try session.dismiss("fact")
  try session.wait("Dismiss is called") { presenter.log.count == 2 }
  try session.call(Rows.closed, (path, ["answer": .string("user")]), by: presenter.connection)
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result == ["answer": .string("user")])
  presenter.isAnswering = true
  #expect(!(try session.call(Rows.closed, (path, [:]), by: presenter.connection).0))
  #expect(watcher.ends == ["dismissed fact 1 dismissed"])
}

@Test("D11: a presenter can report Closed before it has answered Present")
func presenter_closingBeforeItAnswers_isClosed() throws {
  let (session, presenter, watcher, path) = try presentItem(answering: false)
  #expect(try session.call(Rows.closed, (path, ["answer": .int32(1)]), by: presenter.connection).0)
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed")
  #expect(result == ["answer": .int32(1)])
  presenter.isAnswering = true
  _ = try session.call(Rows.getState, (), by: presenter.connection)
  #expect(watcher.lines == ["phase fact 1 presenting", "dismissed fact 1 closed"])
  #expect(presenter.log == ["present fact 1"])
}

@Test("P8: reports of a presenter are announced in their order, every action before the end")
func presenter_actions_areAnnouncedBeforeTheEnd() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let watchers = [try session.watch(), try session.watch(on: try session.connect())]
  let path = try session.present("fact", "1", dialog)
  try session.wait("it is presented") { watchers.allSatisfy { $0.lines.last == "presented fact 1" } }
  for watcher in watchers { watcher.clear() }
  let acts = (1...3).map { number in
    session.begin(Rows.act, (path, "pressed", ["n": .int32(number)]), by: presenter.connection)
  }
  let closed = session.begin(Rows.closed, (path, [:]), by: presenter.connection)
  let late = session.begin(Rows.act, (path, "late", [:]), by: presenter.connection)
  for act in acts { _ = try session.answer(to: act) }
  #expect(try session.answer(to: closed).0)
  // A report after the end succeeds and does nothing.
  _ = try session.answer(to: late)
  _ = try session.call(Rows.getState, ())
  for watcher in watchers {
    try session.wait("the end is announced") { watcher.ends.count == 1 }
    #expect(watcher.lines == Array(repeating: "action fact 1 pressed", count: 3) + ["dismissed fact 1 closed"])
    let numbers = watcher.events.compactMap { $0.json["parameters"]?["n"]?.unsigned }
    #expect(numbers == [1, 2, 3])
  }
}

// MARK: Updates

@Test("D8: an update by the presenter is announced to all watchers and not sent back to the presenter")
func presenter_ownUpdate_isAnnouncedToOthers() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let watchers = [try session.watch(), try session.watch(on: try session.connect())]
  let path = try session.present("fact", "1", dialog.merging(["value": ["n": Value.int32(1)].value]) { $1 })
  try session.wait("it is presented") { watchers.allSatisfy { $0.lines.last == "presented fact 1" } }
  #expect(try session.call(Rows.update, ("fact", ["n": .int32(2)], [:]), by: presenter.connection).0)
  #expect(
    try session.call(PresentationInterface.update, (["m": .string("x")], [:]), at: path, by: presenter.connection).0)
  for watcher in watchers {
    try session.wait("both updates are announced") { watcher.lines.filter { $0 == "updated fact 1" }.count == 2 }
    let value = watcher.events.last?.json["item"]?["value"]
    #expect(value?["n"]?.unsigned == 2)
    #expect(value?["m"]?.string == "x")
    #expect(watcher.hasAllSerials)
  }
  // An update by another client is sent to the presenter.
  try session.call(Rows.update, ("fact", ["n": .int32(3)], [:]))
  try session.wait("the presenter is called") { presenter.log.last == "update" }
  #expect(presenter.log == ["present fact 1", "update"])
  let value = presenter.items.last?["value"].flatMap { Properties(value: $0) }
  #expect(value == ["n": .int32(3), "m": .string("x")])
}

@Test(
  "D8: at most one Update is pending, the latest value follows it, and an error from Update does not end the presentation"
)
func presenter_updates_areSentOneByOne() throws {
  let (session, presenter, _, path) = try presentItem()
  presenter.isAnswering = false
  presenter.updateRefusal = DBusError(name: .failed, message: "what?")
  for number in 1...5 { try session.call(Rows.update, ("fact", ["n": .int32(Int32(number))], [:])) }
  try session.wait("the presenter is called") { presenter.log.contains("update") }
  #expect(presenter.log == ["present fact 1", "update"])
  presenter.isAnswering = true
  try session.wait("Update is called with the latest value") { presenter.log.count == 3 }
  #expect(presenter.items.last?["value"].flatMap { Properties(value: $0) } == ["n": .int32(5)])
  _ = try session.call(Rows.getState, (), by: presenter.connection)
  #expect(presenter.log == ["present fact 1", "update", "update"])
  #expect(try session.call(Rows.get, "fact").0 == path)
}

// MARK: Leaving

@Test(
  "D4, P12: when a presenter leaves the bus, its presentations end, whatever their phase",
  arguments: [
    ("presenting", "failed"), ("presented", "failed"), ("updating", "failed"), ("dismissing", "dismissed"),
  ])
func presenter_leaving_endsWhatItShows(phase: String, reason: String) throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  presenter.isAnswering = phase != "presenting"
  let watcher = try session.watch()
  let path = try session.present("fact", "1", dialog)
  try session.wait("the presenter is called") { presenter.log == ["present fact 1"] }
  if phase != "presenting" {
    try session.wait("it is presented") { watcher.lines.last == "presented fact 1" }
    presenter.isAnswering = false
  }
  if phase == "updating" {
    try session.call(Rows.update, ("fact", ["n": .int32(1)], [:]))
    try session.wait("it is updated") { presenter.log.last == "update" }
  }
  if phase == "dismissing" {
    try session.dismiss("fact")
    try session.wait("Dismiss is called") { presenter.log.last == "dismiss dismissed" }
  }
  presenter.connection.close()
  let ending = try session.ending(of: path)
  #expect(ending.reason == reason)
  #expect(!ending.result.error.isEmpty)
  #expect(watcher.ends == ["dismissed fact 1 \(reason)"])
  #expect(try session.call(Rows.get, "fact").0 == .root)
}

@Test("D4: an item whose presenter has left before the item's turn fails")
func presenter_leavingWhileItsItemWaits_hasFailed() throws {
  let session = try Session(destinations: ["slow": JournaledCommand.destination(endingAfter: 200)])
  let presenter = try BusPresenter(session, destination: "dialog")
  try session.present("fact", "1", ["destination": .string("slow")])
  try session.wait(for: "start 1", of: "fact")
  let path = try session.present("fact", "2", dialog)
  presenter.connection.close()
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "failed")
  #expect(!result.error.isEmpty)
}

/// Has a presenter leave the bus. navd knows of it when it gets the next call.
private func leave(_ presenter: BusPresenter, _ session: Session) throws {
  var isThere = true
  let watch = session.client.watchName(presenter.connection.uniqueName) { isThere = $0 != nil }
  defer { watch.cancel() }
  presenter.connection.close()
  try session.wait("it has left the bus") { !isThere }
  // The consequences are carried out, and on record, in the turns before these calls are answered.
  for _ in 1...3 { _ = try session.call(Rows.destinations, ()) }
}

@Test(
  "D4: a presenter that registers its destination again within two seconds shows its items again, under their handles")
func presenter_leavingAndRegisteringAgain_isAskedAgain() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let path = try session.present("fact", "1", dialog)
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let watcher = try session.watch()
  try leave(presenter, session)
  try session.call(Rows.update, ("fact", ["n": .int32(7)], [:]))
  let next = try BusPresenter(session, destination: "dialog")
  try session.wait("it is asked") { next.log == ["present fact 1"] }
  #expect(next.items[0]["restored"] == .boolean(true))
  #expect(next.items[0]["value"].flatMap { Properties(value: $0) } == ["n": .int32(7)])
  #expect(watcher.lines == ["updated fact 1"])
  try session.dismiss("fact")
  try session.wait("it is told to end") { next.log.last == "dismiss dismissed" }
  #expect(try session.ending(of: path).reason == "dismissed")
}

@Test("D4: a shell that registers its destinations anew before it lets go of the earlier ones is asked at once")
func presenter_registeringBeforeLeaving_isAskedAgain() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let path = try session.present("fact", "1", dialog)
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let next = try BusPresenter(session, destination: "dialog")
  #expect(next.log == [])
  presenter.connection.close()
  try session.wait("it is asked") { next.log == ["present fact 1"] }
}

@Test("D1: an item that waits while a shell reloads itself is presented by the shell that is there afterwards")
func presenter_registeringWhileItsItemWaits_presentsIt() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let first = try session.present("fact", "1", dialog)
  #expect(try session.call(Rows.wait, (first, "presented")).0 == "")
  presenter.isAnswering = false
  let second = try session.present("fact", "2", dialog)
  try session.wait("the first one is told to end") { presenter.log.last == "dismiss replaced" }
  let next = try BusPresenter(session, destination: "dialog")
  presenter.connection.close()
  #expect(try session.call(Rows.wait, (second, "presented")).0 == "")
  #expect(next.log == ["present fact 2"])
}

@Test("D4: an item that is dismissed while its presenter is away ends at once")
func presenter_away_itemIsDismissedAtOnce() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let path = try session.present("fact", "1", dialog)
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  try leave(presenter, session)
  try session.dismiss("fact")
  #expect(try session.ending(of: path).reason == "dismissed")
  let next = try BusPresenter(session, destination: "dialog")
  try session.present("fact", "2", dialog)
  try session.wait("it is asked") { next.log == ["present fact 2"] }
}

@Test("D4, R6: a navd that starts after a kill still waits for a presenter that was away")
func presenter_awayWhileNavdIsKilled_isAskedAgain() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "dialog")
  let path = try session.present("fact", "1", dialog)
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  try leave(presenter, session)
  try session.stop(SIGKILL)
  try session.start()
  let next = try BusPresenter(session, destination: "dialog")
  try session.wait("it is asked") { next.log == ["present fact 1"] }
  #expect(next.items[0]["restored"] == .boolean(true))
  #expect(try session.call(Rows.get, "fact").0 == path)
}

// MARK: Registrations

@Test("D1: the last registered presenter of a destination is used; when it leaves, the previous one is used again")
func presenter_twoForOneDestination_lastWins() throws {
  let session = try Session()
  let first = try BusPresenter(session, destination: "dialog")
  let watcher = try session.watch()
  let early = try session.present("early", "", dialog)
  let second = try BusPresenter(session, destination: "dialog")
  let middle = try session.present("middle", "", dialog)
  try session.wait("both are presented") { watcher.lines.filter { $0.hasPrefix("presented") }.count == 2 }
  #expect(first.log == ["present early "])
  #expect(second.log == ["present middle "])

  // A presentation stays with the presenter that presented it.
  second.connection.close()
  #expect(try session.ending(of: middle).reason == "failed")
  #expect(try session.call(Rows.get, "early").0 == early)
  try session.present("late", "", dialog)
  try session.wait("the first is back") { first.log.last == "present late " }

  let third = try BusPresenter(session, destination: "dialog")
  try session.dismiss("early")
  #expect(try session.ending(of: early).reason == "dismissed")
  try session.call(Rows.unregisterPresenter, "dialog", by: third.connection)
  try session.present("last", "", dialog)
  try session.wait("the first is back again") { first.log.last == "present last " }
  #expect(third.log == [])
}

// MARK: Activation

/// A program around the presenter of docs/recipes, which answers each call twice: first correctly, then with an error.
private let script = """
  import os
  import sys
  import presenter
  from gi.repository import Gio

  sys.stdout = open(os.environ["NAVD_TEST_JOURNAL"], "a")
  once = presenter.called

  def twice(connection, sender, path, interface, method, arguments, invocation):
      message = invocation.get_message()
      once(connection, sender, path, interface, method, arguments, invocation)
      again = message.new_method_error_literal("org.example.Error.Twice", "twice")
      connection.send_message(again, Gio.DBusSendMessageFlags.NONE)

  presenter.called = twice
  print("runs", os.getpid(), flush=True)
  presenter.main()
  """

@Test("D4: a presenter named in a destination file is activated by the bus when it is first needed")
func presenter_namedInAFile_isActivated() throws {
  let session = try Session(
    destinations: ["dialog": "bus = { name = \"org.example.Board\", path = \"/presenter\" }\n"],
    services: ["org.example.Board": "/usr/bin/python3 $HOME/twice.py"],
    files: [
      "twice.py": script, "presenter.py": Files.text(inPackage: "docs/recipes/presenter.py"),
      ".local/share/dbus-1/interfaces/org.navd.Presenter1.xml": Files.text(inPackage: "dbus/org.navd.Presenter1.xml"),
    ])
  let watcher = try session.watch()
  #expect(session.journalLines == [])

  let path = try session.present("dialog", "1", ["value": ["n": Value.int32(1)].value])
  try session.wait("it is presented") { watcher.lines.last == "presented dialog 1" }
  let runs = try #require(session.journalLines.first)
  #expect(session.journalLines == [runs, "+ dialog 1 {'n': 1}"])
  try session.dismiss("dialog", ["animated": .boolean(false)])
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result == ["answer": .string("bye")])
  #expect(session.journalLines.last == "- dialog 1 dismissed")

  // The presenter is running now. After its end it is activated again.
  let next = try session.present("dialog", "2")
  try session.wait("it is presented again") { watcher.lines.last == "presented dialog 2" }
  let pid = try #require(pid_t(runs.dropFirst("runs ".count)))
  kill(pid, SIGKILL)
  #expect(try session.ending(of: next).reason == "failed")
  try session.present("dialog", "3")
  try session.wait("it is presented by another") { watcher.lines.last == "presented dialog 3" }
  #expect(session.journalLines.filter { $0.hasPrefix("runs") }.count == 2)
  #expect(watcher.ends == ["dismissed dialog 1 dismissed", "dismissed dialog 2 failed"])
}

/// A program around the presenter of docs/recipes, whose user closes each item just before it is dismissed.
private let crossingScript = """
  import io
  import os
  import sys
  import presenter

  once = presenter.called

  def crossing(connection, sender, path, interface, method, *rest):
      if method == "Dismiss":
          sys.stdin = io.StringIO("\\n")
          presenter.close_last(sys.stdin, 0, connection)
      once(connection, sender, path, interface, method, *rest)
      print("answered", method, file=journal, flush=True)

  journal = open(os.environ["NAVD_TEST_JOURNAL"], "a")
  presenter.called = crossing
  presenter.main()
  """

@Test("The presenter in Python answers a dismissal that crosses with its user's closing")
func presenter_dismissedWhileItCloses_answers() throws {
  let session = try Session(
    destinations: ["dialog": "bus = { name = \"org.example.Board\", path = \"/presenter\" }\ngrace = \"1h\"\n"],
    services: ["org.example.Board": "/usr/bin/python3 $HOME/crossing.py"],
    files: [
      "crossing.py": crossingScript, "presenter.py": Files.text(inPackage: "docs/recipes/presenter.py"),
      ".local/share/dbus-1/interfaces/org.navd.Presenter1.xml": Files.text(inPackage: "dbus/org.navd.Presenter1.xml"),
    ])
  let watcher = try session.watch()
  let path = try session.present("dialog", "1")
  try session.wait("it is presented") { watcher.lines.last == "presented dialog 1" }
  try session.dismiss("dialog")
  #expect(try session.ending(of: path).reason == "dismissed")
  try session.wait("the call is answered") { session.journalLines.last == "answered Dismiss" }
}

@Test("D4: an item fails if the presenter named in its destination file cannot be activated")
func presenter_namedInAFileButNotActivatable_fails() throws {
  let session = try Session(
    destinations: ["dialog": "bus = { name = \"org.example.Missing\", path = \"/dialog\" }\n"])
  let (reason, result) = try session.ending(of: session.present("dialog", "1"))
  #expect(reason == "failed")
  #expect(result.error.contains("org.example.Missing"), "\(result)")
}

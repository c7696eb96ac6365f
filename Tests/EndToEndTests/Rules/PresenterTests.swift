import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing
import TextFormats

// Presenters on the bus that leave and come back, and those that the bus activates (D4).

private typealias Rows = CoordinatorInterface

private let dialog: Properties = ["destination": .string("dialog")]

extension Properties {
  fileprivate var error: String { self["error"].flatMap { String(value: $0) } ?? "" }
}

extension Watcher {
  /// The lines of the log about ended presentations.
  fileprivate var ends: [String] { lines.filter { $0.hasPrefix("dismissed") } }
}

// MARK: Leaving

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

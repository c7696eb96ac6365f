import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Dismissals that a presenter on the bus declines, or about which it asks its user (P15, P16).

private typealias Rows = CoordinatorInterface

private let declined = DBusError(name: CoordinatorError.Name.declined.errorName, message: "not saved")

/// An editor in an exclusive group: a presenter whose dismissals are declined, or held back.
private final class Editor {
  let session: Session
  let presenter: BusPresenter
  let watcher: Watcher
  let path: ObjectPath

  init() throws {
    session = try Session()
    presenter = try BusPresenter(session, destination: "editor", ["group": .string("panels")])
    path = try session.present("editor", "", [:])
    #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
    watcher = try session.watch()
  }

  /// Selects another member, and waits until the editor is told to end.
  func leave() throws {
    let count = presenter.log.count
    try session.runNavctl("select", "panels", "other", "--state")
    try session.wait("the editor is told to end") { presenter.log.count == count + 1 }
  }

  func ask(_ message: String = "Save?") throws {
    _ = try session.call(Rows.asking, (path, message), by: presenter.connection)
  }
}

@Test("P15: a member that declines is selected again, and all clients that wait for it or the next member learn of it")
func presenter_declines_isSelectedAgain() throws {
  let editor = try Editor()
  let session = editor.session
  editor.presenter.isAnswering = false
  let end = session.begin(Rows.wait, (editor.path, "gone"))
  try editor.leave()
  let other = try session.call(Rows.get, "panels.other").0
  let next = session.begin(Rows.wait, (other, "presented"))
  editor.watcher.clear()
  editor.presenter.refusedEnd = declined
  editor.presenter.isAnswering = true
  #expect(try session.answer(to: next).0 == "declined")
  #expect(
    editor.watcher.lines == [
      "selection panels editor", "group panels editor ·", "declined editor", "dismissed panels.other declined",
    ])
  #expect(editor.watcher.events.contains { $0.json["message"] == "not saved" })
  #expect(try session.call(Rows.get, "editor").0 == editor.path)
  #expect(end.result == nil)

  // The editor ends at the next dismissal.
  editor.presenter.refusedEnd = nil
  try editor.leave()
  #expect(try session.answer(to: end).0 == "deselected")
}

@Test(
  "P15: a client that waits for the end of a dismissal learns that it was declined, and why; navctl dismiss --wait says it"
)
func presenter_declines_endsTheWaitForTheDismissal() throws {
  let editor = try Editor()
  let session = editor.session
  #expect(try session.call(Rows.wait, (editor.path, "settled")).1 == [:], "it is not being dismissed")
  editor.presenter.isAnswering = false
  try session.dismiss("editor")
  let settled = session.begin(Rows.wait, (editor.path, "settled"))
  editor.presenter.refusedEnd = declined
  editor.presenter.isAnswering = true
  let (reason, result) = try session.answer(to: settled)
  #expect(reason == "" && result == ["declined": .string("not saved")])
  // A client that waits later gets the same answer.
  #expect(try session.call(Rows.wait, (editor.path, "settled")).1 == ["declined": .string("not saved")])

  let kept = try session.navctl("dismiss", "editor", "--wait")
  #expect(kept.exitCode == 6)
  #expect(
    kept.errorText
      == "navctl: dismiss editor: “editor” stays: not saved; “navctl close --force” closes it without asking\n")
  editor.presenter.refusedEnd = nil
  let gone = try session.navctl("dismiss", "editor", "--wait", "--json")
  #expect(gone.exitCode == 0 && gone.json?["changed"] == true)
  #expect(try session.state()["presentations"] == [])
}

@Test(
  "P15: with --force nobody is asked, and an item about which its user is already asked ends", arguments: [false, true])
func navctl_force_endsWhatDeclines(isAsked: Bool) throws {
  let editor = try Editor()
  editor.presenter.refusedEnd = declined
  if isAsked {
    editor.presenter.isAnswering = false
    try editor.leave()
    try editor.ask()
    editor.watcher.clear()
  }
  try editor.session.runNavctl("select", "panels", "other", "--state", "--force")
  try editor.session.wait("it is told, by force") { editor.presenter.log.last == "dismiss deselected forced" }
  editor.presenter.isAnswering = true
  #expect(try editor.session.ending(of: editor.path).reason == "deselected")
  #expect(editor.watcher.lines.contains("asking editor") == isAsked)
}

@Test("P15: every verb that can end an item takes --force, and a verb that cannot refuses it")
func navctl_force_isTakenByEveryVerbThatEnds() throws {
  let session = try Session()
  for words in [
    ["present", "a", "--state"], ["toggle", "a", "--state"], ["dismiss", "a"], ["dismiss", "--all"],
    ["select", "g", "x", "--state"], ["deselect", "g"], ["toggle-selection", "g", "x", "--state"],
    ["push", "s", "b", "--state"], ["pop", "s"], ["pop-to", "s"], ["set-path", "s", "b", "--state"],
  ] {
    let run = try session.run(program: session.executable("navctl"), words + ["--force"])
    #expect(run.exitCode == 0, "\(words): \(run.errorText)")
  }
  let run = try session.run(program: session.executable("navctl"), ["update", "a", "x=1", "--force"])
  #expect(run.exitCode == 2 && run.errorText.contains("closes nothing"), "\(run.errorText)")
}

@Test("P15: Dismiss of the presentation's own object forces it, though its slot holds another item")
func presentation_dismissForced_endsWhatAsks() throws {
  let editor = try Editor()
  editor.presenter.isAnswering = false
  try editor.leave()
  try editor.ask()
  let (changed, _) = try editor.session.connect().callAndWait(
    PresentationInterface.dismiss, on: CoordinatorNames.bus, at: editor.path, ["force": .boolean(true)],
    timeout: .seconds(10))
  #expect(!changed)
  try editor.session.wait("it is told, by force") { editor.presenter.log.last == "dismiss deselected forced" }
}

@Test("P16: while a presenter asks, its grace stands still, and the state says so")
func presenter_asks_hasAnyTime() throws {
  let session = try Session()
  let presenter = try BusPresenter(session, destination: "editor", ["grace": .uint64(1000)])
  let path = try session.present("editor")
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  let watcher = try session.watch()
  let start = ReplayedState(watcher.start)
  presenter.refusedEnd = declined
  presenter.isAnswering = false
  presenter.hear = { call in
    guard call.hasPrefix("dismiss") else { return }
    presenter.connection.call(
      Rows.asking, on: CoordinatorNames.bus, at: CoordinatorNames.object, (path, "Save?")
    ) { _ in }
  }
  try session.dismiss("editor")
  try session.wait("it asks") { watcher.lines.last == "asking editor" }
  #expect(watcher.events.last?.json["message"] == "Save?" && watcher.events.last?.json["asking"] == true)
  let entry = try #require(try session.state()["presentations"]?.array?.first)
  #expect(entry["phase"] == "dismissing" && entry["asking"] == true && entry["message"] == "Save?")
  #expect(try session.navctl("list").outputText.contains("dismissing (asking)"))
  // This item lives longer than the grace.
  let clock = try session.present("clock", "", ["timeout": .uint64(1500)])
  #expect(try session.ending(of: clock).reason == "expired")
  #expect(presenter.log == ["present editor ", "dismiss dismissed"])
  presenter.isAnswering = true
  try session.wait("it is kept") { watcher.lines.contains("declined editor") }
  var replayed = start
  for event in watcher.events { replayed.apply(event) }
  #expect(replayed.differences(from: try session.state()) == [])
}

@Test(
  "P16, R6: navd is killed while a presenter asks: it is told again, and may decline", arguments: [SIGKILL, SIGTERM])
func restart_whileAsking_isToldAgain(_ signal: Int32) throws {
  let editor = try Editor()
  let session = editor.session
  editor.presenter.isAnswering = false
  try editor.leave()
  try editor.ask()
  try session.stop(signal)
  try session.start()
  try session.wait("it is told again") {
    editor.presenter.log == ["present editor ", "dismiss deselected", "dismiss deselected"]
  }
  #expect(try session.state()["presentations"]?.array?.first?["asking"] == nil)
  try editor.ask()
  #expect(try session.state()["presentations"]?.array?.first?["asking"] == true)
  editor.presenter.refusedEnd = declined
  editor.presenter.isAnswering = true
  try session.poll("it is kept") { try session.call(Rows.get, "editor").0 == editor.path }
  try session.stop(signal)
  try session.start()
  #expect(try session.call(Rows.get, "editor").0 == editor.path)
}

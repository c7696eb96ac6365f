import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import NavigationTesting
import Observation
import PresentationModel
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Model {
  struct Note: Hashable, Codable, Identifiable {
    var id: String
    var text = ""
  }
  var note: Note?
  var second: Note?
  var path: [String] = []
  var mixed = NavigationPath()
}

/// A text longer than the limit of an id.
private let tooLong = String(repeating: "x", count: 10_000)

/// Faults: screens that are slow or fail, refused requests, edits that collide, and the end of navd.
@Suite @MainActor struct FaultTests {
  @Test("P4: a screen dismissed before it has appeared is cancelled", arguments: bothKinds)
  func appear_isSlow_isCancelled(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNote(of: model)
    fixture.display.slow = ["a"]
    model.note = .init(id: "a")
    try await fixture.until { fixture.display.appearing == ["a"] }
    model.note = nil
    try await fixture.state { $0.presentations.isEmpty }
    try await fixture.until { fixture.display.ends == [.dismissed] }
    // The screen never appeared, so disappear is not called.
    #expect(fixture.display.cancelled == ["a"] && fixture.display.disappearing == [] && fixture.display.log == [])
    model.note = .init(id: "b")
    try await fixture.shows("b")
  }

  @Test("P4: a screen that ignores its cancellation is dismissed after it has appeared", arguments: bothKinds)
  func appear_ignoresCancellation_isDismissedAfterwards(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNote(of: model)
    (fixture.display.slow, fixture.display.uncancellable) = (["a"], ["a"])
    model.note = .init(id: "a")
    try await fixture.until { fixture.display.appearing == ["a"] }
    model.note = .init(id: "b")
    try await fixture.until { fixture.display.cancelled == ["a"] }
    fixture.display.slow = []
    try await fixture.shows("b")
    #expect(fixture.display.log == ["+a", "-a", "+b"])
  }

  @Test("D4, D7: a screen that never appears fails after the start timeout", arguments: bothKinds)
  func appear_neverReturns_failsInTime(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind, startTimeout: .milliseconds(300), grace: .milliseconds(50))
    let model = Model()
    fixture.presentNote(of: model)
    // The other navigator has a timeout that is long enough.
    let (patient, display) = (Navigator(fixture.coordinator), fixture.display)
    patient.present(item: Bindable(model).second) { RecordingScreen($0.wrappedValue.id, on: display) }
    (fixture.display.slow, fixture.display.uncancellable) = (["a"], ["a"])
    model.note = .init(id: "a")
    try await fixture.until { fixture.display.ends == [.failed] && model.note == nil }
    try await fixture.state { $0.presentations.isEmpty }
    model.second = .init(id: "b")
    try await fixture.shows("b")
    // A screen that appears after all, within its timeout, is dismissed.
    let wasAsked = !fixture.display.appearing.isEmpty
    fixture.display.slow = []
    if wasAsked { try await fixture.until { fixture.display.log.count == 3 && fixture.display.log[1] == "+a" } }
    #expect(fixture.display.names == ["b"] && model.second?.id == "b")
  }

  @Test("P14: a screen that never disappears counts as gone after the grace time", arguments: bothKinds)
  func disappear_neverReturns_countsAsGone(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind, grace: .milliseconds(50))
    let model = Model()
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    fixture.display.stuck = ["a"]
    model.note = .init(id: "b")
    try await fixture.shows("a", "b")
    // The program is told when the screen is gone.
    await fixture.navigator.settle()
    #expect(fixture.display.ends == [])
    fixture.display.stuck = []
    try await fixture.shows("b")
    try await fixture.until { fixture.display.ends == [.replaced] }
    #expect(model.note?.id == "b" && fixture.display.disappearing == ["a"])
  }

  @Test("A slow screen with the name of one that was cancelled is slow, too", arguments: bothKinds)
  func appear_isSlowAgain_isWaitedFor(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNote(of: model)
    fixture.display.slow = ["a"]
    model.note = .init(id: "a")
    try await fixture.until { fixture.display.appearing == ["a"] }
    model.note = nil
    try await fixture.until { fixture.display.ends == [.dismissed] }
    model.note = .init(id: "a")
    try await fixture.until { fixture.display.appearing == ["a", "a"] }
    await fixture.navigator.settle()
    #expect(fixture.display.log == [])
    fixture.display.slow = []
    try await fixture.shows("a")
  }

  @Test(
    "A replacement that is refused because of a limit leaves no screen, and the state as it is",
    arguments: bothKinds)
  func replacement_overALimit_staysInState(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    model.note = .init(id: tooLong)
    try await fixture.shows()
    try await fixture.state { $0.presentations.isEmpty }
    #expect(model.note?.id == tooLong && refusals.map(\.refusal) == [.limitExceeded])
    model.note = .init(id: "b")
    try await fixture.shows("b")
  }

  @Test(
    "An item that is too large, or has a text that D-Bus cannot carry, stays in the state",
    arguments: bothKinds, [String(repeating: "x", count: 2 << 20), "a\0b"])
  func item_thatCannotBeSent_staysInState(_ kind: CoordinatorKind, _ text: String) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    fixture.navigator.present(item: Bindable(model).note.named("note").published()) { [display = fixture.display] in
      RecordingScreen($0.wrappedValue.id, on: display)
    }
    model.note = .init(id: "a", text: text)
    await fixture.navigator.settle()
    #expect(model.note == .init(id: "a", text: text))
    // The item is shown without the text that cannot be carried, and this is reported.
    #expect(text.contains("\0") ? fixture.display.names == ["a"] : refusals.map(\.refusal) == [.limitExceeded])
    model.note?.text = "short"
    try await fixture.shows("a")
    #expect(model.note == .init(id: "a", text: "short"))
  }

  @Test("If an element of a path is refused, the path stays as it is, and it is reported", arguments: bothKinds)
  func path_elementRefused_stays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    fixture.presentPath(of: model)
    model.path = ["a", "b"]
    try await fixture.shows("a", "b")
    model.path = ["a", tooLong]
    try await fixture.shows("a")
    #expect(model.path == ["a", tooLong] && refusals.map(\.refusal) == [.limitExceeded])
    // The path is requested again when it has changed.
    model.path.append("c")
    await fixture.navigator.settle()
    #expect(model.path == ["a", tooLong, "c"] && fixture.display.names == ["a"])
    model.path = ["a", "c"]
    try await fixture.shows("a", "c")
    #expect(refusals.map(\.refusal) == [.limitExceeded, .limitExceeded])
  }

  @Test("A path that is too long is refused as a whole, and stays as it is", arguments: bothKinds)
  func path_tooLong_stays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    fixture.presentPath(of: model)
    let path = (0..<1025).map { "\($0)" }
    model.path = path
    await fixture.navigator.settle()
    #expect(model.path == path && refusals.map(\.refusal) == [.limitExceeded])
    model.path = ["a"]
    try await fixture.shows("a")
    #expect(model.path == ["a"])
  }

  @Test("S4: a value of another type with the same text is another element", arguments: bothKinds)
  func path_sameTextOfAnotherType_isAnother(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let stack = fixture.navigator.stack(path: Bindable(model).mixed.named("mixed"))
    stack.navigationDestination(for: Int.self) { RecordingScreen("number \($0)", on: display) }
    stack.navigationDestination(for: String.self) { RecordingScreen("text \($0)", on: display) }
    model.mixed.append(1)
    try await fixture.shows("number 1")
    model.mixed = NavigationPath(["1"])
    try await fixture.shows("text 1")
    #expect(model.mixed.count == 1)
  }

  @Test("A presentation cancelled while its request is pending leaves nothing", arguments: bothKinds)
  func presence_cancelledWhilePending_leavesNothing(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    for turns in 0..<12 {
      let model = Model()
      let presence = fixture.presentNote(of: model)
      model.note = .init(id: "a")
      for _ in 0..<turns { await Task.yield() }
      presence.cancel()
      await fixture.navigator.settle()
      try await fixture.state { $0.presentations.isEmpty }
      try await fixture.shows()
      #expect(model.note?.id == "a")
    }
  }

  @Test(
    "State whose presentation is cancelled while its request is under way, and which is presented again, stays presented",
    arguments: bothKinds)
  func presence_cancelledWhilePendingAndRepeated_staysPresented(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    for turns in 0..<12 {
      let model = Model()
      let presence = fixture.presentNote(of: model)
      model.note = .init(id: "a")
      for _ in 0..<turns { await Task.yield() }
      presence.cancel()
      let again = fixture.presentNote(of: model)
      await fixture.navigator.settle()
      try await fixture.shows("a")
      await fixture.navigator.settle()
      #expect(fixture.display.names == ["a"] && model.note?.id == "a", "after \(turns) turns")
      again.cancel()
      try await fixture.state { $0.presentations.isEmpty }
      try await fixture.shows()
    }
  }

  @Test(
    "State that is presented twice while its request is under way has one screen, and the later presence counts",
    arguments: bothKinds)
  func state_presentedTwiceWhilePending_isShownOnce(_ kind: CoordinatorKind) async throws {
    let fixture = try await NavigationFixture(kind)
    for turns in 0..<12 {
      let model = Model()
      let former = fixture.presentNote(of: model)
      model.note = .init(id: "a")
      for _ in 0..<turns { await Task.yield() }
      fixture.presentNote(of: model)
      former.cancel()
      try await fixture.shows("a")
      await fixture.navigator.settle()
      #expect(fixture.display.log == ["+a"] && model.note?.id == "a", "after \(turns) turns")
      model.note = nil
      try await fixture.shows()
      try await fixture.state { $0.presentations.isEmpty }
      fixture.display.log = []
    }
  }

  @Test("settle() includes the changes of the current turn", arguments: bothKinds)
  func settle_afterAChange_includesIt(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    await fixture.navigator.settle()
    #expect(try await fixture.coordinator.state().presentations.map(\.id) == ["a"])
    model.note = nil
    await fixture.navigator.settle()
    #expect(try await fixture.coordinator.presentation(at: fixture.text(Bindable(model).note.named("note"))) == nil)
  }

  @Test("P5: an item changed and changed back within one turn stays presented", arguments: bothKinds)
  func item_thereAndBack_isShown(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNote(of: model)
    for turns in 0..<16 {
      model.note = .init(id: "a")
      for _ in 0..<turns { await Task.yield() }
      model.note = .init(id: "b")
      for _ in 0..<turns { await Task.yield() }
      model.note = .init(id: "a")
      try await fixture.shows("a")
      #expect(model.note?.id == "a")
      model.note = nil
      try await fixture.shows()
    }
  }

  @Test("D8: fast edits are not overwritten by the announcements of earlier ones", arguments: bothKinds)
  func edits_fast_lastIsKept(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let binding = Bindable(model).note.named("note")
    fixture.navigator.present(item: binding, to: nil, options: { _ in .state })
    model.note = .init(id: "a")
    for edit in 1...60 {
      let text = "\(model.note?.text.count ?? -1)"
      model.note?.text += "."
      #expect(text == "\(edit - 1)", "an edit was taken back")
      for _ in 0..<(edit % 7) { await Task.yield() }
    }
    try await fixture.state {
      $0.presentation(at: fixture.text(binding))?.value["text"] == .string(String(repeating: ".", count: 60))
    }
    await fixture.navigator.settle()
    #expect(model.note?.text.count == 60)
  }

  @Test("D8: an update by another client cannot change the item's id", arguments: bothKinds)
  func edit_ofTheID_isIgnored(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let binding = Bindable(model).note.named("note")
    fixture.navigator.present(item: binding, to: nil, options: { _ in .state })
    model.note = .init(id: "a")
    try await fixture.state { $0.presentation(at: fixture.text(binding)) != nil }
    try await fixture.coordinator.update(fixture.text(binding), ["id": .string("b"), "text": .string("theirs")])
    // The program sends its own id again.
    try await fixture.state { $0.presentation(at: fixture.text(binding))?.value["id"] == .string("a") }
    #expect(model.note?.id == "a" && model.note?.text == "")
  }

  // MARK: End of navd

  @Test("R6: an item dismissed while navd is down is dismissed by the next navd")
  func navd_downDuringDismissal_isDismissedByTheNext() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    fixture.presentNote(of: model)
    fixture.presentPath(of: model)
    (model.note, model.path) = (.init(id: "a"), ["1", "2"])
    try await fixture.until { Set(fixture.display.names) == ["a", "1", "2"] }
    try session.stop(SIGKILL)
    (model.note, model.path) = (nil, ["1"])
    await fixture.navigator.settle()
    try session.start()
    try await fixture.shows("1")
    #expect(model.note == nil && model.path == ["1"])
    try session.stop(SIGKILL)
    (model.note, model.path) = (.init(id: "b"), ["3", "4"])
    await fixture.navigator.settle()
    try session.start()
    try await fixture.until { Set(fixture.display.names) == ["b", "3", "4"] }
    try await fixture.state { Set($0.presentations.map(\.id)) == ["b", "3", "4"] }
  }

  @Test("R6: when a presence is cancelled while navd is down, its presentation is dismissed by the next navd")
  func presence_cancelledWhileNavdIsDown_isDismissedByTheNext() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    let presence = fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    for _ in 0..<2 {
      try session.stop(SIGKILL)
      presence.cancel()
      await fixture.navigator.settle()
      try session.start()
      try await fixture.shows()
      try await fixture.state { $0.presentations.isEmpty }
    }
    #expect(fixture.display.ends == [.dismissed] && model.note?.id == "a")
  }

  @Test("R6: state that is presented again while navd is down, after its presence was cancelled, stays presented")
  func presence_replacedWhileNavdIsDown_staysPresented() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    let presence = fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    try session.stop(SIGKILL)
    presence.cancel()
    await fixture.navigator.settle()
    fixture.presentNote(of: model)
    await fixture.navigator.settle()
    try session.start()
    try await fixture.state { $0.presentations.map(\.phase) == [.presented] }
    await fixture.navigator.settle()
    // Both requests are one transaction, so the slot has not changed (T1).
    #expect(model.note?.id == "a" && fixture.display.log == ["+a"])
    model.note = nil
    try await fixture.shows()
    try await fixture.state { $0.presentations.isEmpty }
  }

  @Test("R6: after a kill during a dismissal, the next navd waits for the same screen")
  func navd_killedWhileDismissing_waitsForTheScreen() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    fixture.display.stuck = ["a"]
    model.note = .init(id: "b")
    try await fixture.until { fixture.display.disappearing == ["a"] }
    try session.stop(SIGKILL)
    try session.start()
    for _ in 0..<20 { _ = try await fixture.coordinator.state() }
    // The screen is asked to disappear once, and the next screen waits for it.
    #expect(fixture.display.names == ["a"] && fixture.display.disappearing == ["a"])
    fixture.display.stuck = []
    try await fixture.shows("b")
    #expect(fixture.display.log == ["+a", "-a", "+b"])
    try await fixture.until { fixture.display.ends == [.replaced] }
  }

  @Test("R6: a result of a screen that navd has not recorded when it is killed is told to the next navd")
  func navd_killedBeforeItRecordsAResult_getsItAgain() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.isPresented()
    let presentation = try #require(try await fixture.coordinator.state().presentations.first?.presentation)
    fixture.display.stuck = ["a"]
    model.note = nil
    try await fixture.until { fixture.display.disappearing == ["a"] }
    session.navd?.send(SIGSTOP)
    fixture.display.stuck = []
    try await fixture.shows()
    try session.stop(SIGKILL)
    try session.start()
    #expect(
      try await fixture.coordinator.waitUntilGone(presentation).result == [
        "name": .string("a"), "status-known": .boolean(false),
      ])
    #expect(fixture.display.log == ["+a", "-a"])
  }

  @Test("P5: a screen closed by its user while navd is down is reported later")
  func navd_downDuringClose_isReportedLater() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    try session.stop(SIGKILL)
    await #expect(throws: NavigationError.self) { try await fixture.display["a"]?.close() }
    try session.start()
    try await fixture.until { model.note == nil }
    #expect(fixture.display.log == ["+a", "xa"] && fixture.display.ends == [.closed])
  }

  @Test("A program obeys navd's calls to show screens, and refuses those of others on the bus")
  func screens_callsOfOthers_areRefused() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    let state = try #require(try await fixture.coordinator.state().presentations.first)
    let destination = try #require(state.destination)
    let presenter = try #require(try session.presenter(of: destination))
    let error = #expect(throws: DBusError.self) {
      let input = (state.presentation.path, "dismissed", [:] as Properties)
      try session.call(PresenterInterface.dismiss, input, at: presenter.path, on: presenter.name)
    }
    #expect(error?.name == .accessDenied)
    #expect(model.note != nil && fixture.display.log == ["+a"])
  }

  @Test("R4: screens are dismissed if the next navd has lost its record")
  func navd_recordLost_screensAreDismissed() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    try fixture.loseRecord()
    try await fixture.until { model.note == nil }
    try await fixture.shows()
    try await fixture.until { fixture.display.ends == [.lost] }
    model.note = .init(id: "b")
    try await fixture.shows("b")
  }

  @Test("R4: a screen that the next navd does not know stays if it declines, until its user dismisses it")
  func navd_recordLostAndScreenDeclines_staysUntilDismissed() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.isPresented()
    fixture.display.declining = ["a"]
    try fixture.loseRecord()
    try await fixture.until { model.note == nil && fixture.display.disappearing == ["a"] }
    weak let screen = fixture.display["a"]
    try await screen?.showing?.dismiss()
    #expect(fixture.display.names == ["a"] && fixture.display.disappearing == ["a", "a"])
    fixture.display.declining = []
    try await screen?.showing?.dismiss()
    #expect(fixture.display.names == [])
    for _ in 0..<100 where screen != nil { await Task.yield() }
    #expect(screen == nil)
  }

  @Test("R4: a screen that has stayed after the record was lost closes no screen of a later item at its binding")
  func screen_stayedAfterALoss_closesNoLaterScreen() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let display = fixture.display
    try await fixture.presentFamily(of: model)
    display.declining = ["a"]
    try fixture.loseRecord()
    try await fixture.until { model.note == nil && model.second == nil && display.disappearing.last == "a" }
    let stayed = try #require(display["a"]?.showing)
    (model.note, model.second) = (.init(id: "c"), .init(id: "d"))
    try await fixture.until { display.names == ["a", "c", "d"] }
    display.declining = []
    try await stayed.dismiss()
    #expect(display.names == ["c", "d"])
  }

  @Test("R4: a screen that leaves a path while the record is lost is not taken for a later one with its handle")
  func path_leavingWhileTheRecordIsLost_showsTheNext() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let display = fixture.display
    fixture.presentPath(of: model)
    model.path = ["a"]
    try await fixture.isPresented()
    display.asking = ["a"]
    model.path = []
    try await fixture.until { display.disappearing == ["a"] }
    try fixture.loseRecord()
    model.path = ["b"]
    try await fixture.shows("a", "b")
    display.asking = []
    try await fixture.shows("b")
    await fixture.navigator.settle()
    #expect(model.path == ["b"])
    // The result of the former screen is not that of the next.
    model.path = []
    try await fixture.shows()
  }

  @Test("C3: when the bus ends, a screen stays as long as one that is presented from it")
  func bus_endsWhileAScreenAsks_itsParentStays() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    fixture.navigator.onRefused = { _ in }
    try await fixture.presentFamily(of: model)
    (fixture.display.asking, fixture.display.declining) = (["b"], ["b"])
    await fixture.coordinator.close()
    try await fixture.until { model.note == nil && model.second == nil && fixture.display.disappearing == ["b"] }
    fixture.display.asking = []
    // The button of the parent waits for the answer of the other screen, and asks that first.
    for _ in 1...2 {
      try await fixture.display["a"]?.showing?.dismiss()
      #expect(fixture.display.names == ["a", "b"] && !fixture.display.disappearing.contains("a"))
    }
    fixture.display.declining = []
    try await fixture.display["a"]?.showing?.dismiss()
    #expect(fixture.display.log == ["+a", "+b", "-b", "-a"])
  }

  @Test(
    "C3: a screen that is dismissed without navd disappears after those that are presented from it, which are asked")
  func screen_dismissedWithoutNavd_disappearsAfterItsChildren() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    try await fixture.presentFamily(of: model)
    try session.stop(SIGKILL)
    fixture.display.declining = ["b"]
    try await fixture.display["a"]?.showing?.dismiss()
    #expect(fixture.display.names == ["a", "b"])
    fixture.display.declining = []
    try await fixture.display["a"]?.showing?.dismiss()
    #expect(fixture.display.log == ["+a", "+b", "-b", "-a"])
    try session.start()
    try await fixture.until { model.note == nil && model.second == nil }
    #expect(fixture.display.ends == [.closed])
  }

  @Test("When the bus ends, screens are dismissed and the state becomes nil")
  func bus_ends_screensAreDismissed() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    var refusals: [NavigationError] = []
    fixture.navigator.onRefused = { refusals.append($0) }
    fixture.presentNote(of: model)
    fixture.presentPath(of: model)
    (model.note, model.path) = (.init(id: "a"), ["1", "2"])
    try await fixture.until { Set(fixture.display.names) == ["a", "1", "2"] }
    kill(session.bus.processID, SIGKILL)
    try await fixture.shows()
    try await fixture.until { model.note == nil && model.path == [] }
    #expect(fixture.display.ends == [.lost])
    // The loss is reported once; state that is set later is not presented.
    model.note = .init(id: "b")
    await fixture.navigator.settle()
    #expect(refusals.count == 1 && fixture.display.names == [])
  }
}

extension NavigationFixture {
  @discardableResult
  fileprivate func presentNote(of model: Model) -> Presence {
    let display = display
    return navigator.present(item: Bindable(model).note.named("note")) {
      RecordingScreen($0.wrappedValue.id, on: display)
    }.onDismiss(display.end)
  }

  /// Kills navd, and starts one without its record.
  func loseRecord() throws {
    let session = try #require(session)
    try session.stop(SIGKILL)
    let removing = try session.run(program: "/bin/rm", ["-rf", session.bus.directory + "/navd"])
    #expect(removing.status == .exited(code: 0))
    try session.start()
  }

  /// Shows a note, and another one that is presented from it.
  fileprivate func presentFamily(of model: Model) async throws {
    let display = display
    navigator.present(item: Bindable(model).note.named("note")) {
      RecordingScreen($0.wrappedValue.id, on: display) { showing in
        showing.present(item: Bindable(model).second.named("second")) {
          RecordingScreen($0.wrappedValue.id, on: display)
        }
      }
    }.onDismiss(display.end)
    (model.note, model.second) = (.init(id: "a"), .init(id: "b"))
    try await state { $0.presentations.map(\.phase) == [.presented, .presented] }
  }

  fileprivate func presentPath(of model: Model) {
    let stack = navigator.stack(path: Bindable(model).path.named("path"))
    stack.navigationDestination(for: String.self) { [display] in RecordingScreen($0, on: display) }
  }
}

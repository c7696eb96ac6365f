// Why this file exists: what goes wrong in between — a request that is refused, a coordinator that is killed, a screen that
// does not come or does not go — leaves the state, the wall and the coordinator agreeing.

import CoordinatorAPI
import DBusValues
import EventLoops
import Glibc
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

/// Longer than any id may be.
private let tooLong = String(repeating: "x", count: 10_000)

@Suite @MainActor struct FaultTests {
  @Test("P4: dismissed while it is slow to come", arguments: Coordinating.allCases)
  func appear_isSlow_isCancelled(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNote(of: model)
    stage.wall.slow = ["a"]
    model.note = .init(id: "a")
    try await stage.until { stage.wall.coming == ["a"] }
    model.note = nil
    try await stage.state { $0.presentations.isEmpty }
    try await stage.until { stage.wall.ends == [.dismissed] }
    // It has not come, so there is nothing to be taken away.
    #expect(stage.wall.cancelled == ["a"] && stage.wall.leaving == [] && stage.wall.log == [])
    model.note = .init(id: "b")
    try await stage.shows("b")
  }

  @Test("P4: dismissed while it comes all the same", arguments: Coordinating.allCases)
  func appear_hearsNothing_isTakenAwayWhenItHasCome(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNote(of: model)
    (stage.wall.slow, stage.wall.deaf) = (["a"], ["a"])
    model.note = .init(id: "a")
    try await stage.until { stage.wall.coming == ["a"] }
    model.note = .init(id: "b")
    try await stage.until { stage.wall.cancelled == ["a"] }
    stage.wall.slow = []
    try await stage.shows("b")
    #expect(stage.wall.log == ["+a", "-a", "+b"])
  }

  @Test("D4, D7: a screen that never comes", arguments: Coordinating.allCases)
  func appear_neverReturns_failsInTime(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating, startTimeout: .milliseconds(300), grace: .milliseconds(50))
    let model = Model()
    stage.presentNote(of: model)
    // What shows the other has all the time that it needs.
    let (patient, wall) = (Navigator(stage.coordinator), stage.wall)
    patient.present(item: Bindable(model).second) { Sign($0.wrappedValue.id, on: wall) }
    (stage.wall.slow, stage.wall.deaf) = (["a"], ["a"])
    model.note = .init(id: "a")
    try await stage.until { stage.wall.ends == [.failed] && model.note == nil }
    try await stage.state { $0.presentations.isEmpty }
    model.second = .init(id: "b")
    try await stage.shows("b")
    // It comes after all, and is taken away; if it was asked for before its time was over.
    let wasAsked = !stage.wall.coming.isEmpty
    stage.wall.slow = []
    if wasAsked { try await stage.until { stage.wall.log.count == 3 && stage.wall.log[1] == "+a" } }
    #expect(stage.wall.names == ["b"] && model.second?.id == "b")
  }

  @Test("P14: a screen that never goes", arguments: Coordinating.allCases)
  func disappear_neverReturns_countsAsGone(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating, grace: .milliseconds(50))
    let model = Model()
    stage.presentNote(of: model)
    model.note = .init(id: "a")
    try await stage.shows("a")
    stage.wall.stuck = ["a"]
    model.note = .init(id: "b")
    try await stage.shows("a", "b")
    try await stage.until { stage.wall.ends == [.replaced] }
    stage.wall.stuck = []
    try await stage.shows("b")
    #expect(model.note?.id == "b" && stage.wall.leaving == ["a"])
  }

  @Test("P11: another id while the first is slow to come", arguments: Coordinating.allCases)
  func appear_isSlowAndOvertaken_showsTheLast(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNote(of: model)
    stage.wall.slow = ["a"]
    model.note = .init(id: "a")
    try await stage.until { stage.wall.coming == ["a"] }
    model.note = .init(id: "b")
    try await stage.shows("b")
    model.note = .init(id: "a")
    stage.wall.slow = []
    try await stage.shows("a")
    #expect(model.note?.id == "a")
  }

  @Test("A request is refused while another item is shown", arguments: Coordinating.allCases)
  func replacement_refused_nothingIsLeft(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    var refusals: [NavigationError] = []
    stage.navigator.onRefused = { refusals.append($0) }
    stage.presentNote(of: model)
    model.note = .init(id: "a")
    try await stage.shows("a")
    model.note = .init(id: tooLong)
    try await stage.until { model.note == nil }
    try await stage.shows()
    try await stage.state { $0.presentations.isEmpty }
    #expect(refusals.map(\.refusal) == [.limitExceeded])
  }

  @Test("An element of a path is refused", arguments: Coordinating.allCases)
  func path_elementRefused_isCut(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    var refusals: [NavigationError] = []
    stage.navigator.onRefused = { refusals.append($0) }
    stage.presentPath(of: model)
    model.path = ["a", "b"]
    try await stage.shows("a", "b")
    model.path = ["a", tooLong]
    try await stage.until { model.path == ["a"] }
    try await stage.shows("a")
    model.path.append("c")
    try await stage.shows("a", "c")
    #expect(refusals.map(\.refusal) == [.limitExceeded])
  }

  @Test("S4: another type of value with the same text", arguments: Coordinating.allCases)
  func path_sameTextOfAnotherType_isAnother(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let stack = stage.navigator.stack(path: Bindable(model).mixed.named("mixed"))
    stack.navigationDestination(for: Int.self) { Sign("number \($0)", on: stage.wall) }
    stack.navigationDestination(for: String.self) { Sign("text \($0)", on: stage.wall) }
    model.mixed.append(1)
    try await stage.shows("number 1")
    model.mixed = NavigationPath(["1"])
    try await stage.shows("text 1")
    #expect(model.mixed.count == 1)
  }

  @Test("Cancelled while its request is on its way", arguments: Coordinating.allCases)
  func presence_cancelledInFlight_nothingIsLeft(_ coordinating: Coordinating) async throws {
    let stage = try await Stage(coordinating)
    for turns in 0..<12 {
      let model = Model()
      let presence = stage.presentNote(of: model)
      model.note = .init(id: "a")
      for _ in 0..<turns { await Task.yield() }
      presence.cancel()
      await stage.navigator.settle()
      try await stage.state { $0.presentations.isEmpty }
      try await stage.shows()
      #expect(model.note?.id == "a")
    }
  }

  @Test("What a turn has changed is settled, too", arguments: Coordinating.allCases)
  func settle_justChanged_hasAsked(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNote(of: model)
    model.note = .init(id: "a")
    await stage.navigator.settle()
    #expect(try await stage.coordinator.state().presentations.map(\.id) == ["a"])
    model.note = nil
    await stage.navigator.settle()
    #expect(try await stage.coordinator.presentation(at: stage.text(Bindable(model).note.named("note"))) == nil)
  }

  @Test("P5: to another and back before anybody could look", arguments: Coordinating.allCases)
  func item_thereAndBack_isShown(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    stage.presentNote(of: model)
    for turns in 0..<16 {
      model.note = .init(id: "a")
      for _ in 0..<turns { await Task.yield() }
      model.note = .init(id: "b")
      for _ in 0..<turns { await Task.yield() }
      model.note = .init(id: "a")
      try await stage.shows("a")
      #expect(model.note?.id == "a")
      model.note = nil
      try await stage.shows()
    }
  }

  @Test("D8: what is typed is not overtaken by the news of it", arguments: Coordinating.allCases)
  func edits_fast_lastStays(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let binding = Bindable(model).note.named("note")
    stage.navigator.present(item: binding, to: nil)
    model.note = .init(id: "a")
    for edit in 1...60 {
      let text = "\(model.note?.text.count ?? -1)"
      model.note?.text += "."
      #expect(text == "\(edit - 1)", "an edit was taken back")
      for _ in 0..<(edit % 7) { await Task.yield() }
    }
    try await stage.state {
      $0.presentation(at: stage.text(binding))?.value["text"] == .string(String(repeating: ".", count: 60))
    }
    await stage.navigator.settle()
    #expect(model.note?.text.count == 60)
  }

  @Test("D8: the id does not change by others' edits", arguments: Coordinating.allCases)
  func edit_ofTheID_isNotTaken(_ coordinating: Coordinating) async throws {
    let (stage, model) = (try await Stage(coordinating), Model())
    let binding = Bindable(model).note.named("note")
    stage.navigator.present(item: binding, to: nil)
    model.note = .init(id: "a")
    try await stage.state { $0.presentation(at: stage.text(binding)) != nil }
    try await stage.coordinator.update(stage.text(binding), ["id": .string("b"), "text": .string("theirs")])
    // The state is asked for what it says, and has its own back.
    try await stage.state { $0.presentation(at: stage.text(binding))?.value["id"] == .string("a") }
    #expect(model.note?.id == "a" && model.note?.text == "")
  }

  // MARK: navd goes

  @Test("R6: dismissed while there is no navd") func navd_goneWhileDismissed_isDismissedByTheNext() async throws {
    let (stage, model) = (try await Stage(.navd), Model())
    let session = try #require(stage.session)
    stage.presentNote(of: model)
    stage.presentPath(of: model)
    (model.note, model.path) = (.init(id: "a"), ["1", "2"])
    try await stage.until { Set(stage.wall.names) == ["a", "1", "2"] }
    try session.stop(SIGKILL)
    (model.note, model.path) = (nil, ["1"])
    await stage.navigator.settle()
    try session.start()
    try await stage.shows("1")
    #expect(model.note == nil && model.path == ["1"])
    try session.stop(SIGKILL)
    (model.note, model.path) = (.init(id: "b"), ["3", "4"])
    await stage.navigator.settle()
    try session.start()
    try await stage.until { Set(stage.wall.names) == ["b", "3", "4"] }
    try await stage.state { Set($0.presentations.map(\.id)) == ["b", "3", "4"] }
  }

  @Test("R6: killed while a screen goes") func navd_killedWhileDismissing_waitsForTheScreen() async throws {
    let (stage, model) = (try await Stage(.navd), Model())
    let session = try #require(stage.session)
    stage.presentNote(of: model)
    model.note = .init(id: "a")
    try await stage.shows("a")
    stage.wall.stuck = ["a"]
    model.note = .init(id: "b")
    try await stage.until { stage.wall.leaving == ["a"] }
    try session.stop(SIGKILL)
    try session.start()
    for _ in 0..<20 { _ = try await stage.coordinator.state() }
    // It is told once, and what comes next waits for it.
    #expect(stage.wall.names == ["a"] && stage.wall.leaving == ["a"])
    stage.wall.stuck = []
    try await stage.shows("b")
    #expect(stage.wall.log == ["+a", "-a", "+b"])
    try await stage.until { stage.wall.ends == [.replaced] }
  }

  @Test("P5: closed by its user while there is no navd") func navd_goneWhileClosed_isToldLater() async throws {
    let (stage, model) = (try await Stage(.navd), Model())
    let session = try #require(stage.session)
    stage.presentNote(of: model)
    model.note = .init(id: "a")
    try await stage.shows("a")
    try session.stop(SIGKILL)
    await #expect(throws: NavigationError.self) { try await stage.wall["a"]?.close() }
    try session.start()
    try await stage.until { model.note == nil }
    #expect(stage.wall.log == ["+a", "xa"] && stage.wall.ends == [.closed])
  }

  @Test("R4: the next navd knows nothing") func navd_forgetsAll_screensGo() async throws {
    let (stage, model) = (try await Stage(.navd), Model())
    let session = try #require(stage.session)
    stage.presentNote(of: model)
    model.note = .init(id: "a")
    try await stage.shows("a")
    try session.stop(SIGKILL)
    let removing = try session.run(program: "/bin/rm", ["-rf", session.bus.directory + "/navd"])
    #expect(removing.status == .exited(code: 0))
    try session.start()
    try await stage.until { model.note == nil }
    try await stage.shows()
    #expect(stage.wall.ends == [.lost])
    model.note = .init(id: "b")
    try await stage.shows("b")
  }

  @Test("The bus goes, and all with it") func bus_goes_screensGo() async throws {
    let (stage, model) = (try await Stage(.navd), Model())
    let session = try #require(stage.session)
    var refusals: [NavigationError] = []
    stage.navigator.onRefused = { refusals.append($0) }
    stage.presentNote(of: model)
    stage.presentPath(of: model)
    (model.note, model.path) = (.init(id: "a"), ["1", "2"])
    try await stage.until { Set(stage.wall.names) == ["a", "1", "2"] }
    kill(session.bus.processID, SIGKILL)
    try await stage.shows()
    try await stage.until { model.note == nil && model.path == [] }
    #expect(stage.wall.ends == [.lost])
    // It is told once; and what is set later waits in vain.
    model.note = .init(id: "b")
    await stage.navigator.settle()
    #expect(refusals.count == 1 && stage.wall.names == [])
  }
}

extension Stage {
  @discardableResult
  fileprivate func presentNote(of model: Model) -> Presence {
    let wall = wall
    return navigator.present(item: Bindable(model).note.named("note"), onDismiss: { wall.ends.append($0) }) {
      Sign($0.wrappedValue.id, on: wall)
    }
  }

  fileprivate func presentPath(of model: Model) {
    let stack = navigator.stack(path: Bindable(model).path.named("path"))
    stack.navigationDestination(for: String.self) { [wall] in Sign($0, on: wall) }
  }
}

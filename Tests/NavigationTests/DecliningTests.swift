import CoordinatorAPI
import DBus
import DBusValues
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
  /// A screen that is presented from the note.
  var detail: Note?
  /// A second screen that is presented from the note.
  var help = false
  var isPresented = false
  var selection: String?
  var path: [String] = []
  var mixed = NavigationPath()
  /// A screen on the stack of the path.
  var pushed: Note?
}

/// Screens that decline to disappear (P15), and ask their users (P16).
@Suite @MainActor struct DecliningTests {
  @Test("P15: an item whose screen declines is written back", arguments: bothKinds)
  func item_declined_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    model.note?.text = "edited"
    await fixture.navigator.settle()
    fixture.display.declining = ["a"]
    for round in 1...3 {
      model.note = nil
      try await fixture.until { model.note != nil }
      #expect(model.note == .init(id: "a", text: "edited") && fixture.display.disappearing.count == round)
    }
    #expect(fixture.display.log == ["+a"] && fixture.display.ends == [])
    fixture.display.declining = []
    model.note = nil
    try await fixture.shows()
    try await fixture.until { fixture.display.ends == [.dismissed] }
    #expect(model.note == nil)
  }

  @Test(
    "P15: a text typed while its screen is asked is written back when the screen declines, and changes no other item",
    arguments: bothKinds)
  func text_typedWhileItsScreenIsAsked_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    var typing: Binding<Model.Note>?
    fixture.navigator.present(item: Bindable(model).note.named("note")) {
      if $0.wrappedValue.id == "a" { typing = $0 }
      return RecordingScreen($0.wrappedValue.id, on: display)
    }.onDismiss(display.end)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    for next in [nil, Model.Note(id: "b", text: "other")] {
      (display.asking, display.declining) = (["a"], ["a"])
      model.note = next
      await fixture.navigator.settle()
      typing?.wrappedValue.text += "typed"
      #expect(model.note == next)
      display.asking = []
      try await fixture.until { model.note?.id == "a" }
      #expect(model.note == typing?.wrappedValue)
    }
    #expect(model.note?.text == "typedtyped")
  }

  @Test("P15: the next item of a screen that declines is never shown", arguments: bothKinds)
  func replacement_declined_endsTheNext(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    (fixture.display.asking, fixture.display.declining) = (["a"], ["a"])
    for id in ["b", "c"] {
      model.note = .init(id: id)
      await fixture.navigator.settle()
    }
    try await fixture.until { fixture.display.disappearing == ["a"] && fixture.display.ends == [.replaced] }
    fixture.display.asking = []
    try await fixture.until { model.note?.id == "a" && fixture.display.ends == [.replaced, .declined] }
    #expect(fixture.display.log == ["+a"])
    // The screen still follows the state.
    fixture.display.declining = []
    model.note = .init(id: "d")
    try await fixture.shows("d")
  }

  @Test("P15: a boolean becomes true again, and a selection its former tag", arguments: bothKinds)
  func boolAndSelection_declined_areWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(isPresented: Bindable(model).isPresented.named("panel")) {
      RecordingScreen("panel", on: display)
    }
    for tag in ["wifi", "volume"] {
      fixture.navigator.present(tag: tag, selection: Bindable(model).selection.named("selection")) {
        RecordingScreen(tag, on: display)
      }.onDismiss(display.end)
    }
    (model.isPresented, model.selection) = (true, "wifi")
    try await fixture.until { Set(display.names) == ["panel", "wifi"] }
    display.declining = ["panel", "wifi"]
    (model.isPresented, model.selection) = (false, "volume")
    try await fixture.until { model.isPresented && model.selection == "wifi" && display.ends == [.declined] }
    model.selection = nil
    try await fixture.until { model.selection == "wifi" && display.disappearing.count == 3 }
    display.declining = []
    (model.isPresented, model.selection) = (false, "volume")
    try await fixture.shows("volume")
    #expect(!model.isPresented && model.selection == "volume")
  }

  @Test(
    "P15: the elements of a path that stay are written back, with the screens that are pushed above them",
    arguments: bothKinds)
  func path_declined_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentPath(of: model)
    model.path = ["x", "y", "z"]
    try await fixture.shows("x", "y", "z")
    // The end of the path is replaced.
    display.declining = ["y"]
    model.path = ["x", "u", "v"]
    try await fixture.until { model.path == ["x", "y"] }
    // The whole path is removed.
    model.path = []
    try await fixture.until { model.path == ["x", "y"] && display.disappearing == ["z", "y", "y"] }
    model.pushed = .init(id: "top")
    try await fixture.shows("x", "y", "top")
    display.declining = ["top"]
    (model.path, model.pushed) = ([], nil)
    try await fixture.until { model.path == ["x", "y"] && model.pushed?.id == "top" }
    display.declining = []
    model.path = ["x"]
    try await fixture.shows("x")
    try await fixture.until { model.pushed == nil }
    #expect(display.log == ["+x", "+y", "+z", "-z", "+top", "-top", "-y"])
  }

  @Test(
    "P15: an element that is pushed above another while that is declined is not left on the screen",
    arguments: bothKinds)
  func path_pushedDuringADecline_agrees(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentPath(of: model)
    for turns in 0..<20 {
      model.path = ["x", "y"]
      try await fixture.state { $0.presentations.map(\.phase) == [.presented, .presented] }
      (display.asking, display.declining) = (["y"], ["y"])
      model.path = ["x", "u"]
      try await fixture.state { $0.presentations.contains { $0.asking == true } }
      await fixture.navigator.settle()
      display.asking = []
      for _ in 0..<turns { await Task.yield() }
      model.path.append("v")
      try await fixture.until { model.path.dropFirst().first == "y" }
      try await fixture.navigator.settle(within: Session.limit)
      let presented = try await fixture.coordinator.state().presentations
      #expect(display.names == model.path && presented.count == model.path.count, "after \(turns) turns")
      display.declining = []
      model.path = []
      try await fixture.state { $0.presentations.isEmpty }
      try await fixture.shows()
    }
  }

  @Test("P15: values of a path get their types back", arguments: bothKinds)
  func pathOfTypes_declined_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let stack = fixture.navigator.stack(path: Bindable(model).mixed.named("mixed"))
    stack.navigationDestination(for: Int.self) { [display = fixture.display] in RecordingScreen("\($0)", on: display) }
    stack.navigationDestination(for: String.self) { [display = fixture.display] in RecordingScreen($0, on: display) }
    var path = NavigationPath([1])
    path.append("two")
    model.mixed = path
    try await fixture.shows("1", "two")
    fixture.display.declining = ["two"]
    model.mixed = NavigationPath()
    try await fixture.until { model.mixed == path }
    #expect(fixture.display.log == ["+1", "+two"])
  }

  @Test(
    "P15: a parent stays with its child that declines, and presents again a sibling that was gone",
    arguments: bothKinds, [true, false])
  func parent_childDeclines_isWrittenBack(_ kind: CoordinatorKind, clearsChild: Bool) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentFamily(of: model)
    (model.note, model.detail, model.help) = (.init(id: "a"), .init(id: "b"), true)
    try await fixture.until { Set(fixture.display.names) == ["a", "b", "help"] }
    (fixture.display.asking, fixture.display.declining) = (["b"], ["b"])
    model.note = clearsChild ? nil : .init(id: "next")
    if clearsChild { model.detail = nil }
    try await fixture.until { !model.help }
    fixture.display.asking = []
    try await fixture.until { model.note?.id == "a" && model.detail?.id == "b" && model.help }
    try await fixture.shows("a", "b", "help")
    #expect(fixture.display.log.suffix(2) == ["-help", "+help"])
    // The items presented from it still follow the model.
    model.help = false
    try await fixture.shows("a", "b")
    model.help = true
    try await fixture.shows("a", "b", "help")
    fixture.display.declining = []
    model.note = nil
    try await fixture.shows()
    try await fixture.until { model.detail == nil && !model.help }
  }

  @Test("P15: an item that another program declines to dismiss is written back", arguments: bothKinds)
  func item_declinedByAnotherProgram_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let other = Navigator(fixture.coordinator)
    try await other.serve("editor") { [display = fixture.display] in RecordingScreen($0.id, on: display) }
    fixture.navigator.present(item: Bindable(model).note.named("note"), to: "editor")
    model.note = .init(id: "a")
    try await fixture.shows("a")
    (fixture.display.asking, fixture.display.declining) = (["a"], ["a"])
    model.note = nil
    try await fixture.state { $0.presentations.first?.asking == true }
    #expect(try await fixture.coordinator.state().presentations.first?.message == "Save a?")
    // The item is the one that the coordinator has, so this is no edit by another client.
    fixture.display.asking = []
    try await fixture.until { model.note?.id == "a" }
    fixture.display.declining = []
    model.note = .init(id: "b")
    try await fixture.shows("b")
  }

  @Test("P15: a screen cannot decline a forced dismissal", arguments: bothKinds)
  func forced_declined_isGone(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentNote(of: model)
    let binding = fixture.text(Bindable(model).note.named("note"))
    display.declining = ["a", "b"]
    // The program forces the dismissal.
    model.note = .init(id: "a")
    try await fixture.shows("a")
    withTransaction(\.isForced, true) { model.note = nil }
    try await fixture.shows()
    // Another client forces the dismissal.
    model.note = .init(id: "b")
    try await fixture.shows("b")
    try await fixture.coordinator.dismiss(binding, force: true)
    try await fixture.until { model.note == nil && display.names == [] }
    try await fixture.until { display.ends == [.dismissed, .dismissed] }
    #expect(display.disappearing == ["a", "b"])
  }

  @Test("P16: a screen that asks its user is waited for until it is forced", arguments: bothKinds)
  func asking_forced_isGone(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    (display.asking, display.declining) = (["a"], ["a"])
    model.note = nil
    try await fixture.state { $0.presentations.first?.asking == true }
    // A request with force also forces a dismissal that is already waiting; the task of the screen is cancelled.
    try await fixture.coordinator.dismiss(fixture.text(Bindable(model).note.named("note")), force: true)
    try await fixture.until { display.ends == [.dismissed] && display.names == [] }
    #expect(display.disappearing == ["a"] && display.cancelled == ["a"] && model.note == nil)
  }

  @Test("P16: a screen whose user closes it while it asks is not asked any more", arguments: bothKinds)
  func asking_closedByItsUser_isGone(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.isPresented()
    (display.asking, display.declining) = (["a"], ["a"])
    model.note = nil
    try await fixture.state { $0.presentations.first?.asking == true }
    try await display["a"]?.close()
    try await fixture.until { display.ends == [.dismissed] && display.cancelled == ["a"] }
    #expect(model.note == nil && display.log == ["+a", "xa"] && fixture.navigator.screens.isEmpty)
  }

  @Test("P15: a change of the state that follows a decline at once is requested", arguments: bothKinds)
  func state_changedWithTheDecline_counts(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    fixture.presentNote(of: model)
    for turns in 0..<12 {
      model.note = .init(id: "a")
      try await fixture.shows("a")
      // A screen can decline only after the coordinator knows that it has appeared.
      try await fixture.isPresented()
      (fixture.display.asking, fixture.display.declining) = (["a"], ["a"])
      model.note = nil
      try await fixture.state { $0.presentations.first?.asking == true }
      fixture.display.asking = []
      for _ in 0..<turns { await Task.yield() }
      fixture.display.declining = []
      model.note = .init(id: "b")
      // The decline ends the new item, or the new item replaces the kept one.
      try await fixture.until { (model.note.map { [$0.id] } ?? []) == fixture.display.names }
      model.note = nil
      try await fixture.shows()
    }
  }

  @Test("P15: a presentation that its presence cannot end stays until its user closes it", arguments: bothKinds)
  func presence_cancelledAndDeclined_leavesTheScreen(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let presence = fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.shows("a")
    fixture.display.declining = ["a"]
    presence.cancel()
    try await fixture.until { fixture.display.disappearing == ["a"] }
    try await fixture.state { $0.presentations.map(\.phase) == [.presented] }
    #expect(fixture.display.names == ["a"])
    try await fixture.display["a"]?.close()
    try await fixture.state { $0.presentations.isEmpty }
  }

  @Test("R6, P16: a screen that asks its user says so to the next navd, and the item that it keeps is written back")
  func navd_killedWhileAsking_isToldAgain() async throws {
    let (fixture, model) = (try await NavigationFixture(.navd), Model())
    let session = try #require(fixture.session)
    fixture.presentNote(of: model)
    fixture.presentPath(of: model)
    (model.note, model.path) = (.init(id: "a"), ["x", "y"])
    try await fixture.until { Set(fixture.display.names) == ["a", "x", "y"] }
    (fixture.display.asking, fixture.display.declining) = (["a"], ["a", "y"])
    model.note = nil
    try await fixture.state { $0.presentations.contains { $0.asking == true } }
    try session.stop(SIGKILL)
    try session.start()
    try await fixture.state { $0.presentations.contains { $0.asking == true } }
    #expect(fixture.display.disappearing == ["a"])
    fixture.display.asking = []
    model.path = []
    try await fixture.until { model.note?.id == "a" && model.path == ["x", "y"] }
    #expect(Set(fixture.display.names) == ["a", "x", "y"])
  }

  @Test("P15: a decline is written back even if its event was missed, and the answer to the request had not yet come")
  func item_declinedUnseenWhileRequested_isWrittenBack() async throws {
    let (backend, model) = (HinderedBackend(losesDeclined: true), Model())
    let fixture = try await NavigationFixture(backend, presenting: model)
    fixture.display.declining = ["a"]
    backend.held = CoordinatorInterface.apply.name
    model.note = nil
    try await fixture.until { backend.hasLost }
    // The next event shows the gap, and the whole state is read.
    _ = try await fixture.coordinator.present("other", .state)
    try await fixture.until { backend.statesAfterLoss == 1 }
    #expect(model.note == nil)
    backend.held = nil
    try await fixture.until { model.note?.id == "a" }
    #expect(fixture.display.names == ["a"])
  }

  @Test(
    "P15, P16: a screen that agrees to disappear stays nevertheless if the question that it has presented declines",
    arguments: bothKinds)
  func question_declines_itsScreenStays(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    try await fixture.presentQuestion(of: model)
    fixture.display.declining = ["q"]
    fixture.display.asking = []
    try await fixture.until { model.note?.id == "a" && model.detail?.id == "q" }
    try await fixture.state { $0.presentations.map(\.phase) == [.presented, .presented] }
    #expect(fixture.display.log == ["+a", "+q"])
    fixture.display.declining = []
    model.note = nil
    try await fixture.shows()
    #expect(model.detail == nil && fixture.display.log == ["+a", "+q", "-q", "-a"])
  }

  @Test(
    "C3: a question ends with its screen, which the user has closed, even if it declines",
    arguments: bothKinds, [false, true])
  func question_itsScreenIsClosed_ends(_ kind: CoordinatorKind, isBeingDismissed: Bool) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    try await fixture.presentQuestion(of: model)
    fixture.display.declining = ["q"]
    if isBeingDismissed {
      fixture.display.asking.insert("q")
      model.detail = nil
      try await fixture.until { fixture.display.disappearing == ["a", "q"] }
    }
    try await fixture.display["a"]?.close()
    try await fixture.state { $0.presentations.count == 1 }
    fixture.display.asking = []
    try await fixture.shows()
    #expect(model.note == nil && model.detail == nil)
  }

  @Test("P15: an item that is requested while the state asks which item has declined is shown")
  func item_requestedWhileADeclineIsTakenBack_isShown() async throws {
    let (backend, model) = (HinderedBackend(losesDeclined: false), Model())
    let fixture = try await NavigationFixture(backend, presenting: model)
    fixture.display.declining = ["a"]
    backend.held = CoordinatorInterface.get.name
    model.note = nil
    try await fixture.until { backend.heldAnswers == 1 }
    fixture.display.declining = []
    model.note = .init(id: "b")
    try await fixture.shows()
    backend.held = nil
    try await fixture.shows("b")
    #expect(model.note?.id == "b" && fixture.display.log == ["+a", "-a", "+b"])
  }

  @Test(
    "P15: the item of a screen that declines the end of a former presence is written back, and its screen ends with the item",
    arguments: bothKinds)
  func screen_declinesEndOfFormerPresence_isWrittenBack(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let presence = fixture.presentNote(of: model)
    model.note = .init(id: "a")
    try await fixture.isPresented()
    model.note?.text = "edited"
    await fixture.navigator.settle()
    fixture.display.declining = ["a"]
    presence.cancel()
    fixture.presentNote(of: model)
    model.note = .init(id: "b")
    try await fixture.until { model.note == .init(id: "a", text: "edited") }
    fixture.display.declining = []
    model.note = nil
    try await fixture.shows()
    #expect(fixture.display.log == ["+a", "-a"])
  }

  @Test(
    "P15: a page that declines is not put back into a path that has lost the pages below it since; its end is requested again"
  )
  func page_declinesAfterThePathWasCutBelow_isAskedAgain() {
    let path = DrivenPath()
    path.accept(["x", "y"], removals: 0, presenting: 1...2)
    path.accept(["x"], removals: 1)
    path.model.path = []
    path.driver.declined(Handle(2))
    #expect(path.model.path == [])
    path.accept([], removals: 1)
    for handle in 1...2 { path.driver.declined(Handle(UInt64(handle))) }
    #expect(path.model.path == ["x", "y"] && path.requests() == [])
  }

  @Test(
    "A page is requested again after the end of another one, because of which its first request was refused as stale")
  func page_refusedWhileAnotherEnds_isRequestedAgain() {
    let path = DrivenPath()
    path.accept(["a"], removals: 0, presenting: 1...1)
    path.accept(["b", "c", "d"], removals: 1, presenting: 2...4)
    path.driver.declined(Handle(1))
    path.model.path = ["a", "e"]
    // The dismissal of “d” is outdated.
    #expect(path.requests() == [true, false])
    #expect(!path.driver.refused(CoordinatorError(.stale, "")))
    path.isToBeReadAgain = false
    path.driver.ended(Handle(4), Dismissal(reason: .declined, error: nil))
    #expect(path.isToBeReadAgain && path.requests() == [false])
  }

  @Test("D8: a text typed while a request is under way is not lost to an edit of another client")
  func item_typedWhileAnotherClientEdits_isKept() async throws {
    let (backend, model) = (HinderedBackend(losesDeclined: true), Model())
    let fixture = try await NavigationFixture(backend, presenting: model)
    let other = Coordinator(backend.embedded, client: "other")
    func text() async throws -> Value? { try await other.state().presentations.first?.value["text"] }
    backend.held = CoordinatorInterface.apply.name
    model.note?.text = "typed"
    while try await text() != .string("typed") { await Task.yield() }
    try await other.update(fixture.text(Bindable(model).note.named("note")), ["text": .string("of another")])
    model.note?.text = "typed further"
    backend.held = nil
    while try await text() != .string("typed further") { await Task.yield() }
    #expect(model.note?.text == "typed further")
  }
}

/// A coordinator whose event `Declined` can be lost, and whose answers to calls of one method can be held back.
@MainActor @Observable
private final class HinderedBackend: ForwardingBackend {
  nonisolated let embedded: any CoordinatorBackend = EmbeddedBackend()
  /// The method whose answers are held back; nil for none.
  var held: MemberName?
  /// The number of answers that were held back.
  private(set) var heldAnswers = 0
  private let losesDeclined: Bool
  private(set) var hasLost = false
  /// The number of times that the whole state was read.
  private(set) var statesAfterLoss = 0

  func ask<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> (answer: Output, coordinator: Int) {
    let output = try await embedded.ask(method, input, starts: starts)
    if method.name == held {
      heldAnswers += 1
      try? await NavigationTesting.until(within: Session.limit) { method.name != self.held }
    }
    if method.name == CoordinatorInterface.getState.name { statesAfterLoss += 1 }
    return output
  }

  init(losesDeclined: Bool) { self.losesDeclined = losesDeclined }

  func notices() async -> AsyncStream<Notice> {
    let notices = await embedded.notices()
    return AsyncStream { sink in
      Task {
        for await notice in notices {
          if losesDeclined, case .event(let event) = notice, case .declined = event.kind {
            hasLost = true
          } else {
            sink.yield(notice)
          }
        }
        sink.finish()
      }
    }
  }
}

/// The path of a model, and its driver without a coordinator.
@MainActor
private final class DrivenPath {
  let model = Model()
  let driver: PathDriver
  var isToBeReadAgain = false

  init() {
    driver = PathDriver(PathState(Bindable(model).path), name: "path", from: nil, destination: "own")
    driver.screens.declare(TypeName.of(String.self), PathScreens.Maker(String.self) { _, _ in nil })
    driver.onDifference = { [unowned self] in isToBeReadAgain = true }
  }

  /// Returns the requests that follow from the path: whether each is a removal.
  func requests() -> [Bool] { driver.changes(Transaction(), driver.noted.tracking {}).map(\.isRemoval) }

  /// Changes the path, and accepts the requests that follow.
  func accept(_ path: [String], removals: Int, presenting handles: ClosedRange<UInt64>? = nil) {
    model.path = path
    let handles = handles.map(Array.init) ?? []
    #expect(requests() == Array(repeating: true, count: removals) + handles.map { _ in false })
    driver.accepted(
      Array(repeating: [.boolean(true)], count: removals)
        + handles.map { [.objectPath(Handle($0).path), .boolean(true)] }, at: Moment())
  }
}

extension NavigationFixture {
  /// Presents the note “a”, which is being dismissed and asks its user, and from it the detail “q”.
  fileprivate func presentQuestion(of model: Model) async throws {
    let (display, detail) = (display, Bindable(model).detail.named("detail"))
    navigator.present(item: Bindable(model).note.named("note")) {
      RecordingScreen($0.wrappedValue.id, on: display) { showing in
        showing.present(item: detail) { RecordingScreen($0.wrappedValue.id, on: display) }
      }
    }
    model.note = .init(id: "a")
    try await isPresented()
    display.asking = ["a"]
    model.note = nil
    try await until { display.disappearing == ["a"] }
    model.detail = .init(id: "q")
    try await shows("a", "q")
    try await state { $0.presentations.last?.phase == .presented }
  }

  /// Presents the note “a” through a coordinator.
  fileprivate convenience init(_ backend: HinderedBackend, presenting model: Model) async throws {
    self.init(Coordinator(backend, client: "hindered"))
    presentNote(of: model)
    model.note = .init(id: "a")
    try await shows("a")
  }

  @discardableResult
  fileprivate func presentNote(of model: Model) -> Presence {
    let display = display
    return navigator.present(item: Bindable(model).note.named("note").published()) {
      RecordingScreen($0.wrappedValue.id, on: display)
    }.onDismiss(display.end)
  }

  /// A note, and two items that are presented from it.
  fileprivate func presentFamily(of model: Model) {
    let display = display
    navigator.present(item: Bindable(model).note.named("note")) { note in
      RecordingScreen(note.wrappedValue.id, on: display) { showing in
        showing.present(item: Bindable(model).detail.named("detail")) {
          RecordingScreen($0.wrappedValue.id, on: display)
        }
        showing.present(isPresented: Bindable(model).help.named("help")) { RecordingScreen("help", on: display) }
      }
    }
  }

  fileprivate func presentPath(of model: Model) {
    let stack = navigator.stack(path: Bindable(model).path.named("path"))
    stack.navigationDestination(for: String.self) { [display] in RecordingScreen($0, on: display) }
    stack.push(item: Bindable(model).pushed.named("pushed")) { [display] in
      RecordingScreen($0.wrappedValue.id, on: display)
    }
  }
}

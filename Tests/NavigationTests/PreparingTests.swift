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

/// The text that a user has typed, and a log of the screen that has it.
@MainActor @Observable
private final class Desk {
  /// The typed text; nil if nothing is on the screen.
  var text: String?
  var log: [String] = []
  /// The answers that its user will give to questions. A question waits until there is one.
  var answers: [Bool] = []
  /// A function that the screen calls when it prepares, before it asks.
  var beforeAsking: (() throws -> Void)?
  var showing: Showing?
  /// Whether the screen reports that it asks its user.
  var reportsAsking = true
  /// Whether the user closes the screen as soon as it has appeared.
  var isClosedAtOnce = false
}

/// A screen with text that is lost when it disappears.
@MainActor
private final class Editor: DecliningScreen {
  struct Unsaved: Error, CustomStringConvertible { let description = "the text is not saved" }

  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  func appear(_ showing: Showing) async throws {
    desk.showing = showing
    desk.text = "typed"
    desk.log.append("appear")
    guard desk.isClosedAtOnce else { return }
    Task {
      // The screen has appeared when this function has returned.
      await Task.yield()
      try await showing.dismiss()
    }
  }

  func prepareToDisappear(_ showing: Showing) async throws {
    desk.log.append("prepare")
    try desk.beforeAsking?()
    if desk.reportsAsking { try await showing.ask("Discard the text?") }
    desk.log.append("asked")
    // The wait for the answer goes on when the screen's task is cancelled.
    await Task { [desk] in try? await until(within: .seconds(20)) { !desk.answers.isEmpty } }.value
    guard !desk.answers.isEmpty, desk.answers.removeFirst() else { throw Unsaved() }
    desk.log.append("agreed")
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    desk.text = nil
    desk.log.append("disappear\(showing.isForced ? " forced" : "") \(showing.transaction.haste)")
    return ["by": .string("screen"), "rest": .string("screen")]
  }
}

@MainActor @Observable
private final class Model {
  var note: String?
  var isOpen = false
}

/// A coordinator that hears of no question.
private final class DeafBackend: ForwardingBackend {
  let embedded: any CoordinatorBackend = EmbeddedBackend()

  func ask<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> (answer: Output, coordinator: Int) {
    if method.name == CoordinatorInterface.asking.name { throw .unreachable("it is deaf") }
    return try await embedded.ask(method, input, starts: starts)
  }

  func notices() async -> AsyncStream<Notice> { await embedded.notices() }
}

extension NavigationFixture {
  fileprivate func present(_ model: Model, on desk: Desk) {
    navigator.present(item: Bindable(model).note.named("note"), id: { $0 }) { _ in Editor(desk) }.onDismiss(display.end)
  }
}

/// Screens that prepare to disappear (P15, P16), and are dismissed by their own buttons.
@Suite @MainActor struct PreparingTests {
  @Test("A screen that prepares stays for any error, whose description is the message", arguments: bothKinds)
  func prepare_throwsAnyError_stays(_ kind: CoordinatorKind) async throws {
    let (fixture, model, desk) = (try await NavigationFixture(kind), Model(), Desk())
    fixture.present(model, on: desk)
    model.note = "a"
    try await fixture.isPresented()
    let watching = Task { [coordinator = fixture.coordinator] () -> String? in
      for try await case .event(let event) in coordinator.following {
        if case .declined(_, let message) = event.kind { return message }
      }
      return nil
    }
    // The watcher is told of the later events.
    await fixture.navigator.settle()
    model.note = nil
    desk.answers = [false]
    try await fixture.until { model.note == "a" }
    #expect(desk.log == ["appear", "prepare", "asked"] && desk.text == "typed")
    #expect(try await watching.value == "the text is not saved")
    // The screen is asked again.
    model.note = nil
    desk.answers = [true]
    try await fixture.until { fixture.display.ends == [.dismissed] }
    #expect(desk.log == ["appear", "prepare", "asked", "prepare", "asked", "agreed", "disappear 1"])
  }

  @Test("A forced dismissal does not wait for a preparation, and asks no second time", arguments: bothKinds)
  func prepare_forced_disappearsAtOnce(_ kind: CoordinatorKind) async throws {
    let (fixture, model, desk) = (try await NavigationFixture(kind), Model(), Desk())
    fixture.present(model, on: desk)
    model.note = "a"
    try await fixture.isPresented()
    model.note = nil
    try await fixture.state { $0.presentations.first?.asking == true }
    try await fixture.coordinator.dismiss(fixture.text(Bindable(model).note.named("note")), force: true)
    try await fixture.until { fixture.display.ends == [.dismissed] }
    #expect(desk.log == ["appear", "prepare", "asked", "disappear forced 1"])
    // The answer has no effect now.
    desk.answers = [false]
    try await fixture.until { desk.answers.isEmpty }
    #expect(model.note == nil && desk.log.last == "disappear forced 1")
  }

  @Test("A screen's own button asks it first, and its state becomes nil when it has disappeared", arguments: bothKinds)
  func dismiss_byTheScreen_asksFirst(_ kind: CoordinatorKind) async throws {
    let (fixture, model, desk) = (try await NavigationFixture(kind), Model(), Desk())
    fixture.present(model, on: desk)
    model.note = "a"
    try await fixture.isPresented()
    let showing = try #require(desk.showing)
    desk.answers = [false]
    try await showing.dismiss(["by": .string("nobody")])
    try await fixture.until { desk.answers.isEmpty }
    await fixture.navigator.settle()
    #expect(model.note == "a" && desk.text == "typed")

    withTransaction(\.haste, 5) { showing.dismiss(["by": .string("button")]) }
    try await fixture.until { desk.log.suffix(2) == ["prepare", "asked"] }
    #expect(desk.text == "typed")
    desk.answers = [true]
    try await fixture.until { model.note == nil && fixture.display.ends == [.dismissed] }
    #expect(desk.log.suffix(2) == ["agreed", "disappear 5"])
    let (_, result) = try await fixture.coordinator.waitUntilGone(showing.presentation)
    #expect(result["by"] == .string("button") && result["rest"] == .string("screen"))
    // The same showing is dismissed once more, without an effect.
    model.note = "b"
    try await fixture.isPresented()
    try await showing.dismiss()
    #expect(model.note == "b" && desk.text != nil)
  }

  @Test("P15: a screen that its user closes as soon as it has appeared is asked", arguments: bothKinds)
  func dismiss_asSoonAsItHasAppeared_asksFirst(_ kind: CoordinatorKind) async throws {
    let (fixture, model, desk) = (try await NavigationFixture(kind), Model(), Desk())
    desk.isClosedAtOnce = true
    fixture.present(model, on: desk)
    for round in 0..<100 {
      (desk.log, desk.answers) = ([], [true])
      model.note = "\(round)"
      try await fixture.until { model.note == nil }
      try #require(desk.log == ["appear", "prepare", "asked", "agreed", "disappear 1"], "round \(round)")
    }
  }

  @Test("A button that discards asks nobody", arguments: bothKinds)
  func dismiss_forced_asksNobody(_ kind: CoordinatorKind) async throws {
    let (fixture, model, desk) = (try await NavigationFixture(kind), Model(), Desk())
    fixture.present(model, on: desk)
    model.note = "a"
    try await fixture.isPresented()
    try await desk.showing?.dismiss(force: true)
    try await fixture.until { model.note == nil }
    #expect(desk.log == ["appear", "disappear forced 1"])
  }

  @Test(
    "P16: the coordinator waits without a limit for a screen that prepares and asks nobody, which keeps its state",
    arguments: bothKinds)
  func prepare_withoutAQuestion_isTold(_ kind: CoordinatorKind) async throws {
    let (fixture, model, desk) = (try await NavigationFixture(kind), Model(), Desk())
    let display = fixture.display
    desk.reportsAsking = false
    fixture.present(model, on: desk)
    model.note = "a"
    try await fixture.isPresented()
    for _ in 1...2 {
      model.note = nil
      // The grace time has ended.
      try await fixture.state { $0.presentations.contains { $0.asking == true && $0.message?.isEmpty != false } }
      desk.answers = [false]
      try await fixture.until { model.note == "a" }
      try await fixture.isPresented()
      #expect(desk.text == "typed" && desk.log.last == "asked" && display.ends == [])
    }
    model.note = nil
    try await fixture.state { $0.presentations.contains { $0.asking == true } }
    desk.answers = [true]
    try await fixture.until { display.ends == [.dismissed] }
    #expect(desk.text == nil && desk.log.suffix(3) == ["asked", "agreed", "disappear 1"])
  }

  @Test(
    "P14: a screen of which the coordinator hears nothing in its grace time is not forced, and stays if it declines")
  func prepare_unheard_keepsTheText() async throws {
    let (model, desk) = (Model(), Desk())
    let fixture = NavigationFixture(Coordinator(DeafBackend(), client: "deaf"), grace: .milliseconds(50))
    desk.reportsAsking = false
    fixture.present(model, on: desk)
    model.note = "a"
    try await fixture.isPresented()
    let showing = try #require(desk.showing)
    model.note = nil
    // The coordinator waits no longer, and presents the next item.
    try await fixture.state { $0.presentations.isEmpty }
    model.note = "b"
    try await fixture.until { desk.log == ["appear", "prepare", "asked", "appear"] }
    desk.answers = [false]
    try await fixture.until { desk.answers.isEmpty }
    await fixture.navigator.settle()
    await fixture.navigator.settle()
    #expect(model.note == "b" && fixture.navigator.screens.count == 2 && showing.screen != nil)
    // The program is told of its end when it is gone.
    #expect(fixture.display.ends == [])
    // The button of the screen closes it.
    desk.answers = [true]
    try await showing.dismiss()
    #expect(desk.log.suffix(3) == ["asked", "agreed", "disappear 1"])
    #expect(model.note == "b" && fixture.navigator.screens.count == 1 && fixture.display.ends == [.dismissed])
  }

  @Test("P16: a screen whose navd is gone asks all the same, keeps its text, and is asked again by the next navd")
  func ask_navdIsGone_keepsTheText() async throws {
    let (fixture, model, desk) = (try await NavigationFixture(.navd), Model(), Desk())
    let session = try #require(fixture.session)
    fixture.present(model, on: desk)
    model.note = "a"
    try await fixture.isPresented()
    // navd calls the screen, and is gone when the screen reports that it asks.
    desk.beforeAsking = { try session.stop(SIGKILL) }
    model.note = nil
    try await fixture.until { desk.log == ["appear", "prepare", "asked"] }
    desk.beforeAsking = nil
    // The screen declines, and there is no navd to hear it.
    desk.answers = [false]
    try await fixture.until { desk.answers.isEmpty }
    #expect(desk.text == "typed" && fixture.navigator.screens.count == 1)
    try session.start()
    try await fixture.until { desk.log == ["appear", "prepare", "asked", "prepare", "asked"] }
    desk.answers = [false]
    try await fixture.until { model.note == "a" }
    #expect(desk.text == "typed")
  }

  @Test("A screen that asks stays when the bus ends, until its user dismisses it, and only then is the program told")
  func ask_busEnds_keepsTheText() async throws {
    let (fixture, model, desk) = (try await NavigationFixture(.navd), Model(), Desk())
    fixture.navigator.onRefused = { _ in }
    fixture.present(model, on: desk)
    model.note = "a"
    try await fixture.isPresented()
    let showing = try #require(desk.showing)
    model.note = nil
    try await fixture.until { desk.log.last == "asked" }
    await fixture.coordinator.close()
    try await fixture.until { model.note == nil }
    await fixture.navigator.settle()
    #expect(desk.text == "typed" && fixture.navigator.screens.count == 1)
    desk.answers = [false]
    try await fixture.until { desk.answers.isEmpty }
    #expect(desk.text == "typed" && fixture.display.ends == [])
    // The button of the screen works without a coordinator.
    desk.answers = [true]
    try await showing.dismiss()
    #expect(desk.text == nil && fixture.navigator.screens.isEmpty && fixture.display.ends == [.lost])
  }

  @Test("R4: a screen that declines when navd has lost its record keeps the program, and all that it is presented from")
  func decline_recordLost_keepsTheProgram() async throws {
    let (fixture, model, desk) = (try await NavigationFixture(.navd), Model(), Desk())
    let display = fixture.display
    fixture.navigator.present(isPresented: Bindable(model).isOpen.named("window")) {
      RecordingScreen("window", on: display) { showing in
        showing.present(item: Bindable(model).note.named("note"), id: { $0 }) { _ in
          Editor(desk)
        }.onDismiss(display.end)
      }
    }.onDismiss(display.end)
    (model.isOpen, model.note) = (true, "a")
    try await fixture.state { $0.presentations.map(\.phase) == [.presented, .presented] }
    desk.answers = [false]
    try fixture.loseRecord()
    try await fixture.until { desk.answers.isEmpty && !model.isOpen }
    await fixture.navigator.settle()
    #expect(desk.text == "typed" && display.names == ["window"] && display.ends == [])
    // The window is asked again, and goes after the editor.
    desk.answers = [true]
    try await display["window"]?.showing?.dismiss()
    try await fixture.until { display.ends == [.lost, .lost] }
    #expect(desk.text == nil && display.names == [])
  }
}

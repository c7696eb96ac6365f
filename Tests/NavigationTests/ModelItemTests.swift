import NavigationTesting
import Observation
import TestSupport
import Testing

@testable import Navigation

@MainActor @Observable
private final class Child: Identifiable {
  var name: String
  init(_ name: String) { self.name = name }
}

@MainActor @Observable
private final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [\.child: "child", \.pushed: "pushed", \.one: "one", \.other: "other"]
  var child: Child?
  var pushed: Child?
  var one = 1
  var other = 2
}

/// Models as items, which are identified by the object, and bindings of functions.
@Suite @MainActor struct ModelItemTests {
  @Test("Another object is another screen; a change of an object is not", arguments: bothKinds)
  func item_isAModel_isIdentifiedByTheObject(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    fixture.navigator.present(item: Bindable(model).child) { $child in RecordingScreen(child.name, on: display) }
    model.child = Child("a")
    try await fixture.shows("a")
    model.child?.name = "b"
    try await fixture.navigator.settle(within: .seconds(20))
    #expect(display.log == ["+a"])
    model.child = Child("c")
    try await fixture.shows("c")
    try await display["c"]?.close()
    try await fixture.until { model.child == nil }
    #expect(display.log == ["+a", "-a", "+c", "xc"])
  }

  @Test("A stack without a path: models are pushed, and a pushed screen declares a destination", arguments: bothKinds)
  func stack_withoutAPath_showsWhatIsPushed(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    let stack = fixture.navigator.stack()
    // The Swift 6.2 of Debian stops at a closure within one with `$child`.
    stack.push(item: Bindable(model).pushed) { child in
      RecordingScreen(child.wrappedValue.name, on: display) { showing in
        showing.navigationDestination(for: Int.self) { RecordingScreen("\($0)", on: display) }
        showing.push(value: 7)
      }
    }
    model.pushed = Child("a")
    try await fixture.until { Set(display.names) == ["a", "7"] }
    #expect(stack.driver.screens.isDeclared(TypeName.of(Int.self)))
    model.pushed = nil
    try await fixture.until { !display.names.contains("a") }
    // The destination ends with the screen that has declared it.
    try await fixture.navigator.settle(within: .seconds(20))
    let isDeclared = stack.driver.screens.isDeclared(TypeName.of(Int.self))
    #expect(!isDeclared)
  }

  @Test("Two bindings are kept equal; at first the second one gets the value of the first")
  func bind_twoBindings_areKeptEqual() async throws {
    let model = Model()
    let bindable = Bindable(model)
    let observing = bind(bindable.one, to: bindable.other)
    #expect(model.other == 1)
    model.one = 3
    try await until { model.other == 3 }
    model.other = 4
    try await until { model.one == 4 }
    (model.one, model.other) = (5, 6)
    try await until { model.other == 5 }
    observing.cancel()
    model.one = 7
    for _ in 0..<10 { await Task.yield() }
    #expect(model.other == 5)
  }

  @Test("A binding of functions drives a presentation under its name", arguments: bothKinds)
  func binding_ofFunctions_drives(_ kind: CoordinatorKind) async throws {
    let (fixture, model) = (try await NavigationFixture(kind), Model())
    let display = fixture.display
    func isFive() -> Binding<Bool> {
      Binding(named: .shared("is-five"), get: { model.one == 5 }, set: { model.one = $0 ? 5 : 0 })
    }
    #expect(isFive() == isFive() && fixture.text(isFive()) == "is-five")
    fixture.navigator.present(isPresented: isFive()) { RecordingScreen("five", on: display) }
    model.one = 5
    try await fixture.shows("five")
    try await fixture.coordinator.dismiss("is-five")
    try await fixture.until { model.one == 0 }
  }
}

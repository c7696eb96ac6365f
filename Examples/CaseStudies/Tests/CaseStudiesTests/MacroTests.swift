import Navigation
import Observation
import Testing

struct Note: Codable, Hashable, Identifiable {
  var id: Int
  var text = ""
}

@MainActor @Observable @Navigable
private final class Model {
  @Cases
  enum Destination: Equatable {
    case alert(Note), sheet(Note)
    case rename(from: String, to: String)
    case sized(width: Int)
    case `default`
  }

  var destination: Destination?
  var shape = Destination.default
  private(set) var isLoaded: Bool {
    get { true }
    set {}
  }
  var `default`: Note? {
    get { nil }
    set {}
  }
  let constant = 1
}

@MainActor @Observable @Navigable
private final class Selection<Element: Hashable> {
  var element: Element?
}

@MainActor @Observable @Navigable
private class Base {
  var title = ""
}

@MainActor @Observable @Navigable
private final class Derived: Base {
  var count = 0
}

@Cases
public enum Shared {
  case one(Int)
}

@Suite @MainActor struct MacroTests {
  @Test func navigable_properties_haveTheirNames() {
    let model = Bindable(Model(), .shared("model"))
    #expect(Coordinator.embedded().text(of: model.destination) == "model.destination")
    #expect(Coordinator.embedded().text(of: model.shape) == "model.shape")
    #expect(Coordinator.embedded().text(of: model.default) == "model.default")
  }

  @Test func navigable_genericClass_hasTheNames() {
    let model = Bindable(Selection<Int>(), .shared("model"))
    #expect(Coordinator.embedded().text(of: model.element) == "model.element")
  }

  @Test func navigable_subclass_hasItsOwnNamesToo() {
    let model = Bindable(Derived(), .shared("model"))
    #expect(Coordinator.embedded().text(of: model.count) == "model.count")
  }

  @Test func cases_ofABinding_areMembers() {
    let model = Bindable(Model(), .shared("model"))
    #expect(model.destination.alert.wrappedValue == nil)
    model.wrappedValue.destination = .alert(Note(id: 1))
    model.destination.alert.text.wrappedValue = "a"
    #expect(model.wrappedValue.destination == .alert(Note(id: 1, text: "a")))
    #expect(Coordinator.embedded().text(of: model.destination.alert) == "model.destination.alert")

    model.wrappedValue.destination = .rename(from: "a", to: "b")
    model.destination.rename.wrappedValue?.to = "c"
    #expect(model.wrappedValue.destination == .rename(from: "a", to: "c"))
    model.wrappedValue.destination = .sized(width: 1)
    model.destination.sized.wrappedValue = 2
    #expect(model.wrappedValue.destination == .sized(width: 2))
    model.wrappedValue.destination = .default
    #expect(model.destination.default.wrappedValue != nil)
  }

  @Test func cases_inASwitch_haveBindings() {
    let model = Bindable(Model())
    model.wrappedValue.destination = .sheet(Note(id: 1))
    switch model.destination.cases {
    case .sheet(let $note): $note.text.wrappedValue = "a"
    case .alert, .rename, .sized, .default, nil: Issue.record("another case")
    }
    #expect(model.wrappedValue.destination == .sheet(Note(id: 1, text: "a")))
    guard case .default = model.shape.cases else { return #expect(Bool(false)) }
  }
}

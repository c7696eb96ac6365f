import Observation
import Testing

@testable import Navigation

@MainActor @Observable
private final class Counter: Navigable {
  struct Fact: Codable, Identifiable {
    var id: Int
    var text = ""
  }
  static let memberNames: MemberNames<Counter> = [\.fact: "fact", \.facts: "facts", \.one: "same", \.other: "same"]
  var fact: Fact?
  var facts: [Fact] = [Fact(id: 1)]
  var unnamed = 0
  var one = false
  var other = false
}

/// A model that is not final: its subclasses are models, too.
@MainActor @Observable
private class Base: Navigable {
  class var memberNames: MemberNames<Base> { [\.title: "title"] }
  var title = ""
}

@MainActor @Observable
private final class Derived: Base {
  override class var memberNames: MemberNames<Base> {
    super.memberNames.adding([\Derived.title: "title", \Derived.count: "count"])
  }
  var count = 0
}

/// Names that the table of a `Navigable` gives to bindings (B1).
@Suite @MainActor struct NavigableTests {
  @Test("B1: properties of a Navigable have the names of its table") func member_navigable_hasItsName() {
    let counter = Bindable(Counter(), .shared("counter"))
    func text<Value>(_ binding: Binding<Value>) -> String { binding.route.text(client: "1-7") }
    #expect(text(counter.fact) == "counter.fact")
    #expect(text(counter.facts[0].text) == "counter.facts._1.text")
    // The binding can still get another name, and its place in the state is the same.
    #expect(text(counter.fact.named("other")) == "counter.other")
    #expect(counter.fact == counter.fact.named("other"))
    #expect(text(counter.unnamed).hasPrefix("counter._"))
    #expect(text(Bindable(Base(), .shared("base")).title) == "base.title")
    let derived = Bindable(Derived(), .shared("derived"))
    #expect(text(derived.title) == "derived.title")
    #expect(text(derived.count) == "derived.count")
  }

  @Test("B1: members of a structure have their own names") func member_ofAStructure_hasItsName() {
    struct Counter {
      struct Fact: Codable, Identifiable { var id: Int }
      var fact: Fact?
      var facts: [Fact] = [Fact(id: 1)]
    }
    @Binding(.shared("counter")) var counter = Counter()
    #expect($counter.fact.route.text(client: "1-7") == "counter.fact")
    #expect($counter.facts[0].id.route.text(client: "1-7") == "counter.facts._1.id")
  }

  @Test("B1: two bindings of one name are reported once, and one binding is not, however it was made")
  func name_ofTwoBindings_isReported() {
    let (coordinator, model) = (Coordinator.embedded(), Counter())
    let counter = Bindable(model, .shared("twice"))
    #expect(
      MisuseLog.messages {
        for _ in 1...2 {
          _ = coordinator.text(of: counter.fact)
          _ = coordinator.text(of: Bindable(model).fact.named("fact"))
          _ = coordinator.text(of: Binding<Bool>(counter.fact))
        }
      }.isEmpty)
    let messages = MisuseLog.messages {
      for _ in 1...2 {
        _ = coordinator.text(of: counter.one)
        _ = coordinator.text(of: counter.other)
      }
    }
    #expect(messages.count == 1 && messages.first?.contains("“twice.same”") == true, "\(messages)")
    // The same state at another coordinator has another name.
    #expect(MisuseLog.messages { _ = Coordinator.embedded().text(of: counter.other) }.isEmpty)
    withExtendedLifetime(model) {}
  }

  @Test("Two presented states of one name are reported, since at most one of them is shown")
  func present_twoOfOneName_isReported() {
    let (model, navigator) = (Counter(), Navigator(.embedded()))
    let counter = Bindable(model, .shared("presented-twice"))
    let messages = MisuseLog.messages {
      navigator.present(isPresented: counter.one, to: nil)
      navigator.present(isPresented: counter.other, to: nil)
    }
    #expect(messages.count == 1 && messages.first?.contains("“presented-twice.same”") == true, "\(messages)")
  }
}

import Navigation
import Observation

@MainActor @Observable
final class Counter {
  struct Fact: Codable, Identifiable {
    var id: Int
    var text: String
  }
  var fact: Fact?
}

final class FactScreen: Screen {
  private let fact: Binding<Counter.Fact>

  init(_ fact: Binding<Counter.Fact>) { self.fact = fact }

  func appear(_ showing: Showing) async throws {
    // Drawn now, and again whenever the text changes, by whomever, until the screen disappears.
    showing.observe { [fact] in print("\(fact.wrappedValue.id): \(fact.wrappedValue.text)") }
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    print("\(showing.presentedItem.id) is gone")
    return [:]
  }
}

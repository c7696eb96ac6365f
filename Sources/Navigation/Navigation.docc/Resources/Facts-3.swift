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
  private var drawing: Observing?

  init(_ fact: Binding<Counter.Fact>) { self.fact = fact }

  func appear(_ showing: Showing) async throws {
    // Drawn now, and again whenever the text changes, by whomever.
    drawing = observe { [fact] in print("\(fact.wrappedValue.id): \(fact.wrappedValue.text)") }
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    // A change may be under way that is not drawn yet.
    drawing?.cancel()
    print("\(showing.id) is gone")
    return [:]
  }
}

import Glibc
import Navigation
import Observation

@MainActor @Observable
final class Counter: Navigable {
  static let memberNames: MemberNames<Counter> = [\.fact: "fact"]
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

@main @MainActor
struct Facts {
  static func main() async {
    do {
      try await run(Navigator(Coordinator.session()))
    } catch {
      print("facts: \(error)")
      exit(1)
    }
  }

  static func run(_ navigator: Navigator) async throws {
    @Bindable(.shared("counter")) var counter = Counter()

    navigator.present(item: $counter.fact.published()) { fact in FactScreen(fact) }
    counter.fact = Counter.Fact(id: 7, text: "7 is prime.")
    try await Task.sleep(for: .seconds(60))
  }
}

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
  func appear(_ showing: Showing) async throws {
    print("\(showing.presentedItem.id) is here")
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties {
    print("\(showing.presentedItem.id) is gone")
    return [:]
  }
}

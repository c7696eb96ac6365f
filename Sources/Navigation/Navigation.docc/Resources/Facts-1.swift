import Observation

@MainActor @Observable
final class Counter {
  struct Fact: Codable, Identifiable {
    var id: Int
    var text: String
  }
  var fact: Fact?
}

import Navigation
import Observation

/// The state, from which all windows and pages follow. It knows nothing of GTK.
@MainActor @Observable
final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [
    \.isOpen: "window", \.fact: "fact", \.notes: "notes", \.path: "path",
  ]

  struct Fact: Codable, Identifiable {
    let id: Int
    var text: String
  }

  struct Note: Codable, Hashable, Identifiable {
    let id: Int
    var text: String
  }

  var isOpen = true
  var count = 0
  var fact: Fact?
  var notes = [Note(id: 1, text: "Milk"), Note(id: 2, text: "Call Ada")]
  /// The ids of the open notes.
  var path: [Note.ID] = []

  func getFact() { fact = Fact(id: count, text: Self.fact(about: count)) }

  func keep(_ fact: Fact) {
    notes.append(Note(id: notes.count + 1, text: fact.text))
    self.fact = nil
  }

  /// Computed here, so that the example needs no server.
  static func fact(about number: Int) -> String {
    guard number > 1 else { return "\(number) is no product of primes." }
    let divisors = (1...number).filter { number.isMultiple(of: $0) }
    return divisors.count == 2 ? "\(number) is prime." : "\(number) has \(divisors.count) divisors."
  }
}

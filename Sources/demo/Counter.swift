import Observation

/// The state of the counter, from which everything on its screens follows.
@MainActor @Observable
final class Counter {
  /// A fact about a number. It is presented while it is not nil, and replaced by a fact about another number.
  struct Fact: Codable, Identifiable {
    let number: Int
    var text: String
    var id: Int { number }
  }

  /// The open panel; a state with two open panels is impossible.
  enum Panel: String, Codable { case help, history }

  /// A message for the user; each has its own id, so that equal messages are presented again.
  struct Report: Codable, Identifiable {
    let id: Int
    let text: String
  }

  var isOpen = true
  var count = 0
  var fact: Fact?
  var panel: Panel?
  var report: Report?
  private(set) var asked: [Int] = []

  func ask(about number: Int) {
    asked.append(number)
    fact = Fact(number: number, text: NumberFacts.fact(about: number))
  }

  func report(_ text: String) { report = Report(id: (report?.id ?? 0) + 1, text: text) }
}

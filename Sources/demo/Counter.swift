// Why this file exists: the state of the counter says all that is on screen of it.

import Observation

/// A number, and what is known of it.
@MainActor @Observable
final class Counter {
  /// Shown while there is one; that of another number is another one.
  struct Fact: Codable, Identifiable {
    let number: Int
    var text: String
    var id: Int { number }
  }

  /// One of these is open, or none: there is no state in which two are.
  enum Panel: String, Codable { case help, history }

  /// Something to be told, each once.
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

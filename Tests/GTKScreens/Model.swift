import Navigation
import Observation

/// One piece of state for each kind of screen.
@MainActor @Observable
final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [
    \.isOpen: "window", \.sheet: "sheet", \.note: "note", \.isHinted: "hint", \.dialog: "dialog", \.path: "path",
    \.panel: "panel", \.twin: "twin", \.otherTwin: "otherTwin", \.form: "form", \.focus: "focus",
  ]

  struct Sheet: Codable, Identifiable {
    var id: Int
    var text: String
  }

  /// A form with a text, a box to check and a number.
  struct Form: Codable, Identifiable {
    let id: Int
    var name = ""
    var isChecked = false
    var number = 1.0
  }
  enum Field: String, Codable { case name, box }

  enum Answer: String, Codable { case delete, keep }
  enum Panel: String, Codable { case help, history }

  var isOpen = true
  var form: Form?
  /// The field of the form that has the keyboard.
  var focus: Field?
  var sheet: Sheet?
  /// A note whose text is not saved, so that its window declines to be closed.
  var note: Sheet?
  /// The number of times that its user has kept it.
  var keptNotes = 0
  var isHinted = false
  var dialog: Dialog<Answer>?
  var path: [Int] = []
  var panel: Panel?
  /// Two items that a careless program presents with one screen.
  var twin = false
  var otherTwin = false
  var answer: Answer?
  /// The number of alerts that were made.
  var alerts = 0
  /// The last error of a screen that could not be shown.
  var error = ""

  /// The state as a line, for tests to read.
  var description: String {
    [
      "form=\(form.map { "\($0.name) \($0.isChecked) \($0.number)" }, default: "nil")",
      "focus=\(focus?.rawValue, default: "nil")", "sheet=\(sheet?.id, default: "nil")",
      "note=\(note?.id, default: "nil")", "text=\(note?.text ?? "")",
      "kept=\(keptNotes)",
      "hint=\(isHinted)",
      "dialog=\(dialog?.title, default: "nil")", "path=\(path)", "panel=\(panel?.rawValue, default: "nil")",
      "alerts=\(alerts)", "answer=\(answer?.rawValue, default: "nil")", "twins=\(twin) \(otherTwin)", "error=\(error)",
    ].joined(separator: " ")
  }
}

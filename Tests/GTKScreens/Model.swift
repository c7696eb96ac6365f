import Navigation
import Observation

/// One piece of state for each kind of screen.
@MainActor @Observable
final class Model: Navigable {
  static let memberNames: MemberNames<Model> = [
    \.isOpen: "window", \.sheet: "sheet", \.note: "note", \.isHinted: "hint", \.dialog: "dialog", \.path: "path",
    \.panel: "panel",
  ]

  struct Sheet: Codable, Identifiable {
    var id: Int
    var text: String
  }

  enum Answer: String, Codable { case delete, keep }
  enum Panel: String, Codable { case help, history }

  var isOpen = true
  var sheet: Sheet?
  /// Its text is not saved; its window declines.
  var note: Sheet?
  var isHinted = false
  var dialog: Dialog<Answer>?
  var path: [Int] = []
  var panel: Panel?
  var answer: Answer?

  /// What a test reads.
  var description: String {
    [
      "sheet=\(sheet?.id, default: "nil")", "note=\(note?.id, default: "nil")", "text=\(note?.text ?? "")",
      "hint=\(isHinted)",
      "dialog=\(dialog?.title, default: "nil")", "path=\(path)", "panel=\(panel?.rawValue, default: "nil")",
      "answer=\(answer?.rawValue, default: "nil")",
    ].joined(separator: " ")
  }
}

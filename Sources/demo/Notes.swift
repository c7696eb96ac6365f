// Why this file exists: the state of the notes says which are there, which are open, and what is asked about them.

import Navigation
import Observation

/// Notes, and the way that somebody has gone into them.
@MainActor @Observable
final class Notes {
  struct Note: Codable, Hashable, Identifiable {
    let id: Int
    var text: String
    var title: String { text.split(separator: "\n").first.map(String.init) ?? "(empty)" }
  }

  /// The place of the path at which all notes are listed. On it are the ids of notes.
  struct Everything: Codable, Hashable {}

  /// What the user is asked or told: one state, so never two at once, each case with what it is about.
  enum Question: Codable, Hashable, Identifiable {
    case delete(Note)
    case deleted(Note)

    var id: String {
      switch self {
      case .delete(let note): "delete-\(note.id)"
      case .deleted(let note): "deleted-\(note.id)"
      }
    }
  }

  private(set) var last = 2
  var all = [Note(id: 1, text: "Milk\nand bread"), Note(id: 2, text: "Call Ada")]
  var path = NavigationPath()
  var question: Question?
  /// The note that is open in an editor of its own. What that makes of it is written here, and is the note's by that.
  var edited: Note? {
    didSet { if let edited, let index = index(of: edited.id) { all[index] = edited } }
  }

  func index(of id: Note.ID) -> Int? { all.firstIndex { $0.id == id } }

  /// Opens the list, and on it some notes: a path that is set is shown from its bottom up.
  func open(_ notes: Note.ID...) {
    path = NavigationPath([Everything()])
    for note in notes { path.append(note) }
  }

  func add(_ text: String) -> Note {
    last += 1
    let note = Note(id: last, text: text)
    all.append(note)
    return note
  }

  func delete(_ note: Note) {
    // First its page, and what is open above it.
    open()
    all.removeAll { $0.id == note.id }
    question = .deleted(note)
  }

  func restore(_ note: Note) {
    all.append(note)
    question = nil
  }
}

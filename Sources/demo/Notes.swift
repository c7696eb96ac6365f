import Navigation
import Observation

/// The state of the notes: the notes, the open ones, and the question about one.
@MainActor @Observable
final class Notes {
  struct Note: Codable, Hashable, Identifiable {
    let id: Int
    var text: String
    var title: String { text.split(separator: "\n").first.map(String.init) ?? "(empty)" }
  }

  /// The element of the path for the list of all notes. The other elements are IDs of notes.
  struct Everything: Codable, Hashable {}

  /// The open alert about a note; a state with two alerts is impossible.
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
  /// The note that is open in a separate editor. The editor writes its changes here, and they are copied to the note.
  var edited: Note? {
    didSet { if let edited, let index = index(of: edited.id) { all[index] = edited } }
  }

  func index(of id: Note.ID) -> Int? { all.firstIndex { $0.id == id } }

  /// Opens the list, and the notes on it: the pages of a path are presented in its order.
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
    // This first closes the note's page, and every screen presented from it.
    open()
    all.removeAll { $0.id == note.id }
    question = .deleted(note)
  }

  func restore(_ note: Note) {
    all.append(note)
    question = nil
  }
}

import Navigation
import Observation

@MainActor @Observable
final class Notes {
  struct Note: Codable, Identifiable {
    var id: Int
    var text: String
  }
  var all = [Note(id: 1, text: "Milk"), Note(id: 2, text: "Bread")]
  var path: [Note.ID] = []
}

final class NoteScreen: Screen {
  let note: Binding<Notes.Note>

  init(_ note: Binding<Notes.Note>) { self.note = note }

  func appear(_ showing: Showing) async throws {
    note.text.wrappedValue += ", seen"
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
}

final class NoSuchNote: Screen {
  func appear(_ showing: Showing) async throws {}

  func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
}

@MainActor
func present(_ notes: Notes, from navigator: Navigator) {
  let bindable = Bindable(notes, .shared("notes"))
  let stack = navigator.stack(path: bindable.path.named("path"))
  stack.navigationDestination(for: Notes.Note.ID.self) { id in
    guard let index = notes.all.firstIndex(where: { $0.id == id }) else { return NoSuchNote() }
    return NoteScreen(bindable.all[index])
  }
}

@main @MainActor
struct NotesTest {
  static func main() async throws {
    let notes = Notes()
    let navigator = Navigator(.embedded())
    present(notes, from: navigator)
    notes.path = [1, 2]
    await navigator.settle()

    // As another client would.
    try await navigator.coordinator.pop(from: "notes.path")
    while notes.path != [1] { await Task.yield() }
    print(notes.all.map(\.text))
  }
}

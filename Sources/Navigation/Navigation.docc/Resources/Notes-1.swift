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
  init(_ id: Notes.Note.ID) {}

  func appear(_ showing: Showing) async throws {
    print("\(showing.presentedItem.binding) shows note \(showing.presentedItem.id)")
  }

  func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
}

@MainActor
func present(_ notes: Notes, from navigator: Navigator) {
  let stack = navigator.stack(path: Bindable(notes, .shared("notes")).path.named("path"))
  stack.navigationDestination(for: Notes.Note.ID.self) { id in NoteScreen(id) }
}

import Glibc
import Navigation

extension Demo {
  /// Presents a stack whose path has values of two types, each with its kind of page.
  func presentNotes(from window: Showing) {
    let stack = window.stack(path: $notes.path.named("path"))
    stack.navigationDestination(for: Notes.Everything.self) { [self] _ in listPage() }
    stack.navigationDestination(for: Notes.Note.ID.self) { [self] id in notePage(id) }
  }

  private func listPage() -> Page {
    Page("Notes", on: terminal) { [notes] in
      notes.all.enumerated().map { "\($0 + 1)  \($1.title)" } + ["", "1-9 open   a add   escape closes"]
    } onKey: { [notes] key, list in
      switch key {
      case .character("a"): list.push(value: notes.add("").id)
      case .character(let digit):
        guard let number = digit.wholeNumberValue, notes.all.indices.contains(number - 1) else { break }
        list.push(value: notes.all[number - 1].id)
      default: break
      }
    } onAppear: { [self] list in
      presentQuestion(from: list)
      presentEditor(from: list)
    }
  }

  /// Edits the note, through a binding to the element of the array. The typed text is a draft until it is saved.
  private func notePage(_ id: Notes.Note.ID) -> Page {
    guard let index = notes.index(of: id) else { return Page("No such note", on: terminal) { ["escape closes"] } }
    let note = $notes.all[index]
    let draft = Draft()
    func edit(_ change: (inout String) -> Void) {
      var text = draft.text ?? note.wrappedValue.text
      change(&text)
      draft.text = text
    }
    func save() {
      if let text = draft.text { note.wrappedValue.text = text }
      draft.text = nil
    }
    return Page("Note \(id)", on: terminal) {
      let text = draft.text ?? note.wrappedValue.text
      return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        + (draft.isAsking
          ? ["", "Save the changes?   y yes   n no   c stay here"]
          : ["", "type   ^S save   ^E a window   ^N next note   ^D delete   ^X to the counter   escape back"])
    } onKey: { [self] key, page in
      switch key {
      case .character("y") where draft.isAsking: draft.answer(.save)
      case .character("n") where draft.isAsking: draft.answer(.discard)
      case .character("c") where draft.isAsking: draft.answer(.stay)
      case .character(let character): edit { $0.append(character) }
      case .enter: edit { $0.append("\n") }
      case .backspace: edit { $0 = String($0.dropLast()) }
      case .control("s"), .escape: save()
      case .control("e"):
        save()
        notes.edited = note.wrappedValue
      case .control("d"): notes.question = .delete(note.wrappedValue)
      case .control("n"): page.push(value: notes.all[(index + 1) % notes.all.count].id)
      case .control("x"): goHome()
      default: break
      }
    } prepare: { [notes] page in
      // A deleted note needs no text.
      if notes.index(of: id) != nil { try await draft.settle(page, save: save) }
    }
  }

  /// Presents a note with a destination of the session: another program edits the note through its binding on the bus.
  private func presentEditor(from list: Showing) {
    list.present(
      item: $notes.edited.named("edited"), to: "note-editor",
      options: { note in
        var options = PresentationOptions(title: "Note \(note.id)")
        // The program that shows the editor may have been started before the display.
        options.environment = [:]
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "EDITOR"] {
          options.environment?[name] = getenv(name).map { String(cString: $0) }
        }
        return options
      })
  }

  /// Presents the questions. The answer to the first one presents the second one in the same transaction.
  private func presentQuestion(from list: Showing) {
    list.present(item: $notes.question.named("question"), options: { _ in PresentationOptions(style: "alert") }) {
      [notes, terminal] question in
      switch question.wrappedValue {
      case .delete(let note):
        Page("Delete “\(note.title)”?", on: terminal) {
          ["y yes   n no"]
        } onKey: { key, _ in
          if key == .character("y") { notes.delete(note) }
          if key == .character("n") { notes.question = nil }
        }
      case .deleted(let note):
        Page("“\(note.title)” is deleted", on: terminal) {
          ["u take it back   escape closes"]
        } onKey: { key, _ in
          if key == .character("u") { notes.restore(note) }
        }
      }
    }
  }
}

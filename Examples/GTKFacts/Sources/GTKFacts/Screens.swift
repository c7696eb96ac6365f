import Navigation
import NavigationGTK

// MARK: the counter
@MainActor
func counterWindow(@Bindable _ model: Model) -> WindowScreen {
  WindowScreen("Facts") { showing in
    showing.present(item: $model.fact.published()) { fact in factSheet($fact: fact, of: model) }
    return .column(
      showing.label { "\(model.count)" },
      .row(showing.button("−") { model.count -= 1 }, showing.button("+") { model.count += 1 }),
      showing.button("Get fact") { model.getFact() },
      notes(of: model, in: showing))
  }
}

// MARK: the fact, which can be edited
enum Answer: String, Codable { case discard }

@MainActor
func factSheet(@Binding fact: Model.Fact, of model: Model) -> WindowScreen {
  let original = fact.text
  return WindowScreen("Fact about \(fact.id)") { showing in
    .column(
      showing.entry($fact.text),
      .row(
        showing.button("Cancel") { showing.dismiss() },
        showing.button("Keep") { withTransaction(\.isForced, true) { model.keep(fact) } }))
  } prepare: { showing in
    guard fact.text != original else { return }
    let question = Dialog<Answer>("Discard the edit?") {
      Dialog.Button("Keep editing", role: .cancel)
      Dialog.Button("Discard", role: .destructive, action: Answer.discard)
    }
    guard try await showing.answer(to: question) == .discard else { throw Declined("the edit is not kept") }
  }
}

// MARK: the notes
@MainActor
func notes(@Bindable of model: Model, in showing: Showing) -> Widget {
  let list = showing.list {
    model.notes.map(\.text)
  } onActivate: {
    model.path.append(model.notes[$0].id)
  }
  let stack = showing.navigationStack(path: $model.path, title: "Notes", root: list)
  stack.navigationDestination(for: Model.Note.ID.self) { Binding($model.notes[id: $0]).map { notePage($note: $0) } }
  return stack.widget
}

// MARK: a note, edited through a binding
@MainActor
func notePage(@Binding note: Model.Note) -> PageScreen {
  PageScreen("Note \(note.id)") { showing in .column(showing.entry($note.text)) }
}

// MARK: the program
@main @MainActor
struct Facts {
  static func main() {
    let model = Model()
    let isEmbedded = CommandLine.arguments.contains("--embedded")
    MainLoop.run(on: { isEmbedded ? .embedded() : try await .session() }) { navigator in
      navigator.present(isPresented: Bindable(model, .shared("facts")).isOpen) { counterWindow(model) }
    }
  }
}

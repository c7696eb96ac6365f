import CGTK
import Navigation
import NavigationGTK

/// The screens of the program: one of every kind of NavigationGTK, with widgets that tests find by their names.
@MainActor
struct Screens {
  let model: Model
  let live: LiveObjects
  /// Called with the content of every screen.
  let onAppear: @MainActor () -> Void

  func main() -> WindowScreen {
    window("Main") { showing in
      let button = gtk_button_new_with_label("Hint")!
      gtk_widget_set_name(button, "anchor")
      // The button is there for a popover, even if it was removed from the window.
      let anchor = WidgetOwner(button)
      showing.connect(button, "clicked") { [model] in model.isHinted = true }
      let bindings = Bindable(model)
      showing.present(item: bindings.sheet, content: sheet)
      showing.present(item: bindings.note, content: note)
      showing.present(item: bindings.form, content: form)
      showing.present(isPresented: bindings.isHinted) { hint(on: anchor.widget) }
      showing.present(dialog: bindings.dialog) { [model] action, _ in
        model.answer = action
      } content: { [model] dialog in
        let screen = AlertScreen(dialog)
        model.alerts += 1
        live.note(screen)
        onAppear()
        return screen
      }
      let twin = window("Twin") { _ in label("twin") }
      showing.present(isPresented: bindings.twin) { twin }
      showing.present(isPresented: bindings.otherTwin) { twin }.onDismiss(note)
      let stack = showing.navigationStack(path: bindings.path, title: "Root", root: label("the root"))
      stack.navigationDestination(for: Int.self) { page($0) }
      let area = PageArea()
      gtk_widget_set_name(area.widget, "area")
      for panel in [Model.Panel.help, .history] {
        showing.present(tag: panel, selection: bindings.panel) {
          PageScreen(panel.rawValue, in: area) { showing in noted(showing, label(panel.rawValue)) }
        }.onDismiss(note)
      }
      return box(button, stack.widget, area.widget)
    }
  }

  private func sheet(_ sheet: Binding<Model.Sheet>) -> WindowScreen {
    window("Sheet \(sheet.wrappedValue.id)") { showing in
      // A header bar gives the window a close button of its own on every compositor.
      gtk_window_set_titlebar(showing.window, gtk_header_bar_new())
      // A careless program destroys the window while it makes the content.
      if sheet.wrappedValue.id < 0 { gtk_window_destroy(showing.window) }
      let text = label("")
      showing.observe { gtk_label_set_text(OpaquePointer(text), sheet.wrappedValue.text) }
      return text
    }
  }

  private func note(_ note: Binding<Model.Sheet>) -> WindowScreen {
    window("Note \(note.wrappedValue.id)") { showing in
      let entry = gtk_entry_new()!
      showing.connect(entry, "changed") {
        note.text.wrappedValue = String(cString: gtk_editable_get_text(OpaquePointer(entry)))
      }
      return entry
    } prepare: { showing in
      guard !note.text.wrappedValue.isEmpty else { return }
      let question = Dialog("Discard?") {
        Dialog.Button("Keep", role: .cancel, action: Model.Answer.keep)
        Dialog.Button("Discard", role: .destructive, action: Model.Answer.delete)
      }
      guard try await showing.answer(to: question) == .delete else {
        model.keptNotes += 1
        throw Declined("the note is not saved")
      }
    }
  }

  private func form(_ form: Binding<Model.Form>) -> WindowScreen {
    window("Form") { showing in
      let (name, check) = (gtk_entry_new()!, gtk_check_button_new_with_label("Checked")!)
      let number = gtk_spin_button_new_with_range(0, 100, 1)!
      gtk_widget_set_name(name, "name")
      gtk_widget_set_name(check, "check")
      showing.bind(name, "text", to: form.name)
      showing.bind(check, "active", to: form.isChecked)
      showing.bind(number, "value", to: form.number)
      showing.bind(focusOf: name, to: Bindable(model).focus, equals: .name)
      showing.bind(focusOf: check, to: Bindable(model).focus, equals: .box)
      return box(check, name, number)
    }
  }

  private func hint(on anchor: Widget) -> PopoverScreen {
    PopoverScreen(on: anchor) { showing in noted(showing, label("a hint")) }
  }

  /// A page of the path. Pages with odd numbers are asked before they disappear, so that the tests have both ways to go back.
  private func page(_ number: Int) -> PageScreen {
    let agree: WidgetScreen.Preparation = { _ in }
    return PageScreen(
      "Page \(number)", content: { showing in noted(showing, label("page \(number)")) },
      prepare: number.isMultiple(of: 2) ? nil : agree)
  }

  private func note(_ dismissal: Dismissal) { if let error = dismissal.error { model.error = "\(error)" } }

  // MARK: Helpers

  private func window(
    _ title: String, content: @escaping WidgetScreen.Content, prepare: WidgetScreen.Preparation? = nil
  ) -> WindowScreen {
    WindowScreen(
      title,
      content: { showing in
        gtk_window_set_default_size(showing.window, 400, 300)
        return noted(showing, content(showing))
      }, prepare: prepare)
  }

  private func noted(_ showing: Showing, _ widget: Widget) -> Widget {
    if let screen = showing.screen { live.note(screen) }
    onAppear()
    return widget
  }

  private func label(_ text: String) -> Widget {
    let label = gtk_label_new(text)!
    gtk_widget_set_name(label, text.replacing(" ", with: "-"))
    return label
  }

  private func box(_ children: Widget...) -> Widget {
    let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!
    for child in children { box.withMemoryRebound(to: GtkBox.self, capacity: 1) { gtk_box_append($0, child) } }
    return box
  }
}

#if canImport(CGTK)
  import CGTK

  /// A GtkMessageDialog.
  final class MessageAlert: Alert {
    private let texts: AlertTexts
    private let signals = Signals()
    private var window: UnsafeMutablePointer<GtkWindow>?

    init(_ texts: AlertTexts) { self.texts = texts }

    func open(over parent: UnsafeMutablePointer<GtkWindow>?, _ answer: @escaping @MainActor (Int?, String) -> Void) {
      let object = g_object_new_with_properties(gtk_message_dialog_get_type(), 0, nil, nil)!
      let message = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkMessageDialog.self)
      let dialog = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkDialog.self)
      let window = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWindow.self)
      self.window = window
      object.set("text", texts.title)
      if !texts.message.isEmpty { object.set("secondary-text", texts.message) }
      var entry: OpaquePointer?
      if let prompt = texts.prompt {
        let field = alertField(prompt, texts.text ?? "", isSecret: texts.isSecret)
        entry = OpaquePointer(field)
        UnsafeMutableRawPointer(gtk_message_dialog_get_message_area(message)!)
          .withMemoryRebound(to: GtkBox.self, capacity: 1) { gtk_box_append($0, field) }
      }
      for (index, button) in texts.buttons.enumerated() {
        let widget = gtk_dialog_add_button(dialog, button.title, gint(index))
        if button.isDestructive { gtk_widget_add_css_class(widget, "destructive-action") }
      }
      if let answer = texts.defaultButton { gtk_dialog_set_default_response(dialog, gint(answer)) }
      gtk_window_set_transient_for(window, parent)
      gtk_window_set_modal(window, 1)
      signals.connect(object, "response", of: self) { alert, arguments in
        let index = arguments[int: 1]
        let text = entry.map { String(cString: gtk_editable_get_text($0)) } ?? ""
        alert.close()
        // Escape has a negative number.
        answer(index >= 0 ? index : nil, text)
        return true
      }
      signals.connect(object, "destroy", of: self) { alert, _ in
        // The program has destroyed it.
        alert.window = nil
        alert.signals.disconnect()
        answer(nil, "")
        return false
      }
      gtk_window_present(window)
    }

    func close() {
      signals.disconnect()
      if let window { gtk_window_destroy(window) }
      window = nil
    }
  }

  extension AlertTexts {
    /// The index of the button that Return presses: the last one that is neither destructive nor the cancel button.
    var defaultButton: Int? {
      buttons.indices.last { !buttons[$0].isDestructive && $0 != cancel } ?? cancel
    }
  }

  /// The text field of an alert. Return in the field presses the default button.
  @MainActor
  func alertField(_ prompt: String, _ text: String, isSecret: Bool) -> Widget {
    let entry = gtk_entry_new()!
    entry.withMemoryRebound(to: GtkEntry.self, capacity: 1) {
      gtk_entry_set_placeholder_text($0, prompt)
      gtk_entry_set_activates_default($0, 1)
      gtk_entry_set_visibility($0, isSecret ? 0 : 1)
    }
    gtk_editable_set_text(OpaquePointer(entry), text)
    return entry
  }

  extension UnsafeMutablePointer<GObject> {
    func set(_ property: String, _ text: String) {
      var value = GValue()
      g_value_init(&value, GType(16 << G_TYPE_FUNDAMENTAL_SHIFT))
      g_value_set_string(&value, text)
      g_object_set_property(self, property, &value)
      g_value_unset(&value)
    }
  }
#endif

import CGTK
import Navigation
import NavigationGTK

// What this program needs of GTK, as Swift functions: widgets that follow state as long as their screen is shown.

extension Showing {
  func label(_ text: @escaping @MainActor () -> String) -> Widget {
    let label = gtk_label_new(nil)!
    observe { gtk_label_set_text(OpaquePointer(label), text()) }
    return label
  }

  func button(_ title: String, _ action: @escaping @MainActor () -> Void) -> Widget {
    let button = gtk_button_new_with_label(title)!
    connect(button, "clicked", action)
    return button
  }

  func entry(_ text: Binding<String>) -> Widget {
    let entry = gtk_entry_new()!
    var shown: String { String(cString: gtk_editable_get_text(OpaquePointer(entry))) }
    observe { if shown != text.wrappedValue { gtk_editable_set_text(OpaquePointer(entry), text.wrappedValue) } }
    connect(entry, "changed") { if shown != text.wrappedValue { text.wrappedValue = shown } }
    return entry
  }

  func list(_ rows: @escaping @MainActor () -> [String], onActivate: @escaping @MainActor (Int) -> Void) -> Widget {
    let list = gtk_list_box_new()!
    observe {
      while let row = gtk_widget_get_first_child(list) { gtk_list_box_remove(OpaquePointer(list), row) }
      for text in rows() { gtk_list_box_append(OpaquePointer(list), gtk_label_new(text)) }
    }
    connect(list, "row-activated") {
      let row = gtk_list_box_get_selected_row(OpaquePointer(list))
      if let row { onActivate(Int(gtk_list_box_row_get_index(row))) }
    }
    return list
  }
}

@MainActor
func column(_ children: Widget...) -> Widget { box(GTK_ORIENTATION_VERTICAL, children) }

@MainActor
func row(_ children: Widget...) -> Widget { box(GTK_ORIENTATION_HORIZONTAL, children) }

@MainActor
private func box(_ orientation: GtkOrientation, _ children: [Widget]) -> Widget {
  let box = gtk_box_new(orientation, 12)!
  gtk_widget_set_margin_top(box, 12)
  gtk_widget_set_margin_start(box, 12)
  gtk_widget_set_margin_end(box, 12)
  if orientation == GTK_ORIENTATION_HORIZONTAL { gtk_widget_set_halign(box, GTK_ALIGN_CENTER) }
  for child in children { box.withMemoryRebound(to: GtkBox.self, capacity: 1) { gtk_box_append($0, child) } }
  return box
}

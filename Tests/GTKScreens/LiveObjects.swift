import CGTK
import Navigation
import NavigationGTK

/// Counts widgets and screens that are alive, to find those that outlive their presentation.
@MainActor
final class LiveObjects {
  private struct Weak { weak var screen: (any Screen)? }

  private var noted: [Weak] = []
  /// The types of widgets that were in a window once, and have not been finalized.
  private var alive: [Widget: String] = [:]
  var widgets: Int { alive.count }

  var screens: Int {
    noted.removeAll { $0.screen == nil }
    return noted.count
  }

  func note(_ screen: any Screen) { noted.append(Weak(screen: screen)) }

  /// Notes all widgets that are in windows now.
  /// - Returns: their number.
  @discardableResult
  func scan() -> Int {
    var count = 0
    for window in windows { visit(window) { _ in count += 1 } }
    return count
  }

  /// The types of the living widgets that are in no window.
  var strays: [String] {
    var strays = alive
    for window in windows { visit(window) { strays[$0] = nil } }
    return strays.values.sorted()
  }

  /// The first widget of a name, a style class, or a button of a title.
  func widget(_ name: String) -> Widget? {
    var found: Widget?
    for window in windows {
      visit(window) { widget in
        guard found == nil, gtk_widget_get_mapped(widget) != 0 else { return }
        let isNamed =
          String(cString: gtk_widget_get_name(widget)) == name || gtk_widget_has_css_class(widget, name) != 0
        if isNamed || title(ofButton: widget) == name { found = widget }
      }
    }
    return found
  }

  // MARK: What a careless program does

  /// Destroys a window of the program, by its title.
  func destroy(window title: String) {
    for widget in windows {
      let window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
      if gtk_window_get_title(window).map({ String(cString: $0) }) == title {
        gtk_window_destroy(window)
      }
    }
  }

  /// Removes a widget from the box that contains it.
  func remove(_ name: String) {
    guard let widget = widget(name), let box = gtk_widget_get_parent(widget) else { return }
    box.withMemoryRebound(to: GtkBox.self, capacity: 1) { gtk_box_remove($0, widget) }
  }

  /// Answers all message dialogs with a number.
  func respond(with number: Int) {
    for widget in windows where typeName(of: widget) == "GtkMessageDialog" {
      gtk_dialog_response(
        UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkDialog.self), gint(number))
    }
  }

  // MARK: Widgets

  private func title(ofButton widget: Widget) -> String? {
    guard typeName(of: widget) == "GtkButton" else { return nil }
    return widget.withMemoryRebound(to: GtkButton.self, capacity: 1) { gtk_button_get_label($0) }
      .map { String(cString: $0) }
  }

  private var windows: [Widget] {
    let all = gtk_window_get_toplevels()
    return (0..<g_list_model_get_n_items(all)).compactMap { index in
      // The list retains its elements.
      let item = g_list_model_get_item(all, index)!
      g_object_unref(item)
      return item.assumingMemoryBound(to: GtkWidget.self)
    }
  }

  private func typeName(of widget: Widget) -> String {
    widget.withMemoryRebound(to: GObject.self, capacity: 1) {
      String(cString: g_type_name($0.pointee.g_type_instance.g_class.pointee.g_type))
    }
  }

  private func visit(_ widget: Widget, _ body: (Widget) -> Void) {
    // GTK keeps one tooltip window for all windows.
    if typeName(of: widget) == "GtkTooltipWindow" { return }
    body(widget)
    watch(widget)
    var child = gtk_widget_get_first_child(widget)
    while let current = child {
      visit(current, body)
      child = gtk_widget_get_next_sibling(current)
    }
  }

  private func watch(_ widget: Widget) {
    guard alive[widget] == nil else { return }
    alive[widget] = typeName(of: widget)
    widget.withMemoryRebound(to: GObject.self, capacity: 1) { object in
      // The data of an object ends when the object is finalized; a weak reference of GObject ends earlier, when it is disposed.
      g_object_set_data_full(object, "finalizing", Unmanaged.passRetained(Finalizing(self, widget)).toOpaque()) {
        data in
        _ = Unmanaged<Finalizing>.fromOpaque(data!).takeRetainedValue()
      }
    }
  }

  @MainActor
  private final class Finalizing {
    private let live: LiveObjects
    private let widget: Widget
    init(_ live: LiveObjects, _ widget: Widget) { (self.live, self.widget) = (live, widget) }
    isolated deinit { live.alive[widget] = nil }
  }
}

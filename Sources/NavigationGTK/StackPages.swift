#if canImport(CGTK)
  import CGTK

  /// Pages in a GtkStack, which may be below a bar with the title and a button to go back.
  final class StackPages: PagePlace {
    let widget: Widget
    private let stack: OpaquePointer
    private let root: Widget?
    /// The bar, with the title of the root.
    private let bar: (title: String, label: OpaquePointer, button: Widget)?
    private let signals = Signals()
    private var pages: [(page: PageScreen, content: Widget)] = []
    private(set) var isGone = false

    /// Creates a stack without a root and without a bar.
    init() {
      widget = gtk_stack_new()
      stack = OpaquePointer(widget)
      root = nil
      bar = nil
      watchEnd(signals)
    }

    init(_ root: Widget, _ title: String) {
      self.root = root
      widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
      let box = gtk_center_box_new()!
      gtk_widget_add_css_class(box, "toolbar")
      let button = gtk_button_new_from_icon_name("go-previous-symbolic")!
      gtk_widget_set_tooltip_text(button, "Back")
      gtk_widget_add_css_class(button, "back")
      gtk_center_box_set_start_widget(OpaquePointer(box), button)
      let text = gtk_label_new(title)!
      gtk_widget_add_css_class(text, "title")
      bar = (title, OpaquePointer(text), button)
      gtk_center_box_set_center_widget(OpaquePointer(box), text)
      let pages = gtk_stack_new()!
      stack = OpaquePointer(pages)
      gtk_widget_set_vexpand(pages, 1)
      gtk_stack_add_child(stack, root)
      widget.withMemoryRebound(to: GtkBox.self, capacity: 1) {
        gtk_box_append($0, box)
        gtk_box_append($0, pages)
      }
      signals.connect(button, "clicked", of: self) { place, _ in place.goBack() }
      for key in ["Escape", "<Alt>Left"] {
        signals.connect(key: key, in: widget, of: self) { $0.goBack() }
      }
      watchEnd(signals)
      show(isForward: true, animated: false)
    }

    func end() -> [PageScreen] {
      isGone = true
      defer { pages = [] }
      return pages.map(\.page)
    }

    /// - Returns: whether there is a page to go back from.
    private func goBack() -> Bool {
      pages.last?.page.userCloses()
      return !pages.isEmpty
    }

    func add(_ page: PageScreen, _ content: Widget, animated: Bool) {
      pages.append((page, content))
      gtk_stack_add_child(stack, content)
      show(isForward: true, animated: animated)
    }

    func remove(_ page: PageScreen, animated: Bool) {
      guard let index = pages.firstIndex(where: { $0.page === page }) else { return }
      let content = pages.remove(at: index).content
      show(isForward: false, animated: animated)
      gtk_stack_remove(stack, content)
    }

    private func show(isForward: Bool, animated: Bool) {
      let slide = isForward ? GTK_STACK_TRANSITION_TYPE_SLIDE_LEFT : GTK_STACK_TRANSITION_TYPE_SLIDE_RIGHT
      let transition = bar == nil ? GTK_STACK_TRANSITION_TYPE_CROSSFADE : slide
      gtk_stack_set_transition_type(stack, animated ? transition : GTK_STACK_TRANSITION_TYPE_NONE)
      if let shown = pages.last?.content ?? root { gtk_stack_set_visible_child(stack, shown) }
      guard let bar else { return }
      gtk_label_set_text(bar.label, pages.last?.page.title ?? bar.title)
      gtk_widget_set_visible(bar.button, pages.isEmpty ? 0 : 1)
    }
  }
#endif

#if canImport(CGTK)
  import CGTK

  /// Pages in a GtkStack, below a bar with the title and a button to go back.
  final class StackPages: PagePlace {
    let widget: Widget
    private let stack: OpaquePointer
    private let root: Widget
    private let title: String
    private let label: OpaquePointer
    private let button: Widget
    private let signals = Signals()
    private var pages: [(page: PageScreen, content: Widget)] = []

    init(_ root: Widget, _ title: String) {
      self.root = root
      self.title = title
      widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
      let bar = gtk_center_box_new()!
      gtk_widget_add_css_class(bar, "toolbar")
      button = gtk_button_new_from_icon_name("go-previous-symbolic")
      gtk_widget_set_tooltip_text(button, "Back")
      gtk_widget_add_css_class(button, "back")
      gtk_center_box_set_start_widget(OpaquePointer(bar), button)
      let text = gtk_label_new(title)!
      gtk_widget_add_css_class(text, "title")
      label = OpaquePointer(text)
      gtk_center_box_set_center_widget(OpaquePointer(bar), text)
      let pages = gtk_stack_new()!
      stack = OpaquePointer(pages)
      gtk_widget_set_vexpand(pages, 1)
      gtk_stack_add_child(stack, root)
      widget.withMemoryRebound(to: GtkBox.self, capacity: 1) {
        gtk_box_append($0, bar)
        gtk_box_append($0, pages)
      }
      signals.connect(button, "clicked") { [unowned self] _ in goBack() }
      for key in ["Escape", "<Alt>Left"] { signals.connect(key: key, in: widget) { [unowned self] in goBack() } }
      show(isForward: true, animated: false)
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
      let transition = isForward ? GTK_STACK_TRANSITION_TYPE_SLIDE_LEFT : GTK_STACK_TRANSITION_TYPE_SLIDE_RIGHT
      gtk_stack_set_transition_type(stack, animated ? transition : GTK_STACK_TRANSITION_TYPE_NONE)
      gtk_stack_set_visible_child(stack, pages.last?.content ?? root)
      gtk_label_set_text(label, pages.last?.page.title ?? title)
      gtk_widget_set_visible(button, pages.isEmpty ? 0 : 1)
    }
  }
#endif

#if canImport(CGTK)
  import CGTK
  import Navigation

  /// A popover, which points at a widget. A click beside it closes it, and so does Escape.
  public final class PopoverScreen: WidgetScreen {
    private let anchor: Widget
    private var popover: UnsafeMutablePointer<GtkPopover>?

    /// Creates the screen of a popover.
    /// - Parameters:
    ///   - anchor: the widget that it points at, which is in a window as long as the popover is shown.
    ///   - content: makes the content.
    ///   - prepare: asked before it is closed, for one that may have to stay. After the user's click beside it, it appears again then.
    public init(on anchor: Widget, content: @escaping Content, prepare: Preparation? = nil) {
      self.anchor = anchor
      super.init(content, prepare: prepare)
    }

    override func open(_ content: () -> Widget, _ showing: Showing) throws {
      let widget = gtk_popover_new()!
      let popover = widget.withMemoryRebound(to: GtkPopover.self, capacity: 1) { $0 }
      self.popover = popover
      gtk_widget_set_parent(widget, anchor)
      gtk_popover_set_child(popover, content())
      signals.connect(popover, "closed") { [unowned self] _ in
        userHasClosed()
        return false
      }
      gtk_popover_popup(popover)
    }

    override func stay() {
      if let popover { gtk_popover_popup(popover) }
    }

    override func close(animated: Bool) {
      guard let popover else { return }
      self.popover = nil
      gtk_popover_popdown(popover)
      popover.withMemoryRebound(to: GtkWidget.self, capacity: 1) { gtk_widget_unparent($0) }
    }
  }
#endif

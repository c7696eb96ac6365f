#if canImport(CGTK)
  import CGTK
  import Navigation

  /// A popover that points at a widget. A click beside the popover closes it, and so does Escape.
  public final class PopoverScreen: WidgetScreen {
    private let anchor: Widget
    private var popover: UnsafeMutablePointer<GtkPopover>?

    /// Creates the screen of a popover.
    /// - Parameters:
    ///   - anchor: the widget at which the popover points, which must be in a window while the popover is shown.
    ///   - content: makes the content.
    ///   - prepare: asked before the popover is closed, for one that may have to stay. After a click beside it, the popover appears
    ///     again if it stays.
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

#if canImport(CGTK)
  import CGTK
  import Navigation

  /// A popover that points at a widget. A click beside the popover closes it, and so does Escape.
  ///
  ///     showing.present(isPresented: $model.isHinted) {
  ///       PopoverScreen(on: button) { showing in showing.label { "A hint" } }
  ///     }
  public final class PopoverScreen: WidgetScreen {
    /// The error of a popover whose widget is in no window.
    ///
    ///     showing.present(isPresented: $model.isHinted) {
    ///       PopoverScreen(on: button) { showing in showing.label { "A hint" } }
    ///     }.onDismiss { end in
    ///       if end.error is PopoverScreen.NoWindow { print("the button is in no window") }
    ///     }
    public struct NoWindow: Error, CustomStringConvertible {
      let binding: String
      public var description: String {
        "\(binding) is a popover, but the widget at which it points is in no window"
      }
    }

    /// The widget at which the popover points, which is its parent, and so must not be released before it.
    private let anchor: WidgetOwner
    private var popover: UnsafeMutablePointer<GtkPopover>?

    /// Creates the screen of a popover.
    ///
    ///     PopoverScreen(on: button) { showing in showing.label { "A hint" } }
    ///
    /// - Parameters:
    ///   - anchor: the widget at which the popover points, which must be in a window while the popover is shown.
    ///   - content: makes the content.
    ///   - prepare: asked before the popover is closed, for one that may have to stay. After a click beside it, the popover appears
    ///     again if it stays.
    public init(on anchor: Widget, content: @escaping Content, prepare: Preparation? = nil) {
      self.anchor = WidgetOwner(anchor)
      super.init(content, prepare: prepare)
    }

    override func open(_ content: () -> Widget, _ showing: Showing) throws {
      guard isAnchored else { throw NoWindow(binding: showing.binding) }
      let widget = gtk_popover_new()!
      let popover = widget.withMemoryRebound(to: GtkPopover.self, capacity: 1) { $0 }
      self.popover = popover
      gtk_widget_set_parent(widget, anchor.widget)
      gtk_popover_set_child(popover, content())
      // The content may remove the widget at which the popover points.
      guard isAnchored else { throw NoWindow(binding: showing.binding) }
      signals.connect(popover, "closed", of: self) { screen, _ in
        screen.userHasClosed()
        return false
      }
      signals.connect(anchor.widget, "notify::root", of: self) { screen, _ in
        // The task runs after a move of the widget to another place, which is not its end.
        Task { [weak screen] in
          if let screen, !screen.isAnchored { screen.isGone() }
        }
        return false
      }
      gtk_popover_popup(popover)
    }

    private var isAnchored: Bool { gtk_widget_get_root(anchor.widget) != nil }

    override func stay() {
      if let popover, isAnchored { gtk_popover_popup(popover) }
    }

    override func close(animated: Bool) {
      guard let popover else { return }
      self.popover = nil
      gtk_popover_popdown(popover)
      popover.withMemoryRebound(to: GtkWidget.self, capacity: 1) { gtk_widget_unparent($0) }
    }
  }
#endif

#if canImport(CGTK)
  import CGTK
  import Navigation

  /// A window. A window presented from another one is a sheet: modal, and transient for the other one.
  ///
  ///     showing.present(item: $model.fact) { fact in
  ///       WindowScreen("Fact") { showing in factEditor(fact, showing) }
  ///     }
  ///
  /// The button of the window dismisses it, and so does Escape in a sheet.
  public final class WindowScreen: WidgetScreen {
    /// The window; nil while it is not shown.
    private(set) var window: UnsafeMutablePointer<GtkWindow>?
    private let title: String
    private let parent: UnsafeMutablePointer<GtkWindow>?

    /// Creates the screen of a window.
    ///
    ///     WindowScreen("Note") { showing in
    ///       gtk_window_set_default_size(showing.window, 400, 300)
    ///       return showing.entry($note.text)
    ///     } prepare: { _ in
    ///       guard note.text.isEmpty else { throw Declined("the note is not saved") }
    ///     }
    ///
    /// - Parameters:
    ///   - title: the title of the window.
    ///   - parent: a window of the program that is not a screen; by default the window of the screen from which this one is presented.
    ///   - content: makes the content of the window; `Showing.window` gives access to the window for more settings.
    ///   - prepare: asked before the window is closed, for a window that may have to stay.
    public init(
      _ title: String, over parent: UnsafeMutablePointer<GtkWindow>? = nil, content: @escaping Content,
      prepare: Preparation? = nil
    ) {
      self.title = title
      self.parent = parent
      super.init(content, prepare: prepare)
    }

    override func open(_ content: () -> Widget, _ showing: Showing) throws {
      let widget = gtk_window_new()!
      let window = widget.withMemoryRebound(to: GtkWindow.self, capacity: 1) { $0 }
      self.window = window
      gtk_window_set_title(window, title)
      if let parent = parent ?? showing.parent?.window {
        gtk_window_set_transient_for(window, parent)
        gtk_window_set_modal(window, 1)
        signals.connect(key: "Escape", in: widget, of: self) { screen in
          screen.userCloses()
          return true
        }
      }
      signals.connect(window, "close-request", of: self) { screen, _ in
        screen.userCloses()
        return true
      }
      signals.connect(window, "destroy", of: self) { screen, _ in
        screen.window = nil
        screen.isGone()
        return false
      }
      // The content may destroy the window, which counts as closed then.
      let child = content()
      if self.window == nil { return }
      gtk_window_set_child(window, child)
      gtk_window_present(window)
    }

    override func close(animated: Bool) {
      if let window { gtk_window_destroy(window) }
      window = nil
    }
  }
#endif

#if canImport(CGTK)
  public import CGTK
  public import Navigation

  extension Showing {
    private var widgetScreen: WidgetScreen? { screen as? WidgetScreen }

    /// The window that contains the screen: its own, or the window of the nearest screen from which it is presented.
    ///
    ///     gtk_window_set_default_size(showing.window, 400, 300)
    public var window: UnsafeMutablePointer<GtkWindow>? {
      (screen as? WindowScreen)?.window ?? parent?.window
    }

    /// The presentation from which this one is presented, if the same navigator shows it.
    var parent: Showing? {
      guard case .string(let from)? = item["from"] else { return nil }
      return presentationSource.navigator.visible.last { $0.binding == from }
    }

    /// Calls the handler whenever an object emits the signal, until the screen ends.
    ///
    ///     let button = gtk_button_new_with_label("Add")!
    ///     showing.connect(button, "clicked") { model.add() }
    public func connect(
      _ object: UnsafeMutableRawPointer, _ signal: String, _ handler: @escaping @MainActor () -> Void
    ) {
      guard let widgetScreen, widgetScreen.showing != nil else { return }
      widgetScreen.signals.connect(object, signal) { _ in
        handler()
        return false
      }
    }
  }
#endif

#if canImport(CGTK)
  import CGTK

  /// A widget, as GTK's functions return it.
  public typealias Widget = UnsafeMutablePointer<GtkWidget>

  /// Keeps a widget alive. GTK retains what is in a window; this is for a widget that is to outlive its place.
  @MainActor
  public final class WidgetOwner {
    /// The widget.
    public let widget: Widget

    /// Retains a widget; a new one, which nobody retains yet, is owned by this alone.
    public init(_ widget: Widget) {
      g_object_ref_sink(widget)
      self.widget = widget
    }

    isolated deinit { g_object_unref(widget) }
  }
#endif

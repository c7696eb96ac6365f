#if canImport(CGTK)
  import CGTK

  /// A widget, as GTK's functions return it.
  ///
  ///     let button: Widget = gtk_button_new_with_label("Add")
  public typealias Widget = UnsafeMutablePointer<GtkWidget>

  /// Keeps a widget alive outside of a window. GTK retains only widgets in a window.
  ///
  ///     let owner = WidgetOwner(gtk_label_new("A label that is in no window yet"))
  ///     gtk_widget_set_margin_top(owner.widget, 12)
  @MainActor
  public final class WidgetOwner {
    /// The widget.
    public let widget: Widget

    /// Retains a widget. A new widget without another owner is then owned by this object alone.
    public init(_ widget: Widget) {
      g_object_ref_sink(widget)
      self.widget = widget
    }

    isolated deinit { g_object_unref(widget) }
  }
#endif

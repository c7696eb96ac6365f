#if canImport(CGTK)
  import CGTK

  /// A widget that shows one page at a time, without a bar: the page of the selected tag.
  ///
  ///     let area = PageArea()
  ///     showing.present(tag: .help, selection: $model.panel) {
  ///       PageScreen("Help", in: area) { showing in showing.label { "Help" } }
  ///     }
  ///     let content: Widget = area.widget
  @MainActor
  public final class PageArea {
    /// The widget, to be put in a window. It retains the area.
    public var widget: Widget { place.widget }
    let place: any PagePlace

    /// Creates an empty area.
    ///
    ///     let area = PageArea()
    ///     let content = Widget.column(showing.label { model.text }, area.widget)
    public init() {
      place = StackPages()
      place.widget.retain(self)
    }
  }
#endif

#if canImport(CGTK)
  import CGTK
  public import Navigation

  /// A widget that shows one page at a time, without a bar: the page of the selected tag.
  ///
  ///     let area = PageArea()
  ///     showing.destination(tag: .help, selection: $model.panel) { PageScreen("Help", in: area) { … } }
  @MainActor
  public final class PageArea {
    /// The widget, to be put in a window. It retains the area.
    public var widget: Widget { place.widget }
    let place: any PagePlace

    /// Creates an empty area.
    public init() {
      place = StackPages()
      place.widget.retain(self)
    }
  }

  extension Presenting {
    /// Shows a screen while a selection equals a tag. Of all tags of one selection, at most one is shown: the next screen appears
    /// when the former has disappeared. The screen may be a page of a ``PageArea``, a window, or a popover.
    @discardableResult
    public func destination<Tag: Hashable & Codable>(
      tag: Tag, selection: Binding<Tag?>,
      options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil,
      content: @escaping @MainActor () -> any Screen
    ) -> Presence {
      present(tag: tag, selection: selection, options: options, onDismiss: onDismiss, content: content)
    }
  }
#endif

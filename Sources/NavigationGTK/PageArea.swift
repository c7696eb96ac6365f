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
      place = AreaPages()
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

  /// Pages in a GtkStack without decoration.
  private final class AreaPages: PagePlace {
    let widget: Widget = gtk_stack_new()
    private var pages: [(page: PageScreen, content: Widget)] = []
    private var stack: OpaquePointer { OpaquePointer(widget) }

    func add(_ page: PageScreen, _ content: Widget, animated: Bool) {
      pages.append((page, content))
      gtk_stack_add_child(stack, content)
      show(animated: animated)
    }

    func remove(_ page: PageScreen, animated: Bool) {
      guard let index = pages.firstIndex(where: { $0.page === page }) else { return }
      let content = pages.remove(at: index).content
      show(animated: animated)
      gtk_stack_remove(stack, content)
    }

    private func show(animated: Bool) {
      gtk_stack_set_transition_type(
        stack, animated ? GTK_STACK_TRANSITION_TYPE_CROSSFADE : GTK_STACK_TRANSITION_TYPE_NONE)
      if let last = pages.last { gtk_stack_set_visible_child(stack, last.content) }
    }
  }
#endif

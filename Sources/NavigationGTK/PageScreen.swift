#if canImport(CGTK)
  import CGTK
  import Navigation

  /// A page of a ``PageStack``, or of a ``PageArea``.
  ///
  ///     stack.navigationDestination(for: Note.ID.self) { id in
  ///       PageScreen("Note") { showing in showing.label { "Note \(id)" } }
  ///     }
  public final class PageScreen: WidgetScreen {
    /// The error of a page without a place.
    ///
    ///     showing.present(item: $model.note) { note in page(note) }.onDismiss { end in
    ///       if end.error is PageScreen.NoPlace { print("a page needs a stack or an area") }
    ///     }
    public struct NoPlace: Error, CustomStringConvertible {
      let binding: String
      /// Whether the program has destroyed the widget of the page's place.
      let isDestroyed: Bool
      public var description: String {
        isDestroyed
          ? "\(binding) is a page, but the widget of its stack or PageArea was destroyed"
          : "\(binding) is a page, but neither in a stack of navigationStack(path:) nor in a PageArea"
      }
    }

    let title: String
    private let area: PageArea?
    /// The place that shows the page; nil while none does.
    private weak var place: (any PagePlace)?

    /// Creates the screen of a page.
    ///
    ///     PageScreen("Note") { showing in
    ///       showing.entry($note.text)
    ///     } prepare: { _ in
    ///       guard note.text.isEmpty else { throw Declined("the note is not saved") }
    ///     }
    ///
    /// - Parameters:
    ///   - title: the title, which a stack shows above the page.
    ///   - area: the area that contains the page; nil for the stack on which it is pushed.
    ///   - content: makes the content.
    ///   - prepare: asked before the page is closed, for a page that may have to stay.
    public init(
      _ title: String, in area: PageArea? = nil, content: @escaping Content, prepare: Preparation? = nil
    ) {
      self.title = title
      self.area = area
      super.init(content, prepare: prepare)
    }

    override func open(_ content: () -> Widget, _ showing: Showing) throws {
      let found = area?.place ?? PageStack.containing(showing)?.place
      let noPlace = NoPlace(binding: showing.binding, isDestroyed: found != nil)
      guard let place = found, !place.isGone else { throw noPlace }
      let content = content()
      // The content may destroy the place.
      if place.isGone { throw noPlace }
      self.place = place
      place.add(self, content, animated: showing.item["animated"] != .boolean(false))
    }

    override func close(animated: Bool) {
      place?.remove(self, animated: animated)
      place = nil
    }
  }

  /// A place that shows the last of its pages, and the pages below when the last is removed.
  @MainActor
  protocol PagePlace: AnyObject {
    /// The widget that shows the pages.
    var widget: Widget { get }
    /// Whether the widget was destroyed, and the pages with it.
    var isGone: Bool { get }
    func add(_ page: PageScreen, _ content: Widget, animated: Bool)
    /// Removes a page. Has no effect if the user has removed it already.
    func remove(_ page: PageScreen, animated: Bool)
    /// Removes all pages, because the widget is destroyed, and returns them.
    func end() -> [PageScreen]
  }

  extension PagePlace {
    /// Ends the pages when the program destroys the widget that contains them.
    func watchEnd(_ signals: Signals) {
      signals.connect(widget, "destroy", of: self) { place, _ in
        for page in place.end() { page.isGone() }
        return false
      }
    }
  }
#endif

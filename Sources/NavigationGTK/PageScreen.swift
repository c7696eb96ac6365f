#if canImport(CGTK)
  import CGTK
  import Navigation

  /// A page of a ``PageStack``, or of a ``PageArea``.
  public final class PageScreen: WidgetScreen {
    /// There is no place for a page.
    public struct NoPlace: Error, CustomStringConvertible {
      let binding: String
      public var description: String {
        "\(binding) is a page, but neither in a stack of navigationStack(path:) nor in a PageArea"
      }
    }

    let title: String
    private let area: PageArea?
    /// Where it is shown; nil while it is not.
    private weak var place: (any PagePlace)?

    /// Creates the screen of a page.
    /// - Parameters:
    ///   - title: the title, which a stack shows above it.
    ///   - area: the area that it is in; nil for the stack on which it is pushed.
    ///   - content: makes the content.
    ///   - prepare: asked before it is closed, for one that may have to stay.
    public init(
      _ title: String, in area: PageArea? = nil, content: @escaping Content, prepare: Preparation? = nil
    ) {
      self.title = title
      self.area = area
      super.init(content, prepare: prepare)
    }

    override func open(_ content: () -> Widget, _ showing: Showing) throws {
      guard let place = area?.place ?? PageStack.containing(showing)?.place else {
        throw NoPlace(binding: showing.binding)
      }
      self.place = place
      place.add(self, content(), animated: showing.item["animated"] != .boolean(false))
    }

    override func close(animated: Bool) {
      place?.remove(self, animated: animated)
      place = nil
    }
  }

  /// Something that shows pages: the last one, and those below it when that is removed.
  @MainActor
  protocol PagePlace: AnyObject {
    /// The widget that shows them.
    var widget: Widget { get }
    func add(_ page: PageScreen, _ content: Widget, animated: Bool)
    /// Has no effect if its user has removed it already.
    func remove(_ page: PageScreen, animated: Bool)
  }
#endif

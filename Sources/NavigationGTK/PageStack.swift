#if canImport(CGTK)
  import CGTK
  public import Navigation

  /// A widget that shows the pages of a path, the last one on top, with a button to go back. It is an AdwNavigationView where the
  /// program uses libadwaita 1.4 or later, and otherwise a GtkStack below a bar. The button, Escape, Alt+Left and the gesture of
  /// AdwNavigationView go back: the path becomes shorter.
  ///
  ///     let stack = showing.navigationStack(path: $model.path, title: "Notes", root: list)
  ///     stack.navigationDestination(for: Note.ID.self) { id in
  ///       Binding($model.notes[id: id]).map { note in page(note) }
  ///     }
  ///     let content = stack.widget
  @MainActor
  public final class PageStack: Presenting {
    /// The widget, to be put in a window. It retains the stack.
    public var widget: Widget { place.widget }
    let place: any PagePlace
    private let stack: ScreenStack

    init(_ stack: ScreenStack, _ title: String, _ root: Widget) {
      self.stack = stack
      place = AdwaitaPages(root, title) ?? StackPages(root, title)
      let source = stack.presentationSource
      Self.all.removeAll { $0.stack == nil }
      Self.all.append(Known(name: source.stack, navigator: ObjectIdentifier(source.navigator), stack: self))
      place.widget.retain(self)
    }

    // MARK: Presenting

    public var presentationSource: PresentationSource { stack.presentationSource }

    public func keep(_ presence: Presence) { stack.keep(presence) }

    // MARK: Lookup

    private struct Known {
      let name: String?
      let navigator: ObjectIdentifier
      weak var stack: PageStack?
    }

    private static var all: [Known] = []

    /// The stack on which a screen is pushed.
    static func containing(_ showing: Showing) -> PageStack? {
      let source = showing.presentationSource
      return all.last {
        $0.stack != nil && $0.name == source.stack && $0.navigator == ObjectIdentifier(source.navigator)
      }?.stack
    }
  }

  extension Presenting {
    /// Creates the widget of a stack whose path is an array. The stack's
    /// ``Navigation/Presenting/navigationDestination(for:file:line:content:)`` makes the pages of its values.
    ///
    ///     let stack = showing.navigationStack(path: $model.path, title: "Notes", root: list)
    ///
    /// - Parameters:
    ///   - path: the path.
    ///   - title: the title of the root.
    ///   - root: the widget below all pages.
    public func navigationStack<Element: Hashable & Codable>(
      path: Binding<[Element]>, title: String = "", root: Widget
    ) -> PageStack {
      PageStack(stack(path: path), title, root)
    }

    /// Creates the widget of a stack whose path has values of several types.
    ///
    ///     let stack = showing.navigationStack(path: $model.mixedPath, title: "Notes", root: list)
    public func navigationStack(
      path: Binding<NavigationPath>, title: String = "", root: Widget
    ) -> PageStack {
      PageStack(stack(path: path), title, root)
    }

    /// Says what the elements of a path lack.
    @available(
      *, unavailable,
      message:
        "the elements of a path are ids on the bus, and have to be Hashable and Codable: make them so, or take their ids"
    )
    public func navigationStack<Element>(path: Binding<[Element]>, title: String = "", root: Widget) -> PageStack {
      fatalError()
    }
  }

  extension Widget {
    /// Retains a Swift object as long as the widget exists.
    func retain(_ object: AnyObject) {
      withMemoryRebound(to: GObject.self, capacity: 1) {
        g_object_set_data_full($0, "navigation-owner", Unmanaged.passRetained(object).toOpaque()) { data in
          if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
        }
      }
    }
  }
#endif

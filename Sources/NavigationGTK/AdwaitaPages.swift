#if canImport(CGTK)
  import CGTK

  /// Pages in an AdwNavigationView (libadwaita 1.4).
  final class AdwaitaPages: PagePlace {
    /// The libadwaita functions that are used here.
    private struct Functions {
      let newView: @convention(c) () -> Widget?
      let newPage: @convention(c) (_ content: Widget, _ title: UnsafePointer<CChar>) -> Widget?
      let push: @convention(c) (_ view: Widget, _ page: Widget) -> Void
      let pop: @convention(c) (_ view: Widget) -> gboolean
      let setAnimated: @convention(c) (_ view: Widget, _ isAnimated: gboolean) -> Void
      let setCanPop: @convention(c) (_ page: Widget, _ canPop: gboolean) -> Void
      let newToolbarView: @convention(c) () -> Widget?
      let setContent: @convention(c) (_ toolbarView: Widget, _ content: Widget) -> Void
      let addTopBar: @convention(c) (_ toolbarView: Widget, _ bar: Widget) -> Void
      let newHeaderBar: @convention(c) () -> Widget?
      let setShowsStartButtons: @convention(c) (_ bar: Widget, _ shows: gboolean) -> Void
      let setShowsEndButtons: @convention(c) (_ bar: Widget, _ shows: gboolean) -> Void
      let packStart: @convention(c) (_ bar: Widget, _ child: Widget) -> Void

      @MainActor
      init?() {
        guard Adwaita.isUsed, let newView = Adwaita.symbol("adw_navigation_view_new") as (@convention(c) () -> Widget?)?
        else { return nil }
        // All functions came in the release that has the first one, so none is missing.
        func function<Function>(_ name: String) -> Function { Adwaita.symbol(name)! }
        self.newView = newView
        newPage = function("adw_navigation_page_new")
        push = function("adw_navigation_view_push")
        pop = function("adw_navigation_view_pop")
        setAnimated = function("adw_navigation_view_set_animate_transitions")
        setCanPop = function("adw_navigation_page_set_can_pop")
        newToolbarView = function("adw_toolbar_view_new")
        setContent = function("adw_toolbar_view_set_content")
        addTopBar = function("adw_toolbar_view_add_top_bar")
        newHeaderBar = function("adw_header_bar_new")
        setShowsStartButtons = function("adw_header_bar_set_show_start_title_buttons")
        setShowsEndButtons = function("adw_header_bar_set_show_end_title_buttons")
        packStart = function("adw_header_bar_pack_start")
      }
    }

    let widget: Widget
    private let adwaita: Functions
    private let signals = Signals()
    private var pages: [(page: PageScreen, widget: Widget)] = []
    private(set) var isGone = false

    /// - Returns: nil if the program does not use libadwaita, or uses an earlier release.
    init?(_ root: Widget, _ title: String) {
      guard let adwaita = Functions() else { return nil }
      self.adwaita = adwaita
      widget = adwaita.newView()!
      adwaita.push(widget, page(root, title, back: nil))
      // The only pages still known here are those that the user has removed.
      signals.connect(widget, "popped", of: self) { place, arguments in
        let popped = arguments[object: 1]
        guard let index = place.pages.firstIndex(where: { UnsafeMutableRawPointer($0.widget) == popped }) else {
          return false
        }
        place.pages.remove(at: index).page.userHasClosed()
        return true
      }
      watchEnd(signals)
      for key in ["Escape", "<Alt>Left"] {
        // AdwNavigationView handles these keys for pages that may be removed without a question.
        signals.connect(key: key, in: widget, of: self) { place in
          guard let page = place.pages.last?.page, page.mayDecline else { return false }
          page.userCloses()
          return true
        }
      }
    }

    func add(_ page: PageScreen, _ content: Widget, animated: Bool) {
      var back: Widget?
      if page.mayDecline {
        let button = gtk_button_new_from_icon_name("go-previous-symbolic")!
        gtk_widget_set_tooltip_text(button, "Back")
        gtk_widget_add_css_class(button, "back")
        page.signals.connect(button, "clicked", of: page) { page, _ in
          page.userCloses()
          return true
        }
        back = button
      }
      let added = self.page(content, page.title, back: back)
      // AdwNavigationView does not ask before it removes a page.
      if page.mayDecline { adwaita.setCanPop(added, 0) }
      pages.append((page, added))
      adwaita.setAnimated(widget, animated ? 1 : 0)
      adwaita.push(widget, added)
    }

    func end() -> [PageScreen] {
      isGone = true
      defer { pages = [] }
      return pages.map(\.page)
    }

    func remove(_ page: PageScreen, animated: Bool) {
      // Pages above it have been removed before.
      guard pages.last?.page === page else { return }
      pages.removeLast()
      adwaita.setAnimated(widget, animated ? 1 : 0)
      _ = adwaita.pop(widget)
    }

    private func page(_ content: Widget, _ title: String, back: Widget?) -> Widget {
      let view = adwaita.newToolbarView()!
      let bar = adwaita.newHeaderBar()!
      // The window has its own buttons.
      adwaita.setShowsStartButtons(bar, 0)
      adwaita.setShowsEndButtons(bar, 0)
      if let back { adwaita.packStart(bar, back) }
      adwaita.addTopBar(view, bar)
      adwaita.setContent(view, content)
      return adwaita.newPage(view, title)!
    }
  }
#endif

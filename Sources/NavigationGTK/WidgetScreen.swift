#if canImport(CGTK)
  import CGTK
  public import DBusValues
  public import Navigation

  /// A screen whose content is a widget: a window, a popover, or a page. The content is made when the screen is shown, and released
  /// when it has ended, with all its signal handlers and observations.
  ///
  ///     let screens: [WidgetScreen] = [mainWindow(model), page($note)]
  @MainActor
  public class WidgetScreen: DecliningScreen {
    /// Makes the content of a screen.
    ///
    ///     let content: WidgetScreen.Content = { showing in showing.label { model.text } }
    public typealias Content = @MainActor (_ showing: Showing) -> Widget
    /// Prepares a screen to disappear, or throws an error to stay (`DecliningScreen`).
    ///
    ///     let prepare: WidgetScreen.Preparation = { _ in if hasChanges { throw Declined("the text is not saved") } }
    public typealias Preparation = @MainActor (_ showing: Showing) async throws -> Void

    /// The error of a screen that the program presents again while it is shown.
    ///
    ///     let window = mainWindow(model)
    ///     navigator.present(isPresented: $model.isOpen) { window }.onDismiss { end in
    ///       if end.error is WidgetScreen.AlreadyShown { print("make another window for each presentation") }
    ///     }
    public struct AlreadyShown: Error, CustomStringConvertible {
      let binding: String
      public var description: String {
        "the screen of \(binding) is shown already; each presentation needs a screen of its own"
      }
    }

    let signals = Signals()
    private let content: Content
    private let preparation: Preparation?
    private var widget: WidgetOwner?
    /// The presentation; nil before the screen has appeared and after it has ended.
    private(set) weak var showing: Showing?

    init(_ content: @escaping Content, prepare preparation: Preparation?) {
      self.content = content
      self.preparation = preparation
    }

    /// Whether the screen may decline to disappear.
    var mayDecline: Bool { preparation != nil }

    // MARK: Appearance

    /// Shows the screen, with the widget that `content` makes.
    func open(_ content: () -> Widget, _ showing: Showing) throws {}
    /// Removes the screen, if it is still there.
    func close(animated: Bool) {}
    /// Keeps the screen, which has declined to disappear after its user had closed it.
    func stay() {}

    // MARK: Reports of the user

    /// Handles the user's wish to close the screen, by its button or a key.
    final func userCloses() {
      guard let showing else { return }
      Task { try? await showing.dismiss() }
    }

    /// Handles a screen that GTK let the user close without a question. A screen that declines
    /// appears again.
    final func userHasClosed() {
      if mayDecline { userCloses() } else { isGone() }
    }

    /// Handles the end of the widget that shows the screen, which the program has destroyed, so that the screen cannot stay.
    final func isGone() {
      guard let showing else { return }
      end(animated: false)
      Task { try? await showing.reportClosed() }
    }

    // MARK: Screen

    public final func appear(_ showing: Showing) async throws {
      if self.showing != nil { throw AlreadyShown(binding: showing.binding) }
      self.showing = showing
      do {
        try open(
          {
            let owner = WidgetOwner(content(showing))
            widget = owner
            return owner.widget
          }, showing)
      } catch {
        end(animated: false)
        throw error
      }
    }

    public final func prepareToDisappear(_ showing: Showing) async throws {
      do { try await preparation?(showing) } catch {
        stay()
        throw error
      }
    }

    /// Asks as before the end: a text that is not saved would be lost, too.
    public final func prepareToChange(_ showing: Showing, to value: Properties) async throws {
      try await preparation?(showing)
    }

    public final func disappear(_ showing: Showing, animated: Bool) async -> Properties {
      end(animated: animated)
      return [:]
    }

    private func end(animated: Bool) {
      showing?.endWork()
      showing = nil
      signals.disconnect()
      close(animated: animated)
      widget = nil
    }
  }
#endif

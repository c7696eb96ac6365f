#if canImport(CGTK)
  public import CGTK
  public import DBusValues
  public import Navigation

  /// A dialog with buttons: an AdwAlertDialog (libadwaita 1.5), else a GtkMessageDialog.
  ///
  ///     showing.present(dialog: $model.dialog) { action, _ in
  ///       model.answers.append("\(action)")
  ///     } content: { dialog in
  ///       AlertScreen(dialog)
  ///     }
  public final class AlertScreen<Action: Hashable & Codable & Sendable>: Screen {
    private let dialog: Binding<Dialog<Action>>
    private let window: UnsafeMutablePointer<GtkWindow>?
    private var alert: (any Alert)?
    /// The dialog of the open alert.
    private var shown: Dialog<Action>?
    private var observing: Observing?
    /// Called after the user has answered, which the program knows before.
    private var onAnswer: (@MainActor (Dialog<Action>.Button?) -> Void)?

    /// Creates the screen of a dialog. If the dialog is edited while it is shown, another alert takes the place of the open one.
    ///
    ///     showing.present(dialog: $model.dialog) { action, _ in
    ///       print(action)
    ///     } content: { dialog in
    ///       AlertScreen(dialog, over: showing.window)
    ///     }
    ///
    /// - Parameters:
    ///   - dialog: the dialog.
    ///   - window: the window below the dialog; by default the window of the screen from which it is presented.
    public init(_ dialog: Binding<Dialog<Action>>, over window: UnsafeMutablePointer<GtkWindow>? = nil) {
      self.dialog = dialog
      self.window = window
    }

    convenience init(
      _ dialog: Binding<Dialog<Action>>, over window: UnsafeMutablePointer<GtkWindow>?,
      onAnswer: @escaping @MainActor (Dialog<Action>.Button?) -> Void
    ) {
      self.init(dialog, over: window)
      self.onAnswer = onAnswer
    }

    public func appear(_ showing: Showing) async throws {
      if observing != nil { throw WidgetScreen.AlreadyShown(binding: showing.binding) }
      observing = observe { [weak self, weak showing] in
        MainActor.assumeIsolated { if let showing { self?.open(showing) } }
      }
    }

    /// Opens an alert of the dialog, if the open one differs.
    private func open(_ showing: Showing) {
      let dialog = dialog.wrappedValue
      guard dialog != shown else { return }
      shown = dialog
      alert?.close()
      alert = dialog.alert(over: window ?? showing.window) { [weak self, onAnswer] button, text in
        self?.close()
        Task {
          await showing.answer(button, text, isSecret: dialog.textField?.isSecret ?? false)
          onAnswer?(button)
        }
      }
    }

    public func disappear(_ showing: Showing, animated: Bool) async -> Properties {
      close()
      return [:]
    }

    private func close() {
      observing?.cancel()
      observing = nil
      alert?.close()
      alert = nil
    }
  }

  extension Showing {
    fileprivate func answer<Action>(_ button: Dialog<Action>.Button?, _ text: String, isSecret: Bool) async {
      do {
        if let button { try await choose(button, text: text, isSecret: isSecret) } else { try await dismiss() }
      } catch {
        // The dialog is gone even if no coordinator can be reached.
        try? await dismiss()
      }
    }
  }

  extension Presenting {
    /// Presents a dialog while the binding is not nil.
    ///
    ///     showing.present(dialog: $model.dialog) { action, text in model.answers.append("\(action) \(text)") }
    ///
    /// - Parameters:
    ///   - dialog: the dialog.
    ///   - onDismiss: called after the dialog has ended, even if no button was pressed.
    ///   - onAction: called before the dialog ends, when a button with an action was pressed, with the text of the field.
    @discardableResult
    public func present<Action>(
      dialog: Binding<Dialog<Action>?>, onDismiss: (@MainActor () -> Void)? = nil,
      onAction: @escaping @MainActor (_ action: Action, _ text: String) -> Void
    ) -> Presence {
      present(dialog: dialog, onDismiss: onDismiss, onAction: onAction) {
        [weak parent = presentationSource.parent] dialog in
        // The question of a screen that is being dismissed has no parent on the bus.
        AlertScreen(dialog, over: parent?.window)
      }
    }
  }

  extension Dialog {
    /// Opens an alert of the dialog.
    /// - Parameter answer: called with the pressed button, or nil, and with the text of the field.
    @MainActor
    func alert(
      over window: UnsafeMutablePointer<GtkWindow>?,
      _ answer: @escaping @MainActor (Button?, String) -> Void
    ) -> any Alert {
      let texts = AlertTexts(
        title: title, message: message, prompt: textField?.prompt, text: textField?.text,
        isSecret: textField?.isSecret ?? false,
        buttons: buttons.map {
          AlertTexts.Button(title: $0.title, isDestructive: $0.role == .destructive)
        },
        cancel: buttons.firstIndex { $0.role == .cancel })
      let alert = texts.alert()
      alert.open(over: window) { [buttons] index, text in
        // Escape counts as the button that changes nothing, and so does an answer of the program that is no button.
        let index = index.flatMap { buttons.indices.contains($0) ? $0 : nil } ?? texts.cancel
        answer(index.map { buttons[$0] }, text)
      }
      return alert
    }
  }

  /// The content of an alert, without the type of its actions.
  struct AlertTexts {
    struct Button {
      let title: String
      let isDestructive: Bool
    }

    let title: String
    let message: String
    /// The prompt; nil without a text field.
    let prompt: String?
    let text: String?
    /// Whether the text is hidden.
    let isSecret: Bool
    let buttons: [Button]
    /// The index of the button that changes nothing.
    let cancel: Int?

    @MainActor
    func alert() -> any Alert { AdwaitaAlert(self) ?? MessageAlert(self) as any Alert }
  }

  /// A toolkit's dialog.
  @MainActor
  protocol Alert: AnyObject {
    /// Calls the function once, when the user has closed the dialog, with the index of the button, or nil, and the text of the field.
    func open(over parent: UnsafeMutablePointer<GtkWindow>?, _ answer: @escaping @MainActor (Int?, String) -> Void)
    /// Removes the dialog without an answer.
    func close()
  }
#endif

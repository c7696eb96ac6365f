import DBusValues

/// A question with buttons, and perhaps a text field. It is a value that any destination of the session and any screen can show.
///
///     model.dialog = Dialog("Discard the note?", message: "This cannot be undone.") {
///       Dialog.Button("Discard", role: .destructive, action: .discard)
///       Dialog.Button("Cancel", role: .cancel)
///     }
///     // The same dialog, edited: it keeps its identity.
///     let id = model.dialog?.id
///     model.dialog?.title += " Really?"
///     model.dialog?.buttons.append(Dialog.Button("Keep", action: .keep))
///
/// The presenter reports the pressed button as an action, with the text of the field as the
/// parameter `text`, and then ends the dialog (P8).
public struct Dialog<Action: Hashable & Codable & Sendable>: Hashable, Identifiable, Sendable {
  /// The purpose of a button, in addition to its title.
  ///
  ///     Dialog<Answer>.Button("Keep", role: .cancel)
  public enum Role: String, Hashable, Sendable {
    /// The button changes nothing.
    case cancel
    /// The button destroys something.
    case destructive
  }

  /// A button.
  ///
  ///     Dialog<Answer>.Button("Discard", role: .destructive, action: .discard)
  public struct Button: Hashable, Sendable {
    /// The title.
    ///
    ///     let titles = model.dialog?.buttons.map(\.title)
    public var title: String
    /// The purpose; nil for no special one.
    public var role: Role?
    /// The action; nil if the button only closes the dialog.
    public var action: Action?

    /// Creates a button.
    ///
    ///     Dialog<Answer>.Button("Discard", role: .destructive, action: .discard)
    public init(_ title: String, role: Role? = nil, action: Action? = nil) {
      self.title = title
      self.role = role
      self.action = action
    }

    /// The name of the action on the bus; nil if the button only closes the dialog. A string is its own name; anything else is JSON,
    /// or its description in Swift if it cannot be encoded.
    ///
    ///     let names = model.dialog?.buttons.compactMap(\.actionName)      // ["discard"]
    public var actionName: String? { actionName { _ in } }

    fileprivate func actionName(unencodable report: (Action) -> Void) -> String? {
      action.map { action in Coding.id(of: action) { report(action) } }
    }
  }

  /// The way in which a dialog asks, for its presenter.
  ///
  ///     model.dialog = Dialog("What next?", style: .confirmation) { Dialog.Button("Keep", action: .keep) }
  ///     let isAlert = model.dialog?.style == .alert
  public enum Style: String, Hashable, Sendable {
    /// A message or a question, which its user must answer first.
    case alert = "dialog"
    /// A choice of what to do next, which its user may leave.
    case confirmation
  }

  /// A field for one line of text.
  ///
  ///     model.dialog = Dialog("Unlock", textField: .init("Password", isSecret: true)) { Dialog.Button("Unlock", action: .keep) }
  public struct TextField: Hashable, Sendable {
    /// The text shown while the field is empty.
    ///
    ///     model.dialog?.textField?.prompt = "The new name"
    public var prompt: String
    /// The initial text.
    ///
    ///     model.dialog?.textField?.text = model.text
    public var text: String
    /// Whether the text is hidden on the screen, and told to the program alone, as a password is. A destination of the session tells the
    /// text to all who watch, so a screen of the program has to show the dialog.
    public var isSecret: Bool

    /// Creates a text field.
    ///
    ///     Dialog<Answer>.TextField("Name", text: model.text)
    public init(_ prompt: String = "", text: String = "", isSecret: Bool = false) {
      self.prompt = prompt
      self.text = text
      self.isSecret = isSecret
    }
  }

  /// The question.
  public var title: String
  /// Further text; may be empty.
  public var message: String
  /// A field for an answer; nil for none.
  ///
  ///     model.dialog?.textField = .init("Name", text: model.text)
  public var textField: TextField?
  /// The buttons in their order.
  public var buttons: [Button]
  /// The style, which is that of the presentation.
  ///
  ///     model.dialog?.style = .confirmation
  public var style: Style
  /// The identity: each dialog that is created is another one, even with the same texts, and equal to no other. The former one disappears
  /// before it appears. An edited dialog keeps its identity.
  public let id: String

  /// Creates a dialog.
  ///
  ///     model.dialog = Dialog("Rename", textField: .init("Name", text: model.text)) {
  ///       Dialog.Button("Rename", action: .keep)
  ///       Dialog.Button("Cancel", role: .cancel)
  ///     }
  ///
  /// - Parameters:
  ///   - title: the question.
  ///   - message: further text; empty for none.
  ///   - textField: a field for an answer; nil for none.
  ///   - style: the style.
  ///   - buttons: the buttons in their order.
  public init(
    _ title: String, message: String = "", textField: TextField? = nil, style: Style = .alert,
    @DialogButtons<Action> buttons: () -> [Button]
  ) {
    self.title = title
    self.message = message
    self.textField = textField
    self.style = style
    self.buttons = buttons()
    // Another program may present at the same binding.
    id = String(UInt64.random(in: 0 ... .max), radix: 36)
  }

  private init<Other>(_ dialog: Dialog<Other>, _ buttons: [Button]) {
    (title, message, id) = (dialog.title, dialog.message, dialog.id)
    textField = dialog.textField.map { TextField($0.prompt, text: $0.text, isSecret: $0.isSecret) }
    style = Style(rawValue: dialog.style.rawValue) ?? .alert
    self.buttons = buttons
  }

  /// Returns the dialog with other actions, such as those of the model that presents it:
  ///
  ///     dialog = itemModel.deletion.map { .item($0) }
  public func map<New>(_ transform: (Action) -> New) -> Dialog<New> {
    Dialog<New>(
      self,
      buttons.map { button in
        .init(
          button.title, role: button.role.flatMap { .init(rawValue: $0.rawValue) }, action: button.action.map(transform)
        )
      })
  }

  /// The dialog as an item's value: `title`, `message`, `buttons` (each with `title`, and with `role` and `action` if set), and
  /// `prompt`, `text` and perhaps `secret` if there is a text field.
  ///
  ///     print(model.dialog?.value["title"] ?? "")
  public var value: Properties { value { _ in } }

  fileprivate func value(unencodable report: (Action) -> Void) -> Properties {
    var value: Properties = ["title": .string(title), "message": .string(message)]
    value["buttons"] =
      [Properties](
        buttons.map { button in
          var properties: Properties = ["title": .string(button.title)]
          if let role = button.role { properties["role"] = .string(role.rawValue) }
          if let action = button.actionName(unencodable: report) { properties["action"] = .string(action) }
          return properties
        }
      ).value
    if let textField {
      value["prompt"] = .string(textField.prompt)
      value["text"] = .string(textField.text)
      if textField.isSecret { value["secret"] = true }
    }
    return value
  }
}

/// Builds the buttons of a ``Dialog``.
///
///     model.dialog = Dialog("Leave?") {
///       if model.count > 0 { Dialog.Button("Discard", role: .destructive, action: .discard) }
///       if model.isOpen { Dialog.Button("Cancel", role: .cancel) } else { Dialog.Button("Close") }
///       for answer in [Answer.keep] { Dialog.Button("\(answer)", action: answer) }
///     }
@resultBuilder
public enum DialogButtons<Action: Hashable & Codable & Sendable> {
  /// One button.
  public static func buildExpression(_ button: Dialog<Action>.Button) -> [Dialog<Action>.Button] { [button] }
  /// All buttons.
  public static func buildBlock(_ buttons: [Dialog<Action>.Button]...) -> [Dialog<Action>.Button] {
    buttons.flatMap { $0 }
  }
  /// Buttons of an `if`.
  public static func buildOptional(_ buttons: [Dialog<Action>.Button]?) -> [Dialog<Action>.Button] { buttons ?? [] }
  /// Buttons of an `if`.
  public static func buildEither(first buttons: [Dialog<Action>.Button]) -> [Dialog<Action>.Button] { buttons }
  /// Buttons of an `else`.
  public static func buildEither(second buttons: [Dialog<Action>.Button]) -> [Dialog<Action>.Button] { buttons }
  /// Buttons of a `for`.
  public static func buildArray(_ buttons: [[Dialog<Action>.Button]]) -> [Dialog<Action>.Button] {
    buttons.flatMap { $0 }
  }
}

extension Presenting {
  /// Presents a dialog with a destination of the session while the binding is not nil.
  ///
  ///     navigator.present(dialog: $model.dialog, to: "dialog") { action, text in model.answers.append("\(action) \(text)") }
  ///
  /// - Parameters:
  ///   - dialog: the dialog.
  ///   - destination: the destination; nil for the one with the binding's name.
  ///   - onDismiss: called after the dialog has ended, even if no button was pressed.
  ///   - onAction: called before the dialog ends, when a button with an action was pressed, with the text of the field.
  @discardableResult
  public func present<Action>(
    dialog: Binding<Dialog<Action>?>, to destination: String?, onDismiss: (@MainActor () -> Void)? = nil,
    onAction: @escaping @MainActor (_ action: Action, _ text: String) -> Void
  ) -> Presence {
    drive(.dialog(dialog, to: destination, onAction: onAction), onDismiss)
  }

  /// Presents a dialog with a screen while the binding is not nil. The screen reports the pressed button with ``Showing/choose(_:text:isSecret:)``.
  ///
  ///     navigator.present(dialog: $model.dialog) { action, text in
  ///       model.answers.append("\(action) \(text)")
  ///     } content: { dialog in
  ///       Window(dialog.wrappedValue.title)
  ///     }
  @discardableResult
  public func present<Action>(
    dialog: Binding<Dialog<Action>?>, onDismiss: (@MainActor () -> Void)? = nil,
    onAction: @escaping @MainActor (_ action: Action, _ text: String) -> Void,
    content: @escaping (Binding<Dialog<Action>>) -> (any Screen)?
  ) -> Presence {
    drive(.dialog(dialog, onAction: onAction, content: content), onDismiss)
  }

  /// Presents a dialog with a screen, as `present(dialog:)` does.
  /// - Parameter onUnshown: called when the coordinator does not show the dialog, because it refuses it or cannot be reached.
  package func present<Action>(
    dialog: Binding<Dialog<Action>?>, onDismiss: (@MainActor () -> Void)? = nil,
    onAction: @escaping @MainActor (_ action: Action, _ text: String) -> Void,
    onUnshown: @escaping @MainActor () -> Void, content: @escaping (Binding<Dialog<Action>>) -> (any Screen)?
  ) -> Presence {
    var driven = DrivenContent.dialog(dialog, onAction: onAction, content: content)
    driven.onUnshown = onUnshown
    return drive(driven, onDismiss)
  }
}

extension DrivenContent {
  fileprivate static func dialog<Action>(
    _ dialog: Binding<Dialog<Action>?>, to destination: String? = nil,
    onAction: @escaping @MainActor (Action, String) -> Void,
    content: ((Binding<Dialog<Action>>) -> (any Screen)?)? = nil
  ) -> DrivenContent {
    let unencodable = OneReport()
    let (route, isSent) = (dialog.route, dialog.isPublished || content == nil)
    return item(
      dialog, id: \.id,
      options: { dialog in
        let value = dialog.value { action in
          unencodable.send(
            "the action \(action) of a dialog at “\(route.description)” cannot be encoded; its description in Swift is used",
            of: route.root)
        }
        return PresentationOptions(value: isSent ? value : nil, style: dialog.style.rawValue, title: dialog.title)
      }, to: destination, content: content
    ) { dialog, name, parameters in
      guard let action = dialog.buttons.first(where: { $0.actionName == name })?.action else { return }
      onAction(action, parameters["text"].flatMap(String.init(value:)) ?? "")
    }
  }
}

extension Showing {
  /// Reports that the user has pressed a button of a ``Dialog``, and dismisses the dialog.
  ///
  /// The program gets the action and the text in any case, once: by the coordinator, which also tells all watchers, or directly if there
  /// is no coordinator now, or if it refuses the action.
  ///
  ///     if let button = model.dialog?.buttons.first { try await showing.choose(button, text: "Milk") }
  ///
  /// - Parameters:
  ///   - button: the button.
  ///   - text: the text of the field.
  ///   - isSecret: whether only the program gets the text (``Dialog/TextField/isSecret``); watchers get the action without it.
  /// - Throws: as ``dismiss(_:animated:force:)``; `cancelled` if the task was cancelled before the action was delivered.
  public func choose<Action>(
    _ button: Dialog<Action>.Button, text: String = "", isSecret: Bool = false
  ) async throws(NavigationError) {
    if let action = button.actionName { try await deliver(action, ["text": .string(text)], isSecret: isSecret) }
    try await dismiss()
  }
}

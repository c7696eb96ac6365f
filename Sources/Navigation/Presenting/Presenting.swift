import DBusValues

/// The parent and the stack for new presentations.
///
///     let source: PresentationSource = showing.presentationSource
public struct PresentationSource {
  package let navigator: Navigator
  /// The binding of the parent; nil if there is none (C1).
  let binding: String?
  /// The stack on which screens are pushed; nil if there is none.
  package let stack: String?
  /// The parent, if this program shows it.
  package weak var parent: Showing?
  /// Whether the parent has ended. A presentation from it then has no effect, like one made before
  /// the end.
  @MainActor package var isOver: Bool { parent?.isOver == true }
}

/// A type that can present: a ``Navigator``, a ``Showing``, a ``ScreenStack``.
///
///     @MainActor func showHelp(from parent: some Presenting) {
///       parent.present(isPresented: $model.isHinted) { Window("Help") }
///     }
///     showHelp(from: navigator)
///     showHelp(from: showing)
///
/// A type that wraps another one can present, too:
///
///     final class Desk: Presenting {
///       private let navigator: Navigator
///       init(_ navigator: Navigator) { self.navigator = navigator }
///
///       var presentationSource: PresentationSource { navigator.presentationSource }
///       func keep(_ presence: Presence) { navigator.keep(presence) }
///     }
@MainActor
public protocol Presenting {
  /// The parent and the stack of presentations from here.
  var presentationSource: PresentationSource { get }
  /// Retains a presence for the lifetime of its parent.
  func keep(_ presence: Presence)
}

/// The end of a presentation.
///
///     navigator.present(isPresented: $model.isOpen) { Window() }.onDismiss { end in
///       if let error = end.error { print(error) } else { print(end.reason) }
///     }
public struct Dismissal: Sendable {
  /// The reason of the end. What the coordinator has refused has failed.
  public let reason: NavigationReason
  /// The error with which a screen of this program ended as `failed`; nil for any other end (D7). If the coordinator has refused the
  /// presentation, a ``NavigationError``, whose ``NavigationError/refusal`` is `busy` if another program shows the binding already.
  /// The result of ``Coordinator/waitUntilGone(_:)`` has the causes of other failures, as `error`.
  public let error: (any Error)?

  /// Whether the presentation has ended only because another one, from which it was presented or above which it was pushed, ends.
  var followsAnother: Bool { reason == .parent || reason == .popped }
}

extension Presenting {
  // MARK: Items

  /// Presents an item while the binding is not nil. If the item's identity changes, the old screen is dismissed before the new one is
  /// presented (P3). When a screen ends for any reason, nil is written to the binding if it still holds that item (P5).
  ///
  /// Other clients get the item's id. They get its value only if the binding is ``Binding/published()``.
  ///
  ///     navigator.present(item: $model.fact, id: \.text) { fact in Window(fact.wrappedValue.text) }
  ///
  /// - Parameters:
  ///   - item: the item to present.
  ///   - id: the identity of an item.
  ///   - options: the options of the presentation. They are evaluated again when observed state in them changes; the screen then
  ///     stays and is updated (P2).
  ///   - onDismiss: called when a screen has ended and is gone. The function of that name of the ``Presence`` also gets the reason.
  ///   - content: makes the screen when it is needed, with a binding of the item.
  /// - Returns: a handle that can end the presentation. It continues as long as the parent, whether or not the handle is retained.
  @discardableResult
  public func present<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, content: @escaping (Binding<Item>) -> (any Screen)?
  ) -> Presence {
    drive(.item(item, id: id, options: options, content: content), onDismiss)
  }

  /// Presents an `Identifiable` item while the binding is not nil.
  ///
  ///     navigator.present(item: $model.note) { note in Window(note.wrappedValue.text) }
  ///     navigator.present(item: $model.fact, options: { PresentationOptions(title: "Fact \($0.id)") }) { fact in
  ///       Window(fact.wrappedValue.text)
  ///     }
  @discardableResult
  public func present<Item: Identifiable>(
    item: Binding<Item?>, options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, content: @escaping (Binding<Item>) -> (any Screen)?
  ) -> Presence where Item.ID: Codable {
    present(item: item, id: \.id, options: options, onDismiss: onDismiss, content: content)
  }

  /// Presents a model while the binding is not nil. Another object gets another screen.
  ///
  ///     navigator.present(item: $model.settings) { settings in Window("\(settings.wrappedValue.isDark)") }
  @discardableResult
  public func present<Model: AnyObject & Identifiable>(
    item: Binding<Model?>,
    options: @escaping @MainActor (Model) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, content: @escaping (Binding<Model>) -> (any Screen)?
  ) -> Presence where Model.ID == ObjectIdentifier {
    present(item: item, id: ObjectNumber.of, options: options, onDismiss: onDismiss, content: content)
  }

  /// Presents an item with a destination of the session instead of a screen of the program: a
  /// command, a unit, or another program (D1). A `Codable` item is sent as the value, and edits of
  /// the value by others are written to the binding (D8).
  ///
  ///     navigator.present(item: $model.fact, id: \.text, to: "fact-window")
  @discardableResult
  public func present<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID, to destination: String?,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil
  ) -> Presence {
    drive(.item(item, id: id, options: options, to: destination), onDismiss)
  }

  /// Presents an `Identifiable` item with a destination of the session.
  ///
  ///     navigator.present(item: $model.note, to: "note-editor")
  @discardableResult
  public func present<Item: Identifiable>(
    item: Binding<Item?>, to destination: String?,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil
  ) -> Presence where Item.ID: Codable {
    present(item: item, id: \.id, to: destination, options: options, onDismiss: onDismiss)
  }

  // MARK: Booleans

  /// Presents a screen while a binding is true. When the screen ends, false is written to the binding (P1, P4, P7). If another client
  /// presents the binding, true is written.
  ///
  ///     navigator.present(isPresented: $model.isOpen) { Window() }
  ///     model.isOpen = true
  @discardableResult
  public func present(
    isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, content: @escaping @MainActor () -> (any Screen)?
  ) -> Presence {
    drive(.bool(isPresented, options: options, content: content), onDismiss)
  }

  /// Presents a destination of the session while a binding is true.
  ///
  ///     navigator.present(isPresented: $model.isOpen, to: "launcher")
  @discardableResult
  public func present(
    isPresented: Binding<Bool>, to destination: String?,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil
  ) -> Presence {
    drive(.bool(isPresented, options: options, to: destination), onDismiss)
  }

  // MARK: One of many

  /// Presents a screen while a selection equals a tag. At most one tag of a selection is shown
  /// (G1–G6). The selection becomes nil when the screen ends, if it still equals the tag. If the
  /// screen ends with its parent, the selection is kept, and shown with the next parent (C3). If
  /// another client selects the tag, the tag is written to the selection. What is presented from a
  /// screen whose tag is not selected is out of view, and its state stays (C8).
  ///
  ///     navigator.present(tag: .help, selection: $model.panel) { Window("Help") }
  ///     navigator.present(tag: .history, selection: $model.panel) { Window("History") }
  ///     model.panel = .help
  ///
  /// Other programs can open what the screen of a tag presents while the screen is there, and the items and paths in `presented` at any
  /// time: while the tag is not selected, a request is written into the state, and shown with the tag (D20).
  ///
  ///     navigator.present(tag: .items, selection: $model.tab, presenting: [.path($model.path)]) { Window("Items") }
  @discardableResult
  public func present<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>, presenting presented: [PresentedState] = [],
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil,
    content: @escaping @MainActor () -> (any Screen)?
  ) -> Presence {
    let isSelected = Binding(selection, tag: tag)
    let presence = select(
      tag, of: selection, options, .bool(isSelected, options: options, content: content), onDismiss)
    if !presentationSource.isOver {
      presentationSource.navigator.serve(presented, from: text(of: isSelected), until: presence)
    }
    return presence
  }

  /// Presents a destination of the session while a selection equals a tag.
  ///
  ///     navigator.present(tag: .help, selection: $model.panel, to: "help-viewer")
  @discardableResult
  public func present<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>, to destination: String?,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil
  ) -> Presence {
    select(
      tag, of: selection, options, .bool(Binding(selection, tag: tag), options: options, to: destination), onDismiss)
  }

  // MARK: Pushing

  /// Pushes an item on the stack while the binding is not nil (S1–S4). Otherwise like `present(item:)`.
  ///
  ///     showing.push(item: $model.fact, id: \.text) { fact in Window(fact.wrappedValue.text) }
  @discardableResult
  public func push<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping (Binding<Item>) -> (any Screen)?
  ) -> Presence {
    push(.item(item, id: id, options: options, content: content), onDismiss, file, line)
  }

  /// Pushes an `Identifiable` item on the stack while the binding is not nil.
  ///
  ///     showing.push(item: $model.note) { note in Window(note.wrappedValue.text) }
  @discardableResult
  public func push<Item: Identifiable>(
    item: Binding<Item?>, options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping (Binding<Item>) -> (any Screen)?
  ) -> Presence where Item.ID: Codable {
    push(item: item, id: \.id, options: options, onDismiss: onDismiss, file: file, line: line, content: content)
  }

  /// Pushes a model on the stack while the binding is not nil. Another object gets another screen.
  ///
  ///     showing.push(item: $model.settings) { _ in Window("Settings") }
  @discardableResult
  public func push<Model: AnyObject & Identifiable>(
    item: Binding<Model?>,
    options: @escaping @MainActor (Model) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping (Binding<Model>) -> (any Screen)?
  ) -> Presence where Model.ID == ObjectIdentifier {
    push(
      item: item, id: ObjectNumber.of, options: options, onDismiss: onDismiss, file: file, line: line, content: content)
  }

  /// Pushes a screen on the stack while a binding is true.
  ///
  ///     showing.push(isPresented: $model.isOpen) { Window() }
  @discardableResult
  public func push(
    isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor () -> (any Screen)?
  ) -> Presence {
    push(.bool(isPresented, options: options, content: content), onDismiss, file, line)
  }

  /// Pushes a screen on the stack while a selection equals a tag, like one of several links.
  ///
  ///     showing.push(tag: .help, selection: $model.panel) { Window("Help") }
  @discardableResult
  public func push<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil,
    file: StaticString = #fileID, line: UInt = #line, content: @escaping @MainActor () -> (any Screen)?
  ) -> Presence {
    push(
      .bool(Binding(selection, tag: tag), options: options, content: content),
      in: (text(of: selection), Coding.id(of: tag) {}), onDismiss, file, line)
  }

  // MARK: Stacks

  /// Creates a stack whose path is an array (S1, S5). ``Presenting/navigationDestination(for:file:line:content:)`` makes the screens
  /// of its values. When a screen ends, its value and all values above it are removed from the path.
  ///
  ///     let stack = navigator.stack(path: $model.path)
  ///     stack.navigationDestination(for: Note.ID.self) { id in Window("Note \(id)") }
  ///     model.path = [1, 2]        // Two screens, the second one on top.
  public func stack<Element: Hashable & Codable>(path: Binding<[Element]>) -> ScreenStack {
    stack(PathState(path), text(of: path))
  }

  /// Creates a stack whose path has values of several types.
  ///
  ///     let stack = navigator.stack(path: $model.mixedPath)
  ///     stack.navigationDestination(for: Note.self) { note in Window(note.text) }
  ///     stack.navigationDestination(for: Int.self) { number in Window("Page \(number)") }
  ///     model.mixedPath.append(7)
  public func stack(path: Binding<NavigationPath>) -> ScreenStack { stack(PathState(path), text(of: path)) }

  /// Creates a stack without a path in the program's state: its screens are pushed with `push(item:)` and
  /// ``Presenting/push(value:file:line:)``.
  ///
  ///     let stack = navigator.stack()
  ///     stack.push(item: $model.note) { note in Window(note.wrappedValue.text) }
  ///
  /// - Parameters:
  ///   - name: the stack's name on the bus.
  ///   - file: the program's file, for reports of misuse.
  ///   - line: the line in the file.
  public func stack(
    _ name: RootName = .own("stack"), file: StaticString = #fileID, line: UInt = #line
  ) -> ScreenStack {
    stack(path: Binding(wrappedValue: NavigationPath(), name, file: file, line: line))
  }

  // MARK: Helpers

  private func stack(_ path: PathState, _ name: String) -> ScreenStack {
    let stack = ScreenStack(path, name: name, in: self)
    if !presentationSource.isOver { keep(presentationSource.navigator.add(stack.driver)) }
    return stack
  }

  private func push(
    _ content: DrivenContent, in group: (name: String, tag: String)? = nil, _ onDismiss: (@MainActor () -> Void)?,
    _ file: StaticString, _ line: UInt
  ) -> Presence {
    guard let stack = presentationSource.stack else {
      reportMisuse(
        "\(presentationSource.navigator.coordinator.text(of: content.route)) is pushed, but there is no stack here; push from a ScreenStack, or from a "
          + "screen in one", file: file, line: line)
      return Presence(nil, presentationSource.navigator)
    }
    return drive(
      content, as: group.map { .member(group: $0.name, tag: $0.tag, stack: stack) } ?? .pushed(stack: stack), onDismiss)
  }

  private func select<Tag: Hashable & Codable>(
    _ tag: Tag, of selection: Binding<Tag?>, _ options: @escaping @MainActor () -> PresentationOptions,
    _ content: DrivenContent, _ onDismiss: (@MainActor () -> Void)?
  ) -> Presence {
    let group = text(of: selection)
    let presence = drive(content, as: .member(group: group, tag: Coding.id(of: tag) {}), onDismiss)
    if presentationSource.isOver { return presence }
    presentationSource.navigator.declaredTabs.value.append(
      DeclaredTab(group: group, tag: tag, options: options, driver: presence.driver))
    return presence
  }

  func drive(
    _ content: DrivenContent, as kind: ItemPlace.Kind = .presented, _ onDismiss: (@MainActor () -> Void)?
  ) -> Presence {
    let navigator = presentationSource.navigator
    if presentationSource.isOver { return Presence(nil, navigator) }
    let place = ItemPlace(
      kind, of: content, in: navigator, from: presentationSource.binding, parent: presentationSource.parent,
      ownDestination: content.content == nil ? nil : navigator.destination)
    let driver = ItemDriver(content, at: place)
    let presence = navigator.add(driver)
    if let onDismiss { presence.onDismiss(onDismiss) }
    keep(presence)
    return presence
  }

  private func text<Value>(of binding: Binding<Value>) -> String {
    presentationSource.navigator.coordinator.text(of: binding)
  }
}

/// A piece of state that is presented until the presence is cancelled or its parent ends.
///
///     let presence = navigator.present(item: $model.note) { note in Window(note.wrappedValue.text) }
///     model.note = Note()        // Shown.
///     presence.cancel()          // Dismissed, and no longer shown when the state changes.
@MainActor
public final class Presence {
  private(set) weak var driver: (any Driver)?
  private weak var navigator: Navigator?
  private var ends: [@MainActor () -> Void] = []

  init(_ driver: (any Driver)?, _ navigator: Navigator) {
    self.driver = driver
    self.navigator = navigator
  }

  /// Calls a function each time that a screen has ended and is gone, as the argument `onDismiss` of `present(…)` does.
  ///
  ///     navigator.present(isPresented: $model.isOpen) { MainWindow() }.onDismiss { end.resume() }
  @discardableResult
  public func onDismiss(_ body: @escaping @MainActor () -> Void) -> Presence { onDismiss { _ in body() } }

  /// Calls a function each time that a screen has ended and is gone, or was refused, with the reason, and with the error if it could not be
  /// shown. A screen that declines when its presentation is lost is gone only when its user closes it.
  ///
  ///     navigator.present(item: $model.note) { note in NoteWindow(note) }.onDismiss { end in print(end.reason) }
  @discardableResult
  public func onDismiss(_ body: @escaping @MainActor (Dismissal) -> Void) -> Presence {
    (driver as? ItemDriver)?.onDismiss.append(body)
    return self
  }

  /// Calls a function when the presence ends.
  package func atEnd(_ body: @escaping @MainActor () -> Void) { ends.append(body) }

  /// Ends the connection to the state, and dismisses the presentation, once a coordinator can be reached. A screen that declines
  /// stays until its user closes it (P15). If an earlier presence of the same state is left, that counts again, and the screen stays.
  ///
  ///     let presence = navigator.present(isPresented: $model.isOpen) { Window() }
  ///     presence.cancel()
  public func cancel() { end(dismissing: true) }

  /// Ends the connection to the state, because the parent has ended. Items that were presented from it have ended before (C3). One that
  /// is left has no parent, or waits for the next item of the parent's slot, whose screen presents it anew if the state still has it.
  func forget() {
    let place = (driver as? ItemDriver)?.place
    if place?.isWithoutParent == true { (driver as? ItemDriver)?.endAfterParent() }
    end(dismissing: place.map { $0.isWithoutParent || !$0.outlivesParent } ?? false)
  }

  private func end(dismissing: Bool) {
    if let driver { navigator?.remove(driver, dismissing: dismissing) }
    driver = nil
    let ends = ends
    self.ends = []
    for end in ends { end() }
  }
}

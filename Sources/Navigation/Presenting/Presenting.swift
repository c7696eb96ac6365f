import DBusValues

/// The parent and the stack for new presentations.
public struct PresentationSource {
  let navigator: Navigator
  /// The binding of the parent (C1); nil if there is none.
  let binding: String?
  /// The stack that screens are pushed on; nil if there is none.
  let stack: String?
}

/// A type that can present: a ``Navigator``, a ``Showing``, a ``NavigationStack``.
@MainActor
public protocol Presenting {
  /// The parent and the stack of its presentations.
  var presentationSource: PresentationSource { get }
  /// Retains a presence for the lifetime of its parent.
  func keep(_ presence: Presence)
}

/// Called when a presentation has ended, with the reason.
public typealias OnDismiss = @MainActor (NavigationReason) -> Void

extension Presenting {
  // MARK: Items

  /// Presents an item while the binding is not nil. If the item's identity changes, the old screen is dismissed before
  /// the new one is presented (P3). When a screen ends for any reason, nil is written to the binding, if it still holds
  /// that item (P5).
  ///
  /// - Parameters:
  ///   - item: the item to present.
  ///   - id: the identity of an item.
  ///   - options: options of the presentation. Evaluated again when observed state in it changes; the screen then stays
  ///     and is updated (P2).
  ///   - onDismiss: called after a screen has ended, with the reason.
  ///   - content: makes the screen when it is needed, with a binding of the item.
  /// - Returns: a handle that can end this. It continues as long as the parent, whether or not the handle is retained.
  @discardableResult
  public func present<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil, content: @escaping @MainActor (Binding<Item>) -> any Screen
  ) -> Presence {
    drive(.item(item, id: id, options: options, onDismiss: onDismiss, content: content), as: .presented)
  }

  /// Presents an `Identifiable` item while the binding is not nil.
  @discardableResult
  public func present<Item: Identifiable>(
    item: Binding<Item?>, options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil, content: @escaping @MainActor (Binding<Item>) -> any Screen
  ) -> Presence where Item.ID: Codable {
    present(item: item, id: \.id, options: options, onDismiss: onDismiss, content: content)
  }

  /// Presents an item by a destination of the session (D1) instead of a screen of the program: a command, a unit, or
  /// another program. A `Codable` item is sent as the value, and edits of the value by others are written to the
  /// binding (D8).
  @discardableResult
  public func present<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID, to destination: String?,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil
  ) -> Presence {
    drive(
      .item(item, id: id, options: options, to: destination, onDismiss: onDismiss), as: .presented)
  }

  /// Presents an `Identifiable` item by a destination of the session.
  @discardableResult
  public func present<Item: Identifiable>(
    item: Binding<Item?>, to destination: String?,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil
  ) -> Presence where Item.ID: Codable {
    present(item: item, id: \.id, to: destination, options: options, onDismiss: onDismiss)
  }

  // MARK: Booleans

  /// Presents while a binding is true. When the screen ends, false is written to it (P1, P4, P7). If another client
  /// presents the binding, true is written.
  @discardableResult
  public func present(
    isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: OnDismiss? = nil, content: @escaping @MainActor () -> any Screen
  ) -> Presence {
    drive(.bool(isPresented, options: options, onDismiss: onDismiss, content: content), as: .presented)
  }

  /// Presents by a destination of the session while a binding is true.
  @discardableResult
  public func present(
    isPresented: Binding<Bool>, to destination: String?,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil
  ) -> Presence {
    drive(.bool(isPresented, options: options, to: destination, onDismiss: onDismiss), as: .presented)
  }

  // MARK: One of many

  /// Presents while a selection equals a tag. Of all tags of one selection, at most one is shown (G1–G6). When the
  /// screen ends, the selection becomes nil, if it still equals the tag. If another client selects the tag, it is
  /// written to the selection.
  @discardableResult
  public func present<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil,
    content: @escaping @MainActor () -> any Screen
  ) -> Presence {
    drive(
      .bool(Binding(selection, tag: tag), options: options, onDismiss: onDismiss, content: content),
      as: .member(group: text(of: selection), tag: Coding.id(of: tag)))
  }

  /// Presents by a destination of the session while a selection equals a tag.
  @discardableResult
  public func present<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>, to destination: String?,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil
  ) -> Presence {
    drive(
      .bool(Binding(selection, tag: tag), options: options, to: destination, onDismiss: onDismiss),
      as: .member(group: text(of: selection), tag: Coding.id(of: tag)))
  }

  // MARK: Pushing

  /// Pushes an item on the stack while the binding is not nil (S1–S4), otherwise like `present(item:)`.
  @discardableResult
  public func push<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor (Binding<Item>) -> any Screen
  ) -> Presence {
    push(.item(item, id: id, options: options, onDismiss: onDismiss, content: content), file, line)
  }

  /// Pushes an `Identifiable` item on the stack while the binding is not nil.
  @discardableResult
  public func push<Item: Identifiable>(
    item: Binding<Item?>, options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor (Binding<Item>) -> any Screen
  ) -> Presence where Item.ID: Codable {
    push(item: item, id: \.id, options: options, onDismiss: onDismiss, file: file, line: line, content: content)
  }

  /// Pushes a screen on the stack while a binding is true.
  @discardableResult
  public func push(
    isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: OnDismiss? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor () -> any Screen
  ) -> Presence {
    push(.bool(isPresented, options: options, onDismiss: onDismiss, content: content), file, line)
  }

  /// Pushes a screen on the stack while a selection equals a tag, like one of several links.
  @discardableResult
  public func push<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil,
    file: StaticString = #fileID, line: UInt = #line, content: @escaping @MainActor () -> any Screen
  ) -> Presence {
    push(
      .bool(Binding(selection, tag: tag), options: options, onDismiss: onDismiss, content: content),
      in: (text(of: selection), Coding.id(of: tag)), file, line)
  }

  // MARK: Stacks

  /// Creates a stack whose path is an array (S1, S5). ``NavigationStack/navigationDestination(for:content:)`` makes the
  /// screens of its values. When a screen ends, its value and all values above it are removed from the path.
  public func stack<Element: Hashable & Codable>(path: Binding<[Element]>) -> NavigationStack {
    stack(PathState(path), text(of: path))
  }

  /// Creates a stack whose path has values of several types.
  public func stack(path: Binding<NavigationPath>) -> NavigationStack { stack(PathState(path), text(of: path)) }

  // MARK: Helpers

  private func stack(_ path: PathState, _ name: String) -> NavigationStack {
    let stack = NavigationStack(path, name: name, in: self)
    keep(presentationSource.navigator.add(stack.driver))
    return stack
  }

  private func push(
    _ content: DrivenContent, in group: (name: String, tag: String)? = nil, _ file: StaticString, _ line: UInt
  ) -> Presence {
    guard let stack = presentationSource.stack else {
      reportMisuse(
        "\(content.route.text(client: "")) is pushed, but there is no stack here; push from a NavigationStack, or from a "
          + "screen in one", file: file, line: line)
      return Presence(nil, presentationSource.navigator)
    }
    return drive(
      content, as: group.map { .member(group: $0.name, tag: $0.tag, stack: stack) } ?? .pushed(stack: stack))
  }

  private func drive(_ content: DrivenContent, as kind: ItemDriver.Kind) -> Presence {
    let navigator = presentationSource.navigator
    let driver = ItemDriver(
      content, as: kind, binding: content.route.text(client: navigator.coordinator.client),
      from: presentationSource.binding, destination: navigator.destination)
    let presence = navigator.add(driver)
    keep(presence)
    return presence
  }

  private func text<Value>(of binding: Binding<Value>) -> String {
    binding.route.text(client: presentationSource.navigator.coordinator.client)
  }
}

/// A piece of state that is presented until this is cancelled or its parent ends.
@MainActor
public final class Presence {
  private weak var driver: (any Driver)?
  private weak var navigator: Navigator?

  init(_ driver: (any Driver)?, _ navigator: Navigator) {
    self.driver = driver
    self.navigator = navigator
  }

  /// Stops driving by the state, and dismisses what is shown.
  public func cancel() { end(dismissing: true) }

  /// Stops driving by the state, when what is shown ends anyway.
  func forget() { end(dismissing: false) }

  private func end(dismissing: Bool) {
    if let driver { navigator?.remove(driver, dismissing: dismissing) }
    driver = nil
  }
}

// Why this file exists: a sheet, a popover, an alert, a pushed page, one of many panels: each is state that drives a
// presentation, and all of them are one primitive.

import DBusValues

/// Where something is presented from.
public struct PresentationSource {
  let navigator: Navigator
  /// The binding of what it is presented from (C1); nil: from nothing.
  let binding: String?
  /// The stack that things are pushed on from here; nil: there is none.
  let stack: String?
}

/// What can present: a ``Navigator``, a ``Showing``, a ``NavigationStack``.
@MainActor
public protocol Presenting {
  /// Where what it presents is presented from.
  var presentationSource: PresentationSource { get }
  /// Holds on to what is presented from here, as long as that is right.
  func keep(_ presence: Presence)
}

/// What happens when something that was presented is gone.
public typealias OnDismiss = @MainActor (NavigationReason) -> Void

extension Presenting {
  // MARK: Items

  /// Presents an item while there is one: when its identity changes the old screen goes, and then the new one comes (P3);
  /// when the screen goes, by whatever way, nil is written to the binding, if it is still the one that went (P5).
  ///
  /// - Parameters:
  ///   - item: what is presented while it is not nil.
  ///   - id: what makes an item another one.
  ///   - options: how it is shown. Read again when what it reads changes; then the screen stays, and is updated (P2).
  ///   - onDismiss: called when a screen is gone, and why.
  ///   - content: makes the screen, with a binding of what is in it, when it is to be shown.
  /// - Returns: what ends it. It goes on as long as what it is presented from, whether or not this is held.
  @discardableResult
  public func present<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil, content: @escaping @MainActor (Binding<Item>) -> any Screen
  ) -> Presence {
    drive(.item(item, id: id, options: options, onDismiss: onDismiss, content: content), as: .presented)
  }

  /// As above, for items that know their identity.
  @discardableResult
  public func present<Item: Identifiable>(
    item: Binding<Item?>, options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil, content: @escaping @MainActor (Binding<Item>) -> any Screen
  ) -> Presence where Item.ID: Codable {
    present(item: item, id: \.id, options: options, onDismiss: onDismiss, content: content)
  }

  /// As above, shown by a destination of the session (D1) instead of the program: a command, a unit, another program. An
  /// item that is `Codable` is its value there, and what others edit of that is written to the binding (D8).
  @discardableResult
  public func present<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID, to destination: String?,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil
  ) -> Presence {
    drive(
      .item(item, id: id, options: options, to: destination, onDismiss: onDismiss), as: .presented)
  }

  /// As above, for items that know their identity.
  @discardableResult
  public func present<Item: Identifiable>(
    item: Binding<Item?>, to destination: String?,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil
  ) -> Presence where Item.ID: Codable {
    present(item: item, id: \.id, to: destination, options: options, onDismiss: onDismiss)
  }

  // MARK: Truth

  /// Presents while a binding is true; false is written to it when the screen goes (P1, P4, P7). Somebody else who presents
  /// the binding makes it true.
  @discardableResult
  public func present(
    isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: OnDismiss? = nil, content: @escaping @MainActor () -> any Screen
  ) -> Presence {
    drive(.truth(isPresented, options: options, onDismiss: onDismiss, content: content), as: .presented)
  }

  /// As above, shown by a destination of the session.
  @discardableResult
  public func present(
    isPresented: Binding<Bool>, to destination: String?,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil
  ) -> Presence {
    drive(.truth(isPresented, options: options, to: destination, onDismiss: onDismiss), as: .presented)
  }

  // MARK: One of many

  /// Presents while a selection is this tag: of all that are presented from one selection, at most one is shown (G1–G6).
  /// When it goes the selection becomes nil, if it is still this one; when somebody else selects it, it becomes this tag.
  @discardableResult
  public func present<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil,
    content: @escaping @MainActor () -> any Screen
  ) -> Presence {
    drive(
      .truth(Binding(selection, tag: tag), options: options, onDismiss: onDismiss, content: content),
      as: .member(group: text(of: selection), tag: Coding.id(of: tag)))
  }

  /// As above, shown by a destination of the session.
  @discardableResult
  public func present<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>, to destination: String?,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil
  ) -> Presence {
    drive(
      .truth(Binding(selection, tag: tag), options: options, to: destination, onDismiss: onDismiss),
      as: .member(group: text(of: selection), tag: Coding.id(of: tag)))
  }

  // MARK: Pushing

  /// Pushes an item on the stack while there is one (S1–S4), otherwise as `present(item:)`.
  @discardableResult
  public func push<Item, ID: Hashable & Codable>(
    item: Binding<Item?>, id: @escaping (Item) -> ID,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor (Binding<Item>) -> any Screen
  ) -> Presence {
    push(.item(item, id: id, options: options, onDismiss: onDismiss, content: content), file, line)
  }

  /// As above, for items that know their identity.
  @discardableResult
  public func push<Item: Identifiable>(
    item: Binding<Item?>, options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: OnDismiss? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor (Binding<Item>) -> any Screen
  ) -> Presence where Item.ID: Codable {
    push(item: item, id: \.id, options: options, onDismiss: onDismiss, file: file, line: line, content: content)
  }

  /// Pushes on the stack while a binding is true.
  @discardableResult
  public func push(
    isPresented: Binding<Bool>, options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() },
    onDismiss: OnDismiss? = nil, file: StaticString = #fileID, line: UInt = #line,
    content: @escaping @MainActor () -> any Screen
  ) -> Presence {
    push(.truth(isPresented, options: options, onDismiss: onDismiss, content: content), file, line)
  }

  /// Pushes on the stack while a selection is this tag, as one link of many.
  @discardableResult
  public func push<Tag: Hashable & Codable>(
    tag: Tag, selection: Binding<Tag?>,
    options: @escaping @MainActor () -> PresentationOptions = { PresentationOptions() }, onDismiss: OnDismiss? = nil,
    file: StaticString = #fileID, line: UInt = #line, content: @escaping @MainActor () -> any Screen
  ) -> Presence {
    push(
      .truth(Binding(selection, tag: tag), options: options, onDismiss: onDismiss, content: content),
      in: (text(of: selection), Coding.id(of: tag)), file, line)
  }

  // MARK: Stacks

  /// A stack whose path is state (S1, S5): the screens of its values are made by
  /// ``NavigationStack/navigationDestination(for:content:)``. When a screen goes, its value and those above it are taken out of
  /// the path.
  public func stack<Element: Hashable & Codable>(path: Binding<[Element]>) -> NavigationStack {
    stack(PathState(path), text(of: path))
  }

  /// A stack whose path has values of many types.
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

/// Something that is presented from state, until it is cancelled or what it is presented from goes.
@MainActor
public final class Presence {
  private weak var driver: (any Driver)?
  private weak var navigator: Navigator?

  init(_ driver: (any Driver)?, _ navigator: Navigator) {
    self.driver = driver
    self.navigator = navigator
  }

  /// State drives it no more; what is shown of it is dismissed.
  public func cancel() { end(dismissing: true) }

  /// State drives it no more; what is shown of it goes anyway.
  func forget() { end(dismissing: false) }

  private func end(dismissing: Bool) {
    if let driver { navigator?.remove(driver, dismissing: dismissing) }
    driver = nil
  }
}

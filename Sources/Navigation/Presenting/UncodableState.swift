// Errors of the compiler for state that cannot be presented, because others could not name it. Without these functions, it would list all
// those that almost fit.

extension Presenting {
  /// Says what an item lacks that cannot be presented.
  @available(
    *, unavailable,
    message:
      "the id of a presented item is its id on the bus, and has to be Codable: make it so, or choose another one by present(item:id:content:)"
  )
  @discardableResult
  public func present<Item: Identifiable>(
    item: Binding<Item?>, options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, content: @escaping (Binding<Item>) -> (any Screen)?
  ) -> Presence { fatalError() }

  /// Says what an item lacks that cannot be presented with a destination.
  @available(
    *, unavailable,
    message:
      "the id of a presented item is its id on the bus, and has to be Codable: make it so, or choose another one by present(item:id:to:)"
  )
  @discardableResult
  public func present<Item: Identifiable>(
    item: Binding<Item?>, to destination: String?,
    options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil
  ) -> Presence { fatalError() }

  /// Says what an item lacks that cannot be pushed.
  @available(
    *, unavailable,
    message:
      "the id of a pushed item is its id on the bus, and has to be Codable: make it so, or choose another one by push(item:id:content:)"
  )
  @discardableResult
  public func push<Item: Identifiable>(
    item: Binding<Item?>, options: @escaping @MainActor (Item) -> PresentationOptions = { _ in PresentationOptions() },
    onDismiss: (@MainActor () -> Void)? = nil, content: @escaping (Binding<Item>) -> (any Screen)?
  ) -> Presence { fatalError() }

  /// Says what the elements of a path lack.
  @available(
    *, unavailable,
    message:
      "the elements of a path are ids on the bus, and have to be Hashable and Codable: make them so, or take their ids"
  )
  public func stack<Element>(path: Binding<[Element]>) -> ScreenStack { fatalError() }
}

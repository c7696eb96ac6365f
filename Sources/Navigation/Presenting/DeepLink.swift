import CoordinatorAPI
import DBusValues
import PresentationModel

/// A piece of state that a deep link sets, with its new value. ``Navigator/open(_:)`` sets it in this program, or in the one that shows
/// it already.
///
///     let link: [DeepLink] = [.isPresented($model.isOpen), .tag(.items, in: $model.tab), .path([7], in: $model.path)]
@MainActor
public struct DeepLink {
  /// The state that is set.
  let route: BindingRoute
  let write: () -> Void
  /// Makes the request that sets the state of another program, by the name of the state on the bus.
  let request: (_ name: String) -> Coordinator.Request

  private init(
    _ route: BindingRoute, write: @escaping () -> Void, request: @escaping (String) -> Coordinator.Request
  ) {
    (self.route, self.write, self.request) = (route, write, request)
  }

  /// Presents what is only on or off: sets true.
  ///
  ///     try await navigator.open([.isPresented($model.isOpen)])
  /// - Parameter binding: the state.
  public static func isPresented(_ binding: Binding<Bool>) -> DeepLink {
    DeepLink(binding.route) {
      binding.wrappedValue = true
    } request: {
      .present($0, id: "", PresentationOptions())
    }
  }

  /// Presents a case of an enum without a payload.
  ///
  ///     try await navigator.open([.isPresented($model.destination.help)])
  /// - Parameter binding: the state.
  public static func isPresented(_ binding: Binding<Void?>) -> DeepLink {
    DeepLink(binding.route) {
      binding.wrappedValue = ()
    } request: {
      .present($0, id: "", PresentationOptions())
    }
  }

  /// Presents an item with an identity.
  ///
  ///     try await navigator.open([.item(Fact(text: "7 is prime."), in: $model.fact, id: \.text)])
  /// - Parameters:
  ///   - item: the item.
  ///   - binding: the state.
  ///   - id: the identity of the item, as it is presented with.
  public static func item<Item: Codable, ID: Hashable & Codable>(
    _ item: Item, in binding: Binding<Item?>, id: (Item) -> ID
  ) -> DeepLink {
    let id = Coding.id(of: id(item)) {}
    return DeepLink(binding.route) {
      binding.wrappedValue = item
    } request: {
      .present($0, id: id, PresentationOptions(value: Coding.properties(of: item)))
    }
  }

  /// Presents an `Identifiable` item.
  ///
  ///     try await navigator.open([.item(Note(text: "Milk"), in: $model.note)])
  /// - Parameters:
  ///   - item: the item.
  ///   - binding: the state.
  public static func item<Item: Codable & Identifiable>(_ item: Item, in binding: Binding<Item?>) -> DeepLink
  where Item.ID: Codable {
    .item(item, in: binding, id: \.id)
  }

  /// Selects a tag.
  ///
  ///     try await navigator.open([.tag(.items, in: $model.tab)])
  /// - Parameters:
  ///   - tag: the tag.
  ///   - selection: the state.
  public static func tag<Tag: Hashable & Codable>(_ tag: Tag, in selection: Binding<Tag?>) -> DeepLink {
    DeepLink(selection.route) {
      selection.wrappedValue = tag
    } request: {
      Coordinator.Changes().select(Coding.id(of: tag) {}, in: $0).requests[0]
    }
  }

  /// Replaces a path.
  ///
  ///     try await navigator.open([.path([1, 2], in: $model.path)])
  /// - Parameters:
  ///   - elements: the new path, from the bottom to the top.
  ///   - path: the state.
  public static func path<Element: Hashable & Codable>(
    _ elements: [Element], in path: Binding<[Element]>
  ) -> DeepLink {
    let values = ArrayValues(values: elements, type: TypeName.of(Element.self))
    return DeepLink(path.route) {
      path.wrappedValue = elements
    } request: { name in
      // Any other element is whole in its id.
      .setPath(name, values) { elements[$0] is any Identifiable ? Coding.properties(of: elements[$0]) : nil }
    }
  }

  /// Replaces a path with values of several types.
  ///
  ///     try await navigator.open([.path(NavigationPath([1, 2]), in: $model.mixedPath)])
  /// - Parameters:
  ///   - values: the new path, from the bottom to the top.
  ///   - path: the state.
  public static func path(_ values: NavigationPath, in path: Binding<NavigationPath>) -> DeepLink {
    DeepLink(path.route) {
      path.wrappedValue = values
    } request: { name in
      .setPath(name, MixedValues(elements: values.elements)) { _ in nil }
    }
  }
}

extension Coordinator.Request {
  @MainActor
  fileprivate static func setPath(
    _ stack: String, _ values: any PathValues, value: (Int) -> Properties?
  ) -> Self {
    let items = (0..<values.count).map { index in
      Coordinator.PathItem(id: values.id(index), PresentationOptions(value: value(index))).element
    }
    return Coordinator.Changes().change(
      Coordinator.Rows.setPath, (stack, items, [:]), reply: { _ in }
    ).requests[0]
  }
}

extension Navigator {
  /// Whether another program on the bus shows some state under the same name, such as a copy of this program that was started before.
  /// This program's own presentations of that state are refused then (D18), and end as `failed` with the reason.
  ///
  ///     if try await navigator.isShownElsewhere($model.isOpen) { print("it runs already") }
  /// - Parameter binding: the state, of a model with a ``RootName/shared(_:file:line:)`` name.
  /// - Throws: `unreachable` if there is no coordinator now; `closed`; `cancelled`.
  public func isShownElsewhere<Value>(_ binding: Binding<Value>) async throws(NavigationError) -> Bool {
    try await areShownElsewhere([binding.route])
  }

  /// Opens a deep link: sets state of this program or, if another program shows some of it, of that one, which this program then leaves
  /// to it.
  ///
  ///     navigator.present(isPresented: $model.isOpen) { MainWindow() }
  ///     try await navigator.open([.isPresented($model.isOpen), .path([7], in: $model.path)])
  ///
  /// Everything of the link is one change of the model. The other program can show what it serves now: the state that is presented
  /// from its navigator, and from the screens that it shows.
  /// - Parameter link: the state to set.
  /// - Returns: whether the state was set in another program.
  /// - Throws: `refused` if the other program does not accept it, with what it expects (D18); `unreachable`, `closed` or `cancelled`.
  ///   Nothing was set then.
  @discardableResult
  public func open(_ link: [DeepLink]) async throws(NavigationError) -> Bool {
    guard try await areShownElsewhere(link.map(\.route)) else {
      for part in link { part.write() }
      return false
    }
    _ = try await coordinator.apply(link.map { $0.request(coordinator.text(of: $0.route)) })
    return true
  }

  private func areShownElsewhere(_ routes: [BindingRoute]) async throws(NavigationError) -> Bool {
    // If two programs start at the same time, the first to declare its state counts.
    await answered()
    let names = Set(routes.map { coordinator.text(of: $0) })
    return try await coordinator.destinations().values.contains { entry in
      guard let client = entry.client, clientName(client) != coordinator.client else { return false }
      return (entry.serves ?? [:]).contains { binding, accepts in
        names.contains(binding)
          || Properties(value: accepts).flatMap { ServedEntry($0).group }.map(names.contains) == true
      }
    }
  }
}

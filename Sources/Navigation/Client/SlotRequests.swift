import CoordinatorAPI
import DBusValues
import PresentationModel

/// Requests about slots.
extension Coordinator {
  /// The bindings that ``dismissAll(_:animated:force:)`` clears.
  ///
  ///     let scopes: [Coordinator.Scope] = [.root("inventory"), .group("panels"), .stack("inventory.path"), .everything, .parked]
  public typealias Scope = PresentationModel.Scope<String>

  /// The reply to a request that presents an item.
  ///
  ///     let presented = try await coordinator.present("note", id: "7")
  ///     if presented.hasChanged, let note = presented.presentation { try await coordinator.waitUntilPresented(note) }
  ///     try await coordinator.apply(expecting: presented.serial) { $0.dismiss("note") }
  public struct Presented: Hashable, Sendable {
    /// The presentation; nil if a later request of the same transaction dismissed it.
    public let presentation: PresentationHandle?
    /// Whether the request changed anything.
    public let hasChanged: Bool
    /// The serial after the request.
    public let serial: UInt64

    init(_ answer: (ObjectPath, UInt64, Bool, UInt64)) {
      (presentation, hasChanged, serial) = (Handle(path: answer.0), answer.2, answer.3)
    }
  }

  /// Sets a binding's item (P1–P3). Returns when the request is accepted, not when the item is shown.
  ///
  ///     try await coordinator.present("note", id: "7", PresentationOptions(value: ["text": "Milk"]))
  @discardableResult
  public func present(
    _ binding: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Presented {
    Presented(try await change(Rows.present, (binding, id, try await all(options, expectation))))
  }

  /// Dismisses the item if it has this id (nil stands for any id), and presents it otherwise.
  ///
  ///     try await coordinator.toggle("launcher")
  ///
  /// - Returns: the presentation; nil if it was dismissed.
  @discardableResult
  public func toggle(
    _ binding: String, id: String? = nil, _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> PresentationHandle? {
    var properties = try await all(options, expectation)
    if id == nil { properties[Options.anyID] = true }
    let (isPresented, presentation, _, _) = try await change(Rows.toggle, (binding, id ?? "", properties))
    return isPresented ? Handle(path: presentation) : nil
  }

  /// Edits the item's value in place: sets some keys, and removes others (D8).
  ///
  ///     try await coordinator.update("note", ["text": "Milk and bread"])
  ///
  /// - Returns: whether the request changed anything.
  @discardableResult
  public func update(
    _ binding: String, _ value: Properties, remove: [String] = [], expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Bool {
    var options = expectation.properties
    if !remove.isEmpty { options[Options.remove] = remove }
    return try await change(Rows.update, (binding, value, options)).0
  }

  /// Sets a binding to nil (P4).
  ///
  ///     try await coordinator.dismiss("note")
  ///
  /// - Returns: whether the binding held an item.
  @discardableResult
  public func dismiss(
    _ binding: String, animated: Bool? = nil, force: Bool = false, expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Bool {
    try await change(Rows.dismiss, (binding, expectation.properties(animated: animated, force: force))).0
  }

  /// Sets several bindings to nil.
  ///
  ///     try await coordinator.dismissAll(.group("panels"))
  ///
  /// - Returns: the number of bindings that held an item.
  @discardableResult
  public func dismissAll(
    _ scope: Scope, animated: Bool? = nil, force: Bool = false
  ) async throws(NavigationError) -> Int {
    let options = Expectation().properties(animated: animated, force: force)
    return Int(try await change(Rows.dismissAll, options.merging(scope.properties) { $1 }).0)
  }
}

extension Coordinator.Changes {
  /// The request of ``Coordinator/present(_:id:_:expecting:)``.
  ///
  ///     try await coordinator.apply { $0.present("note", id: "7") }
  public func present(
    _ binding: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) -> Coordinator.Change<Coordinator.Presented> {
    change(
      Coordinator.Rows.present, (binding, id, options.properties(expectation)),
      declaring: options.containerValues.declarations, reply: Coordinator.Presented.init)
  }

  /// The request of ``Coordinator/toggle(_:id:_:expecting:)``.
  ///
  ///     try await coordinator.apply { $0.toggle("launcher") }
  public func toggle(
    _ binding: String, id: String? = nil, _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) -> Coordinator.Change<PresentationHandle?> {
    var properties = options.properties(expectation)
    if id == nil { properties[Options.anyID] = true }
    return change(
      Coordinator.Rows.toggle, (binding, id ?? "", properties), declaring: options.containerValues.declarations
    ) { $0.0 ? Handle(path: $0.1) : nil }
  }

  /// The request of ``Coordinator/update(_:_:remove:expecting:)``.
  ///
  ///     try await coordinator.apply { $0.update("note", ["text": "Milk"]) }
  public func update(
    _ binding: String, _ value: Properties, remove: [String] = [], expecting expectation: Expectation = Expectation()
  ) -> Coordinator.Change<Bool> {
    var properties = expectation.properties
    if !remove.isEmpty { properties[Options.remove] = remove }
    return change(Coordinator.Rows.update, (binding, value, properties), reply: \.0)
  }

  /// The request of ``Coordinator/dismiss(_:animated:force:expecting:)``.
  ///
  ///     try await coordinator.apply { $0.dismiss("note") }
  public func dismiss(
    _ binding: String, animated: Bool? = nil, force: Bool = false, expecting expectation: Expectation = Expectation()
  ) -> Coordinator.Change<Bool> {
    change(
      Coordinator.Rows.dismiss, (binding, expectation.properties(animated: animated, force: force)), reply: \.0)
  }

  /// The request of ``Coordinator/dismissAll(_:animated:force:)``.
  ///
  ///     try await coordinator.apply { $0.dismissAll(.everything) }
  public func dismissAll(
    _ scope: Coordinator.Scope, animated: Bool? = nil, force: Bool = false
  ) -> Coordinator.Change<Int> {
    change(
      Coordinator.Rows.dismissAll,
      Expectation().properties(animated: animated, force: force).merging(scope.properties) { $1 }
    ) { Int($0.0) }
  }
}

extension Scope where Name == String {
  /// The scope as options of `DismissAll`.
  fileprivate var properties: Properties {
    var options: Properties = [:]
    switch self {
    case .root(let name): options[Options.root] = name
    case .group(let name): options[Options.group] = name
    case .stack(let name): options[Options.stack] = name
    case .everything: options[Options.all] = true
    case .parked: options[Options.parked] = true
    }
    return options
  }
}

import CoordinatorAPI
import DBusValues
import PresentationModel

/// Requests about single bindings, and about many at once.
extension Coordinator {
  /// The bindings that ``dismissAll(_:animated:expectedSerial:)`` clears.
  public typealias Scope = PresentationModel.Scope<String>

  /// What a request that presents came to.
  public struct Presented: Hashable, Sendable {
    /// nil where the request was followed by another that took it back, in a transaction.
    public let presentation: PresentationHandle?
    /// Whether anything is different now.
    public let changed: Bool
    /// Of the state after it.
    public let serial: UInt64
  }

  /// Sets a binding's item (P1–P3): returns when it is accepted, not when it is shown.
  @discardableResult
  public func present(
    _ binding: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Presented {
    presented(try await change(Rows.present, (binding, id, try await all(options, expectation))))
  }

  /// Dismisses the item where it has this id (nil: any), else presents it.
  /// - Returns: its presentation; nil where it was dismissed.
  @discardableResult
  public func toggle(
    _ binding: String, id: String? = nil, _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> PresentationHandle? {
    var properties = try await all(options, expectation)
    if id == nil { properties[Options.anyID] = true }
    let (isPresented, presentation, _) = try await change(Rows.toggle, (binding, id ?? "", properties))
    return isPresented ? Handle(path: presentation) : nil
  }

  /// Edits the item's value in place (D8): sets some keys, takes others out.
  /// - Returns: whether anything is different now.
  @discardableResult
  public func update(
    _ binding: String, _ value: Properties, remove: [String] = [], expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Bool {
    var options = expectation.properties
    if !remove.isEmpty { options[Options.remove] = remove }
    return try await change(Rows.update, (binding, value, options)).0
  }

  /// Sets a binding to nil (P4).
  /// - Returns: whether it held anything.
  @discardableResult
  public func dismiss(
    _ binding: String, animated: Bool? = nil, expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Bool {
    try await change(Rows.dismiss, (binding, expectation.properties(animated: animated))).0
  }

  /// Sets many bindings to nil.
  /// - Returns: how many held something.
  @discardableResult
  public func dismissAll(
    _ scope: Scope, animated: Bool? = nil, expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Int {
    let options = Expectation(serial: expectedSerial).properties(animated: animated)
    return Int(try await change(Rows.dismissAll, options.merging(scope.properties) { $1 }).0)
  }
}

extension Coordinator.Change {
  /// As ``Coordinator/present(_:id:_:expecting:)``.
  public static func present(
    _ binding: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) -> Self {
    Self(
      Coordinator.Rows.present, (binding, id, options.properties(expectation)),
      declaring: options.containerValues.declarations)
  }

  /// As ``Coordinator/toggle(_:id:_:expecting:)``.
  public static func toggle(
    _ binding: String, id: String? = nil, _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) -> Self {
    var properties = options.properties(expectation)
    if id == nil { properties[Options.anyID] = true }
    return Self(
      Coordinator.Rows.toggle, (binding, id ?? "", properties), declaring: options.containerValues.declarations)
  }

  /// As ``Coordinator/update(_:_:remove:expecting:)``.
  public static func update(
    _ binding: String, _ value: Properties, remove: [String] = [], expecting expectation: Expectation = Expectation()
  ) -> Self {
    var properties = expectation.properties
    if !remove.isEmpty { properties[Options.remove] = remove }
    return Self(Coordinator.Rows.update, (binding, value, properties))
  }

  /// As ``Coordinator/dismiss(_:animated:expecting:)``.
  public static func dismiss(
    _ binding: String, animated: Bool? = nil, expecting expectation: Expectation = Expectation()
  ) -> Self {
    Self(Coordinator.Rows.dismiss, (binding, expectation.properties(animated: animated)))
  }

  /// As ``Coordinator/dismissAll(_:animated:expectedSerial:)``.
  public static func dismissAll(_ scope: Coordinator.Scope, animated: Bool? = nil) -> Self {
    Self(Coordinator.Rows.dismissAll, Expectation().properties(animated: animated).merging(scope.properties) { $1 })
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
    }
    return options
  }
}

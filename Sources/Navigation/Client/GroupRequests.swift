import CoordinatorAPI
import DBusValues
import PresentationModel

/// Requests about exclusive groups.
extension Coordinator {
  /// Selects a tag in its group (G2).
  @discardableResult
  public func select(
    _ group: String, _ tag: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions(), expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Presented {
    presented(try await change(Rows.select, (group, tag, try await selecting(binding, id, options, expectedSerial))))
  }

  /// Sets a group's selection to nil; with a tag, only if that is selected (G3).
  /// - Returns: whether the request changed anything.
  @discardableResult
  public func deselect(
    _ group: String, _ tag: String? = nil, animated: Bool? = nil, expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Bool {
    let options = Expectation(serial: expectedSerial).properties(animated: animated)
    return try await change(Rows.deselect, (group, tag ?? "", options)).0
  }

  /// Deselects the tag if it is selected, else selects it (G4).
  /// - Returns: whether it is selected after the request.
  @discardableResult
  public func toggleSelection(
    _ group: String, _ tag: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions(), expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Bool {
    try await change(Rows.toggleSelection, (group, tag, try await selecting(binding, id, options, expectedSerial))).0
  }

  /// Makes the group forget the last request for a tag (G7).
  /// - Returns: whether the request changed anything.
  @discardableResult
  public func forget(_ group: String, _ tag: String) async throws(NavigationError) -> Bool {
    try await change(Rows.forget, (group, tag, [:])).0
  }
}

extension Coordinator.Change {
  /// As ``Coordinator/select(_:_:binding:id:_:expectedSerial:)``.
  public static func select(
    _ group: String, _ tag: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions()
  ) -> Self {
    selecting(Coordinator.Rows.select, group, tag, binding, id, options)
  }

  /// As ``Coordinator/toggleSelection(_:_:binding:id:_:expectedSerial:)``.
  public static func toggleSelection(
    _ group: String, _ tag: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions()
  ) -> Self {
    selecting(Coordinator.Rows.toggleSelection, group, tag, binding, id, options)
  }

  private static func selecting<Output>(
    _ method: ChangingMethod<(String, String, Properties), Output>, _ group: String, _ tag: String, _ binding: String?,
    _ id: String?, _ options: PresentationOptions
  ) -> Self {
    var properties = options.properties
    properties[Options.binding] = binding
    properties[Options.id] = id
    return Self(method, (group, tag, properties), declaring: options.containerValues.declarations)
  }

  /// As ``Coordinator/forget(_:_:)``.
  public static func forget(_ group: String, _ tag: String) -> Self {
    Self(Coordinator.Rows.forget, (group, tag, [:]))
  }

  /// As ``Coordinator/deselect(_:_:animated:expectedSerial:)``.
  public static func deselect(_ group: String, _ tag: String? = nil, animated: Bool? = nil) -> Self {
    Self(Coordinator.Rows.deselect, (group, tag ?? "", Expectation().properties(animated: animated)))
  }
}

import CoordinatorAPI
import DBusValues
import PresentationModel

/// Requests about exclusive groups.
extension Coordinator {
  /// Selects a tag in its group (G2): `coordinator.select("wifi", in: "panels")`.
  ///
  ///     try await coordinator.select("help", in: "panels")
  @discardableResult
  public func select(
    _ tag: String, in group: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions()
  ) async throws(NavigationError) -> Presented {
    Presented(try await change(Rows.select, (group, tag, try await selecting(binding, id, options))))
  }

  /// Deselects a tag of a group if it is selected; nil stands for any tag (G3).
  ///
  ///     try await coordinator.deselect(nil, in: "panels")
  ///
  /// - Returns: whether the request changed anything.
  @discardableResult
  public func deselect(
    _ tag: String? = nil, in group: String, animated: Bool? = nil, force: Bool = false
  ) async throws(NavigationError) -> Bool {
    let options = Expectation().properties(animated: animated, force: force)
    return try await change(Rows.deselect, (group, tag ?? "", options)).0
  }

  /// Deselects a tag if it is selected, and selects it otherwise (G4).
  ///
  ///     try await coordinator.toggleSelection("help", in: "panels")
  ///
  /// - Returns: whether the tag is selected after the request.
  @discardableResult
  public func toggleSelection(
    _ tag: String, in group: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions()
  ) async throws(NavigationError) -> Bool {
    try await change(Rows.toggleSelection, (group, tag, try await selecting(binding, id, options))).0
  }

  /// Makes the group forget the last request for a tag (G7).
  ///
  ///     try await coordinator.forget("help", in: "panels")
  ///
  /// - Returns: whether the request changed anything.
  @discardableResult
  public func forget(_ tag: String, in group: String) async throws(NavigationError) -> Bool {
    try await change(Rows.forget, (group, tag, [:])).0
  }
}

extension Coordinator.Changes {
  /// The request of ``Coordinator/select(_:in:binding:id:_:)``.
  ///
  ///     try await coordinator.apply { $0.select("help", in: "panels") }
  public func select(
    _ tag: String, in group: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions()
  ) -> Coordinator.Change<Coordinator.Presented> {
    change(
      Coordinator.Rows.select, (group, tag, options.selecting(binding, id)),
      declaring: options.containerValues.declarations, reply: Coordinator.Presented.init)
  }

  /// The request of ``Coordinator/toggleSelection(_:in:binding:id:_:)``.
  ///
  ///     try await coordinator.apply { $0.toggleSelection("help", in: "panels") }
  public func toggleSelection(
    _ tag: String, in group: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions()
  ) -> Coordinator.Change<Bool> {
    change(
      Coordinator.Rows.toggleSelection, (group, tag, options.selecting(binding, id)),
      declaring: options.containerValues.declarations, reply: \.0)
  }

  /// The request of ``Coordinator/forget(_:in:)``.
  ///
  ///     try await coordinator.apply { $0.forget("help", in: "panels") }
  public func forget(_ tag: String, in group: String) -> Coordinator.Change<Bool> {
    change(Coordinator.Rows.forget, (group, tag, [:]), reply: \.0)
  }

  /// The request of ``Coordinator/deselect(_:in:animated:force:)``.
  ///
  ///     try await coordinator.apply { $0.deselect(nil, in: "panels") }
  public func deselect(
    _ tag: String? = nil, in group: String, animated: Bool? = nil, force: Bool = false
  ) -> Coordinator.Change<Bool> {
    change(
      Coordinator.Rows.deselect, (group, tag ?? "", Expectation().properties(animated: animated, force: force)),
      reply: \.0)
  }
}

extension PresentationOptions {
  /// The options of a request that selects a tag.
  func selecting(_ binding: String?, _ id: String?) -> Properties {
    var all = properties
    all[Options.binding] = binding
    all[Options.id] = id
    return all
  }
}

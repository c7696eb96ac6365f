import CoordinatorAPI
import DBusValues
import PresentationModel

/// Requests about stacks.
extension Coordinator {
  /// An element of a new path.
  ///
  ///     var last = Coordinator.PathItem(binding: "reader.note", id: "2")
  ///     last.options.title = "The second note"
  ///     try await coordinator.setPath([.init(id: "1"), last], of: "reader.path")
  ///     try await coordinator.setPath([.init(id: "1"), .init(id: "2")], of: "inventory.path")
  public struct PathItem: Hashable, Sendable {
    /// The slot; nil means `stack[i]` (S5).
    public var binding: String?
    /// The id of the item.
    public var id: String
    /// The options of the item.
    public var options: PresentationOptions

    /// Creates an element. If the binding is nil, the position determines it.
    public init(binding: String? = nil, id: String, _ options: PresentationOptions = PresentationOptions()) {
      self.binding = binding
      self.id = id
      self.options = options
    }

    /// The element as the contract's structure.
    var element: Structure<String, String, Properties> { Structure(binding ?? "", id, options.properties) }
  }

  /// Puts the item of a binding on top of a stack (S1): `coordinator.push("reader.note", onto: "reader.path")`.
  ///
  ///     try await coordinator.push("inventory.path[0]", onto: "inventory.path", id: "7")
  @discardableResult
  public func push(
    _ binding: String, onto stack: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Presented {
    Presented(try await change(Rows.push, (stack, binding, id, try await all(options, expectation))))
  }

  /// Removes items from the top of a stack (S2). A negative count is reported as misuse, and removes nothing.
  ///
  ///     try await coordinator.pop(1, from: "inventory.path")
  ///
  /// - Returns: the number of items removed.
  @discardableResult
  public func pop(
    _ count: Int = 1, from stack: String, animated: Bool? = nil, force: Bool = false,
    file: StaticString = #fileID, line: UInt = #line
  ) async throws(NavigationError) -> Int {
    let options = Expectation().properties(animated: animated, force: force)
    return Int(try await change(Rows.pop, (stack, popCount(count, file, line), options)).0)
  }

  /// Removes items from the top of a stack until a binding is at the top; nil removes all items.
  ///
  ///     try await coordinator.pop(to: "inventory.path[0]", in: "inventory.path")
  ///
  /// - Returns: the number of items removed.
  @discardableResult
  public func pop(
    to binding: String?, in stack: String, animated: Bool? = nil, force: Bool = false
  ) async throws(NavigationError) -> Int {
    let options = Expectation().properties(animated: animated, force: force)
    return Int(try await change(Rows.popTo, (stack, binding ?? "", options)).0)
  }

  /// Replaces a stack's path (S5).
  ///
  ///     try await coordinator.setPath([.init(id: "1"), .init(id: "2")], of: "inventory.path")
  ///
  /// `allowsState` is that of ``PresentationOptions/Request/allowsState``, for all elements.
  ///
  /// - Returns: the presentations in the order of the path.
  @discardableResult
  public func setPath(
    _ path: [PathItem], of stack: String, allowsState: Bool = false, animated: Bool? = nil, force: Bool = false
  ) async throws(NavigationError) -> [PresentationHandle] {
    for item in path { try await declare(item.options.containerValues) }
    let options = PresentationOptions.Request(allowsState: allowsState, animated: animated, isForced: force).properties
    let (presentations, _, _) = try await change(Rows.setPath, (stack, path.map(\.element), options))
    return presentations.compactMap(Handle.init(path:))
  }
}

extension Coordinator.Changes {
  /// The request of ``Coordinator/push(_:onto:id:_:expecting:)``.
  ///
  ///     try await coordinator.apply { $0.push("inventory.path[0]", onto: "inventory.path", id: "7") }
  public func push(
    _ binding: String, onto stack: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) -> Coordinator.Change<Coordinator.Presented> {
    change(
      Coordinator.Rows.push, (stack, binding, id, options.properties(expectation)),
      declaring: options.containerValues.declarations, reply: Coordinator.Presented.init)
  }

  /// The request of ``Coordinator/pop(_:from:animated:force:file:line:)``.
  ///
  ///     try await coordinator.apply { $0.pop(1, from: "inventory.path") }
  public func pop(
    _ count: Int = 1, from stack: String, animated: Bool? = nil, force: Bool = false, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Coordinator.Change<Int> {
    let options = Expectation().properties(animated: animated, force: force)
    return change(Coordinator.Rows.pop, (stack, popCount(count, file, line), options)) { Int($0.0) }
  }

  /// The request of ``Coordinator/pop(to:in:animated:force:)``.
  ///
  ///     try await coordinator.apply { $0.pop(to: "inventory.path[0]", in: "inventory.path") }
  public func pop(
    to binding: String?, in stack: String, animated: Bool? = nil, force: Bool = false
  ) -> Coordinator.Change<Int> {
    change(
      Coordinator.Rows.popTo, (stack, binding ?? "", Expectation().properties(animated: animated, force: force))
    ) { Int($0.0) }
  }

  /// The request of ``Coordinator/setPath(_:of:allowsState:animated:force:)``.
  ///
  ///     try await coordinator.apply { $0.setPath([.init(id: "1")], of: "inventory.path") }
  public func setPath(
    _ path: [Coordinator.PathItem], of stack: String, allowsState: Bool = false, animated: Bool? = nil,
    force: Bool = false
  ) -> Coordinator.Change<[PresentationHandle]> {
    let declarations = path.map(\.options.containerValues.declarations)
    let options = PresentationOptions.Request(allowsState: allowsState, animated: animated, isForced: force).properties
    return change(
      Coordinator.Rows.setPath, (stack, path.map(\.element), options),
      declaring: declarations.reduce([:]) { $0.merging($1) { $1 } }
    ) { $0.0.compactMap(Handle.init(path:)) }
  }
}

/// The count of `Pop`.
private func popCount(_ count: Int, _ file: StaticString, _ line: UInt) -> UInt32 {
  if count < 0 {
    reportMisuse("pop: expected a count of 0 or more, found \(count); nothing is removed", file: file, line: line)
  }
  return UInt32(clamping: count)
}

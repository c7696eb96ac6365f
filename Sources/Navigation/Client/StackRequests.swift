import CoordinatorAPI
import DBusValues
import PresentationModel

/// Requests about stacks.
extension Coordinator {
  /// One screen that a path shall have.
  public struct PathItem: Hashable, Sendable {
    /// nil: `stack[i]` (S5).
    public var binding: String?
    /// Which item.
    public var id: String
    /// How it is shown.
    public var options: PresentationOptions

    /// A screen; without a binding, that of its place.
    public init(binding: String? = nil, id: String, _ options: PresentationOptions = PresentationOptions()) {
      self.binding = binding
      self.id = id
      self.options = options
    }

    /// As the contract has it.
    var element: Structure<String, String, Properties> { Structure(binding ?? "", id, options.properties) }
  }

  /// Puts an item on the top of a stack (S1).
  @discardableResult
  public func push(
    _ stack: String, _ binding: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Presented {
    presented(try await change(Rows.push, (stack, binding, id, try await all(options, expectation))))
  }

  /// Takes items from the top of a stack (S2).
  /// - Returns: how many went.
  @discardableResult
  public func pop(
    _ stack: String, _ count: Int = 1, animated: Bool? = nil, expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Int {
    let options = Expectation(serial: expectedSerial).properties(animated: animated)
    return Int(try await change(Rows.pop, (stack, UInt32(clamping: count), options)).0)
  }

  /// Takes items from the top of a stack until a binding is the top; nil: all of them.
  /// - Returns: how many went.
  @discardableResult
  public func popTo(
    _ stack: String, _ binding: String?, animated: Bool? = nil, expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Int {
    let options = Expectation(serial: expectedSerial).properties(animated: animated)
    return Int(try await change(Rows.popTo, (stack, binding ?? "", options)).0)
  }

  /// Makes a stack's path this one (S5).
  /// - Returns: the presentations, in its order.
  @discardableResult
  public func setPath(
    _ stack: String, _ path: [PathItem], animated: Bool? = nil, expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> [PresentationHandle] {
    for item in path { try await declare(item.options.containerValues) }
    let options = Expectation(serial: expectedSerial).properties(animated: animated)
    let (presentations, _) = try await change(Rows.setPath, (stack, path.map(\.element), options))
    return presentations.compactMap(Handle.init(path:))
  }
}

extension Coordinator.Change {
  /// As ``Coordinator/push(_:_:id:_:expecting:)``.
  public static func push(
    _ stack: String, _ binding: String, id: String = "", _ options: PresentationOptions = PresentationOptions(),
    expecting expectation: Expectation = Expectation()
  ) -> Self {
    Self(
      Coordinator.Rows.push, (stack, binding, id, options.properties(expectation)),
      declaring: options.containerValues.declarations)
  }

  /// As ``Coordinator/pop(_:_:animated:expectedSerial:)``.
  public static func pop(_ stack: String, _ count: Int = 1, animated: Bool? = nil) -> Self {
    Self(Coordinator.Rows.pop, (stack, UInt32(clamping: count), Expectation().properties(animated: animated)))
  }

  /// As ``Coordinator/popTo(_:_:animated:expectedSerial:)``.
  public static func popTo(_ stack: String, _ binding: String?, animated: Bool? = nil) -> Self {
    Self(Coordinator.Rows.popTo, (stack, binding ?? "", Expectation().properties(animated: animated)))
  }

  /// As ``Coordinator/setPath(_:_:animated:expectedSerial:)``.
  public static func setPath(_ stack: String, _ path: [Coordinator.PathItem], animated: Bool? = nil) -> Self {
    let declarations = path.map(\.options.containerValues.declarations)
    return Self(
      Coordinator.Rows.setPath, (stack, path.map(\.element), Expectation().properties(animated: animated)),
      declaring: declarations.reduce([:]) { $0.merging($1) { $1 } })
  }
}

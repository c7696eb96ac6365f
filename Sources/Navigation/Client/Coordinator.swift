// Why this file exists: every method of the contract, as an async call with Swift's own types.

import CoordinatorAPI
import DBus
import DBusValues

/// A coordinator: the session's, on its bus, or one inside this program. One line chooses; nothing else changes.
///
///     let coordinator = try await Coordinator.session()
///     try await coordinator.present("counter.fact", id: "1", PresentationOptions(title: "Fact"))
///
/// Requests are carried out in the order in which they are made (rule P9). Cancelling a task gives up its call. Every method
/// throws ``NavigationError``; a refused request has changed nothing.
public final class Coordinator: Sendable {
  let service: any CoordinatorService
  /// What tells this program from the coordinator's other clients: a part of the names of what is its own.
  let client: String

  private init(_ service: any CoordinatorService, client: String) {
    self.service = service
    self.client = client
  }

  /// The session's coordinator, navd, which the bus starts when it is first asked.
  /// - Throws: `unreachable` where there is no session bus.
  public static func session() async throws(NavigationError) -> Coordinator { try await bus(nil) }

  /// The coordinator of the bus at a D-Bus address.
  /// - Throws: `unreachable` where there is no bus.
  public static func bus(address: String) async throws(NavigationError) -> Coordinator { try await bus(address) }

  private static func bus(_ address: String?) async throws(NavigationError) -> Coordinator {
    let service = try BusService()
    return Coordinator(service, client: try await service.open(address: address))
  }

  /// A coordinator of this program's own. It shows what the program shows itself; it starts no programs, and what it knows
  /// ends with it.
  public static func embedded() -> Coordinator { Coordinator(EmbeddedService(), client: "embedded") }

  /// Ends the connection; what this program owns ends by that (O1). Calls that have no answer yet, and all after, fail.
  public func close() async { await service.close() }

  // MARK: Watching

  /// The state from now on, and everything that changes.
  public var following: Following { Following(service: service) }

  /// The whole state, now.
  public func state() async throws(NavigationError) -> NavigationState {
    let (state, serial) = try await read(Rows.getState, ())
    return NavigationState(state, serial: serial)
  }

  /// What a binding should show; nil where that is nothing.
  public func presentation(at binding: String) async throws(NavigationError) -> PresentationState? {
    let (_, item, _) = try await read(Rows.get, binding)
    return PresentationState(item)
  }

  // MARK: Presenting

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
    if id == nil { properties[CoordinatorAPI.Options.anyID] = true }
    let (isPresented, presentation, _) = try await change(Rows.toggle, (binding, id ?? "", properties))
    return isPresented ? PresentationHandle(optional: presentation) : nil
  }

  /// Edits the item's value in place (D8): sets some keys, takes others out.
  /// - Returns: whether anything is different now.
  @discardableResult
  public func update(
    _ binding: String, _ value: Properties, remove: [String] = [], expecting expectation: Expectation = Expectation()
  ) async throws(NavigationError) -> Bool {
    var options = expectation.properties
    if !remove.isEmpty { options[CoordinatorAPI.Options.remove] = remove }
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

  // MARK: Groups

  /// Makes a tag its group's selection (G2).
  @discardableResult
  public func select(
    _ group: String, _ tag: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions(), expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Presented {
    presented(try await change(Rows.select, (group, tag, try await selecting(binding, id, options, expectedSerial))))
  }

  /// Makes a group's selection nil; with a tag, only where it is the selected one (G3).
  /// - Returns: whether anything is different now.
  @discardableResult
  public func deselect(
    _ group: String, _ tag: String? = nil, animated: Bool? = nil, expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Bool {
    let options = Expectation(serial: expectedSerial).properties(animated: animated)
    return try await change(Rows.deselect, (group, tag ?? "", options)).0
  }

  /// Deselects the tag where it is selected, else selects it (G4).
  /// - Returns: whether it is selected now.
  @discardableResult
  public func toggleSelection(
    _ group: String, _ tag: String, binding: String? = nil, id: String? = nil,
    _ options: PresentationOptions = PresentationOptions(), expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> Bool {
    try await change(Rows.toggleSelection, (group, tag, try await selecting(binding, id, options, expectedSerial))).0
  }

  // MARK: Stacks

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
    return presentations.compactMap(PresentationHandle.init(optional:))
  }

  // MARK: Transactions

  /// Makes all of the changes, or, if one is refused, none (T1): what is set and set back has never changed.
  /// - Returns: what each came to, in its method's own terms; and the serial after them.
  @discardableResult
  public func apply(
    _ changes: [Change], animated: Bool? = nil, expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> (replies: [[Value]], serial: UInt64) {
    for change in changes { try await declare(change.declarations) }
    let options = Expectation(serial: expectedSerial).properties(animated: animated)
    return try await change(Rows.apply, (changes.map { Structure($0.method, $0.arguments) }, options))
  }

  // MARK: Waiting

  /// Returns when a presentation is shown, or has ended before.
  /// - Returns: why it ended; nil where it is shown.
  @discardableResult
  public func waitUntilPresented(_ presentation: PresentationHandle) async throws(NavigationError) -> NavigationReason?
  {
    NavigationReason(rawValue: try await read(Rows.wait, (presentation.path, "presented")).0)
  }

  /// Returns when a presentation is gone, also long after. While navd is restarted it waits on.
  /// - Returns: why it is gone, and what its presenter handed back (D6).
  public func waitUntilGone(
    _ presentation: PresentationHandle
  ) async throws(NavigationError) -> (reason: NavigationReason?, result: Properties) {
    while true {
      do throws(NavigationError) {
        let (reason, result) = try await read(Rows.wait, (presentation.path, "gone"))
        return (NavigationReason(rawValue: reason), result)
      } catch .unreachable {
        // The next coordinator knows the handle, too. If there is no bus any more, this fails.
        for try await _ in following { break }
      }
    }
  }

  // MARK: Containers

  /// What has members.
  public enum Container: Hashable, Sendable {
    /// The members of a group.
    case group(String)
    /// What stands in a stack.
    case stack(String)
    /// What is presented from a binding's item.
    case parent(String)
    /// The coordinator itself: all that is presented.
    case everything
  }

  /// What a container holds, with all declared values: a stack in the order of its path, the others in the order of
  /// acceptance (V5).
  public func members(of container: Container) async throws(NavigationError) -> [Member] {
    let (kind, name) =
      switch container {
      case .group(let name): ("group", name)
      case .stack(let name): ("stack", name)
      case .parent(let binding): ("parent", binding)
      case .everything: ("all", "")
      }
    return try await read(Rows.members, (kind, name)).map { member in
      let (binding, id, path, values) = member.fields
      return Member(
        binding: binding, id: id, presentation: PresentationHandle(path),
        containerValues: ContainerValues(resolved: values))
    }
  }

  /// Declares a key, so that others can read its default before anything sets it (V1). What this program sets is declared by
  /// that.
  public func declare<Key: ContainerValueKey>(_ key: Key.Type) async throws(NavigationError) {
    try await change(Rows.declareContainerValue, (key.name, key.defaultValue.value))
  }

  /// Reads a key of a binding's item: what was set, else the default (V3).
  public func containerValue<Key: ContainerValueKey>(
    _ key: Key.Type, at binding: String
  ) async throws(NavigationError) -> Key.Value {
    Key.Value(value: try await read(Rows.containerValue, (binding, key.name))) ?? key.defaultValue
  }

  private func declare(_ values: ContainerValues) async throws(NavigationError) {
    try await declare(values.declarations)
  }

  private func declare(_ declarations: Properties) async throws(NavigationError) {
    for (key, standard) in declarations.sorted(by: { $0.key < $1.key }) {
      try await change(Rows.declareContainerValue, (key, standard))
    }
  }

  // MARK: Presenters

  /// A presentation was closed by its user, or by itself (D11): nil is written where it is still its slot's own (P5).
  /// - Returns: whether anything is different now.
  @discardableResult
  public func closed(
    _ presentation: PresentationHandle, result: Properties = [:]
  ) async throws(NavigationError) -> Bool {
    try await change(Rows.closed, (presentation.path, result)).0
  }

  /// Something was done in a presentation: everybody who watches is told (P8).
  public func act(
    _ presentation: PresentationHandle, _ action: String, _ parameters: Properties = [:]
  ) async throws(NavigationError) {
    try await change(Rows.act, (presentation.path, action, parameters))
  }

  /// The destinations that items can name now, with what is known of each by the names of the contract.
  public func destinations() async throws(NavigationError) -> [String: Properties] {
    Dictionary(try await read(Rows.destinations, ()).map { ($0.fields.0, $0.fields.1) }, uniquingKeysWith: { $1 })
  }

  // MARK: The coordinator itself

  /// What has ended, the latest first, by the names of the contract.
  /// - Parameters:
  ///   - most: how many at most; nil: all that are remembered.
  ///   - filter: only those of a `binding`, for example, by the names of the contract.
  public func history(most: Int? = nil, _ filter: Properties = [:]) async throws(NavigationError) -> [Properties] {
    try await read(Rows.history, (most.map { UInt32(clamping: $0) } ?? 0, filter))
  }

  /// Reads the configuration files again.
  /// - Throws: `refused`, naming file, line and what is wrong; what was loaded from that file before stays.
  public func reload() async throws(NavigationError) { try await change(Rows.reload, ()) }

  /// Ends everything that is presented, then the daemon.
  public func quit() async throws(NavigationError) { try await change(Rows.quit, ()) }

  /// The version of its interface; it grows when something is added.
  public func interfaceVersion() async throws(NavigationError) -> UInt32 { try await property(Rows.version) }

  /// The release of navd; of an embedded one: of this library.
  public func release() async throws(NavigationError) -> String { try await property(Rows.release) }

  /// What `limitExceeded` refuses to go past, by name: bytes for sizes, else how many.
  public func limits() async throws(NavigationError) -> [String: UInt64] { try await property(Rows.limits) }

  /// Of the last difference between two states (W1).
  public func serial() async throws(NavigationError) -> UInt64 { try await property(Rows.serial) }

  // MARK: Helpers

  private typealias Rows = CoordinatorInterface

  /// A call that changes something: the bus starts navd for it.
  @discardableResult
  private func change<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await service.call(method, input, starts: true)
  }

  /// A call that only asks: it starts nothing.
  private func read<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await service.call(method, input, starts: false)
  }

  private func property<T>(_ property: Property<T>) async throws(NavigationError) -> T {
    let value = try await read(PropertyAccessing.get, (CoordinatorInterface.name.text, property.name.text))
    guard let value = T(value: value) else {
      throw .refused(CoordinatorError(.invalidArgument, "\(property.name) is \(value), and not as the contract says"))
    }
    return value
  }

  private func presented(_ reply: (ObjectPath, Bool, UInt64)) -> Presented {
    Presented(presentation: PresentationHandle(optional: reply.0), changed: reply.1, serial: reply.2)
  }

  private func all(_ options: PresentationOptions, _ expectation: Expectation) async throws(NavigationError)
    -> Properties
  {
    try await declare(options.containerValues)
    return options.properties(expectation)
  }

  private func selecting(
    _ binding: String?, _ id: String?, _ options: PresentationOptions, _ expectedSerial: UInt64?
  ) async throws(NavigationError) -> Properties {
    var properties = try await all(options, Expectation(serial: expectedSerial))
    properties[CoordinatorAPI.Options.binding] = binding
    properties[CoordinatorAPI.Options.id] = id
    return properties
  }
}

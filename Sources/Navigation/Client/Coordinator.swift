import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// A coordinator: the session's, on its bus, or one inside this program. Both have the same interface.
///
///     let coordinator = try await Coordinator.session()
///     try await coordinator.present("counter.fact", id: "1", PresentationOptions(title: "Fact"))
///
/// Requests are carried out in the order of their calls (rule P9). Cancelling a task cancels its call. Every method throws
/// ``NavigationError``; a refused request has changed nothing.
public final class Coordinator: Sendable {
  let backend: any CoordinatorBackend
  /// A name that is unique among the coordinator's clients; a part of the names that this program generates.
  let client: String

  private init(_ backend: any CoordinatorBackend, client: String) {
    self.backend = backend
    self.client = client
  }

  /// Connects to the session's coordinator, navd. The bus starts it at the first request.
  /// - Throws: `unreachable` if there is no session bus.
  public static func session() async throws(NavigationError) -> Coordinator { try await bus(nil) }

  /// Connects to the coordinator of the bus at a D-Bus address.
  /// - Throws: `unreachable` if there is no bus.
  public static func bus(address: String) async throws(NavigationError) -> Coordinator { try await bus(address) }

  private static func bus(_ address: String?) async throws(NavigationError) -> Coordinator {
    let service = try BusBackend()
    return Coordinator(service, client: try await service.open(address: address))
  }

  /// Creates a coordinator inside this program. It starts no programs, shows only destinations that the program serves, and keeps no
  /// record.
  public static func embedded() -> Coordinator { Coordinator(EmbeddedBackend(), client: "embedded") }

  /// Ends the connection, and with it the items that this program owns (O1). Unanswered and later calls throw `closed`.
  public func close() async { await backend.close() }

  // MARK: Watching

  /// The state and all later events.
  public var following: Following { Following(backend: backend) }

  /// Reads the whole state.
  public func state() async throws(NavigationError) -> NavigationState {
    let (state, serial) = try await read(Rows.getState, ())
    return NavigationState(StateSnapshot(state), serial: serial)
  }

  /// Reads the presentation in a slot; nil if the slot is empty.
  public func presentation(at binding: String) async throws(NavigationError) -> PresentationState? {
    let (_, item, _) = try await read(Rows.get, binding)
    return PresentationState(StateEntry(item))
  }

  // MARK: Transactions

  /// Makes all of the changes or, if one is refused, none (T1). A slot that is set and set back has not changed.
  /// - Returns: the reply of each change's method, and the serial after the last change.
  @discardableResult
  public func apply(
    _ changes: [Change], animated: Bool? = nil, expectedSerial: UInt64? = nil
  ) async throws(NavigationError) -> (replies: [[Value]], serial: UInt64) {
    for change in changes { try await declare(change.declarations) }
    let options = Expectation(serial: expectedSerial).properties(animated: animated)
    return try await change(Rows.apply, (changes.map { Structure($0.method, $0.arguments) }, options))
  }

  // MARK: Waiting

  /// Waits until a presentation is shown or has ended.
  /// - Returns: why it ended; nil if it is shown.
  @discardableResult
  public func waitUntilPresented(_ presentation: PresentationHandle) async throws(NavigationError) -> NavigationReason?
  {
    NavigationReason(rawValue: try await read(Rows.wait, (presentation.path, "presented")).0)
  }

  /// Waits until a presentation has ended, also across restarts of navd.
  /// - Returns: why it ended, and the result of its presenter (D6).
  public func waitUntilGone(
    _ presentation: PresentationHandle
  ) async throws(NavigationError) -> (reason: NavigationReason?, result: Properties) {
    while true {
      do throws(NavigationError) {
        let (reason, result) = try await read(Rows.wait, (presentation.path, "gone"))
        return (NavigationReason(rawValue: reason), result)
      } catch .unreachable {
        // Waits for the next coordinator, which knows the handle, too. Throws if the bus is gone.
        for try await _ in following { break }
      }
    }
  }

  // MARK: Containers

  /// A container of presentations (V5).
  public typealias Container = PresentationModel.Container<String>

  /// Reads the members of a container with all declared values: of a stack in the order of its path, of others in the order of
  /// acceptance (V5).
  public func members(of container: Container) async throws(NavigationError) -> [Member] {
    try await read(Rows.members, container.arguments).map { member in
      let (binding, id, path, values) = member.fields
      return Member(
        binding: binding, id: id, presentation: Handle(path: path) ?? Handle(0),
        containerValues: ContainerValues(resolved: values))
    }
  }

  /// Declares a key, so that other clients can read its default (V1). Requests declare the keys that they set.
  public func declare<Key: ContainerValueKey>(_ key: Key.Type) async throws(NavigationError) {
    try await change(Rows.declareContainerValue, (key.name, key.defaultValue.value))
  }

  /// Reads the value that a binding's item sets for a key, else the default (V3).
  public func containerValue<Key: ContainerValueKey>(
    _ key: Key.Type, at binding: String
  ) async throws(NavigationError) -> Key.Value {
    Key.Value(value: try await read(Rows.containerValue, (binding, key.name))) ?? key.defaultValue
  }

  func declare(_ values: ContainerValues) async throws(NavigationError) {
    try await declare(values.declarations)
  }

  func declare(_ declarations: Properties) async throws(NavigationError) {
    for (key, defaultValue) in declarations.sorted(by: { $0.key < $1.key }) {
      try await change(Rows.declareContainerValue, (key, defaultValue))
    }
  }

  // MARK: Presenters

  /// Reports that a presentation was closed by its user or by itself (D11). Its slot becomes nil if it still holds it (P5).
  /// - Returns: whether the report changed anything.
  @discardableResult
  public func closed(
    _ presentation: PresentationHandle, result: Properties = [:]
  ) async throws(NavigationError) -> Bool {
    try await change(Rows.closed, (presentation.path, result)).0
  }

  /// Reports an action in a presentation to all clients that watch, for example a pressed button (P8).
  public func act(
    _ presentation: PresentationHandle, _ action: String, _ parameters: Properties = [:]
  ) async throws(NavigationError) {
    try await change(Rows.act, (presentation.path, action, parameters))
  }

  /// Reads the destinations that items can name now, with their properties by the keys of the contract.
  public func destinations() async throws(NavigationError) -> [String: Properties] {
    Dictionary(try await read(Rows.destinations, ()).map { ($0.fields.0, $0.fields.1) }, uniquingKeysWith: { $1 })
  }

  // MARK: The coordinator itself

  /// Reads the ended presentations, the latest first, by the keys of the contract.
  /// - Parameters:
  ///   - most: the maximum number; nil means all that are stored.
  ///   - filter: required values by the keys of the contract, for example of `binding`.
  public func history(most: Int? = nil, _ filter: Properties = [:]) async throws(NavigationError) -> [Properties] {
    try await read(Rows.history, (most.map { UInt32(clamping: $0) } ?? 0, filter))
  }

  /// Reads the configuration files again.
  /// - Throws: `refused` with file, line and fault; the version of the file that was loaded before stays in effect.
  public func reload() async throws(NavigationError) { try await change(Rows.reload, ()) }

  /// Ends every presentation, then the daemon.
  public func quit() async throws(NavigationError) { try await change(Rows.quit, ()) }

  /// Reads the version of the interface, which grows with each addition.
  public func interfaceVersion() async throws(NavigationError) -> UInt32 { try await property(Rows.version) }

  /// Reads the release of navd, or of this library for an embedded coordinator.
  public func release() async throws(NavigationError) -> String { try await property(Rows.release) }

  /// Reads the limits that `limitExceeded` refuses to exceed, by name: sizes in bytes, and counts.
  public func limits() async throws(NavigationError) -> [String: UInt64] { try await property(Rows.limits) }

  /// Reads the serial of the last event (W1).
  public func serial() async throws(NavigationError) -> UInt64 { try await property(Rows.serial) }

  // MARK: Helpers

  typealias Rows = CoordinatorInterface

  /// Calls a changing method; the bus starts navd for it.
  @discardableResult
  func change<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await backend.call(method, input, starts: true)
  }

  /// Calls a reading method; it does not start navd.
  func read<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await backend.call(method, input, starts: false)
  }

  private func property<T>(_ property: Property<T>) async throws(NavigationError) -> T {
    let value = try await read(PropertyAccessing.get, (CoordinatorInterface.name.text, property.name.text))
    guard let value = T(value: value) else {
      throw .refused(
        CoordinatorError(
          .invalidArgument,
          "\(property.name): expected the type \(T.valueType.signature), found \(value.type.signature)"))
    }
    return value
  }

  func presented(_ reply: (ObjectPath, Bool, UInt64)) -> Presented {
    Presented(presentation: Handle(path: reply.0), changed: reply.1, serial: reply.2)
  }

  func all(_ options: PresentationOptions, _ expectation: Expectation) async throws(NavigationError)
    -> Properties
  {
    try await declare(options.containerValues)
    return options.properties(expectation)
  }

  func selecting(
    _ binding: String?, _ id: String?, _ options: PresentationOptions, _ expectedSerial: UInt64?
  ) async throws(NavigationError) -> Properties {
    var properties = try await all(options, Expectation(serial: expectedSerial))
    properties[Options.binding] = binding
    properties[Options.id] = id
    return properties
  }
}

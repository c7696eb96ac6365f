// Why this file exists: every method of the contract, as an async call with Swift's own types.

import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// A coordinator: the session's, on its bus, or one inside this program. One line chooses; nothing else changes.
///
///     let coordinator = try await Coordinator.session()
///     try await coordinator.present("counter.fact", id: "1", PresentationOptions(title: "Fact"))
///
/// Requests are carried out in the order in which they are made (rule P9). Cancelling a task gives up its call. Every method
/// throws ``NavigationError``; a refused request has changed nothing.
public final class Coordinator: Sendable {
  let backend: any CoordinatorBackend
  /// What tells this program from the coordinator's other clients: a part of the names of what is its own.
  let client: String

  private init(_ backend: any CoordinatorBackend, client: String) {
    self.backend = backend
    self.client = client
  }

  /// The session's coordinator, navd, which the bus starts when it is first asked.
  /// - Throws: `unreachable` where there is no session bus.
  public static func session() async throws(NavigationError) -> Coordinator { try await bus(nil) }

  /// The coordinator of the bus at a D-Bus address.
  /// - Throws: `unreachable` where there is no bus.
  public static func bus(address: String) async throws(NavigationError) -> Coordinator { try await bus(address) }

  private static func bus(_ address: String?) async throws(NavigationError) -> Coordinator {
    let service = try BusBackend()
    return Coordinator(service, client: try await service.open(address: address))
  }

  /// A coordinator of this program's own. It shows what the program shows itself; it starts no programs, and what it knows
  /// ends with it.
  public static func embedded() -> Coordinator { Coordinator(EmbeddedBackend(), client: "embedded") }

  /// Ends the connection; what this program owns ends by that (O1). Calls that have no answer yet, and all after, fail.
  public func close() async { await backend.close() }

  // MARK: Watching

  /// The state from now on, and everything that changes.
  public var following: Following { Following(backend: backend) }

  /// The whole state, now.
  public func state() async throws(NavigationError) -> NavigationState {
    let (state, serial) = try await read(Rows.getState, ())
    return NavigationState(StateSnapshot(state), serial: serial)
  }

  /// What a binding should show; nil where that is nothing.
  public func presentation(at binding: String) async throws(NavigationError) -> PresentationState? {
    let (_, item, _) = try await read(Rows.get, binding)
    return PresentationState(StateEntry(item))
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

  /// A container of presentations (V5).
  public typealias Container = PresentationModel.Container<String>

  /// What a container holds, with all declared values: a stack in the order of its path, the others in the order of
  /// acceptance (V5).
  public func members(of container: Container) async throws(NavigationError) -> [Member] {
    return try await read(Rows.members, container.arguments).map { member in
      let (binding, id, path, values) = member.fields
      return Member(
        binding: binding, id: id, presentation: Handle(path: path) ?? Handle(0),
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

  func declare(_ values: ContainerValues) async throws(NavigationError) {
    try await declare(values.declarations)
  }

  func declare(_ declarations: Properties) async throws(NavigationError) {
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

  typealias Rows = CoordinatorInterface

  /// A call that changes something: the bus starts navd for it.
  @discardableResult
  func change<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await backend.call(method, input, starts: true)
  }

  /// A call that only asks: it starts nothing.
  func read<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await backend.call(method, input, starts: false)
  }

  private func property<T>(_ property: Property<T>) async throws(NavigationError) -> T {
    let value = try await read(PropertyAccessing.get, (CoordinatorInterface.name.text, property.name.text))
    guard let value = T(value: value) else {
      throw .refused(CoordinatorError(.invalidArgument, "\(property.name) is \(value), and not as the contract says"))
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

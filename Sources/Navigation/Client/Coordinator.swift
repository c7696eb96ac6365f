import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// A coordinator: the session's coordinator on its bus, or one inside this program. Both have the same interface.
///
///     let coordinator = try await Coordinator.session()
///     try await coordinator.present("counter.fact", id: "1", PresentationOptions(title: "Fact"))
///
/// The coordinator carries out requests in the order of their calls (P9). A request with `force`
/// lets no presenter decline to end what the request ends (P15). Cancelling a task cancels its
/// call. Every method throws ``NavigationError``; a refused request has changed nothing.
public final class Coordinator: Sendable {
  let backend: any CoordinatorBackend
  /// A name that is unique among the coordinator's clients; a part of the names that this program generates.
  let client: String
  let names = BindingNames()
  /// The navigators that present from this coordinator, by their subjects.
  @MainActor var navigators: [DrivenSubject: WeakNavigator] = [:]

  init(_ backend: any CoordinatorBackend, client: String) {
    self.backend = backend
    self.client = client
  }

  /// Connects to the session's coordinator, navd. The bus starts navd if it is not running.
  ///
  ///     let navigator = Navigator(try await .session())
  ///
  /// - Throws: `unreachable` if there is no session bus, or if no navd runs on it and it cannot start one.
  public static func session() async throws(NavigationError) -> Coordinator { try await bus(nil) }

  /// Connects to the coordinator of the bus at a D-Bus address.
  ///
  ///     let coordinator = try await Coordinator.bus(address: "unix:path=/run/user/1000/bus")
  ///
  /// - Throws: as ``session()``.
  public static func bus(address: String) async throws(NavigationError) -> Coordinator { try await bus(address) }

  private static func bus(_ address: String?) async throws(NavigationError) -> Coordinator {
    let service = try BusBackend()
    let coordinator = Coordinator(service, client: try await service.open(address: address))
    try await coordinator.change(PropertyAccessing.get, (CoordinatorInterface.name.text, Rows.version.name.text))
    return coordinator
  }

  /// Creates a coordinator inside this program. It starts no programs, shows only destinations that the program serves, and keeps no
  /// record.
  ///
  ///     let navigator = Navigator(.embedded())
  public static func embedded() -> Coordinator { Coordinator(EmbeddedBackend(), client: "embedded") }

  /// Returns the text of a binding at this coordinator (B1). If several existing models share a name, all but the first also have a
  /// number. Two bindings with one name are reported as misuse.
  ///
  ///     let name = coordinator.text(of: $model.note)
  ///     try await coordinator.dismiss(name)
  public func text<Value>(of binding: Binding<Value>) -> String { text(of: binding.route) }

  func text(of route: BindingRoute) -> String { names.text(of: route, client: client) }

  /// Ends the connection, and with it the items owned by this program (O1). Unanswered and later calls throw `closed`.
  ///
  ///     await coordinator.close()
  public func close() async { await backend.close() }

  // MARK: Watching

  /// The state and all later events.
  ///
  ///     for try await element in coordinator.following {
  ///       switch element {
  ///       case .state(let state): print(state.presentations.map(\.binding))
  ///       case .event(let event): print(event)
  ///       }
  ///     }
  public var following: Following { Following(backend: backend) }

  /// Reads the whole state.
  ///
  ///     let open = try await coordinator.state().presentations.map { "\($0.binding) \($0.id)" }
  public func state() async throws(NavigationError) -> NavigationState {
    try await stateAndMoment().state
  }

  func stateAndMoment() async throws(NavigationError) -> (state: NavigationState, moment: Moment) {
    let ((state, serial), coordinator) = try await backend.ask(Rows.getState, (), starts: false)
    return (
      NavigationState(StateSnapshot(state), serial: serial), Moment(coordinator: coordinator, serial: serial)
    )
  }

  /// Reads the presentation in a slot; nil if the slot is empty.
  ///
  ///     let isOpen = try await coordinator.presentation(at: "mixer") != nil
  public func presentation(at binding: String) async throws(NavigationError) -> PresentationState? {
    let (_, item, _) = try await read(Rows.get, binding)
    return PresentationState(StateEntry(item))
  }

  // MARK: Waiting

  /// Waits until a presentation is shown or has ended.
  ///
  ///     if let mixer = try await coordinator.present("mixer").presentation {
  ///       let end = try await coordinator.waitUntilPresented(mixer)     // nil: it is presented.
  ///     }
  ///
  /// - Returns: the reason of its end; nil if it is shown.
  @discardableResult
  public func waitUntilPresented(_ presentation: PresentationHandle) async throws(NavigationError) -> NavigationReason?
  {
    NavigationReason(rawValue: try await backend.wait(for: presentation, .presented).0)
  }

  /// Waits until a presentation has ended, even across restarts of navd.
  ///
  ///     if let choice = try await coordinator.present("choice").presentation {
  ///       print(try await coordinator.waitUntilGone(choice))
  ///     }
  ///
  /// - Returns: the reason of its end, and the result of its presenter (D6).
  public func waitUntilGone(
    _ presentation: PresentationHandle
  ) async throws(NavigationError) -> (reason: NavigationReason?, result: Properties) {
    while true {
      do throws(NavigationError) {
        let (reason, result) = try await backend.wait(for: presentation, .gone)
        return (NavigationReason(rawValue: reason), result)
      } catch .unreachable {
        // The loop waits for the next coordinator, which also knows the handle, and throws if the
        // bus is gone.
        for try await _ in following { break }
      }
    }
  }

  // MARK: Containers

  /// A container of presentations (V5).
  ///
  ///     let containers: [Coordinator.Container] = [.group("panels"), .stack("inventory.path"), .parent("mixer"), .everything]
  public typealias Container = PresentationModel.Container<String>

  /// Reads the members of a container with all declared values. The members of a stack are in the order of its path, those of other
  /// containers in the order of acceptance (V5).
  ///
  ///     let titles = try await coordinator.members(of: .stack("inventory.path")).map(\.id)
  public func members(of container: Container) async throws(NavigationError) -> [Member] {
    try await read(Rows.members, container.arguments).map { member in
      let (binding, id, _, number, values) = member.fields
      return Member(
        binding: binding, id: id, presentation: Handle(number),
        containerValues: ContainerValues(resolved: values))
    }
  }

  /// Declares a key, so that other clients can read its default (V1). A request itself declares the keys that it sets.
  ///
  ///     try await coordinator.declare(Badge.self)
  public func declare<Key: ContainerValueKey>(_ key: Key.Type) async throws(NavigationError) {
    try await change(Rows.declareContainerValue, (key.name, key.declaredDefault))
  }

  /// Reads the value that a binding's item sets for a key, or the key's default (V3).
  ///
  ///     let badge = try await coordinator.containerValue(Badge.self, at: "inventory.tab.items")
  public func containerValue<Key: ContainerValueKey>(
    _ key: Key.Type, at binding: String
  ) async throws(NavigationError) -> Key.Value {
    ContainerValueCoding.decode(try await read(Rows.containerValue, (binding, key.name))) ?? key.defaultValue
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

  /// Reports that the user closed a presentation, or that it closed by itself (D11). The slot becomes nil if it still holds the
  /// presentation (P5).
  ///
  ///     try await coordinator.reportClosed(presentation, result: ["choice": "tea"])
  ///
  /// - Returns: whether the report changed anything.
  @discardableResult
  public func reportClosed(
    _ presentation: PresentationHandle, result: Properties = [:]
  ) async throws(NavigationError) -> Bool {
    try await change(Rows.closed, (presentation.path, result)).0
  }

  /// Reports that a presenter asks its user before it dismisses a presentation (P16). The report has no effect if the presenter was
  /// not asked to dismiss the presentation, or must not decline.
  ///
  ///     try await coordinator.reportAsking(presentation, "Discard the changes?")
  public func reportAsking(_ presentation: PresentationHandle, _ message: String) async throws(NavigationError) {
    try await change(Rows.asking, (presentation.path, message))
  }

  /// Reports that the program of a presentation is on the screen, which counts if the file of its destination says `ready = "notify"`
  /// (D19). A program that navd has started finds the number of its presentation in `NAVD_PRESENTATION`.
  ///
  ///     try await coordinator.reportReady(presentation)
  ///
  /// - Returns: whether that was awaited.
  @discardableResult
  public func reportReady(_ presentation: PresentationHandle) async throws(NavigationError) -> Bool {
    try await change(Rows.ready, presentation.path).0
  }

  /// Reports an action in a presentation, such as a pressed button, to all watching clients (P8).
  ///
  ///     try await coordinator.act(presentation, "reply", ["text": "Milk"])
  public func act(
    _ presentation: PresentationHandle, _ action: String, _ parameters: Properties = [:]
  ) async throws(NavigationError) {
    try await change(Rows.act, (presentation.path, action, parameters))
  }

  /// Reads the destinations that items can name now, by their names. Every key of the contract is a property: `destination.style`.
  ///
  ///     for (name, destination) in try await coordinator.destinations() { print(name, destination.style ?? "") }
  public func destinations() async throws(NavigationError) -> [String: DestinationState] {
    Dictionary(
      try await read(Rows.destinations, ()).map { ($0.fields.0, DestinationEntry($0.fields.1)) },
      uniquingKeysWith: { $1 })
  }

  // MARK: The coordinator itself

  /// Reads the ended presentations, the latest first. Every key of the contract is a property: `ending.reason`. A failed presentation
  /// has its `error` as long as the coordinator remembers it.
  ///
  ///     for ending in try await coordinator.history(most: 5) { print(ending) }
  ///
  /// - Parameters:
  ///   - most: the maximum number; nil for all that are stored, and 0 or less for none.
  ///   - filter: the required values by the keys of the contract, such as `binding`.
  public func history(most: Int? = nil, _ filter: Properties = [:]) async throws(NavigationError) -> [EndedPresentation]
  {
    // `History` takes 0 as “all”.
    if let most, most <= 0 { return [] }
    var endings = try await read(Rows.history, (most.map { UInt32(clamping: $0) } ?? 0, filter)).map(EndingEntry.init)
    try await addErrors(to: &endings)
    return endings
  }

  /// Adds the reasons of failures from the presentations' results.
  private func addErrors(to endings: inout [EndingEntry]) async throws(NavigationError) {
    let results = await withTaskGroup(of: (Int, Result<Properties, NavigationError>).self) { group in
      for (index, ending) in endings.enumerated() {
        guard let presentation = ending.failedPresentation else { continue }
        group.addTask { (index, await self.result(of: presentation)) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for (index, result) in results {
      do throws(NavigationError) {
        endings[index].error = PresentationResult(try result.get()).error
      } catch .refused {
        // The coordinator no longer remembers the presentation.
      }
    }
  }

  /// The result of a presentation that has ended.
  private func result(of presentation: PresentationHandle) async -> Result<Properties, NavigationError> {
    do throws(NavigationError) {
      return .success(try await backend.wait(for: presentation, .gone).1)
    } catch {
      return .failure(error)
    }
  }

  /// Reads the configuration files again.
  ///
  ///     try await coordinator.reload()
  ///
  /// - Throws: `refused` with file, line and fault; the last valid version of the file stays in effect.
  public func reload() async throws(NavigationError) { try await change(Rows.reload, ()) }

  /// Gives navd variables for commands that no client requests, because navd may have started before the desktop (K6). They are kept
  /// until the session ends.
  ///
  ///     try await coordinator.importEnvironment(["WAYLAND_DISPLAY": "wayland-1"])
  ///
  /// - Parameter variables: the values by their names. Each replaces an earlier value; an empty value removes the variable.
  /// - Returns: whether any variable has changed.
  /// - Throws: `refused`: `invalidArgument`, `limitExceeded`, `accessDenied`, or `notSupported` by an embedded coordinator.
  @discardableResult
  public func importEnvironment(_ variables: [String: String]) async throws(NavigationError) -> Bool {
    try await change(Rows.importEnvironment, variables)
  }

  /// Ends every presentation, and then the daemon.
  ///
  ///     try await coordinator.quit()
  public func quit() async throws(NavigationError) { try await change(Rows.quit, ()) }

  /// Reads the version of the interface, which grows with each addition.
  ///
  ///     let version = try await coordinator.interfaceVersion()
  public func interfaceVersion() async throws(NavigationError) -> UInt32 { try await property(Rows.version) }

  /// Reads the version of navd, such as `0.2.0`, or that of this library if the coordinator is embedded.
  ///
  ///     let version = try await coordinator.softwareVersion()
  public func softwareVersion() async throws(NavigationError) -> String { try await property(Rows.release) }

  /// Reads the limits behind the refusal `limitExceeded`, by name: sizes in bytes, and counts.
  ///
  ///     let most = try await coordinator.limits()["presentations"]
  public func limits() async throws(NavigationError) -> [String: UInt64] { try await property(Rows.limits) }

  /// Reads the serial of the last event (W1).
  ///
  ///     let serial = try await coordinator.serial()
  public func serial() async throws(NavigationError) -> UInt64 { try await property(Rows.serial) }

  /// Reads the moment of the last event.
  func moment() async throws(NavigationError) -> Moment {
    let (value, coordinator) = try await backend.ask(
      PropertyAccessing.get, (Rows.name.text, Rows.serial.name.text), starts: false)
    return Moment(coordinator: coordinator, serial: try Rows.serial.read(value))
  }

  // MARK: Helpers

  typealias Rows = CoordinatorInterface

  /// Calls a method that changes the state; the bus starts navd for it.
  @discardableResult
  func change<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await backend.call(method, input, starts: true)
  }

  /// Calls a method that only reads; it does not start navd.
  func read<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await backend.call(method, input, starts: false)
  }

  private func property<T>(_ property: Property<T>) async throws(NavigationError) -> T {
    try property.read(
      try await read(PropertyAccessing.get, (CoordinatorInterface.name.text, property.name.text)))
  }

  func all(_ options: PresentationOptions, _ expectation: Expectation) async throws(NavigationError)
    -> Properties
  {
    try await declare(options.containerValues)
    return options.properties(expectation)
  }

  func selecting(
    _ binding: String?, _ id: String?, _ options: PresentationOptions
  ) async throws(NavigationError) -> Properties {
    try await declare(options.containerValues)
    return options.selecting(binding, id)
  }
}

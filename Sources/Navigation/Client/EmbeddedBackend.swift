import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules
import TextFormats

/// A coordinator inside the program. It shows items of destinations that the program serves, and items that are state only; it starts
/// no programs, and keeps no record. It runs on the main actor, like the program's own state.
@MainActor
final class EmbeddedBackend: CoordinatorBackend {
  private lazy var service: CoordinatorService<EmbeddedBackend> = {
    var limits = Limits()
    // The number of waits needs no limit: all are calls of the program's own tasks.
    limits.waits = .max
    let service = CoordinatorService(StateMachine(limits: limits, hasFiles: false), host: self)
    service.bindProperties(to: EmbeddedBinder(backend: self))
    return service
  }()
  private let program = Client("embedded")
  fileprivate var methods: [MemberName: any Sendable] = [:]
  fileprivate var properties: [MemberName: () -> Value] = [:]
  /// The presenters of the program, by destination.
  private var hosts: [String: any PresenterHost] = [:]
  /// The presenter of each presentation.
  private var showing: [Handle: any PresenterHost] = [:]
  /// The commands still to be carried out, in their order.
  private var commands: [PresenterCommand] = []
  private var isCarryingOut = false
  private let listeners = Listeners()
  private var alarm: Task<Void, Never>?
  private var isClosed = false

  nonisolated init() {}

  // MARK: Calls

  func ask<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> (answer: Output, coordinator: Int) {
    guard !Task.isCancelled else { throw .cancelled }
    guard !isClosed else { throw .closed }
    // The first use of `service` binds the properties.
    let service = service
    if method.interface == PropertyAccessing.get.interface { return (try property(method, input), 0) }
    if methods[method.name] == nil, let known = CoordinatorMethod(rawValue: method.name.text) {
      service.bind(known, to: EmbeddedBinder(backend: self))
    }
    guard let body = methods[method.name] as? EmbeddedBinder.Body<Input, Output> else {
      throw .refused(
        CoordinatorError(.invalidArgument, "\(method.name) is not available in an embedded coordinator"))
    }
    let call = EmbeddedCall<Output>(client: program)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        call.continuation = continuation
        body.serve(input, call)
      }
    } onCancel: {
      Task { await self.cancel(call) }
    }
    do throws(NavigationError) {
      return (try result.get(), 0)
    } catch {
      // `close` refuses the waiting calls.
      throw isClosed && error.refusal == .shuttingDown ? .closed : error
    }
  }

  func wait(
    for presentation: PresentationHandle, _ phase: WaitPhase
  ) async throws(NavigationError) -> (String, Properties) {
    try await call(CoordinatorInterface.wait, (presentation.path, phase.rawValue), starts: false)
  }

  func callWindowSystem<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) throws(NavigationError) -> Output {
    throw .refused(CoordinatorError(.notSupported, "an embedded coordinator knows no windows and no outputs"))
  }

  func windowEvents() throws(NavigationError) -> AsyncStream<WindowEvent> {
    _ = try callWindowSystem(WindowSystemInterface.getWindows, ())
    return AsyncStream { $0.finish() }
  }

  private func cancel<Output>(_ call: EmbeddedCall<Output>) {
    if service.giveUp(call) { call.finish(.failure(.cancelled)) }
  }

  /// Serves `Get` of `org.freedesktop.DBus.Properties`.
  private func property<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) throws(NavigationError) -> Output {
    guard let (_, name) = input as? (String, String),
      let value = properties.first(where: { $0.key.text == name })?.value() as? Output
    else {
      let unknown = (input as? (String, String)).map { quoted($0.1) } ?? method.name.text
      throw .refused(CoordinatorError(.invalidArgument, "\(unknown) is not a property of \(CoordinatorInterface.name)"))
    }
    return value
  }

  // MARK: Commands

  fileprivate func carryOut(_ command: PresenterCommand) {
    switch command {
    case .present(let handle): present(handle)
    case .update(let handle, _):
      guard let host = showing[handle], let presentation = service.machine.presentation(handle) else { return }
      let item = service.machine.itemEntry(of: presentation).properties
      Task {
        await host.update(handle, item: item)
        service.report(.updateAnswered(handle))
      }
    case .dismiss(let handle, _, let animated, let isForced):
      guard let host = showing[handle] else { return service.report(.dismissAnswered(handle, result: [:])) }
      let options = DismissalOptions(animated: animated, forced: isForced)
      Task {
        do throws(Declined) {
          service.report(.dismissAnswered(handle, result: try await host.dismiss(handle, options)))
        } catch {
          service.report(.declined(handle, message: error.message))
        }
      }
    // There is no process to kill. A presenter that does not answer counts as gone after its grace
    // period (P14).
    case .kill, .abandon, .raise, .bring, .move, .endParked, .releaseParked: break
    }
  }

  private func present(_ handle: Handle) {
    guard let presentation = service.machine.presentation(handle) else { return }
    guard let destination = presentation.item.destination, let host = hosts[destination.name] else {
      return service.report(.presentAnswered(handle, error: "its destination is no longer registered"))
    }
    showing[handle] = host
    var entry = service.machine.itemEntry(of: presentation)
    entry.animated = presentation.item.animated
    let item = PresentedItem(
      presentation: handle, binding: presentation.binding.text, id: presentation.item.id, all: entry.properties,
      beginning: Moment(serial: service.serial))
    Task {
      do throws(ShowingError) {
        try await host.present(item)
        service.report(.presentAnswered(handle, error: nil))
      } catch {
        service.report(.presentAnswered(handle, error: error.why))
      }
    }
  }

  // MARK: Listeners and presenters

  func notices() -> AsyncStream<Notice> {
    let (stream, listener) = listeners.add()
    listener?.yield(.state(service.snapshot(), Moment(serial: service.serial)))
    return stream
  }

  func serve(
    _ destination: String, _ options: DestinationOptions, by host: any PresenterHost
  ) throws(NavigationError) {
    guard !isClosed else { throw .closed }
    do throws(Refusal) {
      try service.register(
        Destination(name: destination, path: .root, options: options.properties, client: program), by: program)
      hosts[destination] = host
    } catch {
      throw .refused(CoordinatorError(error))
    }
  }

  func stopServing(_ destination: String, by host: any PresenterHost) async throws(NavigationError) {
    if let current = hosts[destination], current !== host { return }
    try await call(CoordinatorInterface.unregisterPresenter, destination, starts: false)
    hosts[destination] = nil
  }

  func close() {
    isClosed = true
    alarm?.cancel()
    listeners.end(.closed)
    service.refuseWaiters(Refusal(.shuttingDown, "the coordinator was closed"))
  }
}

// MARK: The host of the service

extension EmbeddedBackend: @MainActor CoordinatorHost {
  var now: Instant { Instant(nanoseconds: UInt64(clamping: MonotonicInstant.now.nanoseconds)) }

  var wallClock: UInt64 { WallClock.microseconds }

  var limits: [String: UInt64] { [:] }

  /// An embedded coordinator has no files and starts no programs.
  var diagnosis: Diagnosis { Diagnosis([:]) }

  func authorize<Output>(
    _ requests: [Request], isTransaction: Bool, _ call: some ServiceCall<Output>,
    _ body: @escaping (Trust, [Request]) throws(Refusal) -> Output?
  ) throws(Refusal) {
    let refusal = Refusal(
      .invalidArgument, "command: an embedded coordinator starts no programs; use the session's coordinator")
    try requests.refuseCommands(with: refusal, inTransaction: isTransaction)
    answer(call) { () throws(Refusal) in try body(.trusted, requests) }
  }

  func authorize<Output>(
    _ privilege: ServicePrivilege, _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output?
  ) {
    switch privilege {
    case .holding: answer(call, body)
    case .registeringPresenters:
      call.fail(Refusal(.invalidArgument, "an embedded coordinator has no bus; register a presenter with the library"))
    case .importingEnvironment:
      call.fail(
        Refusal(
          .notSupported, "an embedded coordinator starts no programs; give variables to the session's coordinator"))
    }
  }

  func requireRecord() throws(Refusal) {}

  /// An embedded coordinator has no files to read again.
  func reload() throws(Refusal) {}

  func willQuit() {}

  func follow(_ client: Client) {}

  func identify(_ client: Client) {
    service.identify(Requester(client, process: UInt32(getpid()), program: ProcessName.of(UInt32(getpid()))))
  }

  func isPresenter(_ client: Client, of handle: Handle) -> Bool { showing[handle] != nil }

  func platform(of handle: Handle) -> Properties { [:] }

  /// Carries out commands in their order. A command that is answered at once causes other commands, which follow the waiting ones.
  func carryOut(_ commands: [PresenterCommand]) {
    self.commands += commands
    guard !isCarryingOut else { return }
    isCarryingOut = true
    while !self.commands.isEmpty {
      let ready = self.commands
      self.commands = []
      for command in ready { carryOut(command) }
    }
    isCarryingOut = false
  }

  func announceCreation(of handle: Handle) {}

  func announce(_ event: StateEvent, _ change: Change) {
    if case .dismissed(let handle, let binding, _, let reason, let result) = change.event {
      showing[handle] = nil
      // navd logs this in the same way.
      if reason == .failed, let error = PresentationResult(result).error { log("Navigation: \(binding): \(error)") }
    }
    listeners.notify(.event(event))
  }

  func announceDestinations() {}

  func setAlarm(at time: Instant) {
    alarm?.cancel()
    let delay = Duration.nanoseconds(Int64(clamping: time.nanoseconds(since: now)))
    alarm = Task { [weak self] in
      do { try await Task.sleep(for: delay) } catch { return }
      self?.service.expire()
    }
  }
}

// MARK: Binding

/// Stores the contract's methods by name, for calls inside the program.
@MainActor
private struct EmbeddedBinder: @MainActor ServiceBinder {
  unowned let backend: EmbeddedBackend

  /// The code that serves a method.
  @MainActor
  final class Body<Input: Sendable, Output: Sendable>: Sendable {
    let serve: (Input, any ServiceCall<Output>) -> Void

    init(_ serve: @escaping (Input, any ServiceCall<Output>) -> Void) { self.serve = serve }
  }

  func bind<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ body: @escaping (Input, any ServiceCall<Output>) -> Void
  ) {
    backend.methods[method.name] = Body(body)
  }

  func bind<T>(_ property: Property<T>, _ get: @escaping () -> T) {
    backend.properties[property.name] = { get().value }
  }
}

/// A call from inside the program.
@MainActor
private final class EmbeddedCall<Output: Sendable>: @MainActor ServiceCall {
  let client: Client
  var continuation: CheckedContinuation<Result<Output, NavigationError>, Never>?

  init(client: Client) { self.client = client }

  var isReplyExpected: Bool { true }

  func reply(_ output: Output) { finish(.success(output)) }

  func fail(_ refusal: Refusal) { finish(.failure(.refused(CoordinatorError(refusal)))) }

  func finish(_ result: Result<Output, NavigationError>) {
    continuation?.resume(returning: result)
    continuation = nil
  }
}

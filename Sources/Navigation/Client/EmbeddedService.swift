// Why this file exists: a program without a session bus, or a test, has the same rules to itself: the same state machine,
// without a daemon around it.

import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import PresentationRules
import TextFormats

/// A coordinator inside the program. It shows what the program registers, and what is nothing but state; it starts no
/// programs, and keeps no record. It lives where the program's own state does.
@MainActor
final class EmbeddedService: CoordinatorService {
  private var machine = StateMachine()
  private let program = Client("embedded")
  private var methods = LocalMethods()
  private var hosts: [String: any PresenterHost] = [:]
  /// Who shows what.
  private var showing: [Handle: any PresenterHost] = [:]
  private var waiters: [UInt64: Waiter] = [:]
  private var lastWaiter: UInt64 = 0
  private let listeners = Listeners()
  private var alarm: (task: Task<Void, Never>, at: Instant)?
  private var isClosed = false

  nonisolated init() {}

  /// Somebody who waits for a presentation to be shown, or only for its end.
  private struct Waiter {
    let handle: Handle
    let phase: WaitPhase
    let continuation: CheckedContinuation<Result<(String, Properties), NavigationError>, Never>
  }

  private var now: Instant { Instant(nanoseconds: UInt64(clamping: MonotonicInstant.now.nanoseconds)) }

  // MARK: Calls

  func call<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> Output {
    guard !Task.isCancelled else { throw .cancelled }
    guard !isClosed else { throw .closed }
    if methods.isEmpty { implement() }
    guard let body = methods[method] else {
      throw .refused(
        CoordinatorError(.invalidArgument, "\(method.name) is nothing that an embedded coordinator can do"))
    }
    return try await body(self, input)
  }

  private func implement() {
    typealias Rows = CoordinatorInterface
    ChangingMethods.forEach(EmbeddedChanges(service: self))
    methods.implement(Rows.apply) { service, input throws(Refusal) in try service.apply(input.0, input.1) }
    methods.implement(Rows.getState) { service, _ throws(Refusal) in
      (service.machine.properties { _ in [:] }, service.machine.serial.number)
    }
    methods.implement(Rows.get) { service, binding throws(Refusal) in
      let serial = service.machine.serial.number
      guard let presentation = service.machine.current(at: try BindingID(binding)) else { return (.root, [:], serial) }
      return (presentation.handle.path, service.machine.entry(presentation, platform: [:]), serial)
    }
    methods.implement(Rows.members) { service, input throws(Refusal) in
      try service.machine.members(of: Container(kind: input.0, name: input.1)).map {
        Structure($0.binding.text, $0.id, $0.presentation.path, $0.containerValues)
      }
    }
    methods.implement(Rows.declareContainerValue) { service, input throws(Refusal) in
      try service.machine.declareContainerValue(input.0, defaultValue: input.1)
    }
    methods.implement(Rows.containerValue) { service, input throws(Refusal) in
      try service.machine.containerValue(input.1, at: try BindingID(optional: input.0.isEmpty ? nil : input.0))
    }
    methods.implement(Rows.destinations) { service, _ throws(Refusal) in
      service.machine.destinations.map { Structure($0.name, $0.properties) }
    }
    methods.implement(Rows.history) { service, input throws(Refusal) in
      try service.machine.history(most: input.0, filter: input.1)
    }
    methods.implement(Rows.closed) { service, input throws(Refusal) in
      let handle = try Handle(input.0)
      let (changed, outcome) = try service.machine.closed(
        handle, result: input.1, by: service.program, byPresenter: service.showing[handle] != nil, at: service.now)
      service.take(outcome)
      return (changed, service.machine.serial.number)
    }
    methods.implement(Rows.act) { service, input throws(Refusal) in
      let handle = try Handle(input.0)
      service.take(
        try service.machine.act(
          handle, action: input.1, parameters: input.2, byPresenter: service.showing[handle] != nil))
      return service.machine.serial.number
    }
    methods.implement(Rows.unregisterPresenter) { service, name throws(Refusal) in
      service.take(try service.machine.unregister(name, by: service.program))
      service.hosts[name] = nil
    }
    methods.implement(PropertyAccessing.get) { service, input throws(Refusal) in try service.property(input.1) }
    // There are no files to be read again.
    methods.implement(Rows.reload) { _, _ in }
    methods.implement(Rows.quit) { service, _ throws(Refusal) in
      service.take(service.machine.shutDown(by: service.program, at: service.now))
    }
    methods.implementWaiting(Rows.wait) { service, input async throws(NavigationError) in
      try await service.wait(input.0, phase: input.1)
    }
  }

  private func property(_ name: String) throws(Refusal) -> Value {
    typealias Rows = CoordinatorInterface
    switch name {
    case Rows.version.name.text: return Rows.currentVersion.value
    case Rows.release.name.text: return Release.version.value
    case Rows.serial.name.text: return machine.serial.number.value
    case Rows.limits.name.text: return machine.limits.byName.value
    default: throw Refusal(.invalidArgument, "\(quoted(name)) is no property of \(Rows.name)")
    }
  }

  fileprivate func implement<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ read: @escaping @Sendable (Input) throws(Refusal) -> Request,
    _ answer: @escaping @Sendable (Reply, UInt64) -> Output
  ) {
    methods.implement(method) { service, input throws(Refusal) in
      let request = try read(input)
      try Self.admit(request)
      let (reply, outcome) = try service.machine.perform(
        request, by: service.program, at: service.now)
      service.take(outcome)
      return answer(reply, service.machine.serial.number)
    }
  }

  private func apply(
    _ requests: [Structure<String, [Value]>], _ options: Properties
  ) throws(Refusal) -> ([[Value]], UInt64) {
    let read = try [Request](transaction: requests, options, at: machine.serial, admit: Self.admit)
    let (replies, outcome) = try machine.perform(
      read, animated: options[Options.animated] ?? true, by: program, at: now)
    take(outcome)
    return (replies.map(\.values), machine.serial.number)
  }

  /// Refuses what only the daemon can do.
  private static func admit(_ request: Request) throws(Refusal) {
    guard !request.operation.hasCommand else {
      throw Refusal(.invalidArgument, "command: an embedded coordinator starts no programs; the session's would do")
    }
  }

  private func wait(
    _ path: ObjectPath, phase: String
  ) async throws(NavigationError) -> (String, Properties) {
    let answer: WaitAnswer
    do throws(Refusal) {
      answer = try machine.wait(for: path, until: phase)
    } catch {
      throw .refused(CoordinatorError(error))
    }
    switch answer {
    case .now(let reason, let result): return (reason, result)
    case .later(let handle, let phase): return try await wait(until: phase, of: handle)
    }
  }

  private func wait(until phase: WaitPhase, of handle: Handle) async throws(NavigationError) -> (String, Properties) {
    lastWaiter += 1
    let number = lastWaiter
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiters[number] = Waiter(handle: handle, phase: phase, continuation: continuation)
      }
    } onCancel: {
      Task { await self.cancel(waiter: number) }
    }
    return try result.get()
  }

  private func cancel(waiter number: UInt64) {
    waiters.removeValue(forKey: number)?.continuation.resume(returning: .failure(.cancelled))
  }

  private func answer(_ handle: Handle, _ reason: String, _ result: Properties, where isMeant: (Waiter) -> Bool) {
    for (number, waiter) in waiters where waiter.handle == handle && isMeant(waiter) {
      waiters[number] = nil
      waiter.continuation.resume(returning: .success((reason, result)))
    }
  }

  // MARK: What comes of it

  private func take(_ outcome: Outcome) {
    for change in outcome.changes {
      switch change.event {
      case .presented(let handle, _, _, _): answer(handle, "", [:], where: { $0.phase == .presented })
      case .dismissed(let handle, _, _, let reason, let result):
        answer(handle, reason.rawValue, result) { _ in true }
        showing[handle] = nil
      default: break
      }
      let event = CoordinatorEvent(change, in: machine)
      listeners.tell(.event(event))
    }
    for command in outcome.commands { carryOut(command) }
    setAlarm()
  }

  private func carryOut(_ command: Command) {
    switch command {
    case .present(let handle): present(handle)
    case .update(let handle, _):
      guard let host = showing[handle], let presentation = machine.presentation(handle) else { return }
      let item = machine.properties(of: presentation)
      Task {
        await host.update(PresentationHandle(handle.number), item: item)
        report(.updateAnswered(handle))
      }
    case .dismiss(let handle, let reason, let animated):
      guard let host = showing[handle] else { return report(.dismissAnswered(handle, result: [:])) }
      Task {
        let result = await host.dismiss(
          PresentationHandle(handle.number), reason: reason.rawValue, animated: animated)
        report(.dismissAnswered(handle, result: result))
      }
    // There are no processes; what does not answer counts as gone after its grace (P14).
    case .kill, .abandon: break
    }
  }

  private func present(_ handle: Handle) {
    guard let presentation = machine.presentation(handle) else { return }
    guard let destination = presentation.item.destination, let host = hosts[destination.name] else {
      return report(.presentAnswered(handle, error: "its destination is not there any more"))
    }
    showing[handle] = host
    var all = machine.properties(of: presentation)
    all["animated"] = .boolean(presentation.item.animated)
    let item = PresentedItem(
      presentation: PresentationHandle(handle.number), binding: presentation.binding.text, id: presentation.item.id,
      all: all)
    let serial = machine.serial.number
    Task {
      do throws(ShowingError) {
        try await host.present(item, after: serial)
        report(.presentAnswered(handle, error: nil))
      } catch {
        report(.presentAnswered(handle, error: error.why))
      }
    }
  }

  private func report(_ report: Report) { take(machine.report(report, at: now)) }

  private func setAlarm() {
    guard let next = machine.nextDeadline else { return }
    if let alarm, alarm.at <= next { return }
    alarm?.task.cancel()
    let delay = Duration.nanoseconds(Int64(clamping: next.nanoseconds - min(next.nanoseconds, now.nanoseconds)))
    let task = Task { [weak self] in
      do { try await Task.sleep(for: delay) } catch { return }
      self?.expire()
    }
    alarm = (task, next)
  }

  private func expire() {
    alarm = nil
    take(machine.expire(at: now))
  }

  // MARK: Others

  func notices() -> AsyncStream<Notice> {
    let (stream, listener) = listeners.add()
    listener?.yield(.state(machine.properties { _ in [:] }, serial: machine.serial.number))
    return stream
  }

  func serve(
    _ destination: String, _ options: DestinationOptions, by host: any PresenterHost
  ) throws(NavigationError) {
    do throws(Refusal) {
      let outcome = try machine.register(
        Destination(name: destination, path: .root, options: options.properties, client: program), by: program)
      hosts[destination] = host
      take(outcome)
    } catch {
      throw .refused(CoordinatorError(error))
    }
  }

  func stopServing(_ destination: String) async throws(NavigationError) {
    try await call(CoordinatorInterface.unregisterPresenter, destination, starts: false)
  }

  func close() {
    isClosed = true
    alarm?.task.cancel()
    listeners.end(.closed)
    for waiter in waiters.values { waiter.continuation.resume(returning: .failure(.closed)) }
    waiters = [:]
  }
}

/// Binds the changing methods.
private struct EmbeddedChanges: ChangingMethodVisitor {
  let service: EmbeddedService

  func visit<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ read: @escaping @Sendable (Input) throws(Refusal) -> Request,
    answer: @escaping @Sendable (Reply, UInt64) -> Output
  ) {
    MainActor.assumeIsolated { service.implement(method, read, answer) }
  }
}

/// The methods of the contract, found by their rows.
private struct LocalMethods {
  typealias Body<Input, Output> = @MainActor (EmbeddedService, Input) async throws(NavigationError) -> Output
  private struct Key: Hashable {
    let interface: InterfaceName
    let name: MemberName

    init<Input, Output>(_ method: Method<Input, Output>) {
      interface = method.interface
      name = method.name
    }
  }
  /// Each is a `Body` of the types that its row has.
  private var bodies: [Key: any Sendable] = [:]

  var isEmpty: Bool { bodies.isEmpty }

  subscript<Input, Output>(method: Method<Input, Output>) -> Body<Input, Output>? {
    bodies[Key(method)] as? Body<Input, Output>
  }

  mutating func implementWaiting<Input, Output>(_ method: Method<Input, Output>, _ body: @escaping Body<Input, Output>)
  {
    bodies[Key(method)] = body
  }

  mutating func implement<Input, Output>(
    _ method: Method<Input, Output>,
    _ body: @escaping @MainActor (EmbeddedService, Input) throws(Refusal) -> Output
  ) {
    implementWaiting(method) { service, input async throws(NavigationError) in
      do throws(Refusal) { return try body(service, input) } catch { throw .refused(CoordinatorError(error)) }
    }
  }
}

extension Request.Operation {
  /// Whether it brings a program of its own.
  fileprivate var hasCommand: Bool {
    switch self {
    case .present(_, _, let options), .toggle(_, _, let options, _), .select(_, _, _, _, let options),
      .toggleSelection(_, _, _, _, let options), .push(_, _, _, let options):
      options.command != nil
    case .setPath(_, let elements): elements.contains { $0.options.command != nil }
    case .update, .dismiss, .dismissAll, .deselect, .pop, .popTo: false
    }
  }
}

extension CoordinatorEvent {
  /// A change, as its signal tells it.
  fileprivate init(_ change: Change, in machine: borrowing StateMachine) {
    func subject(_ handle: Handle, _ binding: BindingID, _ id: String) -> Subject {
      Subject(binding: binding.text, id: id, presentation: handle.path)
    }
    func properties(_ item: Shared<Item>, _ handle: Handle) -> Properties {
      item.content.properties(parent: machine.parent(of: handle)?.binding)
    }
    let kind: Kind =
      switch change.event {
      case .presented(let handle, let binding, let id, let item):
        .presented(subject(handle, binding, id), item: properties(item, handle))
      case .updated(let handle, let binding, let id, let item):
        .updated(subject(handle, binding, id), item: properties(item, handle))
      case .phase(let handle, let binding, let id, let word): .phase(subject(handle, binding, id), word)
      case .dismissed(let handle, let binding, let id, let reason, _):
        .dismissed(subject(handle, binding, id), reason: reason.rawValue)
      case .action(let handle, let binding, let id, let action, let parameters):
        .action(subject(handle, binding, id), action, parameters: parameters)
      case .selection(let group, let tag): .selection(group: group.text, tag: tag)
      case .group(let group):
        .group(group.text, tags: machine.tags(of: group), queue: machine.queuedTags(of: group))
      case .path(let stack):
        .path(
          stack: stack.text,
          machine.path(of: stack).map { PathElement(binding: $0.binding.text, id: $0.id) })
      }
    self.init(kind, serial: change.serial.number)
  }
}

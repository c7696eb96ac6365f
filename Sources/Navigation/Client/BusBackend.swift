import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel

/// The session's coordinator, navd, on its bus.
actor BusBackend: CoordinatorBackend {
  private let executor: LoopExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The connection; nil before `open` and after the end.
  private var connection: Connection?
  /// The reason why the connection ended, which is the error of later calls.
  private var endError = NavigationError.closed
  private var calls: [UInt64: (pending: PendingCall, fail: (NavigationError) -> Void)] = [:]
  private var lastCall: UInt64 = 0
  private var waits: [Awaited: [UInt64: Waiter]] = [:]
  private var windowListeners: [UInt64: WindowListener] = [:]
  private typealias WindowListener = (subscription: Subscription, listener: AsyncStream<WindowEvent>.Continuation)
  private var follower: StateFollower?
  private let listeners = Listeners()
  private var servings: [Serving] = []
  /// The servings that have ended or were replaced, whose screens may still be shown: navd dismisses them by the same objects.
  private var formerServings: [Serving] = []
  private var lastServing = 0
  /// The results that navd may ask for again; nil as long as `connection` is.
  private var results: KeptResults?
  /// The moment of the last state or event that listeners have got, or the beginning of a navd whose state was not read yet.
  private var moment = Moment()
  private var coordinator: NameWatch?

  /// The subject of a call of `Wait`. All tasks with the same subject share one call, because navd limits the number of calls.
  private struct Awaited: Hashable {
    let presentation: PresentationHandle
    let phase: WaitPhase
  }

  /// A task that waits for the reply of `Wait`.
  private typealias Waiter = CheckedContinuation<Result<(String, Properties), NavigationError>, Never>

  /// A destination that this program serves.
  private struct Serving {
    let destination: String
    let path: ObjectPath
    let options: DestinationOptions
    let host: any PresenterHost
    /// Whether no navd could be asked to register it. If one was asked, it may present by its
    /// object.
    var hasFailed = false
  }

  init() throws(NavigationError) {
    do throws(SystemError) { executor = try LoopExecutor() } catch { throw .unreachable(error.description) }
  }

  isolated deinit {
    end(.unreachable("the coordinator object was released"))
    executor.loop.stop()
  }

  /// Connects.
  /// - Parameter address: the D-Bus address of the bus; nil for the session bus.
  /// - Returns: a name that is unique among the coordinator's clients.
  /// - Throws: `unreachable` if there is no bus.
  func open(address: String?) throws(NavigationError) -> String {
    let loop = executor.loop
    do throws(DBusError) {
      let connection =
        if let address {
          try Connection.open(address: address, loop: loop)
        } else {
          try Connection.session(loop: loop)
        }
      connection.handlers.onDisconnected = { [weak self] in
        self?.assumeIsolated { $0.end(.unreachable("the connection to the bus ended")) }
      }
      self.connection = connection
      results = KeptResults(connection)
      // The first watch of the name is made here, so that everything that the next navd says comes
      // after it.
      coordinator = connection.watchName(CoordinatorNames.bus) { [weak self] owner in
        guard owner != nil else { return }
        self?.assumeIsolated { backend in
          backend.moment = Moment(coordinator: backend.moment.coordinator + 1)
          backend.registerAll()
        }
      }
      return clientName(connection.uniqueName.text)
    } catch {
      throw .unreachable(error.message)
    }
  }

  // MARK: Calls

  func ask<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> (answer: Output, coordinator: Int) {
    try await ask(
      method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, starts: starts
    ) { NavigationError($0) }
  }

  private func ask<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, on service: BusName, at object: ObjectPath, _ input: Input, starts: Bool,
    error: @escaping @Sendable (DBusError) -> NavigationError
  ) async throws(NavigationError) -> (answer: Output, coordinator: Int) {
    guard !Task.isCancelled else { throw .cancelled }
    lastCall += 1
    let number = lastCall
    let result: Result<(Output, Int), NavigationError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard let connection else { return continuation.resume(returning: .failure(endError)) }
        let pending = connection.call(
          method, on: service, at: object, input, autoStart: starts
        ) { [weak self] result in
          // A call that is no longer listed has failed already.
          guard let self, assumeIsolated({ $0.calls.removeValue(forKey: number) != nil }) else { return }
          let coordinator = assumeIsolated { $0.moment.coordinator }
          continuation.resume(returning: result.map { ($0, coordinator) }.mapError(error))
        }
        calls[number] = (pending, { continuation.resume(returning: .failure($0)) })
      }
    } onCancel: {
      Task { await self.cancel(number) }
    }
    return try result.get()
  }

  private func cancel(_ number: UInt64) {
    guard let (pending, fail) = calls.removeValue(forKey: number) else { return }
    pending.cancel()
    fail(.cancelled)
  }

  // MARK: Waiting

  /// Waits in a call that all tasks with the same subject share. The call continues when they are cancelled, because a call cannot be
  /// taken back, and navd limits their number. The next task with the same subject joins it.
  func wait(
    for presentation: PresentationHandle, _ phase: WaitPhase
  ) async throws(NavigationError) -> (String, Properties) {
    guard !Task.isCancelled else { throw .cancelled }
    let awaited = Awaited(presentation: presentation, phase: phase)
    lastCall += 1
    let number = lastCall
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: Waiter) in
        guard connection != nil else { return waiter.resume(returning: .failure(endError)) }
        let isUnderWay = waits[awaited] != nil
        waits[awaited, default: [:]][number] = waiter
        if !isUnderWay { callWait(awaited) }
      }
    } onCancel: {
      Task { await self.cancelWait(number, for: awaited) }
    }
    return try result.get()
  }

  private func callWait(_ awaited: Awaited) {
    connection?.call(
      CoordinatorInterface.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object,
      (awaited.presentation.path, awaited.phase.rawValue), timeout: nil, autoStart: false
    ) { [weak self] result in
      self?.assumeIsolated { backend in
        let waiters = backend.waits.removeValue(forKey: awaited) ?? [:]
        for waiter in waiters.values { waiter.resume(returning: result.mapError { NavigationError($0) }) }
      }
    }
  }

  private func cancelWait(_ number: UInt64, for awaited: Awaited) {
    waits[awaited]?.removeValue(forKey: number)?.resume(returning: .failure(.cancelled))
  }

  // MARK: The window system

  func callWindowSystem<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output {
    try await ask(
      method, on: WindowSystemInterface.bus, at: WindowSystemInterface.object, input, starts: false,
      error: { NavigationError(ofWindowSystem: $0) }
    ).answer
  }

  func windowEvents() async throws(NavigationError) -> AsyncStream<WindowEvent> {
    typealias Rows = WindowSystemInterface
    guard let connection else { throw endError }
    let (stream, listener) = AsyncStream.makeStream(
      of: WindowEvent.self, bufferingPolicy: .bufferingNewest(Listeners.maxNotices))
    lastCall += 1
    let number = lastCall
    let subscription = connection.subscribe(MatchRule(sender: Rows.bus, path: Rows.object, interface: Rows.name)) {
      if let event = try? WindowEvent($0) { listener.yield(event) }
    }
    windowListeners[number] = (subscription, listener)
    listener.onTermination = { [weak self] _ in
      Task { await self?.removeWindowListener(number) }
    }
    // The answer to this call follows the answer to the subscription.
    _ = try await callWindowSystem(PropertyAccessing.get, (Rows.name.text, Rows.backend.name.text))
    return stream
  }

  private func removeWindowListener(_ number: UInt64) {
    windowListeners.removeValue(forKey: number)?.subscription.cancel()
  }

  // MARK: Watching

  func notices() -> AsyncStream<Notice> {
    let (stream, listener) = listeners.add()
    if let listener { follow(for: listener) }
    return stream
  }

  /// Sends the state and events to a listener. All listeners share one follower; a later listener gets the state in a separate call.
  private func follow(for listener: Listeners.Listener) {
    if let follower {
      return follower.look { [weak self] found in
        // The state follows when a navd starts, if none runs.
        guard let self, let found else { return }
        let moment = assumeIsolated { Moment(coordinator: $0.moment.coordinator, serial: found.serial) }
        listener.yield(.state(StateSnapshot(found.state), moment))
      }
    }
    let follower = StateFollower(connection!)
    self.follower = follower
    follower.onState = { [weak self] state, serial in
      self?.assumeIsolated { backend in
        backend.moment.serial = serial
        backend.listeners.notify(.state(StateSnapshot(state), backend.moment))
      }
    }
    follower.onEvent = { [weak self] event in
      self?.assumeIsolated { backend in
        backend.moment.serial = event.serial
        backend.listeners.notify(.event(event))
      }
    }
    follower.onFailure = { [weak self] error in
      // The connection reports its own end.
      if error.name != .disconnected { self?.assumeIsolated { $0.end(NavigationError(error)) } }
    }
    follower.start()
  }

  // MARK: Presenting

  func serve(
    _ destination: String, _ options: DestinationOptions, by host: any PresenterHost
  ) async throws(NavigationError) {
    lastServing += 1
    guard let connection, let path = ObjectPath("/org/navd/Navigation/presenter\(lastServing)") else {
      throw endError
    }
    connection.export(path, [presenter(host)])
    let former = servings.filter { $0.destination == destination }
    for serving in former where serving.hasFailed { connection.unexport(serving.path) }
    let registered = former.filter { !$0.hasFailed }
    servings.removeAll { $0.destination == destination }
    servings.append(Serving(destination: destination, path: path, options: options, host: host))
    do throws(NavigationError) {
      try await call(CoordinatorInterface.registerPresenter, (destination, path, options.properties), starts: true)
    } catch {
      if case .refused = error, let index = servings.firstIndex(where: { $0.path == path }) {
        // The former registration is still in effect.
        servings.replaceSubrange(index...index, with: registered)
        self.connection?.unexport(path)
      } else {
        note(path, hasFailed: true)
        formerServings += registered
      }
      throw error
    }
    formerServings += registered
  }

  private func note(_ path: ObjectPath, hasFailed: Bool) {
    if let index = servings.firstIndex(where: { $0.path == path }) { servings[index].hasFailed = hasFailed }
  }

  func stopServing(_ destination: String, by host: any PresenterHost) async throws(NavigationError) {
    if let serving = servings.first(where: { $0.destination == destination }) {
      guard serving.host === host else { return await removeFormerObjects() }
      formerServings.append(serving)
      servings.removeAll { $0.destination == destination }
    }
    do throws(NavigationError) {
      try await call(CoordinatorInterface.unregisterPresenter, destination, starts: false)
    } catch {
      await removeFormerObjects()
      throw error
    }
    await removeFormerObjects()
  }

  /// Removes the objects of former servings that show nothing any more.
  private func removeFormerObjects() async {
    for serving in formerServings where await serving.host.isOver {
      connection?.unexport(serving.path)
      formerServings.removeAll { $0.path == serving.path }
    }
  }

  /// Registers the destinations with a navd that has started.
  private func registerAll() {
    for serving in servings {
      connection?.call(
        CoordinatorInterface.registerPresenter, on: CoordinatorNames.bus, at: CoordinatorNames.object,
        (serving.destination, serving.path, serving.options.properties)
      ) { [weak self] result in
        guard case .failure(let error) = result else {
          self?.assumeIsolated { $0.note(serving.path, hasFailed: false) }
          return
        }
        guard case .refused = NavigationError(error) else { return }
        Task { await serving.host.registrationRefused(NavigationError(error)) }
      }
    }
  }

  /// Serves `org.navd.Presenter1`. The reply is the acknowledgement; it is sent when the host has done the work.
  ///
  /// A call stays on the loop's thread, which is this actor's executor. The compiler cannot prove this, hence `nonisolated(unsafe)`.
  private func presenter(_ host: any PresenterHost) -> ImplementedInterface {
    let object = ImplementedInterface(PresenterInterface.interface, calledBy: CoordinatorNames.bus)
    object.implement(PresenterInterface.present) { [weak self] input, call in
      nonisolated(unsafe) let call = call
      self?.assumeIsolated { service in
        let item = PresentedItem(
          presentation: Handle(path: input.0) ?? Handle(0), binding: input.1, id: input.2, all: input.3,
          beginning: service.moment)
        // The kept result is that of an earlier presentation with this handle, of which this navd has no record.
        if StateEntry(input.3).restored != true { service.results?.forget(item.presentation.number) }
        Task { await service.present(item, host, call) }
      }
    }
    object.implement(PresenterInterface.update) { [weak self] input, call in
      nonisolated(unsafe) let call = call
      self?.assumeIsolated { service in
        let handle = Handle(path: input.0) ?? Handle(0)
        Task { await service.update(handle, item: input.1, host, call) }
      }
    }
    object.implement(PresenterInterface.dismiss) { [weak self] input, call in
      nonisolated(unsafe) let call = call
      self?.assumeIsolated { service in
        let handle = Handle(path: input.0) ?? Handle(0)
        // An earlier navd was killed before it recorded the result.
        if let result = service.results?.take(handle.number) {
          service.results?.answer(call, with: result, of: handle.number)
        } else {
          Task { await service.dismiss(handle, DismissalOptions(input.2), host, call) }
        }
      }
    }
    return object
  }

  // An answer is sent before all later requests of the program, since the host returns from the main actor to this one directly.

  private func present(_ item: PresentedItem, _ host: any PresenterHost, _ call: Call<Void>) async {
    do throws(ShowingError) { call.reply(try await host.present(item)) } catch {
      call.fail(DBusError(name: .failed, message: error.why))
    }
  }

  private func update(_ handle: Handle, item: Properties, _ host: any PresenterHost, _ call: Call<Void>) async {
    call.reply(await host.update(handle, item: item))
  }

  private func dismiss(
    _ handle: Handle, _ options: DismissalOptions, _ host: any PresenterHost, _ call: Call<Properties>
  ) async {
    do throws(Declined) {
      let result = try await host.dismiss(handle, options)
      if let results { results.answer(call, with: result, of: handle.number) } else { call.reply(result) }
    } catch {
      call.fail(DBusError(name: ErrorCode.declined.errorName, message: error.message))
    }
  }

  // MARK: The end

  func close() { end(.closed) }

  private func end(_ error: NavigationError) {
    endError = error
    listeners.end(error)
    for (_, listener) in windowListeners.values { listener.finish() }
    windowListeners = [:]
    follower = nil
    coordinator?.cancel()
    coordinator = nil
    // The calls fail here, before the connection closes and gives them an error of its own.
    let (unanswered, waiting) = (calls, waits)
    (calls, waits) = ([:], [:])
    for (_, call) in unanswered { call.fail(error) }
    for waiter in waiting.values.flatMap(\.values) { waiter.resume(returning: .failure(error)) }
    connection?.close(flushing: .milliseconds(200))
    connection = nil
    results = nil
  }
}

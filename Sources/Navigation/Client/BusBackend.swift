// Why this file exists: the coordinator of the session, over its bus.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel

/// navd, on a bus.
actor BusBackend: CoordinatorBackend {
  private let executor: LoopExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// nil before it is opened, and when it is closed.
  private var connection: Connection?
  private var calls: [UInt64: (pending: PendingCall, fail: (NavigationError) -> Void)] = [:]
  private var lastCall: UInt64 = 0
  private var follower: StateFollower?
  private let listeners = Listeners()
  private var servings: [Serving] = []
  private var lastServing = 0
  /// Of the state that the listeners were told last.
  private var toldSerial: UInt64 = 0
  private var coordinator: NameWatch?

  /// A destination of ours.
  private struct Serving {
    let destination: String
    let path: ObjectPath
    let options: DestinationOptions
  }

  init() throws(NavigationError) {
    do throws(SystemError) { executor = try LoopExecutor() } catch { throw .unreachable(error.description) }
  }

  isolated deinit {
    end(.unreachable("nobody holds it any more"))
    executor.loop.stop()
  }

  /// Connects.
  /// - Parameter address: a D-Bus address; nil: the session bus's.
  /// - Returns: what tells this program from the coordinator's other clients; a name.
  /// - Throws: `unreachable` where there is no bus.
  func open(address: String?) throws(NavigationError) -> String {
    let loop = executor.loop
    do throws(DBusError) {
      let connection =
        if let address {
          try Connection.open(address: address, loop: loop)
        } else {
          try Connection.session(loop: loop)
        }
      connection.onDisconnected = { [weak self] in
        self?.assumeIsolated { $0.end(.unreachable("the bus is gone")) }
      }
      self.connection = connection
      return clientName(connection.uniqueName.text)
    } catch {
      throw .unreachable(error.message)
    }
  }

  // MARK: Calls

  func call<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> Output {
    guard !Task.isCancelled else { throw .cancelled }
    lastCall += 1
    let number = lastCall
    let result: Result<Output, NavigationError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard let connection else { return continuation.resume(returning: .failure(.closed)) }
        let pending = connection.call(
          method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input,
          // Waiting may take for ever.
          timeout: method.name == CoordinatorInterface.wait.name ? nil : defaultTimeout, autoStart: starts
        ) { [weak self] result in
          self?.assumeIsolated { $0.calls[number] = nil }
          continuation.resume(returning: result.mapError(NavigationError.init))
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

  // MARK: What happens

  func notices() -> AsyncStream<Notice> {
    let (stream, listener) = listeners.add()
    if let listener { follow(for: listener) }
    return stream
  }

  /// All listeners share what follows navd; who comes later is told the state by itself.
  private func follow(for listener: Listeners.Listener) {
    if let follower {
      return follower.look { found in
        // Where there is no navd, it is told when there is one.
        if let found { listener.yield(.state(StateSnapshot(found.state), serial: found.serial)) }
      }
    }
    let follower = StateFollower(connection!)
    self.follower = follower
    follower.onState = { [weak self] state, serial in
      self?.assumeIsolated { $0.tell(.state(StateSnapshot(state), serial: serial)) }
    }
    follower.onEvent = { [weak self] event in self?.assumeIsolated { $0.tell(.event(event)) } }
    follower.onFailure = { [weak self] error in self?.assumeIsolated { $0.end(NavigationError(error)) } }
    follower.start()
  }

  private func tell(_ notice: Notice) {
    switch notice {
    case .state(_, let serial): toldSerial = serial
    case .event(let event): toldSerial = event.serial
    case .failed: break
    }
    listeners.tell(notice)
  }

  // MARK: Presenting

  func serve(
    _ destination: String, _ options: DestinationOptions, by host: any PresenterHost
  ) async throws(NavigationError) {
    lastServing += 1
    guard let connection, let path = ObjectPath("/org/navd/Navigation/presenter\(lastServing)") else {
      throw .closed
    }
    connection.export(path, [presenter(host)])
    servings.removeAll { $0.destination == destination }
    servings.append(Serving(destination: destination, path: path, options: options))
    // Each navd, also one that comes later, is told.
    if coordinator == nil {
      coordinator = connection.watchName(CoordinatorNames.bus) { [weak self] owner in
        guard owner != nil else { return }
        self?.assumeIsolated { $0.registerAll() }
      }
    }
    try await call(CoordinatorInterface.registerPresenter, (destination, path, options.properties), starts: true)
  }

  func stopServing(_ destination: String) async throws(NavigationError) {
    // What is shown of it is still told to go, so its object stays.
    servings.removeAll { $0.destination == destination }
    try await call(CoordinatorInterface.unregisterPresenter, destination, starts: false)
  }

  private func registerAll() {
    for serving in servings {
      connection?.call(
        CoordinatorInterface.registerPresenter, on: CoordinatorNames.bus, at: CoordinatorNames.object,
        (serving.destination, serving.path, serving.options.properties)
      ) { _ in }
    }
  }

  /// `org.navd.Presenter1`: each reply is the acknowledgement, and goes out when the host has done it.
  ///
  /// A call stays on the thread of the loop, which is this actor's; the compiler cannot see that.
  private func presenter(_ host: any PresenterHost) -> ImplementedInterface {
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(PresenterInterface.present) { [weak self] input, call in
      nonisolated(unsafe) let call = call
      self?.assumeIsolated { service in
        let serial = service.toldSerial
        service.answer(call) { () throws(ShowingError) in
          let item = PresentedItem(
            presentation: Handle(path: input.0) ?? Handle(0), binding: input.1, id: input.2, all: input.3)
          try await host.present(item, after: serial)
        }
      }
    }
    object.implement(PresenterInterface.update) { [weak self] input, call in
      nonisolated(unsafe) let call = call
      self?.assumeIsolated { service in
        service.answer(call) { () throws(ShowingError) in
          await host.update(Handle(path: input.0) ?? Handle(0), item: input.1)
        }
      }
    }
    object.implement(PresenterInterface.dismiss) { [weak self] input, call in
      nonisolated(unsafe) let call = call
      self?.assumeIsolated { service in
        service.answer(call) { () throws(ShowingError) in
          await host.dismiss(Handle(path: input.0) ?? Handle(0), reason: input.1, animated: input.2)
        }
      }
    }
    return object
  }

  private func answer<Output: Sendable>(
    _ call: Call<Output>, _ body: @escaping @Sendable () async throws(ShowingError) -> Output
  ) {
    nonisolated(unsafe) let call = call
    Task { await reply(to: call, body) }
  }

  private func reply<Output: Sendable>(
    to call: Call<Output>, _ body: @Sendable () async throws(ShowingError) -> Output
  ) async {
    do throws(ShowingError) {
      call.reply(try await body())
    } catch {
      call.fail(DBusError(name: .failed, message: error.why))
    }
  }

  // MARK: The end

  func close() { end(.closed) }

  private func end(_ error: NavigationError) {
    listeners.end(error)
    follower = nil
    coordinator?.cancel()
    coordinator = nil
    connection?.close(flushing: .milliseconds(200))
    connection = nil
    let unanswered = calls
    calls = [:]
    for (_, call) in unanswered {
      call.pending.cancel()
      call.fail(error)
    }
  }
}

import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// Makes methods and properties of the contract callable.
package protocol ServiceBinder {
  func bind<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ body: @escaping (Input, any ServiceCall<Output>) -> Void)
  func bind<T>(_ property: Property<T>, _ get: @escaping () -> T)
}

extension ServiceBinder {
  /// Binds a method whose calls are answered with the value of `body`, or with its refusal.
  /// - Parameter body: returns the value; nil if it answers the call itself, later.
  fileprivate func bind<Input: Sendable, Output: Sendable>(
    answerOf method: Method<Input, Output>,
    _ body: @escaping (Input, any ServiceCall<Output>) throws(Refusal) -> Output?
  ) {
    bind(method) { input, call in answer(call) { () throws(Refusal) in try body(input, call) } }
  }
}

extension CoordinatorService {
  private typealias Rows = CoordinatorInterface

  /// Binds a method. Hosts do so when it is first called, since to make the types of all methods takes a quarter of navd's start.
  package func bind(_ method: CoordinatorMethod, to binder: some ServiceBinder) {
    switch method {
    case .present: bind(Rows.present, binder)
    case .toggle: bind(Rows.toggle, binder)
    case .update: bind(Rows.update, binder)
    case .dismiss: bind(Rows.dismiss, binder)
    case .dismissAll: bind(Rows.dismissAll, binder)
    case .select: bind(Rows.select, binder)
    case .deselect: bind(Rows.deselect, binder)
    case .toggleSelection: bind(Rows.toggleSelection, binder)
    case .forget: bind(Rows.forget, binder)
    case .push: bind(Rows.push, binder)
    case .pop: bind(Rows.pop, binder)
    case .popTo: bind(Rows.popTo, binder)
    case .setPath: bind(Rows.setPath, binder)
    case .apply:
      binder.bind(Rows.apply) { [unowned self] input, call in apply(input.0, input.1, call) }
    case .get:
      binder.bind(answerOf: Rows.get) { [unowned self] binding, _ throws(Refusal) in
        guard let presentation = machine.current(at: try BindingID(binding)) else { return (.root, [:], serial) }
        var entry = machine.entry(presentation, platform: host.platform(of: presentation.handle))
        entry.timeoutLeft = machine.timeLeft(of: presentation, at: host.now)
        return (presentation.handle.path, entry.properties, serial)
      }
    case .getState:
      binder.bind(Rows.getState) { [unowned self] _, call in call.reply((snapshot().properties, serial)) }
    case .members:
      binder.bind(answerOf: Rows.members) { [unowned self] input, _ throws(Refusal) in
        try machine.members(of: Container(kind: input.0, name: input.1)).map {
          Structure($0.binding.text, $0.id, $0.presentation.path, $0.presentation.number, $0.containerValues)
        }
      }
    case .wait:
      binder.bind(Rows.wait) { [unowned self] input, call in wait(input.0, until: input.1, call) }
    case .containerValue:
      binder.bind(answerOf: Rows.containerValue) { [unowned self] input, _ throws(Refusal) in
        try machine.containerValue(input.1, at: try BindingID(optional: input.0.isEmpty ? nil : input.0))
      }
    case .history:
      binder.bind(answerOf: Rows.history) { [unowned self] input, _ throws(Refusal) in
        try machine.history(input.0, filter: input.1)
      }
    case .destinations:
      binder.bind(Rows.destinations) { [unowned self] _, call in
        host.takeInChanges()
        let served = machine.servedByDestination
        call.reply(
          machine.destinations.map { destination in
            var entry = destination.entry
            entry.serves = served[destination.name]?.mapValues { .properties($0.properties) }
            return Structure(destination.name, entry.properties)
          })
      }
    case .registerPresenter:
      binder.bind(answerOf: Rows.registerPresenter) { [unowned self] input, call throws(Refusal) in
        let destination = try Destination(name: input.0, path: input.1, options: input.2, client: call.client)
        host.authorize(.registeringPresenters, call) { [unowned self] () throws(Refusal) in
          try register(destination, by: call.client)
        }
        return nil
      }
    case .unregisterPresenter:
      binder.bind(answerOf: Rows.unregisterPresenter) { [unowned self] name, call throws(Refusal) in
        take(try machine.unregister(name, by: call.client))
      }
    case .serve:
      binder.bind(answerOf: Rows.serve) { [unowned self] input, call throws(Refusal) in
        try serve(input.0, input.1, by: call.client)
      }
    case .closed:
      binder.bind(answerOf: Rows.closed) { [unowned self] input, call throws(Refusal) in
        let handle = try Handle(input.0)
        let byPresenter = host.isPresenter(call.client, of: handle)
        let (changed, outcome) = try machine.closed(
          handle, result: input.1, by: call.client, byPresenter: byPresenter, at: tick())
        take(outcome)
        return (changed, serial)
      }
    case .asking:
      binder.bind(answerOf: Rows.asking) { [unowned self] input, call throws(Refusal) in
        let handle = try Handle(input.0)
        let byPresenter = host.isPresenter(call.client, of: handle)
        take(try machine.asking(handle, message: input.1, byPresenter: byPresenter, at: tick()))
        return serial
      }
    case .ready:
      binder.bind(answerOf: Rows.ready) { [unowned self] path, call throws(Refusal) in
        let handle = try Handle(path)
        let byPresenter = host.isPresenter(call.client, of: handle)
        let (changed, outcome) = try machine.ready(handle, byPresenter: byPresenter, at: tick())
        take(outcome)
        return (changed, serial)
      }
    case .act:
      binder.bind(answerOf: Rows.act) { [unowned self] input, call throws(Refusal) in
        let handle = try Handle(input.0)
        let byPresenter = host.isPresenter(call.client, of: handle)
        take(try machine.act(handle, action: input.1, parameters: input.2, byPresenter: byPresenter))
        return serial
      }
    case .hold:
      binder.bind(answerOf: Rows.hold) { [unowned self] input, call throws(Refusal) in
        let request = try HoldRequest(input.0, input.1)
        host.authorize(.holding, call) { [unowned self] () throws(Refusal) in
          try hold(request, by: call.client)
        }
        return nil
      }
    case .releaseHold:
      binder.bind(answerOf: Rows.releaseHold) { [unowned self] input, call throws(Refusal) in
        let name = try HoldRequest(input.0).name
        host.authorize(.holding, call) { [unowned self] () throws(Refusal) in
          try host.requireRecord()
          let (count, outcome) = machine.releaseHold(name, cookie: input.1 == 0 ? nil : input.1, at: tick())
          take(outcome)
          return UInt32(clamping: count)
        }
        return nil
      }
    case .holds:
      binder.bind(Rows.holds) { [unowned self] _, call in
        call.reply(machine.holdEntries(at: host.now).map(\.properties))
      }
    case .declareContainerValue:
      binder.bind(answerOf: Rows.declareContainerValue) { [unowned self] input, _ throws(Refusal) in
        try host.requireRecord()
        try machine.declareContainerValue(input.0, defaultValue: input.1)
      }
    case .diagnosis:
      binder.bind(Rows.diagnosis) { [unowned self] _, call in
        host.takeInChanges()
        var diagnosis = host.diagnosis
        diagnosis.limits = limits.mapValues(\.value)
        call.reply(diagnosis.properties)
      }
    case .mistakes:
      binder.bind(Rows.mistakes) { [unowned self] _, call in
        host.takeInChanges()
        call.reply(machine.mistakes)
      }
    case .reload:
      binder.bind(answerOf: Rows.reload) { [unowned self] _, _ throws(Refusal) in try host.reload() }
    case .importEnvironment:
      binder.bind(Rows.importEnvironment) { [unowned self] variables, call in
        host.authorize(.importingEnvironment, call) { [unowned self] () throws(Refusal) in
          try host.requireRecord()
          let (changed, outcome) = try machine.importEnvironment(variables, at: tick())
          take(outcome)
          return changed
        }
      }
    case .quit:
      binder.bind(answerOf: Rows.quit) { [unowned self] _, call throws(Refusal) in
        try machine.checkShutDown()
        host.willQuit()
        take(machine.endParked(isForced: true))
        take(machine.end(machine.beginShutDown(), by: call.client, at: tick()))
      }
    }
  }

  /// Binds a changing method. All of them are read, carried out and answered in the same way.
  private func bind<Input: Sendable, Output: Sendable>(
    _ method: ChangingMethod<Input, Output>, _ binder: some ServiceBinder
  ) {
    binder.bind(method) { [unowned self] input, call in perform(method, input, call) }
  }

  package func bindProperties(to binder: some ServiceBinder) {
    binder.bind(Rows.version) { Rows.currentVersion }
    binder.bind(Rows.release) { Release.version }
    binder.bind(Rows.serial) { [unowned self] in serial }
    binder.bind(Rows.limits) { [unowned self] in limits }
  }

  /// The limits of the state machine and of its host, by name.
  private var limits: [String: UInt64] { machine.limits.byName.merging(host.limits) { $1 } }

  /// The answer of `GetState`.
  package func snapshot() -> StateSnapshot {
    var snapshot = machine.snapshot(platform: host.platform)
    snapshot.record = host.recordID
    return snapshot
  }
}

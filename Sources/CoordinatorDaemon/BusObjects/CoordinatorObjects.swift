import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// The coordinator's objects on the bus: the coordinator itself, the presentations, and the groups, stacks and holds. It serves
/// their methods and properties, and announces what changes.
final class CoordinatorObjects {
  private unowned let coordinator: Coordinator
  private let announcer: Announcer
  private let containers: Containers
  private let entries = EncodedEntries()

  /// Exports the objects. The containers come after the presentations, because presentations are looked up most.
  init(of coordinator: Coordinator) {
    self.coordinator = coordinator
    announcer = Announcer(coordinator.connection, log: coordinator.log)
    containers = Containers(coordinator)
    let connection = coordinator.connection
    connection.handlers.onSignalsMissed = { [announcer] in announcer.repeatLast(to: $0) }
    connection.export(CoordinatorNames.object, [coordinatorInterface()], isObjectManager: true)
    connection.exportSubtree(CoordinatorNames.presentations, presentationObjects())
    containers.export()
  }

  private var service: CoordinatorService<Coordinator> { coordinator.service }

  private func presentationObjects() -> PresentationObjects {
    PresentationObjects(service) { [unowned self] in StateEntry(coordinator.platform(of: $0)) }
  }

  private func coordinatorInterface() -> ImplementedInterface {
    ImplementedInterface(CoordinatorInterface.interface) { [unowned self] name, object in
      switch CoordinatorMethod(rawValue: name) {
      case nil: break
      case .getState: implementGetState(object)
      case let method?: service.bind(method, to: BusBinder(object: object))
      }
    } implementProperties: { [unowned self] object in
      service.bindProperties(to: BusBinder(object: object))
    }
  }

  /// Implements `GetState` without the service, which would build the answer from values first.
  private func implementGetState(_ object: ImplementedInterface) {
    let prepare = { [unowned self] (_: ObjectPath) in entries.prepare(service.machine) }
    object.implement(CoordinatorInterface.getState, preparing: prepare) { [unowned self] _, call in
      call.reply(writing: { [unowned self] writer throws(DBusError) in
        try entries.writeState(of: service.machine, platform: coordinator.platform, to: &writer)
      })
    }
  }

  // MARK: Changes

  /// Begins with a state that no event has led to.
  func follow(_ machine: borrowing StateMachine) { announcer.follow(machine) }

  /// Announces an event, and its changes of the objects.
  func announce(_ event: StateEvent, _ change: Change) {
    announcer.announce(event, change, in: service.machine)
    containers.announce(event)
  }

  /// Announces the facts that the presenter of a presentation knows, if any.
  func announcePlatform(of handle: Handle) {
    let platform = StateEntry(coordinator.platform(of: handle))
    if platform.pid != nil { coordinator.connection.propertyChanged(handle.path, PresentationInterface.pid) }
    if platform.unit != nil { coordinator.connection.propertyChanged(handle.path, PresentationInterface.unit) }
  }

  func announceDestinations() { announcer.emit(CoordinatorInterface.destinationsChanged, ()) }

  /// Encodes the entries of presentations anew for the next answer.
  func changed(_ presentations: some Sequence<Handle>) { entries.forget(presentations) }
}

extension CoordinatorObjects: Feature {
  func note(_ happening: Happening, in machine: borrowing StateMachine) {
    switch happening {
    case .resumed: follow(machine)
    case .created(let handle): coordinator.connection.objectAdded(handle.path)
    case .event(let event, let change):
      announce(event, change)
      if case .presented(let handle, _, _, let item) = change.event, item.destination != nil {
        announcePlatform(of: handle)
      }
    case .platformChanged(let handle): announcePlatform(of: handle)
    case .destinationsChanged: announceDestinations()
    case .changed(let changes): changed(changes.presentations.lazy.map { $0.key })
    case .turnEnded: break
    }
  }
}

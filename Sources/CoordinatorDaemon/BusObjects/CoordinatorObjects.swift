import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// The coordinator's objects on the bus: the coordinator itself, the presentations, and the groups, stacks and holds. It serves
/// their methods and properties, and announces what changes.
final class CoordinatorObjects {
  private unowned let coordinator: CoordinatorRoot
  private let announcer: Announcer
  private let containers: ContainerSubtrees

  /// Exports the objects. The containers come after the presentations, because presentations are looked up most.
  init(of coordinator: CoordinatorRoot) {
    self.coordinator = coordinator
    announcer = Announcer(coordinator.connection, log: coordinator.log)
    containers = ContainerSubtrees(coordinator)
    let connection = coordinator.connection
    connection.handlers.onSignalsMissed = { [announcer] in announcer.repeatLast() }
    connection.export(CoordinatorNames.object, [coordinatorInterface()], isObjectManager: true)
    connection.exportSubtree(CoordinatorNames.presentations, presentationObjects())
    containers.export()
  }

  private var service: CoordinatorService<CoordinatorRoot> { coordinator.service }

  private func presentationObjects() -> PresentationObjects {
    PresentationObjects(service) { [unowned self] in StateEntry(coordinator.platform(of: $0)) }
  }

  private func coordinatorInterface() -> ImplementedInterface {
    ImplementedInterface(CoordinatorInterface.interface) { [unowned self] name, object in
      if let method = CoordinatorMethod(rawValue: name) { service.bind(method, to: BusBinder(object: object)) }
    } implementProperties: { [unowned self] object in
      service.bindProperties(to: BusBinder(object: object))
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

  func announceDestinations() {
    announcer.emit(CoordinatorInterface.destinationsChanged, ())
    containers.noteTitles()
    announcer.noteFiles()
  }
}

extension CoordinatorObjects: Feature {
  func note(_ happening: Happening, in machine: borrowing StateMachine) {
    switch happening {
    case .resumed: follow(machine)
    case .created(let handle):
      coordinator.connection.objectAdded(handle.path)
      announcer.note(handle, in: machine)
      containers.noteTitle(of: handle)
    case .event(let event, let change):
      announce(event, change)
      if case .presented(let handle, _, _, let item) = change.event, item.destination != nil {
        announcePlatform(of: handle)
      }
    case .platformChanged(let handle): announcePlatform(of: handle)
    case .destinationsChanged: announceDestinations()
    // Each hold that has begun or ended is a change. This comes before the messages of the turn are sent.
    case .changed:
      announcer.announceHeld(in: machine)
      announcer.announceQueued(in: machine)
      announcer.announceRestarts(in: machine)
    case .turnEnded: break
    }
  }
}

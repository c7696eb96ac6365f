// Why this file exists: every difference between two states becomes one signal, in the order in which it happened (W1,
// W2), and the objects of the presentations follow.

import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import Logging
import PresentationRules

/// Tells the bus what changed.
struct Announcer {
  typealias Rows = CoordinatorInterface
  /// Whose state it is; as it is after the input that made a change.
  unowned let coordinator: Coordinator
  private var connection: Connection { coordinator.connection }

  /// Sends a change as its signal.
  func announce(_ change: Change) {
    let serial = change.serial.number
    switch change.event {
    case .presented(let handle, let binding, let id, let item):
      let path = handle.path
      emit(Rows.presented, (binding.text, id, path, serial, properties(of: item, handle)))
      connection.propertyChanged(path, PresentationInterface.phase)
    case .updated(let handle, let binding, let id, let item):
      let path = handle.path
      emit(Rows.updated, (binding.text, id, path, serial, properties(of: item, handle)))
      connection.propertyChanged(path, PresentationInterface.value)
      connection.propertyChanged(path, PresentationInterface.containerValues)
      connection.propertyChanged(path, PresentationInterface.style)
      connection.propertyChanged(path, PresentationInterface.title)
      connection.propertyChanged(path, PresentationInterface.owner)
    case .phase(let handle, let binding, let id, let word):
      let path = handle.path
      emit(Rows.phaseChanged, (binding.text, id, path, serial, word))
      connection.propertyChanged(path, PresentationInterface.phase)
    case .dismissed(let handle, let binding, let id, let reason, _):
      let path = handle.path
      emit(Rows.dismissed, (binding.text, id, path, serial, reason.rawValue))
      connection.objectRemoved(path)
    case .action(let handle, let binding, let id, let action, let parameters):
      emit(Rows.action, (binding.text, id, handle.path, serial, action, parameters))
    case .selection(let group, let tag):
      emit(Rows.selectionChanged, (group.text, tag ?? "", serial))
    case .group(let group):
      let (tags, queue) = (coordinator.machine.tags(of: group), coordinator.machine.queuedTags(of: group))
      emit(Rows.groupChanged, (group.text, tags, queue, serial))
    case .path(let stack):
      let path = coordinator.machine.path(of: stack).map { Structure($0.binding.text, $0.id) }
      emit(Rows.pathChanged, (stack.text, path, serial))
    }
  }

  func destinationsChanged() { emit(Rows.destinationsChanged, ()) }

  private func properties(of item: Shared<Item>, _ handle: Handle) -> Properties {
    item.content.properties(parent: coordinator.parent(of: handle))
  }

  private func emit<Args>(_ signal: Signal<Args>, _ arguments: Args) {
    do throws(DBusError) {
      try connection.emit(signal, from: CoordinatorNames.object, arguments)
    } catch {
      // What comes from the bus can go to it again, so this is a mistake of ours, and no client's.
      coordinator.log.error("a signal could not be sent: \(error)", metadata: ["signal": "\(signal.name)"])
    }
  }
}

import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRules

/// Sends the signal of each event in order (W1, W2), and the changes of the presentations' objects.
final class Announcer: SignalEmitter {
  private let connection: Connection
  private let log: Logger
  private var last: StateEvent?
  /// The presentations that are known to wait because of holds.
  private var held: Set<Handle> = []
  /// The holds that are in force after the last event.
  private var holdsInForce: Set<String> = []
  /// The holds that have begun or ended in this turn.
  private var changedHolds: Set<String> = []

  /// The presentations in the queues of groups, as last announced.
  private var queues: [BindingID: [Handle]] = [:]
  /// The groups whose queues may have changed in this turn.
  private var changedQueues: Set<BindingID> = []
  /// The presentations that are known to wait until they are presented again.
  private var restarting: Set<Handle> = []

  init(_ connection: Connection, log: Logger) {
    self.connection = connection
    self.log = log
  }

  /// - Parameter change: the same event, as the rules describe it.
  func announce(_ event: StateEvent, _ change: Change, in machine: borrowing StateMachine) {
    event.send(by: self)
    typealias Rows = PresentationInterface
    switch event.kind {
    case .presented(let subject, _):
      let path = subject.path
      announcePhase(of: subject, at: path, in: machine)
      connection.propertyChanged(path, Rows.since)
    case .phase(let subject, _): announcePhase(of: subject, at: subject.path, in: machine)
    case .declined(let subject, _):
      let path = subject.path
      announcePhase(of: subject, at: path, in: machine)
      // The presentation may have been asking its user until now.
      announceQuestion(at: path)
    case .updated(let subject, _):
      guard case .updated(_, _, _, let item, let before) = change.event else { break }
      announce(item, before: before, at: subject.path)
    case .asking(let subject, _): announceQuestion(at: subject.path)
    case .dismissed(let subject, _):
      if !held.isEmpty { held.remove(subject.presentation) }
      connection.objectRemoved(subject.path)
    case .hold(let name, let isInForce):
      // Another holder changes nothing for the presentations.
      guard isInForce != holdsInForce.contains(name) else { break }
      if isInForce { holdsInForce.insert(name) } else { holdsInForce.remove(name) }
      changedHolds.insert(name)
    case .group:
      if case .group(let group) = change.event { changedQueues.insert(group) }
    case .action, .selection, .path, .parked, .requested: break
    }
    last = event
  }

  /// Notes a new presentation, whose object is announced with its place in a queue and the time of its restart.
  func note(_ handle: Handle, in machine: borrowing StateMachine) {
    guard let presentation = machine.presentation(handle) else { return }
    if machine.restartAt(presentation) != nil { restarting.insert(handle) }
    if presentation.item.isQueued, let group = presentation.item.membership?.group { changedQueues.insert(group) }
  }

  /// Announces the presentations that do not wait any longer until they are presented again.
  func announceRestarts(in machine: borrowing StateMachine) {
    guard !restarting.isEmpty else { return }
    let done = restarting.filter { handle in
      guard let presentation = machine.presentation(handle) else { return true }
      return machine.restartAt(presentation) == nil
    }
    restarting.subtract(done)
    for handle in done.sorted() where machine.presentation(handle) != nil {
      connection.propertyChanged(handle.path, PresentationInterface.restartAt)
    }
  }

  /// Announces the presentations that have another place in a queue than before, once in a turn.
  func announceQueued(in machine: borrowing StateMachine) {
    for group in changedQueues.sorted(by: { $0.text < $1.text }) {
      let (former, current) = (queues[group] ?? [], machine.queued(in: group))
      queues[group] = current.isEmpty ? nil : current
      let unchanged = zip(former, current).prefix { $0 == $1 }.count
      let left = Set(former[unchanged...]).subtracting(current).filter { machine.presentation($0) != nil }
      for handle in left.sorted() + current[unchanged...] {
        connection.propertyChanged(handle.path, PresentationInterface.queued)
      }
    }
    changedQueues = []
  }

  private func announcePhase(
    of subject: StateEvent.Subject, at path: ObjectPath, in machine: borrowing StateMachine
  ) {
    connection.propertyChanged(path, PresentationInterface.phase)
    guard machine.isHolding || !held.isEmpty, let presentation = machine.presentation(subject.presentation) else {
      return
    }
    let wasHeld = held.contains(subject.presentation)
    note(presentation, in: machine)
    if wasHeld != held.contains(subject.presentation) {
      connection.propertyChanged(path, PresentationInterface.heldBy)
    }
  }

  /// Notes that files may say something else about what holds do (H3).
  func noteFiles() { changedHolds.formUnion(holdsInForce) }

  /// Announces the presentations that wait for other holds than before. It looks at all of them once in a turn, however many holds have
  /// begun or ended.
  func announceHeld(in machine: borrowing StateMachine) {
    guard !changedHolds.isEmpty else { return }
    let changed = changedHolds
    changedHolds = []
    machine.forEachPresentation { presentation in
      guard presentation.phase == .waiting, presentation.item.holds.keys.contains(where: changed.contains) else {
        return
      }
      note(presentation, in: machine)
      connection.propertyChanged(presentation.handle.path, PresentationInterface.heldBy)
    }
  }

  /// Notes the queues, the restarts, the holds in force, and the presentations that they keep waiting, when navd begins to serve.
  func follow(_ machine: borrowing StateMachine) {
    for group in machine.groupNames {
      let queued = machine.queued(in: group)
      if !queued.isEmpty { queues[group] = queued }
    }
    machine.forEachPresentation { if machine.restartAt($0) != nil { restarting.insert($0.handle) } }
    guard machine.isHolding else { return }
    holdsInForce = Set(machine.holdsInForce)
    machine.forEachPresentation { note($0, in: machine) }
  }

  private func note(_ presentation: Presentation, in machine: borrowing StateMachine) {
    if machine.heldBy(presentation).isEmpty {
      held.remove(presentation.handle)
    } else {
      held.insert(presentation.handle)
    }
  }

  private func announceQuestion(at path: ObjectPath) {
    connection.propertyChanged(path, PresentationInterface.asking)
    connection.propertyChanged(path, PresentationInterface.message)
  }

  /// Announces the properties of an item that have changed.
  private func announce(_ item: Shared<Item>, before: Shared<Item>, at path: ObjectPath) {
    typealias Rows = PresentationInterface
    if item.value != before.value { connection.propertyChanged(path, Rows.value) }
    if item.containerValues != before.containerValues { connection.propertyChanged(path, Rows.containerValues) }
    if item.style != before.style { connection.propertyChanged(path, Rows.style) }
    if item.title != before.title { connection.propertyChanged(path, Rows.title) }
    if item.owner != before.owner { connection.propertyChanged(path, Rows.owner) }
    if item.output != before.output { connection.propertyChanged(path, Rows.output) }
  }

  /// Repeats the last event after signals were dropped; the event's serial shows the gap (W3).
  func repeatLast() { last?.send(by: self) }

  func emit<Arguments>(_ signal: Signal<Arguments>, _ arguments: consuming Arguments) {
    do throws(DBusError) {
      try connection.emit(signal, from: CoordinatorNames.object, arguments)
    } catch {
      // A bug of navd: every value that it receives over the bus can be sent over the bus.
      log.error("a signal could not be sent: \(error)", metadata: ["signal": "\(signal.name)"])
    }
  }
}

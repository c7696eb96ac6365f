import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import Logging
import PresentationModel
import PresentationRules

/// Sends the signal of each event in order (W1, W2), and the changes of the presentations' objects.
final class Announcer: SignalEmitter {
  private let connection: Connection
  private let log: Logger
  private var last: StateEvent?
  /// nil for all who subscribed.
  private var recipient: BusName?

  init(_ connection: Connection, log: Logger) {
    self.connection = connection
    self.log = log
  }

  /// - Parameter change: the same event, as the rules have it.
  func announce(_ event: StateEvent, _ change: Change) {
    event.send(by: self)
    switch event.kind {
    case .presented(let subject, _), .phase(let subject, _), .declined(let subject, _):
      connection.propertyChanged(subject.path, PresentationInterface.phase)
    case .updated(let subject, _):
      guard case .updated(_, _, _, let item, let before) = change.event else { break }
      announce(item, before: before, at: subject.path)
    case .dismissed(let subject, _): connection.objectRemoved(subject.path)
    case .asking, .action, .selection, .group, .path, .hold, .parked: break
    }
    last = event
  }

  /// Announces the properties of an item that have changed.
  private func announce(_ item: Shared<Item>, before: Shared<Item>, at path: ObjectPath) {
    typealias Rows = PresentationInterface
    if item.value != before.value { connection.propertyChanged(path, Rows.value) }
    if item.containerValues != before.containerValues { connection.propertyChanged(path, Rows.containerValues) }
    if item.style != before.style { connection.propertyChanged(path, Rows.style) }
    if item.title != before.title { connection.propertyChanged(path, Rows.title) }
    if item.owner != before.owner { connection.propertyChanged(path, Rows.owner) }
  }

  /// Repeats the last event for a client that may have missed it, or for all; its serial shows the gap (W3).
  func repeatLast(to client: BusName?) {
    recipient = client
    last?.send(by: self)
    recipient = nil
  }

  func emit<Arguments>(_ signal: Signal<Arguments>, _ arguments: consuming Arguments) {
    do throws(DBusError) {
      try connection.emit(signal, from: CoordinatorNames.object, to: recipient, arguments)
    } catch {
      // A bug of navd: values that were received over the bus can be sent over it.
      log.error("a signal could not be sent: \(error)", metadata: ["signal": "\(signal.name)"])
    }
  }
}

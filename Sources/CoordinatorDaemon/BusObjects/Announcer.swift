import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import Logging
import PresentationModel

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

  func announce(_ event: StateEvent) {
    event.send(by: self)
    switch event.kind {
    case .presented(let subject, _), .phase(let subject, _), .declined(let subject, _):
      connection.propertyChanged(subject.path, PresentationInterface.phase)
    case .updated(let subject, _):
      let path = subject.path
      connection.propertyChanged(path, PresentationInterface.value)
      connection.propertyChanged(path, PresentationInterface.containerValues)
      connection.propertyChanged(path, PresentationInterface.style)
      connection.propertyChanged(path, PresentationInterface.title)
      connection.propertyChanged(path, PresentationInterface.owner)
    case .dismissed(let subject, _): connection.objectRemoved(subject.path)
    case .asking, .action, .selection, .group, .path, .hold, .parked: break
    }
    last = event
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

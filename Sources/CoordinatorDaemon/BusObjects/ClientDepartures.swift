import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// Reports when a client's unique name leaves the bus, because everything that the client owns ends then (O1, D1).
final class ClientDepartures {
  private let connection: Connection
  private let onLeft: (Client) -> Void
  private var watches: [Client: NameWatch] = [:]

  init(_ connection: Connection, onLeft: @escaping (Client) -> Void) {
    self.connection = connection
    self.onLeft = onLeft
  }

  /// Watches a client. A client that has left already is reported, too.
  func follow(_ client: Client) {
    guard watches[client] == nil, let name = BusName(client.name) else { return }
    watches[client] = connection.watchName(name) { [unowned self] owner in
      guard owner == nil else { return }
      watches.removeValue(forKey: client)?.cancel()
      onLeft(client)
    }
  }
}

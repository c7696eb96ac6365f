import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// Reports when a client's unique name leaves the bus, because everything that the client owns ends then (O1, D1).
final class ClientDepartures {
  private let connection: Connection
  private let inbox: Inbox
  private var watches: [Client: NameWatch] = [:]

  init(_ connection: Connection, _ inbox: Inbox) {
    self.connection = connection
    self.inbox = inbox
  }

  /// Watches a client. A client that has left already is reported, too.
  func follow(_ client: Client) {
    guard watches[client] == nil, let name = BusName(client.name) else { return }
    watches[client] = connection.watchName(name) { [weak self] owner in
      guard let self, owner == nil else { return }
      watches.removeValue(forKey: client)?.cancel()
      inbox.take(.clientLeft(client))
    }
  }
}

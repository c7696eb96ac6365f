// Why this file exists: what belongs to a client ends when its unique name leaves the bus (O1, D1).

import DBus
import DBusValues
import PresentationModel
import PresentationRules

/// Follows clients until they have left.
final class ClientWatcher {
  private let connection: Connection
  private let onLeft: (Client) -> Void
  private var watches: [Client: NameWatch] = [:]

  init(_ connection: Connection, onLeft: @escaping (Client) -> Void) {
    self.connection = connection
    self.onLeft = onLeft
  }

  /// Follows a client; one that has left already is told of as well.
  func follow(_ client: Client) {
    guard watches[client] == nil, let name = BusName(client.name) else { return }
    watches[client] = connection.watchName(name) { [unowned self] owner in
      guard owner == nil else { return }
      watches.removeValue(forKey: client)?.cancel()
      onLeft(client)
    }
  }
}

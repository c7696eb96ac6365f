// Why this file exists: who a client is, only the bus can say.
import DBusValues

/// What the bus knows of the process behind a connection ("D-Bus Specification", *GetConnectionCredentials*).
public struct Credentials: Hashable, Sendable {
  public let processID: UInt32?
  public let userID: UInt32?
  /// All that the bus said, also what has no property here.
  public let all: Properties

  init(_ all: Properties) {
    self.all = all
    processID = all["ProcessID"].flatMap(UInt32.init(value:))
    userID = all["UnixUserID"].flatMap(UInt32.init(value:))
  }
}

extension Connection {
  /// Asks the bus who is behind a name.
  /// - Parameter completion: `NameHasNoOwner` if it has left.
  public func credentials(of name: BusName, _ completion: @escaping (Result<Credentials, DBusError>) -> Void) {
    call(Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, name.text) { completion($0.map(Credentials.init)) }
  }
}

// Why this file exists: who a client is, only the bus can say.

import DBusValues

/// What the bus knows of the process behind a connection ("D-Bus Specification", *GetConnectionCredentials*).
public struct Credentials: Hashable, Sendable {
  public let processID: UInt32?
  public let userID: UInt32?
  /// A pidfd of the process; only newer buses have it.
  public let process: Descriptor?
  /// What the security module (AppArmor, SELinux, Smack) calls it.
  public let securityLabel: [UInt8]?
  /// All that the bus said, also what has no property here.
  public let all: Properties

  public init(_ all: Properties) {
    self.all = all
    processID = all["ProcessID"].flatMap(UInt32.init(value:))
    userID = all["UnixUserID"].flatMap(UInt32.init(value:))
    process = all["ProcessFD"].flatMap(Descriptor.init(value:))
    securityLabel = all["LinuxSecurityLabel"].flatMap([UInt8].init(value:))
  }
}

extension Connection {
  /// Asks the bus who is behind a name.
  /// - Parameter completion: `NameHasNoOwner` if it has left.
  public func credentials(of name: BusName, _ completion: @escaping (Result<Credentials, DBusError>) -> Void) {
    call(Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, name.text) { completion($0.map(Credentials.init)) }
  }
}

import DBusValues

/// The information of the bus about the process of a connection ("D-Bus Specification", *GetConnectionCredentials*).
public struct Credentials: Hashable, Sendable {
  public let processID: UInt32?
  public let userID: UInt32?
  /// A pidfd of the process; nil on older buses.
  public let process: Descriptor?
  /// The label from the security module (AppArmor, SELinux, Smack).
  public let securityLabel: [UInt8]?
  /// The bus's whole answer.
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
  /// Asks the bus for the credentials of a name's owner.
  /// - Parameter completion: fails with `NameHasNoOwner` if the name has no owner.
  public func credentials(of name: BusName, _ completion: @escaping (Result<Credentials, DBusError>) -> Void) {
    call(Bus.getConnectionCredentials, on: Bus.name, at: Bus.path, name.text) { completion($0.map(Credentials.init)) }
  }
}

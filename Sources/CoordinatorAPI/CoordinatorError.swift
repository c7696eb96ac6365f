// Why this file exists: what can go wrong has one name on the bus, and one exit code in navctl.

import DBusValues

/// An error of the contract: `org.navd.Error.*`. The message says which argument, what it was, and what would do.
public struct CoordinatorError: Error, Hashable, Sendable {
  /// The last part of the name on the bus.
  public enum Name: String, CaseIterable, Sendable {
    case invalidBinding = "InvalidBinding"
    case invalidArgument = "InvalidArgument"
    case unknownDestination = "UnknownDestination"
    case unknownTag = "UnknownTag"
    case unknownPresentation = "UnknownPresentation"
    case notPresented = "NotPresented"
    case stale = "Stale"
    case busy = "Busy"
    case alreadyInStack = "AlreadyInStack"
    case unknownContainerValue = "UnknownContainerValue"
    case containerValueType = "ContainerValueType"
    case limitExceeded = "LimitExceeded"
    case invalidConfiguration = "InvalidConfiguration"
    case accessDenied = "AccessDenied"
    case shuttingDown = "ShuttingDown"
    /// The record cannot be written.
    case notRecorded = "NotRecorded"

    private static let prefix = "org.navd.Error."

    /// The name as it travels.
    public var errorName: ErrorName { ErrorName(unchecked: Self.prefix + rawValue) }

    /// - Returns: nil where the name is none of the contract's.
    public init?(_ name: ErrorName) {
      guard name.text.hasPrefix(Self.prefix) else { return nil }
      self.init(rawValue: String(name.text.dropFirst(Self.prefix.count)))
    }
  }

  public var name: Name
  public var message: String

  public init(_ name: Name, _ message: String) {
    self.name = name
    self.message = message
  }
}

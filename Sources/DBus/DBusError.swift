import CDBus
import DBusValues

/// An error that is sent over the bus, or that a call fails with.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
  public let name: ErrorName
  /// The message for people: what was expected and what was found.
  public let message: String

  public init(name: ErrorName, message: String) {
    self.name = name
    self.message = message
  }

  public var description: String { message.isEmpty ? name.text : "\(message) (\(name))" }
}

/// The names of the errors of the protocol itself ("D-Bus Specification"; dbus-protocol.h).
extension ErrorName {
  public static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
  public static let noMemory: ErrorName = "org.freedesktop.DBus.Error.NoMemory"
  public static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
  public static let timedOut: ErrorName = "org.freedesktop.DBus.Error.Timeout"
  public static let disconnected: ErrorName = "org.freedesktop.DBus.Error.Disconnected"
  public static let noServer: ErrorName = "org.freedesktop.DBus.Error.NoServer"
  public static let invalidArgs: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
  public static let invalidSignature: ErrorName = "org.freedesktop.DBus.Error.InvalidSignature"
  public static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
  public static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
  public static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
  public static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
  public static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
  public static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
  public static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
  public static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
  public static let authFailed: ErrorName = "org.freedesktop.DBus.Error.AuthFailed"
  public static let addressInUse: ErrorName = "org.freedesktop.DBus.Error.AddressInUse"
  public static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
  public static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
}

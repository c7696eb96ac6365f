import DBusValues

/// The errors of the contract. The raw value is the last part of the name on the bus, after `org.navd.Error.`.
public enum ErrorCode: String, Hashable, Sendable, CaseIterable {
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
  /// A presenter declined to dismiss its presentation (P15).
  case declined = "Declined"
  /// An adapter for the window system knows no such window.
  case unknownWindow = "UnknownWindow"
  /// The window system cannot do what was asked.
  case notSupported = "NotSupported"
  /// A hold in force refuses the item (H3).
  case held = "Held"

  private static let prefix = "org.navd.Error."

  /// The full error name on the bus.
  public var errorName: ErrorName { ErrorName(unchecked: Self.prefix + rawValue) }

  /// - Returns: nil if the contract has no error of this name.
  public init?(_ name: ErrorName) {
    guard name.text.hasPrefix(Self.prefix) else { return nil }
    self.init(rawValue: String(name.text.dropFirst(Self.prefix.count)))
  }
}

/// The refusal of a request, which has changed nothing. The message gives the argument, the value found and the value expected.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
  public let code: ErrorCode
  public let message: String
  /// The index of the refused request in its transaction, from 0; nil outside of transactions (T1).
  public var index: Int?
  /// Whether the request would be carried out for a client that is known to be outside of any sandbox (L3). If so, the message names
  /// the part that needs this.
  public var needsTrust = false

  public init(_ code: ErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The same refusal; its message begins with the part of the request that it is about.
  package func of(_ part: String) -> Refusal {
    var refusal = Refusal(code, "\(part): \(message)")
    (refusal.index, refusal.needsTrust) = (index, needsTrust)
    return refusal
  }

  public var description: String { "\(code.rawValue): \(message)" }
}

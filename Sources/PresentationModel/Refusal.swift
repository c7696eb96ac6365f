// Why this file exists: a request that cannot be carried out changes nothing and gets an answer that helps.

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

  private static let prefix = "org.navd.Error."

  /// The full error name on the bus.
  public var errorName: ErrorName { ErrorName(unchecked: Self.prefix + rawValue) }

  /// - Returns: nil where the name is none of the contract's.
  public init?(_ name: ErrorName) {
    guard name.text.hasPrefix(Self.prefix) else { return nil }
    self.init(rawValue: String(name.text.dropFirst(Self.prefix.count)))
  }
}

/// Why a request was refused: the name under which the contract knows it, and a text that says which argument, what it
/// was, and what would do.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
  public let code: ErrorCode
  public let message: String
  /// The place in the transaction of the request that was refused, from 0; nil where there was but one (T1).
  public var index: Int?

  public init(_ code: ErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(code.rawValue): \(message)" }
}

/// A text from outside, cut to what an error message can bear.
package func abridged(_ text: String) -> String {
  text.unicodeScalars.count > 80 ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(80))) + "…" : text
}

// Why this file exists: a request that cannot be carried out changes nothing and gets an answer that helps.

/// Why a request was refused: the name under which the contract knows it, and a text that says which argument, what it
/// was, and what would do.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The contract's error names, without their common beginning.
  public enum Code: String, Sendable, CaseIterable {
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
    case notRecorded = "NotRecorded"
  }

  public let code: Code
  public let message: String
  /// The place in the transaction of the request that was refused, from 0; nil where there was but one (T1).
  public var index: Int?

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(code.rawValue): \(message)" }
}

/// A text from outside, cut to what an error message can bear.
func abridged(_ text: String) -> String {
  text.unicodeScalars.count > 80 ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(80))) + "…" : text
}

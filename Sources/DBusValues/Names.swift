import Glibc

/// A text that is valid by construction: an invalid literal traps, and the initializer for other texts can fail. libdbus-1 aborts the
/// process on an invalid name, so it only ever gets these types.
///
/// `BusName("x")` with a literal in the parentheses is treated as the literal itself (SE-0213).
public protocol ValidatedText: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  var text: String { get }
  /// - Returns: nil if `text` breaks the rules of the type.
  init?(_ text: String)
}

extension ValidatedText {
  public init(stringLiteral text: String) {
    guard let valid = Self(text) else { preconditionFailure("“\(text)” is not a valid \(Self.self)") }
    self = valid
  }
  public var description: String { text }
  public static func < (a: Self, b: Self) -> Bool { a.text < b.text }
}

/// An object path ("D-Bus Specification", *Valid Object Paths*).
public struct ObjectPath: ValidatedText {
  public let text: String

  public init?(_ text: String) {
    var rest = text.utf8[...]
    guard rest.popFirst() == UInt8(ascii: "/") else { return nil }
    guard rest.isEmpty || rest.hasElements(separatedBy: UInt8(ascii: "/"), isElement: isNameByte) else { return nil }
    self.text = text
  }

  /// - Parameter text: a text that is known to be valid, since it is from libdbus-1 or made of valid parts. This is so for all types
  ///   here.
  package init(unchecked text: String) { self.text = text }

  /// `/`, which stands for “no object” in navd's interfaces.
  public static let root: ObjectPath = "/"

  /// The path with one more element.
  /// - Returns: nil if `element` is not a valid element.
  public func appending(_ element: String) -> ObjectPath? {
    guard !element.isEmpty, element.utf8.allSatisfy(isNameByte) else { return nil }
    return ObjectPath(unchecked: self == .root ? "/" + element : text + "/" + element)
  }

  /// The path with a number as one more element.
  public func appending(_ number: UInt64) -> ObjectPath {
    ObjectPath(unchecked: "\(self == .root ? "" : text)/\(number)")
  }

  /// Whether this is the path of an object below `ancestor`.
  public func isBelow(_ ancestor: ObjectPath) -> Bool { below(ancestor) != nil }

  /// The rest of this path after `ancestor`, as in `b/c` for `/a` in `/a/b/c`.
  /// - Returns: nil if the path is not below `ancestor`.
  public func below(_ ancestor: ObjectPath) -> Substring? {
    let (path, above) = (text.utf8, ancestor.text.utf8)
    // Only the root ends with a slash.
    let slash = above.count == 1 ? 0 : above.count
    guard path.count > slash + 1, path.starts(with: above) else { return nil }
    let rest = path.dropFirst(slash)
    return rest.first == UInt8(ascii: "/") ? Substring(rest.dropFirst()) : nil
  }

  /// The number that ``appending(_:)-(UInt64)`` added to `ancestor`; nil for any other path, and for another spelling of the number.
  public func number(below ancestor: ObjectPath) -> UInt64? {
    guard let digits = below(ancestor), let number = UInt64(digits), String(number) == digits else { return nil }
    return number
  }
}

/// The name of a connection: unique (`:1.42`) or well-known (`org.navd.Coordinator1`) ("D-Bus Specification",
/// *Bus names*).
public struct BusName: ValidatedText {
  public let text: String

  public init?(_ text: String) {
    var rest = text.utf8[...]
    guard rest.count <= maxNameLength else { return nil }
    let isUnique = rest.first == UInt8(ascii: ":")
    if isUnique { rest.removeFirst() }
    guard rest.contains(UInt8(ascii: ".")),
      rest.hasElements(
        separatedBy: UInt8(ascii: "."), isFirst: { isUnique || isBusNameByte($0) && !isDigit($0) },
        isElement: isBusNameByte)
    else { return nil }
    self.text = text
  }

  package init(unchecked text: String) { self.text = text }

  /// Whether the bus assigned this name to one connection. It is never assigned again.
  public var isUnique: Bool { text.utf8.first == UInt8(ascii: ":") }
}

/// The name of an interface ("D-Bus Specification", *Interface names*).
public struct InterfaceName: ValidatedText {
  public let text: String

  public init?(_ text: String) {
    guard isInterface(text) else { return nil }
    self.text = text
  }

  package init(unchecked text: String) { self.text = text }
}

/// The name of an error, by the rules for interfaces ("D-Bus Specification", *Error names*).
public struct ErrorName: ValidatedText {
  public let text: String

  public init?(_ text: String) {
    guard isInterface(text) else { return nil }
    self.text = text
  }

  package init(unchecked text: String) { self.text = text }
}

/// The name of a method, signal or property ("D-Bus Specification", *Member names*).
public struct MemberName: ValidatedText {
  public let text: String

  public init?(_ text: String) {
    let bytes = text.utf8
    guard let first = bytes.first, bytes.count <= maxNameLength, !isDigit(first), bytes.allSatisfy(isNameByte) else {
      return nil
    }
    self.text = text
  }

  package init(unchecked text: String) { self.text = text }
}

/// The largest length of a name of any kind, in bytes.
private let maxNameLength = 255

private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

private func isNameByte(_ byte: UInt8) -> Bool {
  isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
}

private func isBusNameByte(_ byte: UInt8) -> Bool { isNameByte(byte) || byte == UInt8(ascii: "-") }

private func isInterface(_ text: String) -> Bool {
  let bytes = text.utf8[...]
  return bytes.count <= maxNameLength && bytes.contains(UInt8(ascii: "."))
    && bytes.hasElements(separatedBy: UInt8(ascii: "."), isFirst: { !isDigit($0) }, isElement: isNameByte)
}

extension Substring.UTF8View {
  /// Whether the text consists of nonempty elements of allowed bytes, with single separators between them.
  fileprivate func hasElements(
    separatedBy separator: UInt8, isFirst: (UInt8) -> Bool = { _ in true }, isElement: (UInt8) -> Bool
  ) -> Bool {
    var atStart = true
    for byte in self {
      if byte == separator {
        if atStart { return false }
        atStart = true
      } else {
        guard isElement(byte), !atStart || isFirst(byte) else { return false }
        atStart = false
      }
    }
    return !atStart
  }
}

// Why this file exists: libdbus-1 aborts the process when it is handed a name that the specification forbids, so a
// name that could be wrong is a type that cannot be.

/// Text that is valid by construction. A literal in the code traps where it is not, everything else goes through the
/// failable initialiser.
///
/// Mind that `BusName("x")` with a literal in the brackets is the literal too (SE-0213).
public protocol ValidatedText: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  var text: String { get }
  /// - Returns: nil where `text` breaks the rules of the type.
  init?(_ text: String)
}

extension ValidatedText {
  public init(stringLiteral text: String) {
    guard let valid = Self(text) else { preconditionFailure("“\(text)” is no valid \(Self.self)") }
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
    guard rest.isEmpty || rest.split(separator: UInt8(ascii: "/"), isElement: isNameByte) else { return nil }
    self.text = text
  }

  /// Takes what is known to be valid: from libdbus-1, or made of valid parts.
  package init(unchecked text: String) { self.text = text }

  /// `/`, which navd's interfaces use where there is no object.
  public static let root: ObjectPath = "/"

  /// The path with one more element.
  /// - Returns: nil where `element` is no valid element.
  public func appending(_ element: String) -> ObjectPath? {
    guard !element.isEmpty, element.utf8.allSatisfy(isNameByte) else { return nil }
    return ObjectPath(unchecked: self == .root ? "/" + element : text + "/" + element)
  }

  /// The path with a number as one more element.
  public func appending(_ number: UInt64) -> ObjectPath {
    var (parent, digits) = (self == .root ? "" : text, String(number))
    let path = parent.withUTF8 { parent in
      digits.withUTF8 { digits in
        // At once, since each presentation's path is made of parts several times a request.
        String(unsafeUninitializedCapacity: parent.count + 1 + digits.count) { bytes in
          _ = bytes.initialize(fromContentsOf: parent)
          bytes.initializeElement(at: parent.count, to: UInt8(ascii: "/"))
          return bytes[(parent.count + 1)...].initialize(fromContentsOf: digits)
        }
      }
    }
    return ObjectPath(unchecked: path)
  }

  /// What stands after `ancestor` in this path, as in `b/c` for `/a` in `/a/b/c`.
  /// - Returns: nil where the path is not below `ancestor`.
  public func below(_ ancestor: ObjectPath) -> Substring? {
    let prefix = ancestor == .root ? 1 : ancestor.text.utf8.count + 1
    // Paths are ASCII, so that equal characters are equal bytes.
    guard text.utf8.count > prefix, text.hasPrefix(ancestor.text) else { return nil }
    let start = text.utf8.index(text.startIndex, offsetBy: prefix)
    guard text.utf8[text.utf8.index(before: start)] == UInt8(ascii: "/") else { return nil }
    return text[start...]
  }

  /// The number that stands alone after `ancestor`, in the one form that ``appending(_:)-(UInt64)`` gives it.
  public func number(below ancestor: ObjectPath) -> UInt64? {
    guard let rest = below(ancestor), let first = rest.utf8.first, first != UInt8(ascii: "+"),
      first != UInt8(ascii: "0") || rest.utf8.count == 1
    else { return nil }
    return UInt64(rest)
  }
}

/// The name of a connection: unique (`:1.42`) or well-known (`org.navd.Coordinator1`) ("D-Bus Specification",
/// *Bus names*).
public struct BusName: ValidatedText {
  public let text: String

  public init?(_ text: String) {
    var rest = text.utf8[...]
    guard rest.count <= longestName else { return nil }
    let isUnique = rest.first == UInt8(ascii: ":")
    if isUnique { rest.removeFirst() }
    guard rest.contains(UInt8(ascii: ".")),
      rest.split(
        separator: UInt8(ascii: "."), isFirst: { isUnique || isBusNameByte($0) && !isDigit($0) },
        isElement: isBusNameByte)
    else { return nil }
    self.text = text
  }

  package init(unchecked text: String) { self.text = text }

  /// Given by the bus, to one connection, never again to another.
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

/// The name of an error; the same rules as for interfaces ("D-Bus Specification", *Error names*).
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
    guard let first = bytes.first, bytes.count <= longestName, !isDigit(first), bytes.allSatisfy(isNameByte) else {
      return nil
    }
    self.text = text
  }

  package init(unchecked text: String) { self.text = text }
}

/// Bytes, for every kind of name.
private let longestName = 255

private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

private func isNameByte(_ byte: UInt8) -> Bool {
  isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
}

private func isBusNameByte(_ byte: UInt8) -> Bool { isNameByte(byte) || byte == UInt8(ascii: "-") }

private func isInterface(_ text: String) -> Bool {
  let bytes = text.utf8[...]
  return bytes.count <= longestName && bytes.contains(UInt8(ascii: "."))
    && bytes.split(separator: UInt8(ascii: "."), isFirst: { !isDigit($0) }, isElement: isNameByte)
}

extension Substring.UTF8View {
  /// Whether these are elements that are not empty, of the bytes allowed, with single separators between.
  fileprivate func split(
    separator: UInt8, isFirst: (UInt8) -> Bool = { _ in true }, isElement: (UInt8) -> Bool
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

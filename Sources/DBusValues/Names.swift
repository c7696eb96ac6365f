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
    // Only the root path has one byte.
    var parent = text.utf8.count == 1 ? "" : text
    var (digits, rest) = (1, number / 10)
    while rest > 0 { (digits, rest) = (digits + 1, rest / 10) }
    let path = parent.withUTF8 { parent in
      // The path is written in one allocation, since each request makes several such paths.
      String(unsafeUninitializedCapacity: parent.count + 1 + digits) { bytes in
        _ = bytes.initialize(fromContentsOf: parent)
        bytes.initializeElement(at: parent.count, to: UInt8(ascii: "/"))
        var rest = number
        for index in stride(from: parent.count + digits, to: parent.count, by: -1) {
          bytes.initializeElement(at: index, to: UInt8(ascii: "0") + UInt8(rest % 10))
          rest /= 10
        }
        return parent.count + 1 + digits
      }
    }
    return ObjectPath(unchecked: path)
  }

  /// Whether this is the path of an object below `ancestor`.
  public func isBelow(_ ancestor: ObjectPath) -> Bool {
    var (path, above) = (text, ancestor.text)
    return path.withUTF8 { path in above.withUTF8 { above in path.startOfRest(below: above) } } != nil
  }

  /// The rest of this path after `ancestor`, as in `b/c` for `/a` in `/a/b/c`.
  /// - Returns: nil if the path is not below `ancestor`.
  public func below(_ ancestor: ObjectPath) -> Substring? {
    var (path, above) = (text, ancestor.text)
    let start = path.withUTF8 { path in above.withUTF8 { above in path.startOfRest(below: above) } }
    return start.map { path[path.utf8.index(path.startIndex, offsetBy: $0)...] }
  }

  /// The number that ``appending(_:)-(UInt64)`` added to `ancestor`; nil for any other path, and for another spelling of the number.
  public func number(below ancestor: ObjectPath) -> UInt64? {
    var (path, above) = (text, ancestor.text)
    return path.withUTF8 { path in
      above.withUTF8 { above in
        guard let start = path.startOfRest(below: above) else { return nil }
        let digits = path[start...]
        if digits.first == UInt8(ascii: "0"), digits.count > 1 { return nil }
        var number: UInt64 = 0
        for digit in digits {
          guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
          let (tens, tensOverflow) = number.multipliedReportingOverflow(by: 10)
          let (sum, sumOverflows) = tens.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
          guard !tensOverflow, !sumOverflows else { return nil }
          number = sum
        }
        return number
      }
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// The index of the first byte of a path after another path and a slash; nil if the path does not begin with both, or has no rest.
  fileprivate func startOfRest(below ancestor: UnsafeBufferPointer<UInt8>) -> Int? {
    // Only the root ends with a slash.
    let slash = ancestor.count == 1 ? 0 : ancestor.count
    guard count > slash + 1, let path = baseAddress, let above = ancestor.baseAddress,
      path[slash] == UInt8(ascii: "/"), memcmp(path, above, slash) == 0
    else { return nil }
    return slash + 1
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

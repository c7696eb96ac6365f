// Why this file exists: everything that navd keeps is found by the identity of a binding, so a binding's text has one
// spelling, and what is no binding never gets past here.

/// The identity of a piece of optional state: a root name, then any number of `.name` or `[index]` (rules B1–B4).
///
/// Since a text has exactly one spelling for a route, equality of texts is equality of root and all projections (B2).
public struct BindingID: Hashable, Sendable, CustomStringConvertible {
  /// The longest text that is accepted, in bytes (B1, L1).
  public static let mostBytes = 255

  public let text: String
  /// The text's, since a request looks for its binding in three dozen dictionaries.
  private let hash: Int

  public var description: String { text }

  /// - Throws: `Refusal` with the code `invalidBinding`, saying what is wrong and at which byte.
  public init(_ text: String) throws(Refusal) {
    if let fault = Self.fault(in: text) {
      throw Refusal(.invalidBinding, "binding “\(abridged(text))”: \(fault)")
    }
    self.init(unchecked: text)
  }

  private init(unchecked text: String) {
    self.text = text
    hash = text.hashValue
  }

  public static func == (a: BindingID, b: BindingID) -> Bool { a.hash == b.hash && a.text == b.text }
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  /// For dictionaries: the text's hash is as good as random already, so it is not hashed once more.
  public func _rawHashValue(seed: Int) -> Int { hash ^ seed }

  /// Reads an optional argument; nil for nil.
  /// - Throws: `Refusal` with the code `invalidBinding`.
  package init?(optional text: String?) throws(Refusal) {
    guard let text else { return nil }
    try self.init(text)
  }

  /// `group.name`, which is how a longer binding comes to be (B4); nil where that is no binding.
  public func appending(name: String) -> BindingID? { try? BindingID(text + "." + name) }

  /// `stack[index]` (B4); nil past the longest text.
  public func appending(index: Int) -> BindingID? { try? BindingID("\(text)[\(index)]") }

  /// The binding that this one derives from by one projection, nil for a root (B3).
  public var deriving: BindingID? {
    guard let cut = text.utf8.lastIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }) else {
      return nil
    }
    return BindingID(unchecked: String(text[..<cut]))
  }

  /// The name before the first projection.
  public var root: String {
    guard let cut = text.utf8.firstIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }) else {
      return text
    }
    return String(text[..<cut])
  }

  /// Whether a name may stand in a binding, and be a key of a value or a container value (B1, B5).
  public static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, first.startsName else { return false }
    return text.utf8.allSatisfy(\.continuesName)
  }

  /// What is wrong with a text, nil where it is a binding.
  private static func fault(in text: String) -> String? {
    let bytes = text.utf8
    if bytes.isEmpty { return "is empty; a root name such as “panel” would do" }
    if bytes.count > mostBytes { return "has \(bytes.count) bytes; at most \(mostBytes) would do" }
    var offset = 0
    var index = bytes.startIndex
    func byte() -> UInt8? { index < bytes.endIndex ? bytes[index] : nil }
    func advance() {
      index = bytes.index(after: index)
      offset += 1
    }
    func nameFault() -> String? {
      guard let first = byte() else { return "ends where a name should stand (byte \(offset))" }
      guard first.startsName else {
        return "has \(shown(first)) at byte \(offset), where a name (a letter or “_” first) should start"
      }
      while let next = byte(), next.continuesName { advance() }
      return nil
    }
    func indexFault() -> String? {
      let start = offset
      let leading = byte()
      while let next = byte(), next.isDigit { advance() }
      if offset == start { return "has no decimal digits after “[” at byte \(start - 1)" }
      if offset > start + 1, leading == UInt8(ascii: "0") { return "has an index with a leading zero at byte \(start)" }
      guard byte() == UInt8(ascii: "]") else { return "has no “]” at byte \(offset)" }
      advance()
      return nil
    }
    if let fault = nameFault() { return fault }
    while let next = byte() {
      switch next {
      case UInt8(ascii: "."):
        advance()
        if let fault = nameFault() { return fault }
      case UInt8(ascii: "["):
        advance()
        if let fault = indexFault() { return fault }
      default:
        return "has \(shown(next)) at byte \(offset), where “.name”, “[index]” or the end would do"
      }
    }
    return nil
  }

  private static func shown(_ byte: UInt8) -> String {
    (0x21...0x7e).contains(byte) ? "“\(Character(Unicode.Scalar(byte)))”" : byte == 0x20 ? "a blank" : "byte \(byte)"
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
  fileprivate var startsName: Bool {
    (0x41...0x5a).contains(self) || (0x61...0x7a).contains(self) || self == UInt8(ascii: "_")
  }
  fileprivate var continuesName: Bool { startsName || isDigit || self == UInt8(ascii: "-") }
}

import TextFormats

/// The identity of a slot: a root name, then any number of `.name` or `[index]` (rules B1–B4).
///
/// Each route from a root has exactly one spelling. So two bindings are equal if their texts are equal (B2).
public struct BindingID: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length of the text in bytes (B1, L1).
  public static let maxBytes = 255

  public let text: String
  /// The hash of the text, computed once: a request looks its binding up in many dictionaries.
  private let hash: Int

  public var description: String { text }

  /// - Parameter role: the word for the text in the message.
  /// - Throws: `Refusal` with the code `invalidBinding`; its message gives the fault.
  public init(_ text: String, as role: String = "binding") throws(Refusal) {
    if let fault = Self.fault(in: text) {
      throw Refusal(.invalidBinding, "\(role) \(quoted(text)) \(fault)")
    }
    self.init(unchecked: text)
  }

  private init(unchecked text: String) {
    self.text = text
    hash = text.hashValue
  }

  public static func == (a: BindingID, b: BindingID) -> Bool { a.hash == b.hash && a.text == b.text }
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  /// The stored hash is random already; dictionaries need not hash it again.
  public func _rawHashValue(seed: Int) -> Int { hash ^ seed }

  /// Reads an optional argument.
  /// - Returns: nil for nil.
  /// - Throws: `Refusal` with the code `invalidBinding`.
  package init?(optional text: String?, as role: String = "binding") throws(Refusal) {
    guard let text else { return nil }
    try self.init(text, as: role)
  }

  /// The binding `text.name`; nil if that is not a binding (B4).
  public func appending(name: String) -> BindingID? { try? BindingID(text + "." + name) }

  /// The binding `text[index]`; nil if that is longer than ``maxBytes`` (B4).
  public func appending(index: Int) -> BindingID? { try? BindingID("\(text)[\(index)]") }

  /// The number of bindings that this one derives from (B3).
  package var projections: Int {
    let bytes = text.utf8.span
    var count = 0
    for index in bytes.indices where bytes[index].beginsProjection { count += 1 }
    return count
  }

  /// The binding without its last projection; nil for a root (B3).
  public var deriving: BindingID? {
    let bytes = text.utf8.span
    var length = bytes.count
    while length > 0 {
      length -= 1
      guard bytes[length].beginsProjection else { continue }
      let rest = bytes.extracting(..<length).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
      return BindingID(unchecked: rest)
    }
    return nil
  }

  /// Whether projections of another binding lead to this one (B3).
  package func derives(from other: BindingID) -> Bool {
    text.utf8.starts(with: other.text.utf8)
      && text.utf8.dropFirst(other.text.utf8.count).first?.beginsProjection == true
  }

  /// The name before the first projection.
  public var root: String {
    guard let cut = text.utf8.firstIndex(where: \.beginsProjection) else { return text }
    return String(text[..<cut])
  }

  /// Whether a text is a name of a root, of a projection or of a key of a container value (B1, B5).
  public static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, first.startsName else { return false }
    return text.utf8.allSatisfy(\.continuesName)
  }

  /// A warning about a destination's file if no item can find the destination by its own name; nil if one can.
  package static func warning(ofDestination name: String) -> String? {
    fault(in: name).map {
      "an item cannot have the name \(quoted(name)), which \($0); rename the file, or present another name with --to"
    }
  }

  /// The first fault of a text, with its byte; nil if the text is a binding.
  private static func fault(in text: String) -> String? {
    let bytes = text.utf8.span
    if bytes.isEmpty { return "is empty; expected a name such as “panel”" }
    if bytes.count > maxBytes { return "has \(bytes.count) bytes; expected at most \(maxBytes)" }
    var offset = 0
    func byte() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }
    func found() -> String { shown(text.unicodeScalars[text.utf8.index(text.startIndex, offsetBy: offset)]) }
    func expected(_ wanted: String) -> String {
      "\(byte() == nil ? "ends" : "has \(found())") at byte \(offset); expected \(wanted)"
    }
    func nameFault() -> String? {
      guard let first = byte(), first.startsName else {
        if offset == 0 { return "begins with \(found()); a name begins with a letter or _" }
        return expected("a name, which begins with a letter or _")
      }
      while let next = byte(), next.continuesName { offset += 1 }
      return nil
    }
    func indexFault() -> String? {
      let start = offset
      let leading = byte()
      while let next = byte(), next.isDigit { offset += 1 }
      if offset == start { return expected("the decimal digits of an index") }
      if offset > start + 1, leading == UInt8(ascii: "0") {
        return "has an index with a leading zero at byte \(start); expected decimal digits without it"
      }
      guard byte() == UInt8(ascii: "]") else { return expected("“]”") }
      offset += 1
      return nil
    }
    if let fault = nameFault() { return fault }
    var isAfterIndex = false
    while let next = byte() {
      switch next {
      case UInt8(ascii: "."):
        offset += 1
        if let fault = nameFault() { return fault }
        isAfterIndex = false
      case UInt8(ascii: "["):
        offset += 1
        if let fault = indexFault() { return fault }
        isAfterIndex = true
      case _ where isAfterIndex: return expected("“.”, “[” or the end")
      default: return "contains \(found()); letters, digits, _ and - are allowed"
      }
    }
    return nil
  }

  private static func shown(_ character: Unicode.Scalar) -> String {
    switch character.properties.generalCategory {
    case _ where character == " ": "a blank"
    case .control, .format, .nonspacingMark, .spaceSeparator, .lineSeparator, .paragraphSeparator, .unassigned:
      "U+\(String(character.value, radix: 16, uppercase: true))"
    default: "“\(character)”"
    }
  }
}

extension UInt8 {
  fileprivate var beginsProjection: Bool { self == UInt8(ascii: ".") || self == UInt8(ascii: "[") }
  fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
  fileprivate var startsName: Bool {
    (0x41...0x5a).contains(self) || (0x61...0x7a).contains(self) || self == UInt8(ascii: "_")
  }
  fileprivate var continuesName: Bool { startsName || isDigit || self == UInt8(ascii: "-") }
}

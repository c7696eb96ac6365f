extension JSON {
  /// The value as JSON without spaces; members are sorted by name.
  ///
  /// Control characters, U+2028 and U+2029 are escaped, so that every reader sees one line. NaN and the infinities, which JSON does not
  /// have, become `null`, as in JavaScript.
  public var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// Writes JSON as bytes, without spaces, so that a large text needs no `JSON` value.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []

  package init() { bytes.reserveCapacity(256) }

  package mutating func write(_ value: JSON) {
    switch value {
    case .null: write(raw: "null")
    case .boolean(let flag): write(raw: flag ? "true" : "false")
    case .integer(let number): write(raw: String(number))
    case .unsigned(let number): write(raw: String(number))
    case .real(let number): write(raw: number.isFinite ? String(number) : "null")
    case .string(let string): write(string)
    case .array(let elements):
      array { writer in
        for element in elements {
          writer.beginElement()
          writer.write(element)
        }
      }
    case .object(let members):
      object { writer in
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
          writer.beginMember(name)
          writer.write(member)
        }
      }
    }
  }

  /// Writes an array, whose elements the closure writes.
  package mutating func array(_ elements: (inout JSONWriter) -> Void) {
    bytes.append(ascii("["))
    elements(&self)
    bytes.append(ascii("]"))
  }

  /// Writes an object, whose members the closure writes.
  package mutating func object(_ members: (inout JSONWriter) -> Void) {
    bytes.append(ascii("{"))
    members(&self)
    bytes.append(ascii("}"))
  }

  /// Separates an element from the one before it.
  package mutating func beginElement() {
    // A last byte that is an opening bracket precedes the first element: a string ends with its
    // quotation mark.
    if let last = bytes.last, last != ascii("["), last != ascii("{") { bytes.append(ascii(",")) }
  }

  /// Separates a member from the one before it, and writes its name.
  package mutating func beginMember(_ name: String) {
    beginElement()
    write(name)
    bytes.append(ascii(":"))
  }

  /// Appends a text that is JSON.
  package mutating func write(raw text: String) { bytes.append(contentsOf: text.utf8) }
  /// Appends bytes that are JSON.
  package mutating func write(raw json: [UInt8]) { bytes.append(contentsOf: json) }

  package mutating func write(_ string: String) {
    bytes.append(ascii("\""))
    var string = string
    let isPlain = string.withUTF8 { text in
      // A text without escapes, as most are, is copied as a whole.
      guard text.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != ascii("\"") && $0 != ascii("\\") }) else {
        return false
      }
      bytes.append(contentsOf: text)
      return true
    }
    if !isPlain { for scalar in string.unicodeScalars { write(scalar) } }
    bytes.append(ascii("\""))
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": write(raw: "\\\"")
    case "\\": write(raw: "\\\\")
    case "\n": write(raw: "\\n")
    case "\r": write(raw: "\\r")
    case "\t": write(raw: "\\t")
    case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}", "\u{2028}", "\u{2029}":
      let digits = String(scalar.value, radix: 16)
      write(raw: "\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
    default: bytes.append(contentsOf: UTF8.encode(scalar)!)
    }
  }
}

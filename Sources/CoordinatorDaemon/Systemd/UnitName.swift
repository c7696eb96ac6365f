// Why this file exists: units are named by what people and items say, and systemd takes only some bytes in a name
// (`systemd.unit(5)`).

import CoordinatorCore
import DBusValues
import TextFormats

/// The name of a unit that can be started.
struct UnitName: Hashable, Sendable, CustomStringConvertible {
  /// Why a text is none, as what is said of it: `has no name before “.service”`.
  struct Mistake: Error { let why: String }

  static let mostBytes = 255
  private static let types = [
    ".service", ".socket", ".target", ".path", ".timer", ".mount", ".automount", ".swap", ".slice",
  ]

  let text: String
  var description: String { text }

  init(_ text: String) throws(Mistake) {
    guard let type = Self.types.first(where: text.hasSuffix) else {
      guard !text.hasSuffix(".scope") else { throw Mistake(why: "is a scope's, which nobody can start by its name") }
      throw Mistake(why: "does not end as a unit's name does")
    }
    let name = text.utf8.dropLast(type.utf8.count)
    guard let first = name.first, first != UInt8(ascii: "@") else {
      throw Mistake(why: "has no name before “\(type)”")
    }
    guard name.last != UInt8(ascii: "@") else {
      throw Mistake(why: "is a template's, and has no instance after the “@”")
    }
    guard text.utf8.count <= Self.mostBytes else {
      throw Mistake(why: "has \(text.utf8.count) bytes, and may have \(Self.mostBytes)")
    }
    if let scalar = text.unicodeScalars.first(where: { !$0.isASCII || !Self.isAllowed(UInt8($0.value)) }) {
      throw Mistake(why: "has \(quoted(String(scalar))) in it; that may not stand there")
    }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "@") || isPlain(byte)
  }

  /// Whether a byte stands for itself when a text is escaped.
  private static func isPlain(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// Any text, as it may stand in a name: what `systemd-escape` writes.
  static func escaped(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "/"): text.append(UInt8(ascii: "-"))
      case UInt8(ascii: ".") where text.isEmpty: text += #"\x2e"#.utf8
      case _ where isPlain(byte): text.append(byte)
      default: text += #"\x"#.utf8 + hexadecimal(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Where the manager has the unit's object.
  var path: ObjectPath {
    var path = Array("\(Systemd.path)/unit/".utf8)
    for (index, byte) in text.utf8.enumerated() {
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      if Self.isAlphanumeric(byte), index > 0 || !isDigit {
        path.append(byte)
      } else {
        path += "_".utf8 + Self.hexadecimal(byte)
      }
    }
    return ObjectPath(String(decoding: path, as: UTF8.self)) ?? Systemd.path
  }

  private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}

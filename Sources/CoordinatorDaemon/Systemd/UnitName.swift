import CoordinatorCore
import DBusValues
import PresentationModel
import TextFormats

/// The name of a unit that can be started (`systemd.unit(5)`).
struct UnitName: Hashable, Sendable, CustomStringConvertible {
  /// The reason why a text is not the name of a unit: `expected …, found …`.
  struct Mistake: Error { let why: String }

  static let maxBytes = 255
  private static let types = [
    ".service", ".socket", ".target", ".path", ".timer", ".mount", ".automount", ".swap", ".slice",
  ]

  let text: String
  var description: String { text }

  /// - Parameter template: the text from which the name was made, for messages; nil for the name itself.
  init(_ text: String, of template: String? = nil) throws(Mistake) {
    let found = template ?? text
    guard let type = Self.types.first(where: text.hasSuffix) else {
      guard !text.hasSuffix(".scope") else { throw Mistake(why: "expected a unit that can be started, found a scope") }
      throw Mistake(why: "expected a unit type such as “.service” at the end, found \(quoted(found))")
    }
    let name = text.utf8.dropLast(type.utf8.count)
    guard let first = name.first, first != UInt8(ascii: "@") else {
      throw Mistake(why: "expected a name before “\(type)”, found \(quoted(found))")
    }
    guard name.last != UInt8(ascii: "@") else {
      throw Mistake(why: "expected an instance after “@”, found the template \(quoted(found))")
    }
    guard text.utf8.count <= Self.maxBytes else {
      throw Mistake(why: "expected at most \(Self.maxBytes) bytes, found \(text.utf8.count)")
    }
    if let scalar = text.unicodeScalars.first(where: { !$0.isASCII || !Self.isAllowed(UInt8($0.value)) }) {
      throw Mistake(why: "expected letters, digits and “:-_.\\@”, found \(quoted(String(scalar)))")
    }
    self.text = text
  }

  /// The unit of a presentation's command: `app-navd-files@17.service`, or `app-navd-files@17-on-present.service` for another
  /// command of the presentation. Desktops name the units of applications in this way (https://systemd.io/DESKTOP_ENVIRONMENTS),
  /// so portals and task managers know the application.
  static func command(of application: String, _ handle: Handle, occasion: String = "") -> UnitName {
    let end = "@\(handle)\(occasion.isEmpty ? "" : "-" + occasion).service"
    return UnitName(beginning: "app-navd-" + escaped(application.utf8), end: end)
  }

  /// - Parameter beginning: escaped text, which is cut to the room that a name has.
  private init(beginning: String, end: String) { text = beginning.prefix(Self.maxBytes - end.utf8.count) + end }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "@") || isPlain(byte)
  }

  /// Whether escaping leaves the byte unchanged.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
  }

  /// A text escaped for use in a name, as `systemd-escape` does.
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

  /// The path of the unit's object on the bus.
  var path: ObjectPath { Systemd.units.appending(encoding: text) }

  private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}

extension UInt8 {
  /// Whether the byte is an ASCII letter or digit.
  var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}

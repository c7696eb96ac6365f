import Glibc

/// The content of a desktop file (Desktop Entry Specification 1.5): texts by group and key.
package struct DesktopFile {
  package static let entry = "Desktop Entry"
  /// The largest file that is read, in bytes.
  static let maxBytes = 1 << 20

  /// A text as it is in the file, and the rank of its language: 0 fits best.
  private struct Raw {
    var text: ArraySlice<UInt8>
    var rank: Int
  }
  private var groups: [String: [String: Raw]] = [:]

  /// - Parameter languages: the reader's languages, the best first, such as `de_DE` and `de`.
  package init(_ content: [UInt8], languages: [String] = []) {
    var group: String?
    // The file is read as bytes, since characters take longer: most lines are translations, and all
    // desktop files of a system may be read at once.
    for line in content.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      if line.first == UInt8(ascii: "[") {
        group = line.last == UInt8(ascii: "]") ? String(decoding: line.dropFirst().dropLast(), as: UTF8.self) : nil
      } else if let group, line.first != UInt8(ascii: "#") {
        add(line, to: group, languages)
      }
    }
  }

  private mutating func add(_ line: ArraySlice<UInt8>, to group: String, _ languages: [String]) {
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return }
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var key = line[..<equals]
    while key.last.map(isBlank) == true { key.removeLast() }
    var rank = languages.count
    if key.last == UInt8(ascii: "]"), let bracket = key.firstIndex(of: UInt8(ascii: "[")) {
      let language = String(decoding: key[(bracket + 1)...].dropLast(), as: UTF8.self)
      guard let index = languages.firstIndex(of: language) else { return }
      rank = index
      key = key[..<bracket]
    }
    let name = String(decoding: key, as: UTF8.self)
    if let known = groups[group]?[name], known.rank <= rank { return }
    groups[group, default: [:]][name] = Raw(text: line[(equals + 1)...].drop(while: isBlank), rank: rank)
  }

  func has(_ group: String) -> Bool { groups[group] != nil }

  /// A value of the type `string`, without its escapes (“\s”, “\n”, “\t”, “\r” and “\\”).
  package subscript(_ key: String, in group: String = Self.entry) -> String? {
    groups[group]?[key].map { String(decoding: Self.unescaped($0.text), as: UTF8.self) }
  }

  func isTrue(_ key: String) -> Bool { self[key] == "true" }

  /// A value of the type `string(s)`, whose elements end with “;”.
  func list(_ key: String) -> [String] {
    groups[Self.entry]?[key].map { raw in
      raw.text.split(separator: UInt8(ascii: ";")).map { String(decoding: Self.unescaped($0), as: UTF8.self) }
    } ?? []
  }

  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "\\")) else { return Array(text) }
    var (result, rest) = ([UInt8](), text)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let escape = rest.first else {
        result.append(byte)
        continue
      }
      let meant: UInt8? =
        switch escape {
        case UInt8(ascii: "s"): UInt8(ascii: " ")
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "\\"): escape
        default: nil
        }
      if let meant { rest.removeFirst(); result.append(meant) } else { result.append(byte) }
    }
    return result
  }

  /// The languages of the session's messages for ``init(_:languages:)``, by `$LC_ALL`, `$LC_MESSAGES` or `$LANG`.
  static func languages(_ variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }) -> [String] {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"]
    guard let locale = names.compactMap(variable).first(where: { !$0.isEmpty }) else { return [] }
    // lang_COUNTRY.ENCODING@MODIFIER
    let parts = locale.split(separator: "@", maxSplits: 1)
    let place = parts.first?.prefix { $0 != "." } ?? ""
    let language = place.prefix { $0 != "_" }
    var all: [String] = []
    for name in place == language ? [language] : [place, language] {
      if parts.count > 1 { all.append("\(name)@\(parts[1])") }
      all.append(String(name))
    }
    return all
  }
}

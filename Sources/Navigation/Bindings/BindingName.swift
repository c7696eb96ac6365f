import Synchronization

/// The syntax of names in a binding's text: letters, digits, `_` and `-`, a letter or `_` first
/// (B1).
///
///     let note = $model.letter.named(BindingName.name(for: "My letter.txt"))
public enum BindingName {
  /// Whether a text is a name.
  ///
  ///     BindingName.isName("help")      // true
  ///     BindingName.isName("2 notes")   // false
  public static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
  }

  /// Converts any text, such as the title of a document, to a name. A name of at most 64 bytes stays unchanged; another text becomes
  /// its valid characters and a checksum. Equal texts have equal names in every run, and different texts have different names.
  ///
  ///     BindingName.name(for: "help")            // help
  ///     BindingName.name(for: "My notes.txt")    // My_notes_txt-… with a checksum
  public static func name(for text: String) -> String {
    if isName(text), text.utf8.count <= 64 { return text }
    var kept = ""
    for character in text.unicodeScalars where kept.utf8.count < 24 {
      let isKept = isName("_\(character)") && character != "_"
      if isKept || !kept.hasSuffix("_") { kept.unicodeScalars.append(isKept ? character : "_") }
    }
    if !isName(kept) { kept = "_" + kept }
    // The checksum is FNV-1a, which is the same in every run, unlike Hasher.
    let checksum = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return (kept.hasSuffix("_") ? kept : kept + "-") + String(checksum, radix: 16)
  }

  private static let reported = Mutex<Set<String>>([])

  /// Returns the text if it is a name. Otherwise converts it to a name and reports that, once for each text and position in the program.
  static func checked(_ text: String, file: StaticString, line: UInt) -> String {
    if isName(text) { return text }
    let name = name(for: text)
    guard reported.withLock({ $0.insert("\(file):\(line):\(text)").inserted }) else { return name }
    reportMisuse(
      "“\(text)” cannot be a name on the bus, so that it is called “\(name)” there; expected letters, digits, “_” and “-”, a letter or "
        + "“_” first; BindingName.name(for:) makes such a name of any text", file: file, line: line)
    return name
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "_")
  }
}

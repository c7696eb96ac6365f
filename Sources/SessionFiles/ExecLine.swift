import TextFormats

/// The `Exec` of a desktop file: a program and its arguments (Desktop Entry Specification, “The Exec key”).
///
/// Like GLib, it accepts more than the specification, since files of Wine and others need it: single quotes, and backslashes outside of
/// quotes.
struct ExecLine {
  /// The reason why the text is no command line: `expected …, found …`.
  struct Mistake: Error { let why: String }

  /// The values of field codes. The codes for files and URLs have no values, since no file is opened.
  struct Fields {
    var icon: String?
    var name: String
    var path: String
  }

  let arguments: [String]

  init(_ text: String, _ fields: Fields) throws(Mistake) {
    var arguments: [String] = []
    var rest = Self.maxBytes
    for word in try Self.words(text) {
      if word == "%i" {
        if let icon = fields.icon, !icon.isEmpty { arguments += ["--icon", icon] }
        continue
      }
      let expanded = try Self.expanded(word, fields, in: &rest)
      if !expanded.isEmpty || word.isEmpty { arguments.append(expanded) }
    }
    guard let program = arguments.first, !program.isEmpty else {
      throw Mistake(why: "expected a program, found \(quoted(text))")
    }
    self.arguments = arguments
  }

  /// Splits a line at blanks, and removes the quotes.
  private static func words(_ text: String) throws(Mistake) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Unicode.Scalar?
    var rest = text.unicodeScalars[...]
    func add(_ scalar: Unicode.Scalar) {
      // The word grows in place: each copy would take time in proportion to its length.
      word = word ?? ""
      word?.unicodeScalars.append(scalar)
    }
    while let scalar = rest.popFirst() {
      switch (scalar, quote) {
      case ("\"", "\""), ("'", "'"): quote = nil
      case ("\"", nil), ("'", nil):
        quote = scalar
        word = word ?? ""
      case ("\\", "\""):
        // The backslash is a part of the argument if any other character follows.
        if let next = rest.first, "\"`$\\".unicodeScalars.contains(next) {
          add(next)
          rest.removeFirst()
        } else {
          add(scalar)
        }
      case ("\\", nil): add(rest.popFirst() ?? scalar)
      case (" ", nil), ("\t", nil), ("\n", nil):
        if let complete = word { words.append(complete) }
        word = nil
      default: add(scalar)
      }
    }
    if let quote { throw Mistake(why: "expected another \(quote), found none in \(quoted(text))") }
    if let word { words.append(word) }
    return words
  }

  /// The largest number of bytes of all arguments. The kernel takes twice as much, with the environment (`execve(2)`).
  private static let maxBytes = 1 << 20

  /// - Parameter room: the number of bytes that are left for arguments.
  private static func expanded(_ word: String, _ fields: Fields, in room: inout Int) throws(Mistake) -> String {
    var (result, rest) = ("", word.unicodeScalars[...])
    defer { room -= result.utf8.count }
    while let scalar = rest.popFirst() {
      guard result.utf8.count <= room else {
        throw Mistake(why: "expected at most \(maxBytes) bytes with the values of the field codes, found more")
      }
      guard scalar == "%" else {
        result.unicodeScalars.append(scalar)
        continue
      }
      switch rest.popFirst() {
      case "%": result += "%"
      case "c": result += fields.name
      case "k": result += fields.path
      // Files and URLs, and field codes of earlier specifications that are no longer in use.
      case "f", "F", "u", "U", "d", "D", "n", "N", "v", "m": break
      case let code:
        throw Mistake(
          why:
            "expected a field code such as “%f”, or “%%” for the sign itself, found \(quoted("%\(code.map(String.init) ?? "")"))"
        )
      }
    }
    return result
  }
}

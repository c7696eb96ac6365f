// Why this file exists: what is a command to troff in a text is told apart from the text in one place.

/// A manual page, in the macros of man(7).
struct ManualPage {
  private(set) var text: String

  /// - Parameters:
  ///   - section: as in `navctl(1)`.
  ///   - summary: what apropos(1) finds it by.
  init(_ name: String, section: Int, release: String, manual: String, summary: String) {
    text = """
      .\\" Made by navdoc; see Sources/navdoc. Nothing is hyphenated or stretched: options and names are copied.
      .nr HY 0
      .TH "\(name.uppercased())" \(section) "" "navd \(release)" "\(manual)"
      .ad l

      """
    heading("Name")
    line("\(name) \\- \(Self.escaped(summary))")
  }

  /// The first sentence without its full stop, as it stands after a name.
  static func summary(_ sentence: String) -> String {
    (sentence.prefix(1).lowercased() + sentence.dropFirst()).prefix { $0 != "." }.description
  }

  /// What is said of something in a table, as a sentence.
  static func sentence(_ doc: String) -> String {
    doc.prefix(1).uppercased() + doc.dropFirst() + (doc.hasSuffix("…") ? "" : ".")
  }

  mutating func heading(_ title: String) { text += ".SH \(title.uppercased())\n" }

  mutating func subheading(_ title: String) { text += ".SS \(Self.escaped(title))\n" }

  mutating func paragraph(_ doc: String) {
    text += ".PP\n"
    line(Self.spans(doc))
  }

  /// - Parameter term: in troff's words; see ``bold(_:)`` and ``italic(_:)``.
  mutating func item(_ term: String, _ doc: String) {
    text += ".TP\n"
    line(term)
    line(doc.isEmpty ? "\\&" : Self.spans(doc))
  }

  /// More of the last item.
  mutating func more(_ doc: String) {
    text += ".IP\n"
    line(Self.spans(doc))
  }

  /// Paragraphs and lists, as documentation has them.
  mutating func doc(_ doc: String) {
    for block in DocText.blocks(doc) {
      switch block {
      case .paragraph(let text): paragraph(text)
      case .item(let term, let text):
        item(Self.bold(term.prefix { $0 != " " }) + Self.escaped(term.drop { $0 != " " }), text)
      }
    }
  }

  /// Whatever is between stands further right.
  mutating func indented(_ body: (inout ManualPage) -> Void) {
    text += ".RS 4\n"
    body(&self)
    text += ".RE\n"
  }

  mutating func code(_ lines: String) {
    text += ".PP\n.RS 4\n.EX\n"
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) { self.line(Self.escaped(line)) }
    text += ".EE\n.RE\n"
  }

  /// One line each.
  mutating func synopsis(_ lines: [String]) {
    for (index, each) in lines.enumerated() {
      if index > 0 { text += ".br\n" }
      line(each)
    }
  }

  /// A line of text, whatever it begins with.
  private mutating func line(_ roff: String) {
    let isCommand = roff.hasPrefix(".") || roff.hasPrefix("'")
    text += (isCommand ? "\\&" : "") + roff + "\n"
  }

  // MARK: Text in troff's words

  static func bold(_ text: some StringProtocol) -> String { "\\fB\(escaped(text))\\fR" }
  static func italic(_ text: some StringProtocol) -> String { "\\fI\(escaped(text))\\fR" }

  private static func spans(_ doc: String) -> String {
    DocText.spans(doc).map { span in
      switch span {
      case .text(let text): escaped(text)
      case .code(let text): bold(text)
      }
    }.joined()
  }

  /// As it stands, so that it can be copied. It may be broken after a comma, where nothing else would do.
  static func escaped(_ text: some StringProtocol) -> String {
    var result = ""
    for character in text {
      switch character {
      case ",": result += ",\\:"
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "\n": result += " "
      default: result.append(character)
      }
    }
    return result
  }
}

/// Parses doc strings, which are plain text, into paragraphs, lists and code.
enum DocText {
  enum Block: Equatable {
    case paragraph(String)
    /// A line such as `priority (i): Its priority in a queue …`.
    case item(term: String, text: String)
  }

  /// A part of a line; backticks enclose code.
  enum Span: Equatable {
    case text(String)
    case code(String)
  }

  static func blocks(_ text: String) -> [Block] {
    var blocks: [Block] = []
    var paragraph: [Substring] = []
    func flush() {
      if !paragraph.isEmpty { blocks.append(.paragraph(paragraph.joined(separator: " "))) }
      paragraph = []
    }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let item = item(line) {
        flush()
        blocks.append(item)
      } else if line.isEmpty {
        flush()
      } else {
        paragraph.append(line)
      }
    }
    flush()
    return blocks
  }

  static func spans(_ text: String) -> [Span] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, part in
      if part.isEmpty { return nil }
      return index.isMultiple(of: 2) ? .text(String(part)) : .code(String(part))
    }
  }

  /// Parses a name, a signature in parentheses, and a description.
  private static func item(_ line: Substring) -> Block? {
    let name = line.prefix { $0.isASCII && ($0.isLowercase || $0 == "-") }
    let rest = line[name.endIndex...]
    guard !name.isEmpty, rest.hasPrefix(" ("), let end = rest.firstIndex(of: ")") else { return nil }
    let after = rest[rest.index(after: end)...]
    guard let mark = after.first, mark == ":" || mark == "." else { return nil }
    return .item(term: String(line[...end]), text: after.dropFirst().drop { $0 == " " }.description)
  }
}

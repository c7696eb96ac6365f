import TestSupport

/// A document of `docs` and its code blocks, so that tests can run the examples in it.
struct Markdown {
  struct Block {
    /// The text after the three backticks: a language, and optionally a file name.
    let kind: String
    /// The number of the line before the block's first line.
    let line: Int
    let lines: [String]
    var text: String { lines.map { $0 + "\n" }.joined() }
  }

  /// All lines of the document.
  let lines: [String]
  private(set) var blocks: [Block] = []

  /// - Parameter name: the document's path relative to `docs`.
  init(_ name: String) throws {
    lines = try Files.text(inPackage: "docs/\(name)").split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
    var open: (kind: String, line: Int)?
    for (index, line) in lines.enumerated() where line.hasPrefix("```") {
      if let (kind, start) = open {
        blocks.append(Block(kind: kind, line: start, lines: Array(lines[start..<index])))
        open = nil
      } else {
        open = (String(line.dropFirst(3)), index + 1)
      }
    }
  }

  /// The files shown in the document, by name: blocks with a language and a name.
  var files: [String: String] {
    var files: [String: String] = [:]
    for block in blocks {
      let words = block.kind.split(separator: " ")
      if words.count == 2 { files[String(words[1])] = block.text }
    }
    return files
  }

  /// The destination files shown in the document, by the name of the destination: their first line is their path.
  var destinations: [String: String] {
    let beginning = "# ~/.config/navd/destinations/"
    var files: [String: String] = [:]
    for block in blocks where block.kind == "toml" && block.lines[0].hasPrefix(beginning) {
      files[String(block.lines[0].dropFirst(beginning.count).dropLast(".toml".count))] = block.text
    }
    return files
  }
}

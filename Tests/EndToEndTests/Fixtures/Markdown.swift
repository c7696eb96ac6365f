// Why this file exists: what the documents show is tried as it stands there, so tests read documents.

import Glibc
import Testing

/// A document's code blocks.
struct Markdown {
  struct Block {
    /// What stands after the three backticks: a language, and perhaps a file name.
    let kind: String
    /// The number of the line above its first one.
    let line: Int
    let lines: [String]
    var text: String { lines.map { $0 + "\n" }.joined() }
  }

  /// The directory that all of navd is in.
  static let package = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()

  /// All of its lines.
  let lines: [String]
  private(set) var blocks: [Block] = []

  /// - Parameter name: the document's path from `docs`.
  init(_ name: String) throws {
    lines = try Self.contents(of: "docs/\(name)").split(separator: "\n", omittingEmptySubsequences: false)
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

  /// The text of a file of navd.
  static func contents(of path: String) throws -> String {
    let file = try #require(fopen("\(package)/\(path)", "r"), "\(path)")
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The files that it shows, by their name: blocks of a language and a name.
  var files: [String: String] {
    var files: [String: String] = [:]
    for block in blocks {
      let words = block.kind.split(separator: " ")
      if words.count == 2 { files[String(words[1])] = block.text }
    }
    return files
  }
}

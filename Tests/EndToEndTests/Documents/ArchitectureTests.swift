import TestSupport
import Testing

// The table of targets in docs/architecture.md, beside Package.swift.

/// The targets in Package.swift below `Sources` and `docs`: all but tests and their support.
private struct Manifest {
  struct Target {
    let name: String
    /// The targets of this package, and the products of others, in the order of Package.swift.
    let dependencies: [String]
  }

  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  private(set) var targets: [Target] = []

  /// - Throws: ``Mistake`` if a target is not declared by literals.
  init(_ text: String) throws {
    let tokens = Self.tokens(of: text)
    let kinds: Set = [".target", ".executableTarget", ".macro", ".systemLibrary"]
    for index in tokens.indices.dropLast() where kinds.contains(tokens[index]) && tokens[index + 1] == "(" {
      let arguments = Self.contents(of: tokens, from: index + 1)
      guard let name = Self.string(after: "name", in: arguments) else {
        throw Mistake(description: "Package.swift: expected a name: of a target as a literal, found \(arguments)")
      }
      if Self.string(after: "path", in: arguments)?.hasPrefix("Tests/") == true { continue }
      targets.append(Target(name: name, dependencies: try Self.dependencies(in: arguments, of: name)))
    }
  }

  private static func dependencies(in arguments: ArraySlice<String>, of target: String) throws -> [String] {
    guard let label = arguments.firstIndex(of: "dependencies") else { return [] }
    var rest = contents(of: Array(arguments), from: label - arguments.startIndex + 2)
    var dependencies: [String] = []
    while let token = rest.popFirst() {
      if token == "," { continue }
      if token.hasPrefix("\"") {
        dependencies.append(String(token.dropFirst()))
      } else if token == ".product" || token == ".byName", let name = string(after: "name", in: rest),
        let end = rest.firstIndex(of: ")")
      {
        dependencies.append(name)
        rest = rest[(end + 1)...]
      } else {
        throw Mistake(
          description:
            "Package.swift, \(target): expected \"Name\", .byName(name:) or .product(name:package:) as a dependency, found \(token)"
        )
      }
    }
    return dependencies
  }

  /// The string literal that is the value of a label.
  private static func string(after label: String, in tokens: ArraySlice<String>) -> String? {
    guard let index = tokens.firstIndex(of: label), let value = tokens.dropFirst(index - tokens.startIndex + 2).first,
      value.hasPrefix("\"")
    else { return nil }
    return String(value.dropFirst())
  }

  /// The tokens between the bracket at an index and the one that closes it.
  private static func contents(of tokens: [String], from open: Int) -> ArraySlice<String> {
    var depth = 0
    for index in tokens[open...].indices {
      if tokens[index] == "(" || tokens[index] == "[" { depth += 1 }
      if tokens[index] == ")" || tokens[index] == "]" { depth -= 1 }
      if depth == 0 { return tokens[(open + 1)..<index] }
    }
    return tokens[(open + 1)...]
  }

  /// The tokens of a text: words, with a leading dot; string literals, with a leading quotation mark only; other characters. No
  /// comments.
  private static func tokens(of text: String) -> [String] {
    var tokens: [String] = []
    for line in text.split(separator: "\n") {
      var rest = line[...]
      while let first = rest.first {
        if rest.hasPrefix("//") { break }
        if first == "\"" {
          let content = rest.dropFirst().prefix { $0 != "\"" }
          tokens.append("\"" + content)
          rest = rest[content.endIndex...].dropFirst()
        } else if first == "." || first.isLetter || first == "_" {
          let word = rest.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" }
          tokens.append(String(rest[..<word.endIndex]))
          rest = rest[word.endIndex...]
        } else {
          if !first.isWhitespace { tokens.append(String(first)) }
          rest = rest.dropFirst()
        }
      }
    }
    return tokens
  }
}

@Test("The table in docs/architecture.md has every target of Package.swift below all that it uses")
func architecture_table_isThatOfThePackage() throws {
  let targets = try Manifest(Files.text(inPackage: "Package.swift")).targets
  var rows: [String: String] = [:]
  var above: [String] = []
  for line in try Markdown("architecture.md").lines where line.hasPrefix("| `") {
    let cells = line.split(separator: "|").map { $0.filter { !"` ".contains($0) } }
    #expect(rows.updateValue(cells[1], forKey: cells[0]) == nil, "\(cells[0]) has two rows")
    above.append(cells[0])
  }
  #expect(targets.count > 10)
  for target in targets {
    let cell = target.dependencies.sorted().map { "`\($0)`" }.joined(separator: ", ")
    let found = (rows[target.name] ?? "").split(separator: ",").sorted().map { "`\($0)`" }.joined(separator: ", ")
    #expect(found == cell, "expected the row: | `\(target.name)` | \(cell) | …")
    let own = above.prefix { $0 != target.name }
    let below = target.dependencies.filter { above.contains($0) && !own.contains($0) }
    #expect(below.isEmpty, "\(target.name) stands above \(below), which it uses")
  }
  #expect(Set(rows.keys).subtracting(targets.map(\.name)) == [], "these rows have no target in Package.swift")
}

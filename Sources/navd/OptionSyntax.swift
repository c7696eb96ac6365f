import Glibc
import TextFormats

/// A command line that navd cannot carry out.
struct UsageMistake: Error, CustomStringConvertible {
  let description: String
}

/// The options of a program, for its parser, for its help, and for the manual page by navdoc.
///
/// navctl uses ArgumentParser for this. ArgumentParser requires a part of Foundation, a quarter of a program that has no other use for it.
struct OptionSyntax: Sendable {
  struct Option: Sendable {
    /// The names as on the command line, such as `--json`; empty for the argument.
    var names: [String] = []
    /// The name of the value; nil for a flag.
    var value: String?
    let help: String
    var choices: [String] = []
    var defaultValue: String?
  }

  let program: String
  let abstract: String
  let discussion: String
  let options: [Option]
  let argument: Option

  // MARK: Reading

  struct Words {
    /// The values by the first names of their options; empty ones for flags.
    fileprivate(set) var values: [String: String] = [:]
    fileprivate(set) var argument: String?

    func contains(_ name: String) -> Bool { values[name] != nil }
  }

  /// - Parameter words: the command line without the program's name.
  /// - Throws: `UsageMistake`.
  func read(_ words: some Sequence<String>) throws(UsageMistake) -> Words {
    var read = Words()
    var rest = words.makeIterator()
    var mayBeOption = true
    while let word = rest.next() {
      if mayBeOption, word == "--" {
        mayBeOption = false
      } else if mayBeOption, word.hasPrefix("-") {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let option = try option(parts[0])
        read.values[option.names[0]] = try value(of: option, parts.count > 1 ? parts[1] : nil) { rest.next() }
      } else if let first = read.argument {
        throw UsageMistake(description: "expected one \(argument.value ?? ""), found “\(first)” and “\(word)”")
      } else {
        read.argument = word
      }
    }
    return read
  }

  private func option(_ name: String) throws(UsageMistake) -> Option {
    if let option = options.first(where: { $0.names.contains(name) }) { return option }
    let hint = nearest(to: name, among: options.flatMap(\.names)).map { "; did you mean “\($0)”?" } ?? ""
    throw UsageMistake(description: "there is no option “\(name)”\(hint)")
  }

  private func value(of option: Option, _ given: String?, _ next: () -> String?) throws(UsageMistake) -> String {
    let name = option.names[0]
    guard let expected = option.value else {
      guard let given else { return "" }
      throw UsageMistake(description: "\(name) has no value, found “\(given)”")
    }
    guard let value = given ?? next() else {
      throw UsageMistake(description: "expected a value after \(name): the \(expected)")
    }
    guard option.choices.isEmpty || option.choices.contains(value) else {
      throw UsageMistake(
        description: "\(name): expected \(option.choices.joined(separator: ", ")), found “\(value)”")
    }
    return value
  }

  // MARK: Describing

  var usage: String {
    let words = options.filter { $0.names[0] != "--help" && $0.names[0] != "--version" }.map { "[\($0.heading)]" }
    return "Usage: \(([program] + words + ["[\(argument.heading)]"]).joined(separator: " "))"
  }

  var help: String {
    let (argument, options) = ([self.argument].map(Self.entry), self.options.map(Self.entry))
    return [
      Self.wrapped(abstract), "", Self.wrapped(discussion), "", Self.wrapped(usage, indentation: 7), "", "Arguments:",
      argument.joined(separator: "\n"), "", "Options:", options.joined(separator: "\n"),
    ].joined(separator: "\n")
  }

  /// The syntax in the form of ArgumentParser's “--experimental-dump-help”, as far as navdoc reads it.
  var json: JSON {
    [
      "command": [
        "commandName": .string(program), "abstract": .string(abstract), "discussion": .string(discussion),
        "shouldDisplay": true,
        "arguments": .array((options + [argument]).map(\.json)),
      ]
    ]
  }

  private static func entry(_ option: Option) -> String {
    var help = option.help
    if let value = option.defaultValue { help += " (Default: \(value).)" }
    return "  \(option.allHeadings)\n" + wrapped("      " + help, indentation: 6)
  }

  /// Breaks a text into lines of 80 columns.
  /// - Parameter indentation: the indentation of all lines after the first.
  private static func wrapped(_ text: String, indentation: Int = 0) -> String {
    var lines = [String(text.prefix { $0 == " " })]
    for word in text.split(separator: " ") {
      if lines.last!.contains(where: { $0 != " " }) {
        if lines.last!.count + 1 + word.count > 80 {
          lines.append(String(repeating: " ", count: indentation))
        } else {
          lines[lines.count - 1] += " "
        }
      }
      lines[lines.count - 1] += word
    }
    return lines.joined(separator: "\n")
  }
}

extension OptionSyntax.Option {
  /// The option's first name and value, such as `--log-level <level>`.
  fileprivate var heading: String {
    (names.prefix(1) + [value].compactMap { $0.map { "<\($0)>" } }).joined(separator: " ")
  }

  fileprivate var allHeadings: String {
    names.count > 1 ? names.reversed().joined(separator: ", ") : heading
  }

  fileprivate var json: JSON {
    [
      "kind": .string(names.isEmpty ? "positional" : value == nil ? "flag" : "option"),
      "names": .array(
        names.map { name in
          let bare = name.drop { $0 == "-" }
          return ["kind": name.hasPrefix("--") ? "long" : "short", "name": .string(String(bare))]
        }),
      "valueName": value.map(JSON.string) ?? .null, "isOptional": true, "isRepeating": false,
      "shouldDisplay": true, "abstract": .string(help), "allValues": .array(choices.map(JSON.string)),
      "defaultValue": defaultValue.map(JSON.string) ?? .null,
    ]
  }
}

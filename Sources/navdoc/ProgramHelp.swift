import ArgumentParser
import TextFormats

/// A command or a verb, read from the JSON of ArgumentParser's “--experimental-dump-help”.
struct ProgramHelp {
  struct Argument: Hashable {
    /// The names with their dashes, short ones first; empty for a positional argument.
    let names: [String]
    /// The name of the value; nil for a flag.
    let value: String?
    let isOptional: Bool
    let isRepeating: Bool
    /// Whether the argument follows “--”.
    let isAfterTerminator: Bool
    /// The description with the allowed values and the default.
    let explanation: String

    /// The longest name, such as `--within`, or the name of the value.
    var name: String { names.last ?? value ?? "" }

    fileprivate init(_ json: JSON) {
      names = (json["names"]?.array ?? [])
        .map { ($0["kind"] == "short" ? "-" : "--") + ($0["name"]?.string ?? "") }.sorted { $0.count < $1.count }
      value = json["kind"] == "flag" ? nil : json["valueName"]?.string
      isOptional = json["isOptional"] == true
      isRepeating = json["isRepeating"] == true
      isAfterTerminator = json["parsingStrategy"] == "postTerminator"
      let doc = json["abstract"]?.string ?? ""
      let choices = (json["allValues"]?.array ?? []).compactMap(\.string)
      explanation =
        doc + (choices.allSatisfy { doc.parted(at: $0) != nil } ? "" : " One of \(choices.joined(separator: ", ")).")
        + (json["defaultValue"]?.string.map { " (Default: \($0).)" } ?? "")
    }
  }

  let name: String
  let abstract: String
  /// The paragraphs of the discussion, each on one line.
  let paragraphs: [String]
  let arguments: [Argument]
  let verbs: [ProgramHelp]

  /// - Throws: `JSON.Mistake`, or `ValidationError` if the JSON has no command.
  static func standardInput() throws -> ProgramHelp {
    let dump = AnyIterator { readLine(strippingNewline: false) }.joined()
    guard let command = try JSON.parse(dump)["command"] else {
      throw ValidationError("expected the key “command” in the help, found none")
    }
    return ProgramHelp(command)
  }

  private init(_ json: JSON) {
    func shown(_ name: String) -> [JSON] { (json[name]?.array ?? []).filter { $0["shouldDisplay"] == true } }
    (name, abstract) = (json["commandName"]?.string ?? "", json["abstract"]?.string ?? "")
    paragraphs = (json["discussion"]?.string ?? "").split(separator: "\n", omittingEmptySubsequences: false)
      .split(separator: "").map { $0.joined(separator: " ") }
    arguments = shown("arguments").map { Argument($0) }
    // ArgumentParser adds the verb “help”.
    verbs = shown("subcommands").filter { $0["commandName"] != "help" }.map { ProgramHelp($0) }
  }
}

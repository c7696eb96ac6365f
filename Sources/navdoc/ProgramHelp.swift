import ArgumentParser
import CoordinatorAPI
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
    let doc: String
    let choices: [String]
    let defaultValue: String?

    /// The longest name, such as `--within`, or the name of the value.
    var name: String { names.last ?? value ?? "" }

    /// The description with the allowed values and the default.
    var explanation: String {
      var text = doc
      if !choices.isEmpty, !choices.allSatisfy({ doc.contains($0) }) {
        text += " One of \(choices.joined(separator: ", "))."
      }
      if let defaultValue { text += " (Default: \(defaultValue).)" }
      return text
    }
  }

  let name: String
  let abstract: String
  /// The discussion, in paragraphs.
  let discussion: String
  let arguments: [Argument]
  let verbs: [ProgramHelp]

  /// - Throws: `JSON.Mistake`, or `ValidationError` if the JSON has no command.
  init(_ dump: String) throws {
    guard let command = try JSON.parse(dump)["command"] else {
      throw ValidationError("expected the key “command” in the help, found none")
    }
    self.init(command)
  }

  private init(_ json: JSON) {
    func text(_ name: String) -> String { json[name]?.string ?? "" }
    (name, abstract, discussion) = (text("commandName"), text("abstract"), text("discussion"))
    arguments = (json["arguments"]?.array ?? []).filter { $0["shouldDisplay"] == true }.map { Argument($0) }
    // ArgumentParser adds the verb “help”.
    verbs = (json["subcommands"]?.array ?? []).filter { $0["shouldDisplay"] == true && $0["commandName"] != "help" }
      .map { ProgramHelp($0) }
  }
}

extension ProgramHelp.Argument {
  fileprivate init(_ json: JSON) {
    names = (json["names"]?.array ?? [])
      .map { ($0["kind"] == "short" ? "-" : "--") + ($0["name"]?.string ?? "") }
      .sorted { $0.count < $1.count }
    value = json["kind"] == "flag" ? nil : json["valueName"]?.string
    isOptional = json["isOptional"] == true
    isRepeating = json["isRepeating"] == true
    isAfterTerminator = json["parsingStrategy"] == "postTerminator"
    doc = json["abstract"]?.string ?? ""
    choices = (json["allValues"]?.array ?? []).compactMap(\.string)
    defaultValue = json["defaultValue"]?.string
  }
}

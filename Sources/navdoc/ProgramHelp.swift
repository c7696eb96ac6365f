// Why this file exists: what a program says in its help, it also says in a form that other programs can read.

import ArgumentParser
import CoordinatorAPI
import TextFormats

/// A command, or a verb of one, as ArgumentParser's “--experimental-dump-help” tells it.
struct ProgramHelp {
  struct Argument: Hashable {
    /// With their dashes, short ones first; none for an argument that stands by its place.
    let names: [String]
    /// nil for a flag.
    let value: String?
    let isOptional: Bool
    let isRepeating: Bool
    /// Whether it stands after “--”.
    let isAfterTerminator: Bool
    let doc: String
    let choices: [String]
    let standard: String?

    /// `--within`: what it is known by.
    var name: String { names.last ?? value ?? "" }

    /// All that is to be said of it.
    var explanation: String {
      var text = doc
      if !choices.isEmpty, !choices.allSatisfy({ doc.contains($0) }) {
        text += " One of \(choices.joined(separator: ", "))."
      }
      if let standard { text += " (Default: \(standard).)" }
      return text
    }
  }

  let name: String
  let abstract: String
  /// Paragraphs.
  let discussion: String
  let arguments: [Argument]
  let verbs: [ProgramHelp]

  /// - Throws: `JSON.Mistake`, or `ValidationError` where it is something else.
  init(_ dump: String) throws {
    guard let command = try JSON.parse(dump)["command"] else {
      throw ValidationError("there is no command in it")
    }
    self.init(command)
  }

  private init(_ json: JSON) {
    func text(_ name: String) -> String { json[name]?.string ?? "" }
    (name, abstract, discussion) = (text("commandName"), text("abstract"), text("discussion"))
    arguments = (json["arguments"]?.array ?? []).filter { $0["shouldDisplay"] == true }.map { Argument($0) }
    // “help” is ArgumentParser's, and says nothing of itself.
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
    standard = json["defaultValue"]?.string
  }
}

import CoordinatorAPI
import TextFormats

/// Messages about a wrong command line.
enum UsageText {
  /// The limit of characters in a message, because ArgumentParser may repeat the whole command line.
  private static let maxCharacters = 300

  /// ArgumentParser's message, abridged, and with a hint about values that begin with “-”.
  /// - Parameter arguments: the command line without the program's name.
  static func improved(_ message: String, _ arguments: [String]) -> String {
    var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let first = lines.first else { return message }
    lines[0] = abridged(first) + (hint(for: first, arguments).map { "; \($0)" } ?? "")
    return lines.joined(separator: "\n")
  }

  private static func hint(for line: String, _ arguments: [String]) -> String? {
    func quoted(after words: String) -> Substring? {
      line.parted(at: words).map { $0.after.prefix { $0 != "'" && $0 != " " } }
    }
    if let option = quoted(after: "Missing value for '"), option.hasPrefix("--"),
      let index = arguments.firstIndex(of: String(option)), index + 1 < arguments.count,
      arguments[index + 1].hasPrefix("-")
    {
      return "write a value that begins with “-” as \(option)=\(abridged(arguments[index + 1]))"
    }
    if let option = quoted(after: "Unknown option '"), option.dropFirst().first?.isNumber == true,
      arguments.contains(where: Verbs.takingIDs.contains)
    {
      return "write an id that begins with “-” as --id=\(option)"
    }
    return nil
  }

  /// One printable line of limited length.
  static func abridged(_ text: String) -> String {
    let printable = text.printable
    return printable.count > maxCharacters ? printable.prefix(maxCharacters) + "…" : printable
  }

  /// - Parameter arguments: the command line without the program's name.
  static func unknownVerb(_ word: String, _ arguments: [String]) -> Failure {
    let help = "“navctl --help” lists all verbs"
    let hint = KnownName.advice(word, arguments) ?? Verbs.meant(by: word).map { "did you mean “\($0)”? \(help)" }
    return Failure(abridged(word), "no such verb", hint: hint ?? help, status: .usage)
  }

  /// - Parameter verbs: the verbs that may follow.
  static func unknownVerb(_ word: String, of verb: String, _ verbs: [String]) -> Failure {
    let hint = nearest(to: word, among: verbs).map { "did you mean “\($0)”? " } ?? ""
    return Failure(
      "\(verb) \(abridged(word))", "no such verb", hint: "\(hint)“navctl help \(verb)” lists all verbs", status: .usage)
  }
}

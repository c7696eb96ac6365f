// Why this file exists: what ArgumentParser says of a command line is made to fit a terminal, and to say what would do.

import CoordinatorAPI
import TextFormats

/// What is wrong with a command line, in words.
enum UsageText {
  /// How much of a line is said; it may repeat everything that was given.
  private static let mostCharacters = 300

  /// ArgumentParser's message, with what it leaves out.
  /// - Parameter arguments: those of navctl, without its name.
  static func improved(_ message: String, _ arguments: [String]) -> String {
    var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let first = lines.first else { return message }
    lines[0] = abridged(first) + (remedy(for: first, arguments).map { "; \($0)" } ?? "")
    return lines.joined(separator: "\n")
  }

  private static func remedy(for line: String, _ arguments: [String]) -> String? {
    func quoted(after words: String) -> Substring? {
      line.firstRange(of: words).map { line[$0.upperBound...].prefix { $0 != "'" && $0 != " " } }
    }
    if let option = quoted(after: "Missing value for '"), option.hasPrefix("--"),
      let index = arguments.firstIndex(of: String(option)), index + 1 < arguments.count,
      arguments[index + 1].hasPrefix("-")
    {
      return "a value that begins with “-” is written \(option)=\(abridged(arguments[index + 1]))"
    }
    if let option = quoted(after: "Unknown option '"), option.dropFirst().first?.isNumber == true,
      arguments.contains(where: Verbs.takingIDs.contains)
    {
      return "an id that begins with “-” is written --id=\(option)"
    }
    return nil
  }

  static func abridged(_ text: String) -> String {
    let printable = text.printable
    return printable.count > mostCharacters ? printable.prefix(mostCharacters) + "…" : printable
  }

  /// That a word which should be a verb is none.
  static func noVerb(_ word: String) -> Failure {
    let hint =
      nearest(to: word, among: Verbs.groups.flatMap(\.verbs).map(\.name)).map { "did you mean “\($0)”? " } ?? ""
    return Failure(
      abridged(word), "there is no such verb", next: "\(hint)“navctl --help” lists them", status: .usage)
  }
}

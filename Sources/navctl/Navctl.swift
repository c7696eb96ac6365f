// Why this file exists: the command line as a whole; each family of verbs has a file of its own in Verbs.

import ArgumentParser
import CoordinatorAPI
import Glibc
import TextFormats

@main
struct Navctl: ParsableCommand {
  @OptionGroup var global: GlobalOptions

  static let configuration = CommandConfiguration(
    commandName: "navctl",
    abstract: "Presents, replaces and dismisses what a desktop session shows.",
    discussion: """
      BINDING is the name of a slot, such as “fact”, “counter.fact” or “notes[3].body”; ID tells one item of a slot \
      from the next. K=V is text, K:=JSON a typed value.

      Exit status: \
      \(CommandStatus.allCases.map { "\($0.rawValue) \($0.doc)" }.joined(separator: "; ").filter { $0 != "`" }).
      """,
    version: Release.version,
    groupedSubcommands: Verbs.groups.map { CommandGroup(name: $0.title, subcommands: $0.verbs.map { $0.type() }) })

  func run() throws { throw ValidationError("which verb?") }

  /// `navctl: what: why` where the command line could not be understood, too.
  static var _errorPrefix: String {
    let arguments = CommandLine.arguments.dropFirst()
    guard let index = arguments.firstIndex(where: { Verbs.named($0) != nil }) else { return "navctl: " }
    let subverbs = (Verbs.named(arguments[index])?.configuration.subcommands ?? []).map { $0.configuration.commandName }
    let subverb = arguments[(index + 1)...].first { subverbs.contains($0) }
    return "navctl: " + [arguments[index], subverb].compactMap { $0 }.joined(separator: " ") + ": "
  }

  static func main() {
    do {
      try requireText()
      var verb = try parse()
      try verb.run()
    } catch let failure as Failure {
      StandardError.write(failure.line)
      exit(isPropagating ? .ownFailure : failure.status)
    } catch let status as ExitCode {
      Glibc.exit(status.rawValue)
    } catch {
      let message = fullMessage(for: error)
      switch exitCode(for: error) {
      case .success:
        StandardOutput.write(message.hasSuffix("\n") ? message : message + "\n")
        exit(.ok)
      case .validationFailure:
        StandardError.write(UsageText.improved(message, Array(CommandLine.arguments.dropFirst())))
        exit(isPropagating ? .ownFailure : .usage)
      default:
        StandardError.write(message)
        exit(isPropagating ? .ownFailure : .failed)
      }
    }
  }

  /// ArgumentParser builds the tree of all verbs, and looks for requests of completion scripts, before it looks at the
  /// first argument; together that takes longer than the call itself. So where the first argument is a verb, that one is
  /// parsed alone, and where nothing but words follows, without ArgumentParser. Whatever is more than that (help,
  /// mistakes, options before the verb) goes the long way.
  private static func parse() throws -> ParsableCommand {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let name = arguments.first else { return try parseAsRoot() }
    let rest = Array(arguments.dropFirst())
    if let command = Verbs.plain(name, rest) { return command }
    if let verb = Verbs.named(name), let command = try? verb.parseAsRoot(rest), type(of: command) == verb {
      return command
    }
    if let word = Verbs.word(in: arguments), word != "help", name != "--generate-completion-script",
      Verbs.named(word) == nil
    {
      throw UsageText.noVerb(word)
    }
    // Its own answer would be the help for all of them.
    if name == "help", let word = Verbs.word(in: rest), Verbs.named(word) == nil { throw UsageText.noVerb(word) }
    return try parseAsRoot()
  }

  /// Text on the bus is UTF-8, and Swift's strings of the arguments have been repaired: what was asked for would not be
  /// what was meant. A command's own arguments go as the bytes that they are.
  private static func requireText() throws(Failure) {
    for (index, bytes) in ClientContext.lastArguments(Int(CommandLine.argc) - 1).enumerated() {
      if bytes == Array("--".utf8) { return }
      guard String(validating: bytes, as: UTF8.self) == nil else { continue }
      throw Failure(
        "argument \(index + 1)", "“\(UsageText.abridged(String(decoding: bytes, as: UTF8.self)))” is no UTF-8",
        next: "only a command after “--” may have other bytes", status: .usage)
    }
  }

  private static func exit(_ status: CommandStatus) -> Never { Glibc.exit(status.rawValue) }

  /// Whether the exit status is to be that of the command presented: then ours are another one. Also asked where the
  /// command line could not be understood.
  private static var isPropagating: Bool {
    CommandLine.arguments.prefix { $0 != "--" }.contains("--propagate")
  }
}

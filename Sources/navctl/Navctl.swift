// Why this file exists: the command line as a whole; each family of verbs has a file of its own in Verbs.
import ArgumentParser
import CoordinatorAPI
import Glibc

@main
struct Navctl: ParsableCommand {
  @OptionGroup var global: GlobalOptions

  static let configuration = CommandConfiguration(
    commandName: "navctl",
    abstract: "Presents, replaces and dismisses what a desktop session shows.",
    discussion: """
      BINDING is the name of a slot, such as “fact”, “counter.fact” or “notes[3].body”; ID tells one item of a slot \
      from the next. K=V is text, K:=JSON a typed value.

      Exit status: 0 done, already so, or yes; 1 failed; 2 wrong usage; 3 not presented, or no; 4 unknown name; \
      5 timed out; 6 refused; 8 the daemon cannot be reached.
      """,
    version: Release.version,
    groupedSubcommands: Verbs.groups.map { CommandGroup(name: $0.title, subcommands: $0.verbs.map { $0.type() }) })

  func run() throws { throw ValidationError("which verb?") }

  /// `navctl: what: why` where the command line could not be understood, too.
  static var _errorPrefix: String {
    let verb = CommandLine.arguments.dropFirst().first { Verbs.named($0) != nil }
    return "navctl: " + (verb.map { "\($0): " } ?? "")
  }

  static func main() {
    do {
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
        StandardError.write(message)
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
    return try parseAsRoot()
  }

  private static func exit(_ status: CommandStatus) -> Never { Glibc.exit(status.rawValue) }

  /// Whether the exit status is to be that of the command presented: then ours are another one. Also asked where the
  /// command line could not be understood.
  private static var isPropagating: Bool {
    CommandLine.arguments.prefix { $0 != "--" }.contains("--propagate")
  }
}

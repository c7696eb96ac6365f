import ArgumentParser
import CoordinatorAPI
import EventLoops
import Glibc
import TextFormats

/// The whole command line.
@main
struct Navctl: ParsableCommand {
  @OptionGroup var global: GlobalOptions

  @Flag(name: .customShort("V"), help: "Show the version.")
  var showsVersion = false

  static let configuration = CommandConfiguration(
    commandName: "navctl",
    abstract: "Opens, replaces and closes panels, dialogs and windows of a desktop session.",
    discussion: """
      BINDING is the name under which something is shown, such as “mixer”, “counter.fact” or “notes[3].body”. ID says \
      which item is shown there, for example which note. K=V is a text, K:=JSON a value of another type.

      Exit status: \
      \(CommandStatus.allCases.map { "\($0.rawValue) \($0.doc)" }.joined(separator: "; ").filter { $0 != "`" }).
      """,
    version: "navctl \(Release.version)",
    groupedSubcommands: Verbs.groups.map { CommandGroup(name: $0.title, subcommands: $0.verbs.map { $0.type() }) })

  func run() throws {
    guard !showsVersion else { throw CleanExit.message(Self.configuration.version) }
    throw ValidationError("expected a verb")
  }

  /// The beginning of ArgumentParser's messages, as in those of `Failure`: `navctl: VERB: …`.
  static var _errorPrefix: String {
    let arguments = CommandLine.arguments.dropFirst()
    guard let index = arguments.firstIndex(where: { Verbs.named($0) != nil }) else { return "navctl: " }
    let subverbs = (Verbs.named(arguments[index])?.configuration.subcommands ?? []).map { $0.configuration.commandName }
    let subverb = arguments[(index + 1)...].first { subverbs.contains($0) }
    return "navctl: " + [arguments[index], subverb].compactMap { $0 }.joined(separator: " ") + ": "
  }

  static func main() {
    StandardDescriptors.reserve()
    do {
      try requireUTF8()
      var verb = try parse()
      try verb.run()
    } catch let failure as Failure {
      ErrorOutput.write(failure.line)
      if has(DesktopNotification.option) { DesktopNotification.show(failure, application: application) }
      exit(isPropagating ? .ownFailure : failure.status)
    } catch let status as ExitCode {
      Glibc.exit(status.rawValue)
    } catch {
      let message = fullMessage(for: error)
      switch exitCode(for: error) {
      case .success:
        let text = message.hasSuffix("\n") ? message : message + "\n"
        StandardOutput.write(
          CommandLine.arguments.contains(CompletionScript.option)
            ? CompletionScript.completed(text) : Typography.inLocale(text))
        exit(.ok)
      case .validationFailure:
        let text = UsageText.improved(message, Array(CommandLine.arguments.dropFirst()))
        ErrorOutput.write(text)
        notify(text)
        exit(isPropagating ? .ownFailure : .usage)
      default:
        ErrorOutput.write(message)
        notify(message)
        exit(isPropagating ? .ownFailure : .failed)
      }
    }
  }

  /// Shows the first line of ArgumentParser's message as a notification, if `--notify` is given.
  private static func notify(_ message: String) {
    guard has(DesktopNotification.option) else { return }
    let (line, beginning) = (message.prefix { $0 != "\n" }, _errorPrefix)
    let operation = beginning.dropFirst("navctl: ".count).dropLast(": ".count)
    let why = line.hasPrefix(beginning) ? line.dropFirst(beginning.count) : line
    DesktopNotification.show(Failure(String(operation), String(why), status: .usage))
  }

  /// Parses the command line. Before ArgumentParser parses anything, it builds the tree of all verbs and checks for completion
  /// scripts, which takes longer than a request. So if the first argument is a verb, only that verb is parsed, without ArgumentParser
  /// if there are no options. Everything else (help, mistakes, options before the verb) is parsed from the root.
  private static func parse() throws -> ParsableCommand {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let name = arguments.first else { return try parseAsRoot() }
    let rest = Array(arguments.dropFirst())
    if let command = Verbs.parsePositional(name, rest) { return command }
    if let verb = Verbs.named(name), let command = try? verb.parseAsRoot(rest), type(of: command) == verb {
      return command
    }
    if let word = Verbs.word(in: arguments), word != "help", name != CompletionScript.option,
      Verbs.named(word) == nil
    {
      throw UsageText.unknownVerb(word, arguments)
    }
    try requireSubverb(in: arguments)
    // ArgumentParser would print the help of all verbs.
    if name == "help", let word = Verbs.word(in: rest), Verbs.named(word) == nil {
      throw UsageText.unknownVerb(word, [])
    }
    return try parseAsRoot()
  }

  /// - Throws: `Failure` if an unknown word follows a verb that has verbs of its own.
  private static func requireSubverb(in arguments: [String]) throws(Failure) {
    guard let word = Verbs.word(in: arguments), let index = arguments.firstIndex(of: word),
      let subverb = Verbs.word(in: arguments[(index + 1)...])
    else { return }
    let subverbs = (Verbs.named(word)?.configuration.subcommands ?? []).compactMap { $0.configuration.commandName }
    guard !subverbs.isEmpty, !subverbs.contains(subverb) else { return }
    throw UsageText.unknownVerb(subverb, of: word, subverbs)
  }

  /// Refuses arguments that are not UTF-8: D-Bus has no such text, and Swift's strings have replaced the wrong bytes. The arguments
  /// of a command after “--” may have any bytes.
  private static func requireUTF8() throws(Failure) {
    for (index, bytes) in RawArguments.last(Int(CommandLine.argc) - 1).enumerated() {
      if bytes == Array("--".utf8) { return }
      guard String(validating: bytes, as: UTF8.self) == nil else { continue }
      throw Failure(
        "argument \(index + 1)", "“\(UsageText.abridged(String(decoding: bytes, as: UTF8.self)))” is not UTF-8",
        hint: "only arguments of a program after “--” may have other bytes", status: .usage)
    }
  }

  private static func exit(_ status: CommandStatus) -> Never { Glibc.exit(status.rawValue) }

  /// Whether navctl exits with the presented command's status, so that its own failures have status 125. The value is read from the
  /// arguments, because parsing them may have failed.
  private static var isPropagating: Bool { has("propagate") }

  /// The id of the application on the command line; nil if there is none.
  private static var application: String? {
    let (words, option) = (CommandLine.arguments.prefix { $0 != "--" }, "--\(ApplicationOptions.option)")
    if let index = words.firstIndex(of: option) { return words.dropFirst(index + 1).first }
    return words.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.utf8.count + 1)) }
  }

  private static func has(_ flag: String) -> Bool {
    CommandLine.arguments.prefix { $0 != "--" }.contains("--\(flag)")
  }
}

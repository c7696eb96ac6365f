import CoordinatorAPI
import CoordinatorDaemon
import EventLoops
import Glibc
import Logging
import Logs
import TextFormats

/// The daemon's command line.
@main
struct NavdCommand {
  private typealias Option = OptionSyntax.Option

  static let syntax = OptionSyntax(
    program: "navd",
    abstract: "Coordinates the panels, dialogs and windows that a desktop session shows.",
    discussion: """
      The session bus starts navd when navctl or another client first calls it; systemd can start it, too. It reads \
      destinations from navd/destinations/NAME.toml and settings from navd/navd.toml, in $XDG_CONFIG_HOME, \
      $XDG_CONFIG_DIRS and $XDG_DATA_DIRS.
      """,
    options: [
      Option(
        names: ["--address"], value: "address", help: "Address of the bus to use instead of the session bus."),
      Option(
        names: ["--state-directory"], value: "directory",
        help:
          "Directory for navd's own files instead of $XDG_RUNTIME_DIR/navd, e.g. to keep the state of a kiosk across reboots."
      ),
      Option(
        names: ["--log-level"], value: "level",
        help: "How much to log: trace, debug, info, notice, warning, error or critical.",
        choices: Logger.Level.allCases.map(\.rawValue), defaultValue: "notice"),
      Option(
        names: ["--if-not-running"], help: "Succeed without a message if a navd serves the bus already."),
      Option(
        names: ["--check-config"], help: "Check the configuration files, report their mistakes, and exit."),
      Option(names: ["--json"], help: "With --check-config: print one line of JSON."),
      Option(names: ["--version", "-V"], help: "Show the version."),
      Option(names: ["--help", "-h"], help: "Show help information."),
    ],
    argument: Option(
      value: "directory", help: "With --check-config: directory to check instead of the files in use."))

  static func main() {
    StandardDescriptors.reserve()
    let words = CommandLine.arguments.dropFirst()
    if words == ["--experimental-dump-help"] {
      print(syntax.json.text)
      exit(EXIT_SUCCESS)
    }
    do throws(UsageMistake) {
      exit(run(try read(words)))
    } catch {
      let mistake = "\(error)".escapingControls()
      let text = Typography.inLocale("Error: \(mistake)\n\(syntax.usage)\n  See 'navd --help' for more information.\n")
      write(STDERR_FILENO, text, text.utf8.count)
      exit(EX_USAGE)
    }
  }

  private static func read(_ words: some Sequence<String>) throws(UsageMistake) -> OptionSyntax.Words {
    let words = try syntax.read(words)
    let checksConfiguration = words.contains("--check-config")
    guard words.argument == nil || checksConfiguration else {
      throw UsageMistake(description: "a directory needs --check-config")
    }
    guard words.argument != "" else {
      throw UsageMistake(
        description: "expected a directory, found an empty text; leave it out to check the files in use")
    }
    guard !words.contains("--json") || checksConfiguration else {
      throw UsageMistake(description: "--json needs --check-config")
    }
    return words
  }

  /// - Returns: the exit status.
  private static func run(_ words: OptionSyntax.Words) -> Int32 {
    if words.contains("--help") {
      print(Typography.inLocale(syntax.help))
      return EXIT_SUCCESS
    }
    if words.contains("--version") {
      print("navd \(Release.version)")
      return EXIT_SUCCESS
    }
    if words.contains("--check-config") {
      return check(words.argument, printingJSON: words.contains("--json"))
    }
    var log = Logger(label: "navd") { _ in StandardErrorLog(program: "navd") }
    log.logLevel = words.values["--log-level"].flatMap { Logger.Level(rawValue: $0) } ?? .notice
    do throws(Daemon.Failure) {
      return try Daemon(address: words.values["--address"], stateDirectory: words.values["--state-directory"], log: log)
        .run()
    } catch {
      if error.isRunning, words.contains("--if-not-running") { return EXIT_SUCCESS }
      log.critical("\(error)")
      return EXIT_FAILURE
    }
  }

  /// - Returns: the exit status: 1 if there are mistakes.
  private static func check(_ directory: String?, printingJSON: Bool) -> Int32 {
    let report = ConfigurationReport(of: directory, displays: WindowSystemFacts.ofSession())
    let isTerminal = isatty(STDOUT_FILENO) == 1
    if printingJSON {
      print(isTerminal ? report.json.escapingControlsInJSON : report.json)
    } else {
      print(Typography.inLocale(isTerminal ? report.text.escapingControls { $0 == "\n" } : report.text))
    }
    return report.isFaultless ? EXIT_SUCCESS : EXIT_FAILURE
  }
}

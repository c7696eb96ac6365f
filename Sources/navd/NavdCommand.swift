import ArgumentParser
import CoordinatorAPI
import CoordinatorDaemon
import Glibc
import Logging
import TextFormats

/// The daemon's command line.
@main
struct NavdCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "navd",
    abstract: "Coordinates the panels, dialogs and windows that a desktop session shows.",
    discussion: """
      The session bus starts navd when navctl or another client first calls it; systemd can start it, too. It reads \
      destinations from navd/destinations/NAME.toml and container values from navd/navd.toml, in $XDG_CONFIG_HOME, \
      $XDG_CONFIG_DIRS and $XDG_DATA_DIRS.
      """,
    version: "navd \(Release.version)")

  @Option(help: ArgumentHelp("Address of the bus to use instead of the session bus.", valueName: "address"))
  var address: String?

  @Option(
    help: ArgumentHelp(
      "Directory for navd's own files instead of $XDG_RUNTIME_DIR/navd, e.g. to keep the state of a kiosk across reboots.",
      valueName: "directory"))
  var stateDirectory: String?

  @Option(
    help: ArgumentHelp(
      "How much to log: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
  var logLevel: Logger.Level = .notice

  @Flag(help: "Check the configuration files, report their mistakes, and exit.")
  var checkConfig = false

  @Flag(help: "With --check-config: print one line of JSON.")
  var json = false

  @Argument(help: "With --check-config: directory to check instead of the files in use.")
  var directory: String?

  mutating func validate() throws {
    guard directory == nil || checkConfig else {
      throw ValidationError("a directory needs --check-config")
    }
    guard directory != "" else {
      throw ValidationError("expected a directory, found an empty text; leave it out to check the files in use")
    }
    guard !json || checkConfig else { throw ValidationError("--json needs --check-config") }
  }

  mutating func run() throws {
    if checkConfig {
      let report = ConfigurationReport(of: directory)
      let isTerminal = isatty(STDOUT_FILENO) == 1
      if json {
        print(isTerminal ? report.json.escapingControlsInJSON : report.json)
      } else {
        print(isTerminal ? report.text.escapingControls { $0 == "\n" } : report.text)
      }
      if !report.isFaultless { throw ExitCode(1) }
      return
    }
    var log = Logger(label: "navd") { _ in StandardErrorLog() }
    log.logLevel = logLevel
    let status: Int32
    do throws(Daemon.Failure) {
      status = try Daemon(address: address, stateDirectory: stateDirectory, log: log).run()
    } catch {
      log.critical("\(error)")
      throw ExitCode(1)
    }
    if status != 0 { throw ExitCode(status) }
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

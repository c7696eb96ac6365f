// Why this file exists: what the daemon can be told when it is started.

import ArgumentParser
import CoordinatorAPI
import CoordinatorDaemon
import Logging
import TextFormats

@main
struct NavdCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "navd",
    abstract: "Coordinates what is presented in a desktop session.",
    discussion: """
      navd is usually started by the session's bus, when navctl or another client first asks for it, or by systemd. It
      reads destinations from navd/destinations/NAME.toml, and container values from navd/navd.toml, in $XDG_CONFIG_HOME,
      $XDG_CONFIG_DIRS and $XDG_DATA_DIRS.
      """,
    version: "navd \(Release.version)")

  @Option(help: ArgumentHelp("The bus to be found on, instead of the session's.", valueName: "address"))
  var address: String?

  @Option(
    help: ArgumentHelp("Where to keep files, instead of $XDG_RUNTIME_DIR/navd; for a kiosk.", valueName: "directory"))
  var stateDirectory: String?

  @Option(
    help: ArgumentHelp(
      "How much to log: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
  var logLevel: Logger.Level = .notice

  @Flag(help: "Only read the configuration files, say what is wrong with them, and end.")
  var checkConfig = false

  @Flag(help: "With --check-config: write one JSON value on one line.")
  var json = false

  @Argument(help: "With --check-config: a directory of such files, instead of those in use.")
  var directory: String?

  mutating func validate() throws {
    guard directory == nil || checkConfig else {
      throw ValidationError("a directory is given, but only --check-config takes one")
    }
    guard directory != "" else {
      throw ValidationError("the directory is an empty text; a path, or none for the files in use, would do")
    }
    guard !json || checkConfig else { throw ValidationError("--json is given, but only --check-config takes it") }
  }

  mutating func run() throws {
    if checkConfig {
      let report = ConfigurationReport(of: directory)
      print(json ? report.json : report.text)
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

import ArgumentParser
import CoordinatorAPI
import EventLoops
import Glibc
import Logging
import Logs
import TextFormats
import WindowAdapter

/// The adapter's command line.
@main
struct NavdWindowsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "navd-windows",
    abstract: "Tells navd which windows there are, and closes, raises, hides and moves them.",
    discussion: """
      It owns org.navd.WindowSystem1 on the session bus, and runs as long as the compositor or X server. Start it with the \
      session: “exec navd-windows” in the configuration of sway or i3, or the systemd unit navd-windows.service.

      The backend sway is for sway and i3, by their socket ($SWAYSOCK, $I3SOCK). The backends hyprland and niri are for these \
      compositors, by their sockets ($HYPRLAND_INSTANCE_SIGNATURE, $NIRI_SOCKET). The backend plasma is for KDE Plasma on \
      Wayland, and wlr for other Wayland compositors that have wlr-foreign-toplevel-management ($WAYLAND_DISPLAY). The \
      backend x11 is for X window managers ($DISPLAY). Without --backend, the first of them that works is used.

      It also gives navd the variables of the compositor, since navd may have started before that.
      """,
    version: "navd-windows \(Release.version)")

  @Option(
    help: ArgumentHelp("How to know the windows: sway, hyprland, niri, plasma, wlr or x11.", valueName: "backend"))
  var backend: BackendName?

  @Option(help: ArgumentHelp("Address of the bus to use instead of the session bus.", valueName: "address"))
  var address: String?

  @Option(
    help: ArgumentHelp(
      "How much to log: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
  var logLevel: Logger.Level = .notice

  @Option(
    help: ArgumentHelp(
      "For how many seconds to try again, ever less often, where a compositor, X server or bus should be and does not answer.",
      valueName: "seconds"))
  var retryFor: UInt32 = 0

  @Flag(help: "Succeed without a message if another adapter serves these windows already.")
  var ifNotRunning = false

  @Flag(name: .customShort("V"), help: "Show the version.")
  var showsVersion = false

  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      let message = Typography.inLocale(fullMessage(for: error))
      let status = exitCode(for: error)
      let text = message.isEmpty ? "" : message + "\n"
      write(status.isSuccess ? STDOUT_FILENO : STDERR_FILENO, text, text.utf8.count)
      Glibc.exit(status.rawValue)
    }
  }

  mutating func run() throws {
    guard !showsVersion else { throw CleanExit.message(Self.configuration.version) }
    StandardDescriptors.reserve()
    var log = Logger(label: "navd-windows") { _ in StandardErrorLog(program: "navd-windows") }
    log.logLevel = logLevel
    let status: Int32
    do throws(BackendFailure) {
      status = try adapter(log).run()
    } catch {
      if error.isRunning, ifNotRunning { return }
      log.critical("\(error)")
      throw ExitCode(error.status)
    }
    if status != 0 { throw ExitCode(status) }
  }

  /// Connects to the window system and to the bus.
  private func adapter(_ log: Logger) throws(BackendFailure) -> Adapter {
    var retries = Retries(for: .seconds(Int64(retryFor)))
    while true {
      do throws(BackendFailure) {
        return try Adapter(backend, address: address, log)
      } catch {
        guard !error.isFinal, let delay = retries.next() else { throw error }
        log.error("\(error); trying again in \(delay)")
        // A signal ends the program here, because the adapter, which handles signals, does not exist yet.
        usleep(UInt32(delay.saturatingMilliseconds) * 1000)
      }
    }
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
extension BackendName: ExpressibleByArgument {}

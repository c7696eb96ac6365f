import ArgumentParser
import CoordinatorAPI
import DBus
import EventLoops
import Glibc
import PresentationModel
import TextFormats

struct WatchVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "watch", "Show what is open, and every change of it.",
    """
    On a terminal: draws the table of “navctl list” and keeps it up to date until “q” is pressed. In a pipe, or with \
    --json: prints the whole state as a line of JSON after each change; a slow reader gets only the latest.

    With --events: prints the state, then a line for each event, and the state again after a restart of navd or if \
    events were lost.

    If navd is not running, waits for it, with --within for no longer than that. If navd vanishes while something is open, \
    and there is no user manager that starts it again, has the bus do so. Ends when its reader ends.
    """)

  @OptionGroup var global: GlobalOptions
  @Flag(help: "Print a line for each event.") var events = false
  @Option(help: "Show only members of this group.", completion: .groups) var group: String?
  @Option(help: "Show only this name.", completion: .bindings) var binding: String?
  @Option(
    help: "Print lines of this format: {binding}, {id}, {phase}, {value.KEY}, …",
    transform: Template.init)
  var format: Template?
  @Flag(help: "Print lines for a custom module of waybar with “return-type”: “json”.") var waybar = false

  func validate() throws {
    try global.check(format, events ? .event : .presentation)
    if waybar, events || format != nil { throw ValidationError("use --waybar without --events and --format") }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "watch")
    // A closed pipe is an error of the write, not a signal.
    signal(SIGPIPE, SIG_IGN)
    let filter = StateFilter(group: group, binding: binding)
    var failure: Failure?
    let writer = LineWriter(STDOUT_FILENO, daemon.loop)
    let follower = StateFollower(daemon.connection)
    let output: any WatchOutput
    let screen = isForPeople ? TerminalScreen(daemon.loop) : nil
    if let screen {
      output = try liveView(filter, screen, writer, daemon)
    } else if events {
      output = EventLines(filter, format)
    } else {
      output = StateLines(filter, waybar ? .waybar : format.map { .template($0) } ?? .json)
    }
    defer { screen?.finish() }
    writer.onDrained = { output.drained(writer, follower) }
    writer.onEnd = { error in
      if error != EPIPE { failure = Failure("watch", "standard output: \(String(cString: strerror(error)))") }
      daemon.loop.stop()
    }
    let timeout = daemon.timeLeft.map { timeLeft in
      daemon.loop.timer(after: timeLeft) {
        failure = Failure("watch", "navd is not running", status: .timedOut)
        daemon.loop.stop()
      }
    }
    let restart = DaemonRestart(daemon)
    follower.onState = { state, serial in
      timeout?.cancel()
      let state = StateSnapshot(state, serial: serial)
      restart.note(state)
      output.state(state, writer, follower)
    }
    follower.onEvent = { event in
      restart.note(event)
      output.event(event, writer, follower)
    }
    func fail(_ error: DBusError) {
      failure = Failure("watch", error)
      daemon.loop.stop()
    }
    follower.onFailure = fail
    daemon.connection.onDisconnected = { fail(DBusError(name: .disconnected, message: Failure.disconnected)) }
    follower.start()
    daemon.loop.run()
    if let failure { throw failure }
  }

  /// Whether to draw on the terminal instead of printing lines.
  private var isForPeople: Bool {
    !events && !waybar && format == nil && !global.json && !global.quiet && TerminalScreen.isAvailable
  }

  private func liveView(
    _ filter: StateFilter, _ screen: TerminalScreen, _ writer: LineWriter, _ daemon: DaemonClient
  ) throws(Failure) -> LiveView {
    let view = LiveView(
      filter, colour: StandardOutput.hasColour, legend: !global.noLegend, writer, daemon.loop)
    screen.onChange = { view.redraw() }
    screen.onQuit = { daemon.loop.stop() }
    do throws(SystemError) { try screen.start() } catch { throw Failure("watch", error.description) }
    _ = daemon.connection.watchName(CoordinatorNames.bus) { if $0 == nil { view.daemonStopped() } }
    return view
  }
}

/// Prints states and events.
protocol WatchOutput: AnyObject {
  func state(_ state: StateSnapshot, _ writer: LineWriter, _ follower: StateFollower)
  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower)
  /// Called when the reader has taken everything.
  func drained(_ writer: LineWriter, _ follower: StateFollower)
}

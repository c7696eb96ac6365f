// Why this file exists: `watch`, for bars, scripts and people who want to see what happens.

import ArgumentParser
import CoordinatorAPI
import DBus
import EventLoops
import Glibc
import PresentationModel
import TextFormats

struct WatchVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "watch", "Write the whole state as a line of JSON, and again whenever it has changed.",
    """
    On a terminal, without an option that says otherwise, the state is drawn in its place, as “navctl list” shows it, \
    until “q” is pressed; with --json, or in a pipe, lines are written. A reader that is slow gets the latest state and skips those between. With --events nothing is skipped: first the \
    state, then a line for each event, and the state again after a restart of navd or where events were lost. \
    Where navd is not running, watch waits for it (with --within no longer than that), and it ends when its reader \
    does.
    """)

  @OptionGroup var global: GlobalOptions
  @Flag(help: "A line for each event.") var events = false
  @Option(help: "Only this group.", completion: .groups) var group: String?
  @Option(help: "Only this binding.", completion: .bindings) var binding: String?
  @Option(
    help: "A line of this shape for what is shown, or for each event: {binding}, {id}, {phase}, {value.KEY}, …",
    transform: Template.init)
  var format: Template?
  @Flag(help: "Lines for a custom module of waybar with “return-type”: “json”.") var waybar = false

  func validate() throws {
    try global.requireOneShape(format)
    try format?.require(events ? .event : .presentation)
    if waybar, events || format != nil { throw ValidationError("--waybar goes with neither --events nor --format") }
  }

  func run() throws {
    let daemon = try Daemon(global, "watch")
    // A reader that goes is told by the write, not by a signal.
    signal(SIGPIPE, SIG_IGN)
    let filter = StateFilter(group: group, binding: binding)
    var failure: Failure?
    let writer = LineWriter(STDOUT_FILENO, daemon.loop)
    let follower = StateFollower(daemon.connection)
    let lines: any WatchLines
    let screen = isForPeople ? TerminalScreen(daemon.loop) : nil
    if let screen {
      lines = try view(filter, screen, writer, daemon)
    } else if events {
      lines = EventLines(filter, format)
    } else {
      lines = StateLines(filter, waybar ? .waybar : format.map { .format($0) } ?? .json)
    }
    defer { screen?.finish() }
    writer.onDrained = { lines.drained(writer, follower) }
    writer.onEnd = { error in
      if error != EPIPE { failure = Failure("watch", "standard output: \(String(cString: strerror(error)))") }
      daemon.loop.stop()
    }
    let patience = daemon.rest.map { rest in
      daemon.loop.timer(after: rest) {
        failure = Failure("watch", "navd is not running", status: .timedOut)
        daemon.loop.stop()
      }
    }
    follower.onState = { state, serial in
      patience?.cancel()
      lines.state(StateView(state, serial: serial), writer, follower)
    }
    follower.onEvent = { lines.event($0, writer, follower) }
    func fail(_ error: DBusError) {
      failure = Failure("watch", error)
      daemon.loop.stop()
    }
    follower.onFailure = fail
    daemon.connection.onDisconnected = { fail(DBusError(name: .disconnected, message: "the bus is gone")) }
    follower.start()
    daemon.loop.run()
    if let failure { throw failure }
  }

  /// Whether nobody has asked for lines.
  private var isForPeople: Bool {
    !events && !waybar && format == nil && !global.json && !global.quiet && TerminalScreen.isThere
  }

  private func view(
    _ filter: StateFilter, _ screen: TerminalScreen, _ writer: LineWriter, _ daemon: Daemon
  ) throws(Failure) -> LiveView {
    let view = LiveView(
      filter, colour: StandardOutput.hasColour, legend: !global.noLegend, writer, daemon.loop)
    screen.onChange = { view.redraw() }
    screen.onEnd = { daemon.loop.stop() }
    do throws(SystemError) { try screen.start() } catch { throw Failure("watch", error.description) }
    // Until something is known nothing is drawn: most often that is a millisecond.
    _ = daemon.connection.watchName(CoordinatorNames.bus) { if $0 == nil { view.isGone() } }
    return view
  }
}

/// What becomes of states and events.
protocol WatchLines: AnyObject {
  func state(_ state: StateView, _ writer: LineWriter, _ follower: StateFollower)
  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower)
  /// The reader has taken all that was written.
  func drained(_ writer: LineWriter, _ follower: StateFollower)
}

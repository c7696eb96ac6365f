// Why this file exists: `watch`, for bars, scripts and people who want to see what happens.
import ArgumentParser
import CoordinatorAPI
import DBus
import EventLoop
import Glibc

struct WatchVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "watch", "Write the whole state as a line of JSON, and again whenever it has changed.",
    """
    A reader that is slow gets the latest state and skips those between. With --events nothing is skipped: first the \
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
    let lines: any WatchLines =
      if events {
        EventLines(filter, format)
      } else {
        StateLines(filter, waybar ? .waybar : format.map { .format($0) } ?? .json)
      }
    var failure: Failure?
    let writer = LineWriter(STDOUT_FILENO, daemon.loop)
    let follower = StateFollower(daemon.connection)
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
    follower.onFailure = {
      failure = Failure("watch", $0)
      daemon.loop.stop()
    }
    follower.start()
    daemon.loop.run()
    if let failure { throw failure }
  }
}

/// What becomes of states and events.
protocol WatchLines: AnyObject {
  func state(_ state: StateView, _ writer: LineWriter, _ follower: StateFollower)
  func event(_ event: CoordinatorEvent, _ writer: LineWriter, _ follower: StateFollower)
  /// The reader has taken all that was written.
  func drained(_ writer: LineWriter, _ follower: StateFollower)
}

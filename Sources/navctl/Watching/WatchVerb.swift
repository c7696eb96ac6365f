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

    If navd is not running, prints a state with “"running":false” and waits for it, with --within for no longer than that. If navd vanishes while something is open, \
    and there is no user manager that starts it again, has the bus do so. Ends when its reader ends.
    """)

  @OptionGroup var global: GlobalOptions
  @Flag(help: "Print a line for each event.") var events = false
  @Option(help: "Show only members of this group.", completion: .groups) var group: String?
  @Option(help: "Show only this name.", completion: .bindings) var binding: String?
  @Option(
    help: "Print lines of this format: {binding}, {id}, {phase}, {value.KEY}, …",
    transform: OutputTemplate.init)
  var format: OutputTemplate?
  @Flag(help: "Print lines for a custom module of waybar with “return-type”: “json”.") var waybar = false

  func validate() throws {
    try global.requirePrinting()
    try global.check(format, events ? .event : .presentation)
    if waybar, events || format != nil { throw ValidationError("use --waybar without --events and --format") }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "watch")
    let filter = StateFilter(group: group, binding: binding)
    let writer = LineWriter(STDOUT_FILENO, daemon.loop)
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
    try daemon.follow(output, writer)
  }

  /// Whether to draw on the terminal instead of printing lines.
  private var isForPeople: Bool {
    !events && !waybar && format == nil && !global.json && TerminalScreen.isAvailable
  }

  private func liveView(
    _ filter: StateFilter, _ screen: TerminalScreen, _ writer: LineWriter, _ daemon: DaemonClient
  ) throws(Failure) -> LiveView {
    let view = LiveView(
      filter, colour: StandardOutput.hasColour, legend: !global.noLegend, readsKeys: TerminalScreen.hasKeys, writer,
      daemon.loop)
    screen.onChange = { view.redraw() }
    screen.onQuit = { daemon.loop.stop() }
    do throws(SystemError) { try screen.start() } catch { throw Failure("watch", error.description) }
    _ = daemon.connection.watchName(CoordinatorNames.bus) { if $0 == nil { view.daemonStopped() } }
    return view
  }
}

import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TextFormats

struct Windows: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "windows", "List all windows, with what can be written into [window] of a destination, and whose they are.",
    """
    Needs an adapter for the window system, such as navd-windows. On a terminal: a table. In a pipe: a line for each window, \
    in the order in which they were opened. Tabs are between id, app-id, title, output, process, state and the name under \
    which it is open. With several displays, each with an adapter of its own: the windows of one after the other, and the \
    display at the end of each line. An adapter that does not answer is an error after them. With --app-id and --title: only \
    those that fit, as [window] matches them.

    With --rules: instead of that, the compositor's own rules for the windows of destinations, made from their files, to be \
    copied into its configuration. Without a name, these are all destinations that say where and how their windows are \
    shown. That is for a compositor whose adapter cannot place windows, and for those who would rather have the rules \
    there. A comment says what such a rule cannot say, and what comes nearest. navd need not be running. A mistake in a file \
    is an error after which the rules of the other files follow.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "List only windows whose app-id fits this pattern.", completion: .appIDs) var appID: String?
  @Option(help: "List only windows whose title fits this pattern.") var title: String?
  @Option(
    help: ArgumentHelp(
      "Print rules for this compositor: sway, i3, hyprland, niri, labwc, openbox or kwin.", valueName: "compositor"))
  var rules: Compositor?
  @Argument(help: "The destinations of --rules; without one, all.", completion: .destinations) var names: [String] = []

  func validate() throws {
    if rules == nil {
      if let name = names.first {
        throw ValidationError("\(quoted(name)): windows takes names only with --rules, e.g. --rules sway \(name)")
      }
    } else if appID != nil || title != nil || global.json {
      throw ValidationError("--rules prints lines of a configuration, and goes with no --app-id, --title and --json")
    } else if let host = global.host {
      throw ValidationError(
        "--rules reads files of this machine; use “\(host.ssh("navctl windows --rules sway"))” or the like")
    }
  }

  func run() throws {
    if let rules { return try printRules(of: rules) }
    let daemon = try DaemonClient(global, "windows")
    let (displays, unanswered) = try daemon.windows()
    let hasDisplays = displays.count > 1 || unanswered != nil
    let owners = try owners(daemon)
    var table = Table("ID", "APP-ID", "TITLE", "OUTPUT", .number("PID"), "STATE", "BINDING", "DISPLAY")
    var list: [JSON] = []
    let pattern = WindowPattern(appID: appID, title: title)
    for (display, windows) in displays {
      for var window in windows where pattern.isEmpty || pattern.matches(window.properties) {
        // No process here shows it.
        if window.properties.pid == 0 { window.properties.pid = nil }
        let owner = owners[window.id]
        var entry = window.properties.properties
        entry[Self.id] = window.id
        entry[StateEntry.keys.binding] = owner?.binding
        entry[StateEntry.keys.presentation] = owner?.presentation
        entry[Self.display] = display.preferred
        list.append(JSON(entry))
        let cells = [
          Table.Cell(window.id), window.properties.cell(\.appID), window.properties.cell(\.title),
          window.properties.cell(\.output), window.properties.cell(\.pid), Table.Cell(window.properties.shownState),
          Table.Cell(owner?.name ?? ""),
        ]
        table.add(cells + (hasDisplays ? [Table.Cell(display.preferred ?? "")] : []))
      }
    }
    global.write(json: .array(list), table, whenEmpty: pattern.isEmpty ? "There are no windows." : "No window fits.")
    if let unanswered { throw unanswered }
  }

  private static let id = DictionaryKey<String>("id", doc: "The adapter's own name of the window.")
  private static let display = DictionaryKey<String>("display", doc: "The display of the window's adapter.")

  /// The presentations of windows, by window id; none if navd is not running.
  private func owners(_ daemon: DaemonClient) throws -> [String: StateEntry] {
    guard let (state, serial) = try? daemon.request(CoordinatorInterface.getState, (), starts: false) else {
      return [:]
    }
    var owners: [String: StateEntry] = [:]
    for entry in StateSnapshot(state, serial: serial).entries {
      for window in entry.windows ?? [] { if let id = window[Self.id] { owners[id] = entry } }
    }
    return owners
  }

  /// Prints the rules, which need no navd: the files are read here. Their mistakes go to standard error.
  private func printRules(of compositor: Compositor) throws {
    let files = try CheckedFiles("windows", address: global.address)
    let mistakes = names.isEmpty ? files.mistakes : names.flatMap(files.mistakes(ofDestination:))
    for mistake in mistakes { ErrorOutput.write("navctl: windows: \(ErrorOutput.part(mistake))") }
    let unknown = names.first { !files.destinations.contains($0) && files.mistakes(ofDestination: $0).isEmpty }
    if let unknown {
      let near = nearest(to: unknown, among: files.destinations)
      throw Failure(
        "windows", "no destination is called \(quoted(unknown))", hint: near.map { "did you mean “\($0)”?" },
        status: .unknownName)
    }
    let asked = files.destinations.filter { names.isEmpty || names.contains($0) }
    let lines = try asked.flatMap { name -> [String] in
      let window = files.windows[name] ?? [:]
      let placement = try WindowPlacement(reading: window)
      guard placement != WindowPlacement() else {
        return names.isEmpty
          ? [] : [compositor.comment("\(name): its file does not say where or how its windows are shown")]
      }
      // The patterns have the names of the properties.
      let pattern = WindowProperties(reading: window)
      return compositor.rules(name, WindowPattern(appID: pattern.appID, title: pattern.title), placement)
    }
    let ofXwayland = compositor == .sway ? "; of a window of Xwayland, write class instead of app_id" : ""
    let header = lines.isEmpty ? "no destination says where its windows are" : "for \(compositor.place)\(ofXwayland)"
    StandardOutput.write(([compositor.comment(header)] + lines).map { $0 + "\n" }.joined())
    if !mistakes.isEmpty { throw ExitCode(CommandStatus.failed.rawValue) }
  }
}

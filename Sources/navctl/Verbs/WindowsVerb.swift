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
    in the order in which they were opened, with tabs between id, app-id, title, output, process, state and the name under \
    which it is open. With several displays, each with an adapter of its own: the windows of one after the other, and the \
    display at the end of each line. With --app-id and --title: only those that fit, as [window] matches them.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "List only windows whose app-id fits this pattern.", completion: .appIDs) var appID: String?
  @Option(help: "List only windows whose title fits this pattern.") var title: String?

  func run() throws {
    let daemon = try DaemonClient(global, "windows")
    let displays = try daemon.windows()
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
          window.properties.cell(\.output), window.properties.cell(\.pid), Table.Cell(state(window.properties)),
          Table.Cell(owner?.name ?? ""),
        ]
        table.add(cells + (displays.count > 1 ? [Table.Cell(display.preferred ?? "")] : []))
      }
    }
    global.write(json: .array(list), table)
  }

  private static let id = DictionaryKey<String>("id", doc: "The adapter's own name of the window.")
  private static let display = DictionaryKey<String>("display", doc: "The display of the window's adapter.")

  private func state(_ window: WindowProperties) -> String {
    let words: [(String, Bool?)] = [
      ("focused", window.focused), ("fullscreen", window.fullscreen), ("minimized", window.minimized),
      ("hidden", window.hidden), ("floating", window.floating), ("urgent", window.urgent),
      ("elsewhere", window.inView.map { !$0 && window.hidden != true }),
    ]
    return words.filter { $0.1 == true }.map(\.0).joined(separator: " ")
  }

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
}

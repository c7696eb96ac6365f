import ArgumentParser
import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel
import TextFormats

struct Rofi: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "rofi", "Provide a menu for rofi: what is open, and what can be opened.",
    """
    For rofi's script mode: rofi -modi 'navd:navctl rofi' -show navd. Lists the tags of groups, everything else that is \
    open, and the destinations that are not. Choosing a line opens it, or closes it if it is open.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "List only the tags of this group.", completion: .groups) var group: String?
  @Argument(help: "Text of the chosen line, passed by rofi.") var chosen: String?

  func validate() throws {
    if global.json { throw ValidationError("--json is not supported; use “navctl list --json”") }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "rofi")
    guard let chosen else { return try write(daemon) }
    do throws(Failure) {
      guard let choice = getenv("ROFI_INFO").flatMap({ RofiMenu.Choice(info: String(cString: $0)) }) else {
        throw Failure(
          "rofi", "“\(chosen)” is not in this menu: rofi did not set ROFI_INFO to one of its lines", status: .usage)
      }
      try carryOut(choice, daemon)
    } catch {
      // The user looks at rofi, not at standard error.
      try write(daemon, message: error.why)
    }
  }

  private func write(_ daemon: DaemonClient, message: String? = nil) throws(Failure) {
    let menu = RofiMenu(try daemon.state(), destinations: try daemon.destinations(), group: group)
    global.write(json: .null, plain: menu.text(prompt: group ?? "navd", message: message))
  }

  private func carryOut(_ choice: RofiMenu.Choice, _ daemon: DaemonClient) throws(Failure) {
    var options: Properties = [:]
    switch choice {
    case .tag(let group, let tag):
      ClientContext.write(to: &options, isRemote: daemon.isRemote)
      let (selected, serial) = try daemon.call(CoordinatorInterface.toggleSelection, (group, tag, options))
      if selected { try daemon.requireStart(in: [group], after: serial) }
    case .dismissal(let binding, let number):
      options[Options.expectedPresentation] = CoordinatorNames.presentation(number)
      try daemon.call(CoordinatorInterface.dismiss, (binding, options))
    case .destination(let name):
      ClientContext.write(to: &options, isRemote: daemon.isRemote)
      let (presentation, _, changed, serial) = try daemon.call(CoordinatorInterface.present, (name, "", options))
      if changed { try daemon.requireStart(of: [presentation], after: serial) }
    }
  }
}

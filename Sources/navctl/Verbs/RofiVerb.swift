// Why this file exists: `rofi`, a menu of what can be shown, in rofi's script mode (rofi-script(5)).

import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TextFormats

struct Rofi: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "rofi", "Be a menu of rofi: what is shown, marked, and what could be.",
    """
    For rofi's script mode: rofi -modi 'navd:navctl rofi' -show navd. The tags of groups are listed, what else is \
    presented, and the destinations that are not. What is chosen is selected, presented, or, if it is shown already, \
    dismissed.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "Only the tags of this group.", completion: .groups) var group: String?
  @Argument(help: "What was chosen; rofi gives it.") var chosen: String?

  func validate() throws {
    if global.json { throw ValidationError("a menu is written for rofi; “navctl list --json” has what is in it") }
  }

  func run() throws {
    let daemon = try Daemon(global, "rofi")
    guard chosen != nil else { return try write(daemon) }
    do throws(Failure) {
      guard let choice = Self.variable("ROFI_INFO").flatMap(RofiMenu.Choice.init(info:)) else {
        throw Failure("rofi", "ROFI_INFO does not say what “\(chosen ?? "")” is", status: .usage)
      }
      try carryOut(choice, daemon)
    } catch {
      // Who chose it looks at rofi and not at what navctl says.
      try write(daemon, message: error.why)
    }
  }

  private func write(_ daemon: Daemon, message: String? = nil) throws(Failure) {
    let destinations = try daemon.ask(CoordinatorInterface.destinations, ()).map {
      (name: $0.fields.0, about: JSON($0.fields.1))
    }
    let menu = RofiMenu(try daemon.state(), destinations: destinations, group: group)
    let text = menu.text(prompt: group ?? "navd", message: message)
    global.write(json: .null, plain: text)
  }

  private func carryOut(_ choice: RofiMenu.Choice, _ daemon: Daemon) throws(Failure) {
    var options: Properties = [:]
    switch choice {
    case .tag(let group, let tag):
      ClientContext.write(to: &options, output: nil, isRemote: daemon.isRemote)
      let (selected, serial) = try daemon.call(CoordinatorInterface.toggleSelection, (group, tag, options))
      if selected { try daemon.requireStart(in: group, after: serial) }
    case .dismissal(let binding, let number):
      options[Options.expectedPresentation] = CoordinatorNames.presentation(number)
      try daemon.call(CoordinatorInterface.dismiss, (binding, options))
    case .destination(let name):
      ClientContext.write(to: &options, output: nil, isRemote: daemon.isRemote)
      let (presentation, changed, _) = try daemon.call(CoordinatorInterface.present, (name, "", options))
      if changed { try daemon.requireStart(of: presentation) }
    }
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

// Why this file exists: the verbs about exclusive groups.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct Select: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "select", "Make a tag the selection of its group; the other members are dismissed.",
    "What the tag's last request gave is repeated; what is given here wins.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which group.", completion: .groups) var group: String
  @Argument(help: "Which member.", completion: .tags) var tag: String
  @OptionGroup var member: MemberOptions
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try Daemon(global, "select \(group) \(tag)")
    var options = try member.options(daemon)
    change.write(to: &options)
    let (presentation, changed, serial) = try daemon.call(CoordinatorInterface.select, (group, tag, options))
    if member.item.owned {
      try Ending(daemon, presentation).report(daemon, global)
    } else {
      global.report(changed: changed, presentation: presentation, serial: serial)
      if changed { try daemon.requireStart(of: presentation) }
    }
  }
}

struct ToggleSelection: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "toggle-selection", "Deselect a tag if it is the selected one, else select it.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which group.", completion: .groups) var group: String
  @Argument(help: "Which member.", completion: .tags) var tag: String
  @OptionGroup var member: MemberOptions
  @OptionGroup var change: ChangeOptions

  func validate() throws {
    if member.item.owned {
      throw ValidationError("--owned is for select: this reply names no presentation to stay for")
    }
  }

  func run() throws {
    let daemon = try Daemon(global, "toggle-selection \(group) \(tag)")
    var options = try member.options(daemon)
    change.write(to: &options)
    let (selected, serial) = try daemon.call(CoordinatorInterface.toggleSelection, (group, tag, options))
    global.report(
      changed: true, serial: serial, ["selected": .boolean(selected)], verbose: selected ? "selected\n" : "deselected\n"
    )
    if selected { try daemon.requireStart(in: group, after: serial) }
  }
}

struct Deselect: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "deselect", "Make the selection of a group nil.",
    "With a tag, only if that is the selected one.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which group.", completion: .groups) var group: String
  @Argument(help: "Which member.", completion: .tags) var tag: String = ""
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try Daemon(global, "deselect \(group)")
    var options: Properties = [:]
    change.write(to: &options)
    let (changed, serial) = try daemon.call(CoordinatorInterface.deselect, (group, tag, options))
    global.report(changed: changed, serial: serial)
  }
}

struct Selection: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "selection", "Write the selected tag of a group; exit status 3 where nothing is selected.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which group.", completion: .groups) var group: String

  func run() throws {
    let daemon = try Daemon(global, "selection \(group)")
    let state = try daemon.state()
    let tag = state.selection(of: group)
    if tag == nil { try daemon.requireName("group", group) }
    var members: [String: JSON] = ["group": .string(group)]
    members["selection"] = tag.map(JSON.string)
    global.write(json: .object(members), plain: tag.map { $0.printable + "\n" } ?? "")
    if tag == nil { throw ExitCode(CommandStatus.notPresented.rawValue) }
  }
}

/// What a tag presents, where its group does not know that yet or something is to differ.
struct MemberOptions: ParsableArguments {
  @Option(help: "The binding of the tag.", completion: .presentable) var binding: String?
  @Option(help: "The id of the tag's item.") var id: String?
  @OptionGroup var item: ItemOptions

  func options(_ daemon: Daemon) throws -> Properties {
    var options = try item.options(daemon)
    options[Options.binding] = binding
    options[Options.id] = id
    return options
  }
}

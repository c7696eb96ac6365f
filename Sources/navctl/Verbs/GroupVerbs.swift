import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct Select: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "select", "Open a member of a group, and close the one that is open.",
    "Repeats the options of the tag's last request; options given here take precedence.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .group, completion: .groups) var group: String
  @Argument(help: .tag, completion: .tags) var tag: String
  @OptionGroup var member: MemberOptions

  func run() throws {
    let daemon = try DaemonClient(global, "select \(group) \(tag)")
    let (presentation, _, changed, serial) = try daemon.call(
      CoordinatorInterface.select, (group, tag, try member.options(daemon)), hint: MemberOptions.hint, for: .unknownTag)
    try global.reportPresented(daemon, presentation, changed: changed, serial: serial, isOwned: member.item.owned)
  }
}

struct ToggleSelection: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "toggle-selection", "Close a member of a group if it is open, otherwise open it.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .group, completion: .groups) var group: String
  @Argument(help: .tag, completion: .tags) var tag: String
  @OptionGroup var member: MemberOptions

  func validate() throws {
    if member.item.owned { throw ValidationError("--owned is not supported; use “navctl select --owned”") }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "toggle-selection \(group) \(tag)")
    let (selected, serial) = try daemon.call(
      CoordinatorInterface.toggleSelection, (group, tag, try member.options(daemon)), hint: MemberOptions.hint,
      for: .unknownTag)
    global.report(
      changed: true, serial: serial, ["selected": selected.value], verbose: selected ? "selected\n" : "deselected\n"
    )
    if selected { try daemon.requireStart(in: [group], after: serial) }
  }
}

struct Deselect: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "deselect", "Close whichever member of a group is open.",
    "With TAG: closes it only if that member is open. The next member in the group's queue then opens.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .group, completion: .groups) var group: String
  @Argument(help: .tag, completion: .tags) var tag: String = ""
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try DaemonClient(global, "deselect \(group)")
    let (changed, serial) = try daemon.call(CoordinatorInterface.deselect, (group, tag, change.properties))
    if !changed { daemon.warnIfUnknown(group: group, tag: tag) }
    global.report(changed: changed, serial: serial)
  }
}

struct Selection: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "selection", "Print the tag of the open member of a group; exit status 3 if none is open.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .group, completion: .groups) var group: String

  func run() throws {
    let daemon = try DaemonClient(global, "selection \(group)")
    let tag = try daemon.state().groupEntries[group]?.selection
    if tag == nil { try daemon.requireName("group", group) }
    var members: Properties = [:]
    members[StateEntry.keys.group] = group
    members[GroupEntry.keys.selection] = tag
    global.write(json: JSON(members), plain: tag.map { $0.printable + "\n" } ?? "")
    if tag == nil { throw ExitCode(CommandStatus.notPresented.rawValue) }
  }
}

struct Forget: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "forget", "Make a group forget a tag, for example a mistyped one.",
    "What is open stays open. A tag that a destination declares stays, too.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .group, completion: .groups) var group: String
  @Argument(help: .tag, completion: .tags) var tag: String
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try DaemonClient(global, "forget \(group) \(tag)")
    let (changed, serial) = try daemon.call(CoordinatorInterface.forget, (group, tag, change.properties))
    if !changed { daemon.warnIfUnknown(group: group, tag: tag) }
    global.report(changed: changed, serial: serial)
  }
}

/// The item of a tag, which is needed if the group does not know the tag yet, or to change the item.
struct MemberOptions: ParsableArguments {
  @Option(help: "Name to open it under, if the group does not know the tag yet.", completion: .presentable)
  var binding: String?
  @Option(help: "Which item to show there, e.g. the number of a note.") var id: String?
  @OptionGroup var item: ItemOptions
  @OptionGroup var change: ChangeOptions

  /// The hint if the group does not have the tag.
  static func hint(_ operation: String) -> String { "for a member that a program shows by itself, add --state" }

  func options(_ daemon: DaemonClient) throws -> Properties {
    var options = try item.options(daemon)
    options[Options.binding] = binding
    options[Options.id] = id ?? item.idOfProgram
    change.write(to: &options)
    return options
  }
}

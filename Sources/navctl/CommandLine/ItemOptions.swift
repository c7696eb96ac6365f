// Why this file exists: an item is described in the same way by every verb that can present one.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel

/// What is to be shown, and how.
struct ItemOptions: ParsableArguments {
  enum IfBusy: String, ExpressibleByArgument, CaseIterable { case replace, queue, refuse }

  @Option(
    name: .customLong("to"), help: ArgumentHelp("How it is shown.", valueName: "destination"),
    completion: .destinations)
  var destination: String?

  @Option(
    name: .customLong("value"), help: ArgumentHelp("A value that the item holds; may be repeated.", valueName: "k=v"),
    transform: Assignment.init)
  var values: [Assignment] = []

  @Option(
    name: .customLong("container-value"),
    help: ArgumentHelp("A value for a declared key; may be repeated.", valueName: "k=v"),
    transform: Assignment.init)
  var containerValues: [Assignment] = []

  @Option(help: "For the presenter: sheet, popover, alert, …")
  var style: String?

  @Option(help: "What to call it where a name is shown.")
  var title: String?

  @Option(help: ArgumentHelp("What it is presented from.", valueName: "binding"), completion: .bindings)
  var from: String?

  @Option(
    help: ArgumentHelp("End it after so long, such as 3s.", valueName: "duration"), transform: { try $0.duration() })
  var timeout: UInt64?

  @Flag(help: "End it when navctl ends; navctl stays until it is gone.")
  var owned = false

  @Option(help: ArgumentHelp("When another member of its group is shown.", valueName: "what"))
  var ifBusy: IfBusy?

  @Option(parsing: .unconditional, help: "In a group's queue the highest comes first.")
  var priority: Int32?

  @Option(help: "The screen to show it on.")
  var output: String?

  @Argument(
    parsing: .postTerminator, help: "After “--”: the program that shows it, instead of a destination.",
    completion: .file())
  var command: [String] = []

  func validate() throws {
    // Without this, half a command line would present nothing but state.
    if command.isEmpty, CommandLine.arguments.contains("--") {
      throw ValidationError("nothing stands after “--”; a program and its arguments, or no “--”, would do")
    }
  }

  /// The options for the bus. Container values are read by their declared types, which the daemon is asked for.
  func options(_ daemon: Daemon) throws -> Properties {
    var options: Properties = [:]
    options[Options.destination] = destination
    // Given whole or not at all: no `--value` leaves the item's value alone.
    if !values.isEmpty { options[Options.value] = try values.properties(daemon.what) }
    if !containerValues.isEmpty { options[Options.containerValues] = try daemon.containerValues(containerValues) }
    options[Options.style] = style
    options[Options.title] = title
    options[Options.from] = from
    options[Options.timeout] = timeout
    if owned { options[Options.owned] = true }
    options[Options.ifBusy] = ifBusy?.rawValue
    options[Options.priority] = priority
    if !command.isEmpty {
      // As the bytes that they are: file names need not be UTF-8.
      let bytes = ClientContext.lastArguments(command.count)
      let texts = bytes.compactMap { String(validating: $0, as: UTF8.self) }
      options[Options.command.name] = texts.count == bytes.count ? texts.value : bytes.value
    }
    ClientContext.write(to: &options, output: output, isRemote: daemon.isRemote)
    return options
  }
}

/// Which item of a slot.
struct ItemID: ParsableArguments {
  @Argument(help: ArgumentHelp("Which item.", valueName: "id")) var argument: String?
  @Option(name: .customLong("id"), help: ArgumentHelp("The same, if it begins with “-”: --id=-1.", valueName: "id"))
  var option: String?

  /// nil where none is given.
  var text: String? { option ?? argument }

  func validate() throws {
    if let option, let argument {
      throw ValidationError("two ids are given, “\(argument)” and “\(option)”; one would do")
    }
  }
}

/// Where it belongs.
struct PlaceOptions: ParsableArguments {
  @Option(help: "The exclusive group that it is a member of.", completion: .groups)
  var group: String?

  @Option(help: "What selects it in its group.", completion: .tags)
  var tag: String?

  @Option(help: "The stack on whose top it is.", completion: .stacks)
  var stack: String?

  func write(to options: inout Properties) {
    options[Options.group] = group
    options[Options.tag] = tag
    options[Options.stack] = stack
  }
}

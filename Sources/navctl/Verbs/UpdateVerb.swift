// Why this file exists: `update`, which edits what a slot's item holds.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel

struct Update: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "update", "Set keys in the value of a slot's item; the others stay.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which slot.", completion: .bindings) var binding: String
  @Argument(help: ArgumentHelp("The keys to set.", valueName: "k=v"), transform: Assignment.init)
  var values: [Assignment] = []
  @Option(help: ArgumentHelp("A key to take out; may be repeated.", valueName: "k")) var remove: [String] = []
  @Option(
    name: .customLong("container-value"),
    help: ArgumentHelp("A value for a declared key; may be repeated.", valueName: "k=v"), transform: Assignment.init)
  var containerValues: [Assignment] = []
  @Option(
    help: ArgumentHelp("End it after so long from now.", valueName: "duration"), transform: { try $0.duration() })
  var timeout: UInt64?
  @OptionGroup var slot: SlotOptions

  func validate() throws {
    guard !values.isEmpty || !remove.isEmpty || !containerValues.isEmpty || timeout != nil else {
      throw ValidationError("nothing to update; give KEY=VALUE, --remove KEY, --container-value or --timeout")
    }
  }

  func run() throws {
    let daemon = try Daemon(global, "update \(binding)")
    var options: Properties = [:]
    slot.write(to: &options)
    if !remove.isEmpty { options[Options.remove] = remove }
    if !containerValues.isEmpty { options[Options.containerValues] = try daemon.containerValues(containerValues) }
    options[Options.timeout] = timeout
    let (changed, serial) = try daemon.call(
      CoordinatorInterface.update, (binding, try values.properties(daemon.what), options))
    global.report(changed: changed, serial: serial)
  }
}

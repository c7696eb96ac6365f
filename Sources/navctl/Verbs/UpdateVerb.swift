import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel

struct Update: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "update", "Change values of what is open; all others stay the same.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .bindings) var binding: String
  @Argument(help: ArgumentHelp("Values to set.", valueName: "k=v"), transform: Assignment.init)
  var values: [Assignment] = []
  @Option(help: ArgumentHelp("Value to remove; may be repeated.", valueName: "k")) var remove: [String] = []
  @Option(
    name: .customLong("container-value"),
    help: ArgumentHelp("Value for a declared key; may be repeated.", valueName: "k=v"), transform: Assignment.init)
  var containerValues: [Assignment] = []
  @Option(
    help: ArgumentHelp("Close it after this long from now, e.g. 3s.", valueName: "duration"),
    transform: { try $0.duration() })
  var timeout: UInt64?
  @OptionGroup var slot: SlotOptions

  func validate() throws {
    guard !values.isEmpty || !remove.isEmpty || !containerValues.isEmpty || timeout != nil else {
      throw ValidationError("nothing to update; give KEY=VALUE, --remove KEY, --container-value or --timeout")
    }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "update \(binding)")
    var options = slot.properties
    if !remove.isEmpty { options[Options.remove] = remove }
    if !containerValues.isEmpty { options[Options.containerValues] = try daemon.containerValues(containerValues) }
    options[Options.timeout] = timeout
    let (changed, serial) = try daemon.call(
      CoordinatorInterface.update, (binding, try values.properties(daemon.operation), options))
    global.report(changed: changed, serial: serial)
  }
}

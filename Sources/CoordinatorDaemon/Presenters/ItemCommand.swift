import CoordinatorAPI
import DBusValues
import PresentationModel
import PresentationRules
import Processes
import TextFormats

/// A command to be run for an item, with its environment and directory (D3, `docs/processes.md`).
struct ItemCommand {
  /// The variable with the startup id of a started program (N1).
  static let startupIDVariable = "DESKTOP_STARTUP_ID"
  /// The variable with the token by which a started program may take the focus on Wayland.
  private static let activationTokenVariable: ByteString = "XDG_ACTIVATION_TOKEN"

  /// The variables that commands get from navd's environment. They are read once, because navd changes none.
  private static let inherited = {
    var variables = ProcessEnvironment.ofThisProcess()
    for name in EnvironmentVariable.ofOneProgram { variables[ByteString(name)] = nil }
    // The command that started navd may have been given this variable.
    variables["NAVD_OUTPUT"] = nil
    return variables
  }()

  let command: Command
  /// The variables that do not come from navd's environment alone. A service manager has to be given them.
  let given: Set<ByteString>

  /// - Parameters:
  ///   - properties: the item as every presenter receives it.
  ///   - session: variables that clients have given for all commands (K6).
  ///   - extra: variables about the occasion.
  ///   - arguments: the program and its arguments, from the item and the home directory.
  init(
    _ item: Item, at binding: BindingID, _ handle: Handle, _ properties: Properties, session: [String: String],
    extra: ProcessEnvironment = [:], arguments: (_ item: Item, _ home: ByteString) -> [[UInt8]]
  ) {
    var given =
      [
        "NAVD_BINDING": ByteString(binding.text), "NAVD_ID": ByteString(item.id),
        ByteString(CoordinatorNames.presentationVariable): ByteString(handle.description),
      ] as ProcessEnvironment
    if let output = item.output { given["NAVD_OUTPUT"] = ByteString(output) }
    if let token = item.activationToken { given[Self.activationTokenVariable] = ByteString(token) }
    given.merge(extra) { $1 }
    let settings = item.destination?.itemSettings?.options
    // The variables of the file are meant for this command; those of a request only describe where it was made.
    for variables in [settings?.environment ?? [:], item.environment, session] {
      for (name, value) in variables where given[ByteString(name)] == nil {
        given[ByteString(name)] = ByteString(value)
      }
    }
    self.given = Set(given.keys)
    let environment = Self.inherited.merging(given) { $1 }

    var input = properties
    input[StateEntry.keys.binding] = binding.text
    input[StateEntry.keys.id] = item.id
    input[StateEntry.keys.presentation] = handle.number
    let home = environment["HOME"] ?? "/"
    let directory =
      settings?.directory.map { ByteString(HomePath(Array($0.utf8)).path(home: home)) }
      ?? item.directory.map { ByteString($0) }
    command = Command(
      arguments(item, home).map { ByteString($0) }, environment: environment, directory: directory ?? home,
      input: Array((JSON(input).text + "\n").utf8))
  }
}

extension Item {
  /// The token of the request by which the item's windows may take the focus; nil if there is none.
  fileprivate var activationToken: String? { platformData["activation-token"].flatMap { String(value: $0) } }
}

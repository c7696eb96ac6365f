import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import SessionFiles
import TextFormats

/// Options of every verb that can open an item: the item, and the way in which it is shown. A plain record: one property for each
/// option.
struct ItemOptions: ParsableArguments {
  @Option(
    name: .customLong("to"),
    help: ArgumentHelp("How to show it; “navctl destinations” lists the choices.", valueName: "destination"),
    completion: .destinations)
  var destination: String?

  @Option(
    name: .customLong("value"),
    help: ArgumentHelp("Value for the program that shows it; may be repeated.", valueName: "k=v"),
    transform: Assignment.init)
  var values: [Assignment] = []

  @Option(
    name: .customLong("container-value"),
    help: ArgumentHelp("Value for a declared key; may be repeated.", valueName: "k=v"),
    transform: Assignment.init)
  var containerValues: [Assignment] = []

  @Option(help: "Style for the program that shows it: sheet, popover, alert, …")
  var style: String?

  @Option(help: "Title for lists and status bars.")
  var title: String?

  @Option(
    help: ArgumentHelp("Name of the window that it is opened from and closes with.", valueName: "binding"),
    completion: .bindings)
  var from: String?

  @Option(
    help: ArgumentHelp("Close it after this long, e.g. 3s; 0: never.", valueName: "duration"),
    transform: { try $0.duration() })
  var timeout: UInt64?

  @Option(
    help: ArgumentHelp("Drop it if it could not be opened for this long, e.g. 5s; 0: never.", valueName: "duration"),
    transform: { try $0.duration() })
  var validFor: UInt64?

  @Flag(help: "Close it when navctl ends; navctl runs until it is closed.")
  var owned = false

  @Option(help: ArgumentHelp("What to do if another member of its group is open.", valueName: "what"))
  var ifBusy: BusyPolicy?

  @Option(
    parsing: .unconditional, help: "Priority in its group's queue; the highest opens first.",
    transform: { try $0.number() })
  var priority: Int32?

  @Option(help: "Screen to show it on, e.g. DP-1; “focused” is the one in use.")
  var output: String?

  @OptionGroup var placement: PlacementOptions

  @Flag(help: "Bring it to the front if it is open already; “toggle” then closes it only if it has the focus.")
  var raise = false

  @Flag(
    help:
      "If it is open already on another workspace or screen, bring it to the one in use; “toggle” then closes it only if it is in view there."
  )
  var here = false

  @Flag(
    inversion: .prefixedNo,
    help:
      "Whether the program reads navctl's standard input; otherwise it reads the item as JSON. Default with --wait and a program after “--”: if that is a pipe."
  )
  var stdin: Bool?

  @OptionGroup var state: StateOption
  @OptionGroup var application: ApplicationOptions

  @Argument(
    parsing: .postTerminator, help: "After “--”: program that shows it, instead of a destination.",
    completion: .file())
  var command: [String] = []

  func validate() throws {
    // An unfinished command line must not present an item without a program.
    if command.isEmpty, CommandLine.arguments.contains("--") {
      throw ValidationError("a program must follow “--”")
    }
    if application.id != nil, destination != nil || !command.isEmpty {
      throw ValidationError("expected one of --desktop, --to and a program after “--”, found two")
    }
  }

  /// The default id of an item with a command or an application. For a command it is the command line, so that another command replaces it.
  var idOfProgram: String? {
    application.itemID ?? (command.isEmpty ? nil : String(command.joined(separator: " ").prefix(Self.maxID)))
  }
  /// The limit of characters in such an id, far below navd's limit, even for characters of four bytes.
  private static let maxID = 250

  /// The options of the request. Asks the daemon for the declared types of container values, and
  /// reads standard input if the program gets it.
  /// - Parameter isWaiting: whether navctl waits for the result.
  func options(_ daemon: DaemonClient, isWaiting: Bool = false) throws -> Properties {
    var options: Properties = [:]
    options[Options.destination] = destination
    // The value is replaced as a whole: without `--value` it stays unchanged.
    if !values.isEmpty { options[Options.value] = try values.properties(daemon.operation) }
    if !containerValues.isEmpty { options[Options.containerValues] = try daemon.containerValues(containerValues) }
    options[Options.style] = style
    options[Options.title] = title
    options[Options.output] = output
    placement.write(to: &options)
    options[Options.from] = from
    options[Options.timeout] = timeout
    options[Options.within] = validFor
    if owned { options[Options.owned] = true }
    options[Options.ifBusy] = ifBusy?.rawValue
    options[Options.priority] = priority
    if raise { options[Options.raise] = true }
    // The bus of a sandbox or of another machine does not tell.
    daemon.raises = raise && !daemon.isRemote && !ClientContext.isSandboxed
    if here { options[Options.here] = true }
    state.write(to: &options)
    if !command.isEmpty {
      let bytes = RawArguments.last(command.count)
      let texts = bytes.compactMap { String(validating: $0, as: UTF8.self) }
      options[Options.command.name] = texts.count == bytes.count ? texts.value : bytes.value
    }
    let isMeant = stdin == true
    if isMeant || stdin == nil && isWaiting && !command.isEmpty && StandardInput.isPipe {
      options[Options.input] = try StandardInput.read(daemon, isMeant: isMeant)
    }
    ClientContext.write(to: &options, isRemote: daemon.isRemote)
    try application.write(to: &options, daemon)
    return options
  }
}

extension ItemOptions {
  static var notGiven: Self {
    filled {
      ($0.destination, $0.values, $0.containerValues) = (nil, [], [])
      ($0.style, $0.title, $0.from, $0.timeout, $0.owned) = (nil, nil, nil, nil, false)
      $0.validFor = nil
      ($0.ifBusy, $0.priority, $0.output, $0.command) = (nil, nil, nil, [])
      $0.placement = .notGiven
      ($0.raise, $0.here) = (false, false)
      $0.stdin = nil
      $0.state = .filled { $0.isAllowed = false }
      $0.application = .filled { ($0.id, $0.action) = (nil, nil) }
    }
  }
}

/// Whether a name that no destination and no command shows is intended.
struct StateOption: ParsableArguments, RequestOptions {
  @Flag(name: .customLong("state"), help: "Allow a name without a destination, for programs that draw it themselves.")
  var isAllowed = false

  func write(to options: inout Properties) { if isAllowed { options[Options.state] = true } }
}

/// The id of an item, as an argument or as an option.
struct ItemID: ParsableArguments {
  @Argument(help: ArgumentHelp("Which item to show there, e.g. the number of a note.", valueName: "id"))
  var argument: String?
  @Option(
    name: .customLong("id"), help: ArgumentHelp("The same, for an id that begins with “-”: --id=-1.", valueName: "id"))
  var option: String?

  var text: String? { option ?? argument }

  func validate() throws {
    if let option, let argument { throw ValidationError("expected one id, found two: “\(argument)” and “\(option)”") }
  }

  /// A hint for a name without a destination, if it belongs to an application, or if the id is a program and “--” was forgotten; nil
  /// otherwise.
  func hint(_ item: ItemOptions, at binding: String) -> ((_ operation: String) -> String)? {
    guard item.command.isEmpty else { return nil }
    if let hint = ApplicationOptions.hint(item.destination ?? binding) { return hint }
    guard let argument, item.destination == nil, ProgramPath.has(argument) else { return nil }
    return { "to show the program \(quoted(argument)): navctl \($0) -- \(argument)" }
  }
}

/// Options of the verbs that can wait until the opened item is closed.
struct WaitOptions: ParsableArguments {
  @Flag(help: "Wait until it is closed, and print its result.")
  var wait = false

  @Flag(help: "With --wait: exit with the program's status; failures of navctl itself have status 125.")
  var propagate = false

  func validate() throws {
    if propagate, !wait { throw ValidationError("--propagate needs --wait") }
  }
}

/// Options of a command line that become options of a request.
protocol RequestOptions {
  func write(to options: inout Properties)
}

extension RequestOptions {
  var properties: Properties {
    var options: Properties = [:]
    write(to: &options)
    return options
  }
}

/// Options of every verb that changes the state.
struct ChangeOptions: ParsableArguments, RequestOptions {
  @Flag(name: .customLong("no-animation"), help: "Ask presenters not to animate the change.")
  var noAnimation = false

  @Flag(help: "Close what has to close even if it asks whether to save, for example.")
  var force = false

  func write(to options: inout Properties) {
    if noAnimation { options[Options.animated] = false }
    if force { options[Options.force] = true }
  }
}

/// Options of the verbs that change the item open under one name.
struct SlotOptions: ParsableArguments, RequestOptions {
  @OptionGroup var change: ChangeOptions

  @Option(help: ArgumentHelp("Refuse unless the item with this id is open there.", valueName: "id"))
  var expectedID: String?

  @Option(
    help: ArgumentHelp("Refuse unless what is open there has this number.", valueName: "presentation"),
    transform: ObjectPath.init(argument:))
  var expectedPresentation: ObjectPath?

  func write(to options: inout Properties) {
    change.write(to: &options)
    options[Options.expectedID] = expectedID
    options[Options.expectedPresentation] = expectedPresentation
  }
}

/// The group that an item is put into.
struct MembershipOptions: ParsableArguments, RequestOptions {
  @Option(help: "Group that it is a member of; one member of a group is open at a time.", completion: .groups)
  var group: String?

  @Option(help: "Name for selecting it in its group.", completion: .tags)
  var tag: String?

  func write(to options: inout Properties) {
    options[Options.group] = group
    options[Options.tag] = tag
  }
}

/// The group and the stack that an item is put into.
struct ContainerOptions: ParsableArguments, RequestOptions {
  @OptionGroup var membership: MembershipOptions

  @Option(help: "Stack on top of which it opens.", completion: .stacks)
  var stack: String?

  func write(to options: inout Properties) {
    membership.write(to: &options)
    options[Options.stack] = stack
  }
}

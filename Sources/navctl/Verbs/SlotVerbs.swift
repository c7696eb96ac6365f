import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct Present: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "present", "Open a panel, dialog or window, or replace what is open under its name.",
    """
    The same ID again changes what is open without closing it. Another ID closes what is open first. Without ID, a \
    program after “--” has its command line as its id.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .presentable) var binding: String
  @OptionGroup var id: ItemID
  @OptionGroup var options: PresentOptions

  func run() throws {
    let daemon = try DaemonClient(global, "\(Verbs.called) \(binding)")
    (daemon.destination, daemon.word) = (options.item.destination ?? binding, id.argument)
    let (presentation, _, changed, serial) = try daemon.call(
      CoordinatorInterface.present,
      (binding, id.text ?? options.item.idOfProgram ?? "", try options.properties(daemon)),
      hint: id.hint(options.item, at: binding))
    if options.isWaiting {
      try options.wait(daemon, global, presentation)
    } else {
      try global.reportPresented(daemon, presentation, changed: changed, serial: serial)
    }
  }
}

/// `present` by the name that people try first.
struct Open: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "open", Present.configuration.abstract, "The same as “present”. \(Present.configuration.discussion)")

  @OptionGroup var present: Present

  func run() throws { try present.run() }
}

struct Toggle: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "toggle", "Open a panel, dialog or window, or close it if it is open.",
    """
    Without ID: closes what is open, otherwise opens it. With ID: closes the item with that id, and replaces any \
    other one.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .presentable) var binding: String
  @OptionGroup var id: ItemID
  @OptionGroup var options: PresentOptions

  func run() throws {
    let daemon = try DaemonClient(global, "toggle \(binding)")
    (daemon.destination, daemon.word) = (options.item.destination ?? binding, id.argument)
    var properties = try options.properties(daemon)
    if id.text == nil { properties[Options.anyID] = true }
    let (presented, presentation, _, serial) = try daemon.call(
      CoordinatorInterface.toggle, (binding, id.text ?? options.item.idOfProgram ?? "", properties),
      hint: id.hint(options.item, at: binding))
    if presented, options.isWaiting {
      try options.wait(daemon, global, presentation)
    } else {
      global.report(
        changed: true, presentation: presentation, serial: serial, ["presented": presented.value],
        verbose: "dismissed\n")
      if presented { try daemon.requireStart(of: [presentation], after: serial) }
    }
  }
}

/// Options of `present` and `toggle`.
struct PresentOptions: ParsableArguments {
  @OptionGroup var item: ItemOptions
  @OptionGroup var containers: ContainerOptions
  @OptionGroup var slot: SlotOptions
  @OptionGroup var waiting: WaitOptions

  func properties(_ daemon: DaemonClient) throws -> Properties {
    var options = try item.options(daemon, isWaiting: waiting.wait)
    containers.write(to: &options)
    slot.write(to: &options)
    return options
  }

  /// Whether navctl runs until the item is closed.
  var isWaiting: Bool { waiting.wait || item.owned }

  func wait(_ daemon: DaemonClient, _ global: GlobalOptions, _ presentation: ObjectPath) throws {
    try daemon.wait(for: presentation).report(daemon, global, asking: waiting.wait, propagating: waiting.propagate)
  }
}

extension GlobalOptions {
  /// Reports an item that was presented. With `--owned` it waits until the item is closed, otherwise only until it is known whether
  /// the program could be started.
  func reportPresented(
    _ daemon: DaemonClient, _ presentation: ObjectPath, changed: Bool, serial: UInt64, isOwned: Bool = false
  ) throws {
    if isOwned {
      try daemon.wait(for: presentation).report(daemon, self)
    } else {
      report(changed: changed, presentation: presentation, serial: serial)
      if changed { try daemon.requireStart(of: [presentation], after: serial) }
    }
  }
}

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
    help: ArgumentHelp("Close it after this long from now, e.g. 3s; 0: never.", valueName: "duration"),
    transform: { try $0.duration() })
  var timeout: UInt64?
  @OptionGroup var slot: SlotOptions

  func validate() throws {
    guard !values.isEmpty || !remove.isEmpty || !containerValues.isEmpty || timeout != nil else {
      throw ValidationError("nothing to update; give KEY=VALUE, --remove KEY, --container-value or --timeout")
    }
    if slot.change.force { throw ValidationError("--force is not supported; an update closes nothing") }
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

struct Dismiss: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "dismiss", "Close what is shown under these names.", "If nothing is open there, succeeds all the same.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: ArgumentHelp("Names of panels or dialogs, e.g. mixer.", valueName: "binding"), completion: .bindings)
  var bindings: [String] = []
  @Option(help: "Close every member of this group, and empty its queue.", completion: .groups) var group: String?
  @Option(help: "Close everything in this stack.", completion: .stacks) var stack: String?
  @Option(help: "Close every name with this first part, e.g. counter for counter.fact.", completion: .roots)
  var root: String?
  @Flag(help: "Close everything.") var all = false
  @Flag(help: "End the programs whose windows are hidden; with --force, without asking them.") var parked = false
  @Flag(help: "Wait until it is gone; exit status 6 if its program keeps it, for example because of unsaved text.")
  var wait = false
  @OptionGroup var slot: SlotOptions

  private var scopes: Int { [group, stack, root].count { $0 != nil } + [all, parked].count { $0 } }

  func validate() throws {
    guard scopes + (bindings.isEmpty ? 0 : 1) == 1 else {
      throw ValidationError("give either names, or exactly one of --group, --stack, --root, --all and --parked")
    }
    if wait, parked { throw ValidationError("--wait is not supported with --parked") }
    if bindings.count != 1, slot.expectedID != nil || slot.expectedPresentation != nil {
      throw ValidationError("--expected-id and --expected-presentation need exactly one name")
    }
  }

  func run() throws {
    if bindings.isEmpty { try dismissAll() } else { try dismissEach() }
  }

  private func dismissEach() throws {
    let daemon = try DaemonClient(global, "\(Verbs.called) \(bindings.joined(separator: " "))")
    let open = try shown(daemon)
    var anyChanged = false
    var last: UInt64 = 0
    for binding in bindings {
      let (changed, serial) = try daemon.call(CoordinatorInterface.dismiss, (binding, slot.properties))
      anyChanged = anyChanged || changed
      if !changed { daemon.warnIfUnknown(binding: binding) }
      last = serial
    }
    try settle(open, daemon)
    global.report(changed: anyChanged, serial: last)
  }

  /// The open items that the request names, for which `--wait` waits; none without it.
  private func shown(_ daemon: DaemonClient) throws(Failure) -> [StateEntry] {
    guard wait else { return [] }
    return try daemon.state().entries.filter { entry in
      all || entry.binding.map(bindings.contains) == true || (group != nil && entry.group == group)
        || (stack != nil && entry.stack == stack)
        || (root != nil && entry.binding.flatMap { try? BindingID($0) }?.root == root)
    }
  }

  /// Waits until what was open is gone.
  /// - Throws: `Failure` if a presenter keeps something.
  private func settle(_ open: [StateEntry], _ daemon: DaemonClient) throws(Failure) {
    for entry in open {
      guard let number = entry.presentation else { continue }
      let outcome = try daemon.wait(for: CoordinatorNames.presentation(number), .settled)
      guard outcome.reason.isEmpty else { continue }
      let declined = outcome.result.declined ?? ""
      let why = declined.isEmpty ? "" : ": \(ErrorOutput.part(declined))"
      throw Failure(
        daemon.operation, "“\(entry.binding ?? "")” stays\(why)",
        hint: "“navctl close --force” closes it without asking", status: .refused)
    }
  }

  private func dismissAll() throws {
    let daemon = try DaemonClient(global, Verbs.called)
    var options = slot.change.properties
    options[Options.group] = group
    options[Options.stack] = stack
    options[Options.root] = root
    if all { options[Options.all] = true }
    if parked { options[Options.parked] = true }
    let open = try shown(daemon)
    let (count, serial) = try daemon.call(CoordinatorInterface.dismissAll, options)
    if count == 0 {
      daemon.warnIfUnknown(group: group, stack: stack)
      if let root { daemon.warnIfUnknown(root: root) }
    }
    try settle(open, daemon)
    global.report(changed: count > 0, serial: serial, ["count": count.value], verbose: "\(count)\n")
  }
}

/// `dismiss` by the name that people try first.
struct Close: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "close", Dismiss.configuration.abstract, "The same as “dismiss”. \(Dismiss.configuration.discussion)")

  @OptionGroup var dismiss: Dismiss

  func run() throws { try dismiss.run() }
}

import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TextFormats

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "list", "List what is open.",
    """
    On a terminal: a table in which each item is below the one that it was opened from, then groups and stacks. In a pipe: \
    a line for each item, oldest request first, with tabs between number, binding, id, phase, destination, group, tag, \
    stack and title. With --json: the whole state. With --format: a line of that format for each item. With --failed: \
    what failed, and is not open again, with the reason; an entry of the history for each name.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "List only members of this group.", completion: .groups) var group: String?
  @Option(help: "List only members of this stack.", completion: .stacks) var stack: String?
  @Option(
    help: "Print each as a line of this format: {binding}, {title:markup}, {since:elapsed}, {value.KEY}, …",
    transform: OutputTemplate.init)
  var format: OutputTemplate?

  @Flag(help: "List what failed, and why.") var failed = false

  func validate() throws { try global.check(format, failed ? .history : .presentation) }

  func run() throws {
    let daemon = try DaemonClient(global, "list")
    if failed { return try listFailed(daemon) }
    let state = StateFilter(group: group, stack: stack).apply(try daemon.state())
    if state.entries.isEmpty {
      if let group { try daemon.requireName("group", group) }
      if let stack { try daemon.requireName("stack", stack) }
    }
    global.write(json: state.json, styled: text(state))
    if state.entries.isEmpty {
      daemon.warnIfUnknown(group: group, stack: stack)
      if group == nil, stack == nil { daemon.noteLastFailure() }
    }
    if StandardOutput.isTerminal, !global.json, !global.quiet, let mistakes = try daemon.diagnosis().mistakes,
      !mistakes.isEmpty
    {
      ErrorOutput.write("navctl: list: the configuration files have mistakes; “navctl doctor” shows them")
    }
  }

  /// Lists the last ending of each name that is not open, if it failed.
  private func listFailed(_ daemon: DaemonClient) throws {
    let entries = try daemon.lastFailures(except: daemon.state(), group: group, stack: stack)
    if entries.isEmpty, let group { try daemon.requireName("group", group) }
    if entries.isEmpty, let stack { try daemon.requireName("stack", stack) }
    let (style, now) = (global.tableStyle, Timestamp.now)
    let text =
      if let format {
        entries.map { format.line($0.json, at: now) + "\n" }.joined()
      } else if entries.isEmpty {
        style.legend("Nothing has failed.")
      } else {
        StateTables.failures(entries).text(style)
      }
    global.write(json: .array(entries.map(\.json)), styled: text)
  }

  private func text(_ state: StateSnapshot) -> String {
    let now = Timestamp.now
    if let format { return state.entries.map { format.line($0.json, at: now) + "\n" }.joined() }
    let style = global.tableStyle
    return style == .plain ? StateTables.list(state).text(style) : StateTables.overview(state, style, at: now)
  }
}

struct IsPresented: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "is-presented", "Exit with status 0 if something is open under a name, otherwise with 3.",
    "With ID: only if the item with that id is open. An item that is closing does not count.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .bindings) var binding: String
  @OptionGroup var id: ItemID

  func run() throws {
    let daemon = try DaemonClient(global, "is-presented \(binding)")
    let answer = try answer(of: daemon)
    var isPresented = false
    if let answer, answer.presentation != .root {
      let held = StateEntry(answer.item).id ?? ""
      isPresented = id.text.map { $0.utf8.elementsEqual(held.utf8) } ?? true
    }
    var members: Properties = ["presented": isPresented.value]
    members[StateSnapshot.keys.serial] = answer?.serial ?? 0
    if isPresented {
      members[StateEntry.keys.presentation] = answer.flatMap { CoordinatorNames.number(of: $0.presentation) }
    }
    global.write(json: JSON(members), plain: isPresented ? "yes\n" : "no\n")
    if !isPresented { throw ExitCode(CommandStatus.notPresented.rawValue) }
  }
}

extension IsPresented {
  /// The answer of navd; nil if navd does not run, since nothing is open then.
  private func answer(
    of daemon: DaemonClient
  ) throws(Failure) -> (presentation: ObjectPath, item: Properties, serial: UInt64)? {
    do throws(DBusError) {
      let (presentation, item, serial) = try daemon.request(CoordinatorInterface.get, binding, starts: false)
      return (presentation, item, serial)
    } catch {
      if [.serviceUnknown, .nameHasNoOwner].contains(error.name) { return nil }
      throw Failure(daemon.operation, error)
    }
  }
}

struct Members: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "members",
    "List the members of a group or stack, or what was opened from a name, with their container values.",
    "A stack is listed from bottom to top, everything else in the order in which it was requested.")

  @OptionGroup var global: GlobalOptions
  @Option(help: "List members of this group.", completion: .groups) var group: String?
  @Option(help: "List members of this stack.", completion: .stacks) var stack: String?
  @Option(help: ArgumentHelp("List what was opened from this name.", valueName: "binding"), completion: .bindings)
  var from: String?
  @Flag(help: "List everything.") var all = false

  func validate() throws {
    guard [group, stack, from].count(where: { $0 != nil }) + (all ? 1 : 0) == 1 else {
      throw ValidationError("give exactly one of --group, --stack, --from and --all")
    }
  }

  func run() throws {
    let kind = group != nil ? "group" : stack != nil ? "stack" : from != nil ? "parent" : "all"
    let name = group ?? stack ?? from ?? ""
    let option = from == nil ? kind : "from"
    let daemon = try DaemonClient(global, all ? "members --all" : "members --\(option) \(name)")
    var table = Table("NUMBER", "BINDING", "ID", "VALUES")
    var list: [JSON] = []
    for (binding, id, presentation, _, values) in try daemon.ask(CoordinatorInterface.members, (kind, name)).map(
      \.fields)
    {
      var entry = StateEntry([:])
      (entry.binding, entry.id, entry.containerValues) = (binding, id, values)
      entry.presentation = CoordinatorNames.number(of: presentation)
      list.append(entry.json)
      table.add(entry.cell(\.presentation), entry.cell(\.binding), entry.cell(\.id), entry.cell(\.containerValues))
    }
    global.write(json: .array(list), table, whenEmpty: "Nothing is open there.")
    guard list.isEmpty else { return }
    daemon.warnIfUnknown(group: group, stack: stack)
    if let from { daemon.warnIfUnknown(binding: from) }
  }
}

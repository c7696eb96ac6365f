import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

extension Verbs {
  static let querying: [Verb] = [("is-presented", { IsPresented.self }), ("members", { Members.self })]
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
    let (presentation, item, serial) = try daemon.ask(CoordinatorInterface.get, binding)
    let held = item[Options.id] ?? ""
    let isPresented = presentation != .root && (id.text.map { $0.utf8.elementsEqual(held.utf8) } ?? true)
    var members: [String: JSON] = ["presented": .boolean(isPresented), "serial": JSON(serial)]
    if isPresented { members["presentation"] = CoordinatorNames.number(of: presentation).map { JSON($0) } }
    global.write(json: .object(members), plain: isPresented ? "yes\n" : "no\n")
    if !isPresented { throw ExitCode(CommandStatus.notPresented.rawValue) }
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
    let daemon = try DaemonClient(global, "members \(kind) \(name)")
    var table = Table("NUMBER", "BINDING", "ID", "VALUES")
    var list: [JSON] = []
    for (binding, id, presentation, values) in try daemon.ask(CoordinatorInterface.members, (kind, name)).map(\.fields)
    {
      var member = PresentationEntry()
      member[.binding] = .string(binding)
      member[.id] = .string(id)
      member[.presentation] = CoordinatorNames.number(of: presentation).map { JSON($0) }
      member[.containerValues] = JSON(values)
      list.append(member.json)
      table.add([.presentation, .binding, .id, .containerValues].map { Table.Cell(member.text($0)) })
    }
    global.write(json: .array(list), table)
  }
}

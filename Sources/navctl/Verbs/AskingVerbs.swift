// Why this file exists: the verbs that ask one question and change nothing.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct IsPresented: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "is-presented", "Exit with status 0 if a slot holds an item, else with 3.",
    "With an id, only if the item has that id. What is being dismissed does not count any more.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which slot.", completion: .bindings) var binding: String
  @OptionGroup var id: ItemID

  func run() throws {
    let daemon = try Daemon(global, "is-presented \(binding)")
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
    verb: "members", "Write the members of a container, with their container values.",
    "A stack in the order of its path, the others in the order of acceptance.")

  @OptionGroup var global: GlobalOptions
  @Option(help: "Of this group.", completion: .groups) var group: String?
  @Option(help: "Of this stack.", completion: .stacks) var stack: String?
  @Option(help: ArgumentHelp("What is presented from this binding.", valueName: "binding"), completion: .bindings)
  var from: String?
  @Flag(help: "Everything.") var all = false

  func validate() throws {
    guard [group, stack, from].count(where: { $0 != nil }) + (all ? 1 : 0) == 1 else {
      throw ValidationError("give exactly one of --group, --stack, --from and --all")
    }
  }

  func run() throws {
    let kind = group != nil ? "group" : stack != nil ? "stack" : from != nil ? "parent" : "all"
    let name = group ?? stack ?? from ?? ""
    let daemon = try Daemon(global, "members \(kind) \(name)")
    let members = try daemon.ask(CoordinatorInterface.members, (kind, name)).map(\.fields)
    var table = Table("NUMBER", "BINDING", "ID", "VALUES")
    var list: [JSON] = []
    for (binding, id, presentation, values) in members {
      let number = CoordinatorNames.number(of: presentation).map { JSON($0) }
      var member: [String: JSON] = ["binding": .string(binding), "id": .string(id), "container-values": JSON(values)]
      member["presentation"] = number
      list.append(.object(member))
      table.add(Table.Cell(number?.text ?? ""), Table.Cell(binding), Table.Cell(id), Table.Cell(JSON(values).text))
    }
    global.write(json: .array(list), table)
  }
}

extension Failure {
  /// Exit status 3, with a line that says why.
  init(notPresented what: String) {
    self.init(what, "nothing is presented there", next: "“navctl list” shows what is", status: .notPresented)
  }
}

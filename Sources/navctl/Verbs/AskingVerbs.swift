// Why this file exists: the verbs that ask once and change nothing.
import ArgumentParser
import CoordinatorAPI
import DBusValues
import Glibc

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "list", "Write what is presented, in the order of acceptance.",
    """
    For people a table; for programs the same columns without titles, separated by tabs: presentation, binding, id, \
    phase, destination, group, tag, stack, title. With --json the whole state.
    """)

  @OptionGroup var global: GlobalOptions
  @Option(help: "Only of this group.", completion: .groups) var group: String?
  @Option(help: "Only of this stack.", completion: .stacks) var stack: String?

  func run() throws {
    let daemon = try Daemon(global, "list")
    let state = StateFilter(group: group, stack: stack).apply(try daemon.state())
    if state.presentations.isEmpty {
      if let group { try daemon.requireName("group", group) }
      if let stack { try daemon.requireName("stack", stack) }
    }
    global.write(json: state.json, plain: Self.table(state).text(StandardOutput.style))
  }

  static func table(_ state: StateView) -> Table {
    var table = Table("NUMBER", "BINDING", "ID", "PHASE", "DESTINATION", "GROUP", "TAG", "STACK", "TITLE")
    for presentation in state.presentations {
      func cell(_ name: String) -> Table.Cell { Table.Cell(presentation[name]?.string ?? "") }
      let phase = presentation["phase"]?.string ?? ""
      table.add(
        Table.Cell(presentation["presentation"]?.text ?? ""), cell("binding"), cell("id"),
        Table.Cell(phase, Colour(phase: phase)), cell("destination"), cell("group"), cell("tag"), cell("stack"),
        cell("title"))
    }
    return table
  }
}

struct Show: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "show", "Write all about what a slot should show; exit status 3 where that is nothing.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which slot.", completion: .bindings) var binding: String

  func run() throws {
    let daemon = try Daemon(global, "show \(binding)")
    let (presentation, item, serial) = try daemon.ask(CoordinatorInterface.get, binding)
    guard presentation != .root else { throw Failure(notPresented: "show \(binding)") }
    guard case .object(var members) = JSON(item) else { return }
    members["binding"] = .string(binding)
    members["presentation"] = CoordinatorNames.number(of: presentation).map { JSON($0) }
    members["serial"] = JSON(serial)
    global.write(json: .object(members), plain: Self.table(members).text(StandardOutput.style))
  }

  /// What identifies it first, then the rest by name.
  static func table(_ members: [String: JSON]) -> Table {
    let first = ["binding", "id", "presentation", "phase"]
    let names =
      first.filter { members[$0] != nil } + members.keys.filter { !first.contains($0) && $0 != "serial" }.sorted()
    var table = Table("NAME", "VALUE")
    for name in names {
      guard let value = members[name] else { continue }
      let text = value.string ?? value.text
      table.add(Table.Cell(name), Table.Cell(text, name == "phase" ? Colour(phase: text) : nil))
    }
    return table
  }
}

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
    global.write(json: .array(list), plain: table.text(StandardOutput.style))
  }
}

struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "history", "Write the presentations that have ended, the latest first.")

  @OptionGroup var global: GlobalOptions
  @Option(
    name: .customShort("n"), help: ArgumentHelp("At most so many; 0 for all that are remembered.", valueName: "n"))
  var most: UInt32 = 20

  func run() throws {
    let daemon = try Daemon(global, "history")
    var endings = try daemon.ask(CoordinatorInterface.history, (most, [:])).map { JSON($0) }
    try addErrors(to: &endings, daemon)
    var table = Table("NUMBER", "BINDING", "ID", "REASON", "SERIAL", "BY", "SHOWN", "ENDED", "ERROR")
    for ending in endings {
      func cell(_ name: String) -> Table.Cell { Table.Cell(ending[name]?.string ?? ending[name]?.text ?? "") }
      let reason = ending["reason"]?.string ?? ""
      table.add(
        cell("presentation"), cell("binding"), cell("id"), Table.Cell(reason, reason == "failed" ? .bad : nil),
        cell("serial"), Table.Cell(Self.by(ending)),
        Table.Cell(ending["shown-for"]?.unsigned.map { DurationText.text($0) } ?? ""),
        Table.Cell(ending["time"]?.unsigned.map { Self.local($0) } ?? ""), cell("error"))
    }
    global.write(json: .array(endings), plain: table.text(StandardOutput.style))
  }

  /// Who ended it: a program and its number, or that it was none but itself.
  private static func by(_ ending: JSON) -> String {
    guard let requester = ending["by"] else {
      return ["closed", "failed"].contains(ending["reason"]?.string) ? "itself" : ""
    }
    guard let pid = requester["pid"]?.unsigned else { return requester["client"]?.string ?? "" }
    return "\(requester["program"]?.string ?? requester["client"]?.string ?? "")[\(pid)]"
  }

  /// A point in time, as the clock on the wall says it.
  private static func local(_ milliseconds: UInt64) -> String {
    var time = time_t(clamping: milliseconds / 1000)
    var parts = tm()
    guard localtime_r(&time, &parts) != nil else { return "" }
    var text = [CChar](repeating: 0, count: 64)
    strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
    return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  /// Why something failed is a part of its result, which is for those who wait for it and not in the history (D6).
  private func addErrors(to endings: inout [JSON], _ daemon: Daemon) throws(Failure) {
    func presentation(_ ending: JSON) -> ObjectPath? {
      guard ending["reason"] == "failed" else { return nil }
      return ending["presentation"]?.unsigned.map { CoordinatorNames.presentation($0) }
    }
    let known = try daemon.endings(of: endings.compactMap(presentation))
    for (index, ending) in endings.enumerated() {
      guard case .object(var members) = ending, let error = presentation(ending).flatMap({ known[$0]?.error }) else {
        continue
      }
      members["error"] = .string(error)
      endings[index] = .object(members)
    }
  }
}

extension Failure {
  /// Exit status 3, with a line that says why.
  init(notPresented what: String) {
    self.init(what, "nothing is presented there", next: "“navctl list” shows what is", status: .notPresented)
  }
}

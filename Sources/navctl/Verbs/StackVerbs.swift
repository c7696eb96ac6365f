import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct Push: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "push", "Open a panel, dialog or window on top of a stack.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .stack, completion: .stacks) var stack: String
  @Argument(help: .binding, completion: .presentable) var binding: String
  @OptionGroup var id: ItemID
  @OptionGroup var item: ItemOptions
  @OptionGroup var membership: MembershipOptions
  @OptionGroup var slot: SlotOptions

  func run() throws {
    let daemon = try DaemonClient(global, "push \(stack) \(binding)")
    var options = try item.options(daemon)
    membership.write(to: &options)
    slot.write(to: &options)
    let (presentation, _, changed, serial) = try daemon.call(
      CoordinatorInterface.push, (stack, binding, id.text ?? item.idOfProgram ?? "", options),
      hint: id.hint(item, at: binding))
    try global.reportPresented(daemon, presentation, changed: changed, serial: serial, isOwned: item.owned)
  }
}

struct Pop: ParsableCommand {
  static let configuration = CommandConfiguration(verb: "pop", "Close what is on top of a stack.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .stack, completion: .stacks) var stack: String
  @Argument(help: "How many to close, from the top.", transform: { try $0.number() }) var count: UInt32 = 1
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try DaemonClient(global, "pop \(stack)")
    let reply = try daemon.call(CoordinatorInterface.pop, (stack, count, change.properties))
    global.report(popped: reply, of: stack, daemon)
  }
}

struct PopTo: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "pop-to", "Close everything above one item of a stack.", "Without BINDING: closes the whole stack.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .stack, completion: .stacks) var stack: String
  @Argument(help: "Name of the item that is then on top.", completion: .bindings) var binding: String = ""
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try DaemonClient(global, "pop-to \(stack)" + (binding.isEmpty ? "" : " \(binding)"))
    let reply = try daemon.call(CoordinatorInterface.popTo, (stack, binding, change.properties))
    global.report(popped: reply, of: stack, daemon)
  }
}

extension GlobalOptions {
  fileprivate func report(popped reply: (count: UInt32, serial: UInt64), of stack: String, _ daemon: DaemonClient) {
    if reply.count == 0 { daemon.warnIfUnknown(stack: stack) }
    report(
      changed: reply.count > 0, serial: reply.serial, ["popped": reply.count.value], verbose: "\(reply.count)\n")
  }
}

struct SetPath: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "set-path", "Replace the contents of a stack.",
    "What the old and the new contents have in common at the bottom stays open.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .stack, completion: .stacks) var stack: String
  @Argument(
    help: ArgumentHelp("Contents from bottom to top; none closes the whole stack.", valueName: "binding[=id]"))
  var elements: [String] = []
  @OptionGroup var state: StateOption
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try DaemonClient(global, "set-path \(stack)")
    var options = change.properties
    state.write(to: &options)
    let (presentations, _, serial) = try daemon.call(
      CoordinatorInterface.setPath, (stack, elements.map(Self.element), options))
    if global.json || global.verbose {
      let numbers = presentations.compactMap { CoordinatorNames.number(of: $0) }
      global.write(
        json: JSON([
          StateSnapshot.keys.presentations.name: numbers.value, StateSnapshot.keys.serial.name: serial.value,
        ]),
        plain: numbers.map { "\($0)\n" }.joined())
    }
    try daemon.requireStart(of: presentations, isNamed: true, after: serial)
  }

  /// Parses `BINDING=ID`; a binding contains no `=`.
  static func element(_ word: String) -> Structure<String, String, Properties> {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return Structure(parts[0], parts.count > 1 ? parts[1] : "", [:])
  }
}

struct Path: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "path", "Print the contents of a stack, from bottom to top.", "An empty stack does not exist: exit status 4.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .stack, completion: .stacks) var stack: String

  func run() throws {
    let daemon = try DaemonClient(global, "path \(stack)")
    // The members of a stack are returned in the order of its path.
    let path = try daemon.ask(CoordinatorInterface.members, ("stack", stack)).map {
      PathElement(binding: $0.fields.0, id: $0.fields.1)
    }
    if path.isEmpty {
      throw Failure("path \(stack)", "there is no stack “\(stack)”", hint: Failure.listed, status: .unknownName)
    }
    var table = Table("BINDING", "ID")
    for element in path { table.add(.init(element.binding), .init(element.id)) }
    global.write(json: .array(path.map { JSON($0.properties) }), table)
  }
}

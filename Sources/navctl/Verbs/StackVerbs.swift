// Why this file exists: the verbs about stacks.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import TextFormats

struct Push: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "push", "Put an item on the top of a stack.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which stack.", completion: .stacks) var stack: String
  @Argument(help: "Which slot.", completion: .presentable) var binding: String
  @OptionGroup var id: ItemID
  @OptionGroup var item: ItemOptions
  @OptionGroup var slot: SlotOptions

  func run() throws {
    let daemon = try Daemon(global, "push \(stack) \(binding)")
    var options = try item.options(daemon)
    slot.write(to: &options)
    let (presentation, changed, serial) = try daemon.call(
      CoordinatorInterface.push, (stack, binding, id.text ?? "", options))
    if item.owned {
      try Ending(daemon, presentation).report(daemon, global)
    } else {
      global.report(changed: changed, presentation: presentation, serial: serial)
      if changed { try daemon.requireStart(of: presentation) }
    }
  }
}

struct Pop: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "pop", "Take items from the top of a stack.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which stack.", completion: .stacks) var stack: String
  @Argument(help: "How many.") var count: UInt32 = 1
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try Daemon(global, "pop \(stack)")
    var options: Properties = [:]
    change.write(to: &options)
    let (popped, serial) = try daemon.call(CoordinatorInterface.pop, (stack, count, options))
    global.report(changed: popped > 0, serial: serial, ["popped": JSON(popped)], verbose: "\(popped)\n")
  }
}

struct PopTo: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "pop-to", "Take items from the top of a stack until a binding is the top.",
    "Without a binding all of the stack goes.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which stack.", completion: .stacks) var stack: String
  @Argument(help: "What is to be the top.", completion: .bindings) var binding: String = ""
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try Daemon(global, "pop-to \(stack) \(binding)")
    var options: Properties = [:]
    change.write(to: &options)
    let (popped, serial) = try daemon.call(CoordinatorInterface.popTo, (stack, binding, options))
    global.report(changed: popped > 0, serial: serial, ["popped": JSON(popped)], verbose: "\(popped)\n")
  }
}

struct SetPath: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "set-path", "Make the path of a stack this one.",
    "What the old and the new path have in common at their beginning stays on screen.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which stack.", completion: .stacks) var stack: String
  @Argument(help: ArgumentHelp("From the bottom to the top; none empties it.", valueName: "binding[=id]"))
  var elements: [String] = []
  @OptionGroup var change: ChangeOptions

  func run() throws {
    let daemon = try Daemon(global, "set-path \(stack)")
    var options: Properties = [:]
    change.write(to: &options)
    let (presentations, serial) = try daemon.call(
      CoordinatorInterface.setPath, (stack, elements.map(Self.element), options))
    let numbers = presentations.compactMap { CoordinatorNames.number(of: $0) }
    guard global.json || global.verbose else { return }
    global.write(
      json: ["presentations": .array(numbers.map { JSON($0) }), "serial": JSON(serial)],
      plain: numbers.map { "\($0)\n" }.joined())
  }

  /// `BINDING=ID`; a binding has no `=` in it.
  static func element(_ word: String) -> Structure<String, String, Properties> {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return Structure(parts[0], parts.count > 1 ? parts[1] : "", [:])
  }
}

struct Path: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "path", "Write the path of a stack, from the bottom to the top.",
    "A stack that is empty is not there: nothing is written.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Which stack.", completion: .stacks) var stack: String

  func run() throws {
    let daemon = try Daemon(global, "path \(stack)")
    // A stack's members stand in the order of its path.
    let path = try daemon.ask(CoordinatorInterface.members, ("stack", stack)).map(\.fields)
    var table = Table("BINDING", "ID")
    for (binding, id, _, _) in path { table.add(.init(binding), .init(id)) }
    global.write(
      json: .array(path.map { ["binding": .string($0.0), "id": .string($0.1)] }), table)
  }
}

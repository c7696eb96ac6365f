// Why this file exists: `value`, the verbs about container values.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct ContainerValue: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "value", "Declare, read and set container values.",
    verbs: [Declare.self, Get.self, Set.self])

  func run() throws {
    throw Failure("value", "declare, get or set?\nUsage: \(Navctl.usageString(for: Self.self))", status: .usage)
  }

  struct Declare: ParsableCommand {
    static let configuration = CommandConfiguration(
      verb: "declare", "Declare a key that items may set.",
      "The default is text for the signatures s, o, g and ay, JSON for every other one.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "What it is called.") var key: String
    @Argument(help: "Its D-Bus type, such as s, b, x or as.") var signature: String
    @Argument(help: "What it is where an item sets none.") var `default`: String

    func validate() throws { _ = try value() }

    func run() throws {
      let daemon = try Daemon(global, "value declare \(key)")
      try daemon.call(CoordinatorInterface.declareContainerValue, (key, try value()))
      global.write(json: [:], plain: "")
    }

    private func value() throws -> Value {
      guard let types = Signature(signature)?.types, types.count == 1 else {
        throw ValidationError("“\(signature)” is not the signature of one D-Bus type; s, b, x, d or as would be")
      }
      do { return try Value(argument: self.default, as: types[0]) } catch {
        throw ValidationError("the default: \(error)")
      }
    }
  }

  struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
      verb: "get", "Write the value of a key for a slot's item: what it sets, else the default.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "Which slot.", completion: .bindings) var binding: String
    @Argument(help: "Which key.") var key: String

    func run() throws {
      let daemon = try Daemon(global, "value get \(binding) \(key)")
      let value = JSON(try daemon.ask(CoordinatorInterface.containerValue, (binding, key)))
      global.write(json: value, plain: (value.string ?? value.text).printable + "\n")
    }
  }

  struct Set: ParsableCommand {
    static let configuration = CommandConfiguration(
      verb: "set", "Set the value of a key for a slot's item.",
      "It is read as text or as JSON by the type that the key was declared with.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "Which slot.", completion: .bindings) var binding: String
    @Argument(help: "Which key.") var key: String
    @Argument(help: "What it is to be.") var value: String
    @OptionGroup var slot: SlotOptions

    func run() throws {
      let daemon = try Daemon(global, "value set \(binding) \(key)")
      var options: Properties = [:]
      slot.write(to: &options)
      options[Options.containerValues] = try daemon.containerValues([Assignment(key, text: value)])
      let (changed, serial) = try daemon.call(CoordinatorInterface.update, (binding, [:], options))
      global.report(changed: changed, serial: serial)
    }
  }
}

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

struct ContainerValue: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "value", "Declare, print and set container values.",
    verbs: [Declare.self, Get.self, Set.self])

  func run() throws {
    throw Failure(
      "value", "expected declare, get or set after “value”\nUsage: \(Navctl.usageString(for: Self.self))",
      status: .usage)
  }

  struct Declare: ParsableCommand {
    static let configuration = CommandConfiguration(
      verb: "declare", "Declare a key for which items can set a value.",
      "DEFAULT is text for the signatures s, o, g and ay, and JSON for all others.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "Name of the key.") var key: String
    @Argument(help: "D-Bus type of its values, such as s, b, x or as.") var signature: String
    @Argument(help: "Value for items that set none.") var `default`: String

    func validate() throws { _ = try value() }

    func run() throws {
      let daemon = try DaemonClient(global, "value declare \(key)")
      try daemon.call(CoordinatorInterface.declareContainerValue, (key, try value()))
      global.write(json: [:], plain: "")
    }

    private func value() throws -> Value {
      guard let types = Signature(signature)?.types, types.count == 1 else {
        throw ValidationError("expected one D-Bus type, such as s, b, x, d or as, found “\(signature)”")
      }
      do { return try Value(argument: self.default, as: types[0]) } catch {
        throw ValidationError("the default: \(error)")
      }
    }
  }

  struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
      verb: "get", "Print the value that is set under a name, otherwise the key's default.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: .binding, completion: .bindings) var binding: String
    @Argument(help: "Name of the key.") var key: String

    func run() throws {
      let daemon = try DaemonClient(global, "value get \(binding) \(key)")
      let value = JSON(try daemon.ask(CoordinatorInterface.containerValue, (binding, key)))
      global.write(json: value, plain: value.plainText.printable + "\n")
    }
  }

  struct Set: ParsableCommand {
    static let configuration = CommandConfiguration(
      verb: "set", "Set the value of a key for what is open under a name.",
      "VALUE is text or JSON, depending on the type with which the key was declared.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: .binding, completion: .bindings) var binding: String
    @Argument(help: "Name of the key.") var key: String
    @Argument(help: "The new value.") var value: String
    @OptionGroup var slot: SlotOptions

    func run() throws {
      let daemon = try DaemonClient(global, "value set \(binding) \(key)")
      var options = slot.properties
      options[Options.containerValues] = try daemon.containerValues([Assignment(key, .text(value))])
      let (changed, serial) = try daemon.call(CoordinatorInterface.update, (binding, [:], options))
      global.report(changed: changed, serial: serial)
    }
  }
}

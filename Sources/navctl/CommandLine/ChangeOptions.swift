import PresentationModel
import ArgumentParser
import CoordinatorAPI
import DBusValues

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

/// Options of every verb that changes something.
struct ChangeOptions: ParsableArguments, RequestOptions {
  @Flag(name: .customLong("no-animation"), help: "Ask presenters not to animate the change.")
  var noAnimation = false

  @Option(help: ArgumentHelp("Refuse if the state has changed since it had this serial.", valueName: "serial"))
  var expectedSerial: UInt64?

  func write(to options: inout Properties) {
    if noAnimation { options[Options.animated] = false }
    options[Options.expectedSerial] = expectedSerial
  }
}

/// Options of the verbs that change what is open under one name.
struct SlotOptions: ParsableArguments, RequestOptions {
  @OptionGroup var change: ChangeOptions

  @Option(help: ArgumentHelp("Refuse unless the item with this id is open there.", valueName: "id"))
  var expectedID: String?

  @Option(
    help: ArgumentHelp("Refuse unless the presentation with this number is open there.", valueName: "presentation"),
    transform: ObjectPath.init(argument:))
  var expectedPresentation: ObjectPath?

  func write(to options: inout Properties) {
    change.write(to: &options)
    options[Options.expectedID] = expectedID
    options[Options.expectedPresentation] = expectedPresentation
  }
}

/// The group and the stack that an item is put into.
struct ContainerOptions: ParsableArguments, RequestOptions {
  @Option(help: "Group that it is a member of; one member of a group is open at a time.", completion: .groups)
  var group: String?

  @Option(help: "Name for selecting it in its group.", completion: .tags)
  var tag: String?

  @Option(help: "Stack on top of which it opens.", completion: .stacks)
  var stack: String?

  func write(to options: inout Properties) {
    options[Options.group] = group
    options[Options.tag] = tag
    options[Options.stack] = stack
  }
}

// Why this file exists: options that mean the same for many verbs are declared, explained and read once.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel
import TextFormats

/// Taken by every verb, before it or after it.
struct GlobalOptions: ParsableArguments {
  /// The options below whose values are arguments of their own.
  static let takingValues = ["-w", "--within", "--address", "-H", "--host"]

  @Flag(help: "Write one JSON value on one line.")
  var json = false

  @Flag(name: .shortAndLong, help: "Write nothing; the exit status says it all.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Write more, such as a presentation's number.")
  var verbose = false

  @Flag(help: "Leave out what explains tables to people, such as their titles.")
  var noLegend = false

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Give up after so long (exit status 5).", valueName: "seconds"),
    transform: { try $0.duration(bare: 1000) })
  var within: UInt64?

  @Option(help: "The bus to use, instead of the session's.")
  var address: String?

  @Option(
    name: [.customShort("H"), .long],
    help: ArgumentHelp("Another machine, by ssh: the session bus of that user there.", valueName: "[user@]host"),
    transform: RemoteHost.init(argument:))
  var host: RemoteHost?

  func validate() throws {
    if address != nil, host != nil { throw ValidationError("give --address or --host, not both") }
  }
}

/// Taken by every verb that changes something.
struct ChangeOptions: ParsableArguments {
  @Flag(name: .customLong("no-animation"), help: "Ask presenters not to animate the change.")
  var noAnimation = false

  @Option(help: ArgumentHelp("Refuse if it has changed since this serial.", valueName: "serial"))
  var expectedSerial: UInt64?

  func write(to options: inout Properties) {
    if noAnimation { options[Options.animated] = false }
    options[Options.expectedSerial] = expectedSerial
  }
}

/// Taken by the verbs about one slot.
struct SlotOptions: ParsableArguments {
  @OptionGroup var change: ChangeOptions

  @Option(help: ArgumentHelp("Refuse unless the slot holds this id.", valueName: "id"))
  var expectedID: String?

  @Option(
    help: ArgumentHelp("Refuse unless this is the slot's presentation.", valueName: "presentation"),
    transform: ObjectPath.init(argument:))
  var expectedPresentation: ObjectPath?

  func write(to options: inout Properties) {
    change.write(to: &options)
    options[Options.expectedID] = expectedID
    options[Options.expectedPresentation] = expectedPresentation
  }
}

extension ObjectPath {
  /// A presentation as people write it: its number, or its object's path.
  /// - Throws: `ValidationError`.
  init(argument: String) throws {
    if let number = UInt64(argument) {
      self = CoordinatorNames.presentation(number)
    } else if let path = ObjectPath(argument) {
      self = path
    } else {
      throw ValidationError("“\(argument)” is no presentation; its number would do, as “navctl list” shows it")
    }
  }
}

extension String {
  /// Milliseconds.
  /// - Throws: `ValidationError`.
  func duration(bare: Double? = nil) throws -> UInt64 {
    guard let milliseconds = DurationText.milliseconds(self, bare: bare) else {
      throw ValidationError("“\(self)” is no duration; “3s”, “500ms” or “2m” would do")
    }
    return milliseconds
  }
}

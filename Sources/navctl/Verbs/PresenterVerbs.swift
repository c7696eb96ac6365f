// Why this file exists: what a presenter written in shell reports.

import ArgumentParser
import CoordinatorAPI
import DBusValues

struct Act: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "act", "Say that something was done in a presentation, a button pressed for example.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Its number.", completion: .presentations, transform: ObjectPath.init(argument:)) var presentation:
    ObjectPath
  @Argument(help: "What was done.") var action: String
  @Argument(help: ArgumentHelp("More about it.", valueName: "k=v"), transform: Assignment.init)
  var parameters: [Assignment] = []

  func run() throws {
    let daemon = try Daemon(global, "act \(presentation.shortName) \(action)")
    let serial = try daemon.call(
      CoordinatorInterface.act, (presentation, action, try parameters.properties(daemon.what)))
    global.report(changed: true, presentation: presentation, serial: serial)
  }
}

struct Closed: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "closed", "Say that a presentation is gone, closed by its user.",
    "If it is not the slot's own any more, nothing happens.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: "Its number.", completion: .presentations, transform: ObjectPath.init(argument:)) var presentation:
    ObjectPath
  @Argument(help: ArgumentHelp("The result, for those who wait.", valueName: "k=v"), transform: Assignment.init)
  var result: [Assignment] = []

  func run() throws {
    let daemon = try Daemon(global, "closed \(presentation.shortName)")
    let (changed, serial) = try daemon.call(
      CoordinatorInterface.closed, (presentation, try result.properties(daemon.what)))
    global.report(changed: changed, presentation: presentation, serial: serial)
  }
}

extension ObjectPath {
  /// The number of a presentation, as people write it.
  var shortName: String { CoordinatorNames.number(of: self).map(String.init) ?? text }
}

import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel

struct Act: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "act", "Report a user's action in a presentation, such as a pressed button.",
    "Does nothing if the presentation has ended.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .presentation, completion: .presentations, transform: ObjectPath.init(argument:))
  var presentation: ObjectPath
  @Argument(help: "Name of the action, e.g. press.") var action: String
  @Argument(help: ArgumentHelp("Details of the action.", valueName: "k=v"), transform: Assignment.init)
  var parameters: [Assignment] = []

  func run() throws {
    let daemon = try DaemonClient(global, "act \(presentation.presentationNumber) \(action)")
    let serial = try daemon.call(
      CoordinatorInterface.act, (presentation, action, try parameters.properties(daemon.operation)))
    // The answer does not tell whether the presentation was open, and only JSON output needs it.
    let changed = !global.json || daemon.wasThere(presentation, at: serial)
    global.report(changed: changed, presentation: presentation, serial: serial)
  }
}

extension DaemonClient {
  /// Whether a presentation had not yet ended at a serial; true if navd does not answer.
  fileprivate func wasThere(_ presentation: ObjectPath, at serial: UInt64) -> Bool {
    let number = CoordinatorNames.number(of: presentation)
    guard let state = try? state(), !state.entries.contains(where: { $0.presentation == number }),
      let endings = try? history(0, [:])
    else { return true }
    return (endings.first { $0.presentation == number }?.serial ?? 0) > serial
  }
}

struct Closed: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "closed", "Report that the user has closed a presentation.",
    "Does nothing if another presentation has replaced it.")

  @OptionGroup var global: GlobalOptions
  @Argument(help: .presentation, completion: .presentations, transform: ObjectPath.init(argument:))
  var presentation: ObjectPath
  @Argument(help: ArgumentHelp("Result, for programs that wait for it.", valueName: "k=v"), transform: Assignment.init)
  var result: [Assignment] = []

  func run() throws {
    let daemon = try DaemonClient(global, "closed \(presentation.presentationNumber)")
    let (changed, serial) = try daemon.call(
      CoordinatorInterface.closed, (presentation, try result.properties(daemon.operation)))
    global.report(changed: changed, presentation: presentation, serial: serial)
  }
}

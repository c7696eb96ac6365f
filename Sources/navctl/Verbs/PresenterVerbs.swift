import ArgumentParser
import CoordinatorAPI
import DBusValues

extension Verbs {
  static let ofPresenters: [Verb] = [
    ("act", { Act.self }), ("closed", { Closed.self }), ("presenter", { PresenterVerb.self }),
  ]
}

struct Act: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "act", "Report a user's action in a presentation, such as a pressed button.")

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
    global.report(changed: true, presentation: presentation, serial: serial)
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

import ArgumentParser
import CoordinatorAPI
import DBusValues
import Glibc
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

struct Ready: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "ready", "Report that a program is on the screen.",
    """
    For programs of destinations whose files say ready = "notify": only then is the item presented. Elsewhere, and if it comes \
    too late, it does nothing.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(
    help: ArgumentHelp(
      "Number of a presentation; without it, that of the command from within which navctl is called (\(CoordinatorNames.presentationVariable)).",
      valueName: "presentation"),
    completion: .presentations, transform: ObjectPath.init(argument:))
  var presentation: ObjectPath?

  func run() throws {
    let daemon = try DaemonClient(global, "ready")
    guard let presentation = presentation ?? Self.own else {
      throw Failure(
        daemon.operation,
        "\(CoordinatorNames.presentationVariable), which navd gives to commands, is not set, so nothing tells which item is ready",
        hint: "call it from within the command of an item, or give the number of its presentation", status: .usage)
    }
    let (changed, serial) = try daemon.call(CoordinatorInterface.ready, presentation)
    global.report(changed: changed, presentation: presentation, serial: serial)
  }

  /// The presentation whose command calls navctl; nil if none does.
  private static var own: ObjectPath? {
    getenv(CoordinatorNames.presentationVariable).flatMap { UInt64(String(cString: $0)) }
      .map(CoordinatorNames.presentation)
  }
}

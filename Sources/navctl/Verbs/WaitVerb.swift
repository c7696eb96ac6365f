import ArgumentParser
import CoordinatorAPI
import DBusValues
import PresentationModel

struct WaitVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "wait", "Wait until something is shown, or closed, and print its result.",
    """
    If nothing is open under BINDING, waits for what is still closing there. With --presentation: works also after it has \
    closed, as long as navd remembers the result. Continues to wait when navd is restarted.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: .binding, completion: .bindings) var binding: String?
  @Option(
    help: ArgumentHelp("Number of what was opened, as “navctl list” shows it.", valueName: "n"),
    completion: .presentations, transform: ObjectPath.init(argument:))
  var presentation: ObjectPath?
  @Option(name: .customLong("for"), help: ArgumentHelp("What to wait for.", valueName: "phase"))
  var phase: WaitPhase = .gone

  func validate() throws {
    guard (binding == nil) != (presentation == nil) else {
      throw ValidationError("give either a name or --presentation N")
    }
  }

  func run() throws {
    let subject = binding ?? presentation.map { "--presentation \($0.presentationNumber)" }
    let daemon = try DaemonClient(global, "wait \(subject ?? "")")
    let outcome = try daemon.wait(for: try target(daemon), phase, wasRunning: presentation == nil)
    if phase == .presented, !outcome.reason.isEmpty, !outcome.hasFailed {
      global.write(json: outcome.json, plain: "")
      throw Failure(
        daemon.operation, "it has closed (\(outcome.reason))", status: .notPresented)
    }
    try outcome.report(daemon, global)
  }

  private func target(_ daemon: DaemonClient) throws(Failure) -> ObjectPath {
    if let presentation { return presentation }
    let (presentation, _, _) = try daemon.ask(CoordinatorInterface.get, binding ?? "")
    if presentation != .root { return presentation }
    // `Get` does not return an item that was dismissed, but the item is on screen until it is gone.
    if phase == .gone, let number = StateFilter(binding: binding).shown(try daemon.state())?.presentation {
      return CoordinatorNames.presentation(number)
    }
    throw Failure(notPresented: daemon.operation)
  }
}

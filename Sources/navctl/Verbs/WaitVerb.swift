// Why this file exists: `wait`, for a presentation that somebody else asked for.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import TextFormats

struct WaitVerb: ParsableCommand {
  enum Phase: String, ExpressibleByArgument, CaseIterable { case presented, gone }

  static let configuration = CommandConfiguration(
    verb: "wait", "Wait until a presentation is presented, or gone, and write what it gave back.",
    """
    Of a slot that is nil already, what is still going is waited for. A presentation that has ended can still be waited \
    for by its number. Restarts of navd are waited through.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: "The slot whose presentation is meant.", completion: .bindings) var binding: String?
  @Option(
    help: ArgumentHelp("The number of a presentation.", valueName: "n"), completion: .presentations,
    transform: ObjectPath.init(argument:))
  var presentation: ObjectPath?
  @Option(name: .customLong("for"), help: ArgumentHelp("What to wait for.", valueName: "phase"))
  var phase: Phase = .gone

  func validate() throws {
    guard (binding == nil) != (presentation == nil) else {
      throw ValidationError("give either a binding or --presentation N")
    }
  }

  func run() throws {
    let daemon = try Daemon(global, "wait \(binding ?? presentation?.shortName ?? "")")
    let ending = try Ending(daemon, try handle(daemon), phase: phase.rawValue, wasThere: presentation == nil)
    if phase == .presented, !ending.reason.isEmpty, ending.reason != "failed" {
      global.write(json: ending.json, plain: "")
      throw Failure(
        daemon.what, "it ended before it was presented: \(ending.reason)", status: .notPresented)
    }
    try ending.report(daemon, global)
  }

  private func handle(_ daemon: Daemon) throws(Failure) -> ObjectPath {
    if let presentation { return presentation }
    let (presentation, _, _) = try daemon.ask(CoordinatorInterface.get, binding ?? "")
    if presentation != .root { return presentation }
    // What was dismissed is not the slot's any more, but is on screen until it is gone.
    if phase == .gone, let number = StateFilter(binding: binding).shown(try daemon.state())?["presentation"]?.unsigned {
      return CoordinatorNames.presentation(number)
    }
    throw Failure(notPresented: daemon.what)
  }
}

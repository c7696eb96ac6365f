import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TextFormats

struct Quit: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "quit", "Close everything, then stop navd.",
    """
    What asks before it closes, for example whether to save, does so first, and this waits for the answer. If it stays, so does navd, and \
    the exit status is 1. It is 1, too, while a window is hidden that nothing on the bus could show again. If navd is not running, does \
    nothing, with exit status 0.
    """)

  @OptionGroup var global: GlobalOptions
  @Flag(help: "Close what has to close even if it asks whether to save, for example.") var force = false

  func run() throws {
    let daemon = try DaemonClient(global, "quit")
    var wasRunning = true
    do {
      if !force { try closeWhatMayAsk(daemon) }
      try daemon.request(CoordinatorInterface.quit, (), starts: false)
    } catch let error as DBusError {
      guard error.name == .serviceUnknown || error.name == .nameHasNoOwner else { throw Failure("quit", error) }
      wasRunning = false
    }
    global.write(json: ["changed": .boolean(wasRunning)], plain: "")
  }

  /// Dismisses what may ask its user first, and waits until it is gone: navd ends everything else without a question.
  /// - Throws: `Failure` if anything stays; `DBusError`.
  private func closeWhatMayAsk(_ daemon: DaemonClient) throws {
    let destinations = Dictionary(
      try daemon.request(CoordinatorInterface.destinations, (), starts: false).map {
        ($0.fields.0, DestinationEntry($0.fields.1))
      }, uniquingKeysWith: { $1 })
    func destination(of entry: StateEntry) -> DestinationEntry? { entry.destination.flatMap { destinations[$0] } }
    let follower = StateFollower(daemon.connection)
    // The presentations that have not answered; nil before the state is known.
    var left: Set<UInt64>?
    var kept: [(binding: String, message: String)] = []
    var hidden: [ParkedEntry] = []
    var fault: DBusError?
    var bindings: Set<String> = []
    follower.onState = { properties, serial in
      let state = StateSnapshot(properties, serial: serial)
      hidden = state.parkedEntries
      let open = state.entries.filter { $0.knownPhase != .waiting }
      if let known = left { return left = known.intersection(open.compactMap(\.presentation)) }
      // navd refuses to quit while a protected item is open, so nothing is closed then.
      let isProtected = open.contains { destination(of: $0)?.protected == true }
      let asked = isProtected ? [] : open.filter { destination(of: $0)?.mayAsk == true }
      left = Set(asked.compactMap(\.presentation))
      bindings = Set(asked.compactMap(\.binding))
    }
    follower.onEvent = { event in
      switch event.kind {
      case .dismissed(let subject, _): left?.remove(subject.presentation.number)
      case .declined(let subject, let message):
        left?.remove(subject.presentation.number)
        kept.append((subject.binding, message))
      default: break
      }
    }
    follower.onFailure = { fault = $0 }
    daemon.connection.handlers.onDisconnected = {
      fault = DBusError(name: .disconnected, message: Failure.disconnected)
    }
    func turn(while isWaiting: () -> Bool) throws {
      while isWaiting() {
        if let fault { throw fault }
        if daemon.timeLeft == .zero { throw Failure("quit", "not everything has closed in time", status: .timedOut) }
        daemon.loop.turn(wait: daemon.timeLeft)
      }
    }
    follower.start()
    try turn { left == nil }
    if let name = hidden.first?.binding, daemon.windowAdapters().allSatisfy({ $0.backend == nil }) {
      throw Failure(
        "quit", "“\(name)” is hidden, and nothing on the bus can show its windows again",
        hint: "start navd-windows first; “navctl quit --force” does not show what navd has not started")
    }
    if left?.isEmpty != false { return }
    let dismissals = bindings.sorted().map { binding in
      TransactionRequest(
        CoordinatorInterface.dismiss.name.text, CoordinatorInterface.dismiss.arguments((binding, [:])))
    }
    try daemon.request(CoordinatorInterface.apply, (dismissals, [:]), starts: false)
    // The parent of an item that declines stays, too, and gives no reason. The item may give one.
    try turn { left?.isEmpty == false && kept.allSatisfy(\.message.isEmpty) }
    guard let stays = kept.first(where: { !$0.message.isEmpty }) ?? kept.first else { return }
    let why = stays.message.isEmpty ? "" : ": \(stays.message)"
    throw Failure(
      "quit", "“\(stays.binding)” stays\(why)", hint: "“navctl quit --force” closes it without asking")
  }
}

extension DestinationEntry {
  /// Whether what the destination shows may ask its user before it ends, and stay. A window that is only hidden does not ask.
  fileprivate var mayAsk: Bool { self.bus != nil || self.window.map { $0["dismissal"] != .string("hide") } ?? false }
}

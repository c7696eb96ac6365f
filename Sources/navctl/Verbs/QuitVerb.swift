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
    the exit status is 1. Hidden programs are asked, too, and one that stays is shown. The exit status is 1, too, while a window is hidden \
    that nothing on the bus could show again. If navd is not running, does nothing, with exit status 0.
    """)

  @OptionGroup var global: GlobalOptions
  @Flag(help: "Close what has to close even if it asks whether to save, for example.") var force = false

  func run() throws {
    let daemon = try DaemonClient(global, "quit")
    var wasRunning = true
    do {
      if !force { try Asking(daemon).closeAll() }
      try daemon.request(CoordinatorInterface.quit, (), starts: false)
    } catch let error as DBusError {
      guard error.name == .serviceUnknown || error.name == .nameHasNoOwner else { throw Failure("quit", error) }
      wasRunning = false
    }
    global.write(json: ["changed": .boolean(wasRunning)], plain: "")
  }
}

/// Closes what may ask its user first, and waits until it is gone: navd ends everything else without a question (R9).
private final class Asking {
  private let daemon: DaemonClient
  private let follower: StateFollower
  private let destinations: [String: DestinationEntry]
  /// The items that are not waiting; nil before the state is known.
  private var open: [StateEntry]?
  private var parked: [ParkedEntry] = []
  /// The bindings of the hidden programs, once these were asked.
  private var hidden: Set<String>?
  /// The presentations, or the hidden programs, that have not answered.
  private var left: Set<UInt64> = []
  private var kept: [(binding: String, message: String)] = []
  private var fault: DBusError?

  /// - Throws: `DBusError`.
  init(_ daemon: DaemonClient) throws {
    self.daemon = daemon
    follower = StateFollower(daemon.connection)
    destinations = Dictionary(
      try daemon.request(CoordinatorInterface.destinations, (), starts: false).map {
        ($0.fields.0, DestinationEntry($0.fields.1))
      }, uniquingKeysWith: { $1 })
    follower.onState = { [unowned self] in take(StateSnapshot($0, serial: $1)) }
    follower.onEvent = { [unowned self] in take($0.kind) }
    follower.onFailure = { [unowned self] in fault = $0 }
    daemon.connection.handlers.onDisconnected = { [unowned self] in
      fault = DBusError(name: .disconnected, message: Failure.disconnected)
    }
    follower.start()
    try turn { open == nil }
  }

  /// - Throws: `Failure` if anything stays; `DBusError`.
  func closeAll() throws {
    if let name = parked.first?.binding, daemon.windowAdapters().allSatisfy({ $0.backend == nil }) {
      throw Failure(
        "quit", "“\(name)” is hidden, and nothing on the bus can show its windows again",
        hint: "start navd-windows first; after “navctl quit --force”, only the next navd with navd-windows shows them")
    }
    let open = open ?? []
    // navd refuses to quit while a protected item is open, so nothing is closed then.
    if open.contains(where: { destination(of: $0)?.protected == true }) { return }
    try closeShown(open)
    try closeHidden()
  }

  /// Dismisses the items that may ask. Some of their programs are hidden then.
  private func closeShown(_ open: [StateEntry]) throws {
    let asked = open.filter { destination(of: $0)?.mayAsk == true }
    let bindings = Set(asked.compactMap(\.binding)).sorted()
    if bindings.isEmpty { return }
    left = Set(asked.compactMap(\.presentation))
    let dismissals = bindings.map { binding in
      TransactionRequest(
        CoordinatorInterface.dismiss.name.text, CoordinatorInterface.dismiss.arguments((binding, [:])))
    }
    try daemon.request(CoordinatorInterface.apply, (dismissals, [:]), starts: false)
    try awaitAnswers()
  }

  /// Asks the windows to close that are hidden.
  private func closeHidden() throws {
    // What has just been hidden is not in an event yet.
    let (state, serial) = try daemon.request(CoordinatorInterface.getState, (), starts: false)
    parked = StateSnapshot(state, serial: serial).parkedEntries
    if parked.isEmpty { return }
    left = Set(parked.compactMap(\.presentation))
    hidden = Set(parked.compactMap(\.binding))
    try daemon.request(CoordinatorInterface.dismissAll, [Options.parked.name: .boolean(true)], starts: false)
    try awaitAnswers()
  }

  private func destination(of entry: StateEntry) -> DestinationEntry? { entry.destination.flatMap { destinations[$0] } }

  private func take(_ state: StateSnapshot) {
    let now = state.entries.filter { $0.knownPhase != .waiting }
    open = now
    if hidden == nil { left.formIntersection(now.compactMap(\.presentation)) }
    take(state.parkedEntries)
  }

  private func take(_ now: [ParkedEntry]) {
    parked = now
    guard hidden != nil else { return }
    left.formIntersection(now.compactMap(\.presentation))
    for entry in now { if let why = entry.stays { kept.append((entry.binding ?? "", why)) } }
  }

  private func take(_ event: StateEvent.Kind) {
    switch event {
    case .dismissed(let subject, _): left.remove(subject.number)
    case .declined(let subject, let message):
      left.remove(subject.number)
      kept.append((subject.binding, message))
    case .parked(let now): take(now)
    case .phase(let subject, .presenting) where hidden?.contains(subject.binding) == true:
      kept.append((subject.binding, "its windows are shown again"))
    default: break
    }
  }

  /// Waits until everything that was asked is gone.
  /// - Throws: `Failure` if anything stays; `DBusError`.
  private func awaitAnswers() throws {
    // The parent of an item that declines stays, too, and gives no reason. The item may give one.
    try turn { !left.isEmpty && kept.allSatisfy(\.message.isEmpty) }
    guard let stays = kept.first(where: { !$0.message.isEmpty }) ?? kept.first else { return }
    let why = stays.message.isEmpty ? "" : ": \(stays.message)"
    throw Failure(
      "quit", "“\(stays.binding)” stays\(why)", hint: "“navctl quit --force” closes it without asking")
  }

  private func turn(while isWaiting: () -> Bool) throws {
    while isWaiting() {
      if let fault { throw fault }
      if daemon.timeLeft == .zero { throw Failure("quit", "not everything has closed in time", status: .timedOut) }
      daemon.loop.turn(wait: daemon.timeLeft)
    }
  }
}

extension DestinationEntry {
  /// Whether what the destination shows may ask its user before it ends, and stay.
  fileprivate var mayAsk: Bool { self.bus != nil || self.window != nil }
}

import ArgumentParser
import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TextFormats

struct Play: ParsableCommand {
  static let configuration = CommandConfiguration(
    verb: "play", "Show items one after the other in a group.",
    """
    The first one opens at once, and the others wait in the group's queue. Each is a destination, or with --to an id of one. Without \
    --for an item stays as long as its destination's timeout says, or its program runs.

    With --loop each waits in the queue again after its turn, while navctl runs. It ends with Ctrl-C, which closes its items, when \
    something else replaces them in the group, or when “navctl close --group” closes them. What interrupts (--if-busy interrupt) or \
    waits in the queue takes its turn between them. If navctl is killed, the items in the queue still have their turn.
    """)

  @OptionGroup var global: GlobalOptions
  @Argument(help: .group, completion: .groups) var group: String
  @Argument(
    help: ArgumentHelp("Destinations, or with --to ids.", valueName: "item"), completion: .destinations)
  var items: [String]
  @Option(
    name: .customLong("to"), help: ArgumentHelp("Destination that shows the ids.", valueName: "destination"),
    completion: .destinations)
  var destination: String?
  @Option(
    name: .customLong("for"), help: ArgumentHelp("How long to show each, e.g. 10s.", valueName: "duration"),
    transform: { try $0.duration() })
  var time: UInt64?
  @Flag(help: "Begin again after the last one.") var loop = false

  func validate() throws {
    if let time, time == 0 {
      throw ValidationError("--for: expected more than 0, found 0; leave it out to let each stay")
    }
    var seen: Set<String> = []
    if let twice = items.first(where: { !seen.insert($0).inserted }) {
      throw ValidationError("“\(twice)” is in the list twice; each item is shown once in a round")
    }
  }

  func run() throws {
    let daemon = try DaemonClient(global, "play \(group)")
    let list = items.enumerated().map { index, item in
      destination.map { Playlist.Item(binding: "\($0)[\(index)]", id: item, destination: $0) }
        ?? Playlist.Item(binding: item)
    }
    let player = Player(Playlist(list, in: group, time: time), daemon)
    let serial = try player.begin(repeats: loop)
    let presentations = player.presentations
    global.write(
      json: [
        "changed": .boolean(true),
        "presentations": .array(presentations.compactMap { CoordinatorNames.number(of: $0) }.map { JSON($0) }),
        "serial": JSON(serial),
      ], plain: global.verbose ? presentations.map { "\($0.presentationNumber)\n" }.joined() : "")
    guard loop else { return try daemon.requireStart(of: presentations.prefix(1).map(\.self), after: serial) }
    try player.repeatUntilEnd()
  }
}

/// Plays a list by requests for the queue of its group.
private final class Player {
  private var list: Playlist
  private let daemon: DaemonClient
  private(set) var presentations: [ObjectPath] = []
  /// When each item was asked for, by its binding.
  private var asked: [String: EventLoop.Instant] = [:]
  /// The bindings of those that are about to be asked for, or were, without an answer yet.
  private var pending: Set<String> = []
  private var failure: Failure?

  /// The time between two requests for an item that ends early, so that programs that end at once take no noticeable time of the processor.
  private static let pause = Duration.seconds(1)
  /// The same while a hold refuses it.
  private static let pauseWhileHeld = Duration.seconds(10)

  init(_ list: Playlist, _ daemon: DaemonClient) { (self.list, self.daemon) = (list, daemon) }

  private func request(_ item: Playlist.Item, timeout: UInt64?, isFirst: Bool = false) -> (String, String, Properties) {
    var options: Properties = [:]
    options[Options.destination] = item.destination
    options[Options.group] = list.group
    options[Options.timeout] = timeout
    if !isFirst { options[Options.ifBusy] = BusyPolicy.queue.rawValue }
    ClientContext.write(to: &options, isRemote: daemon.isRemote)
    return (item.binding, item.id, options)
  }

  /// Asks for all items as one request.
  /// - Returns: the serial after it.
  func begin(repeats: Bool) throws(Failure) -> UInt64 {
    let requests = list.items.enumerated().map { index, item in
      TransactionRequest(
        CoordinatorInterface.present.name.text,
        CoordinatorInterface.present.arguments(
          request(item, timeout: repeats ? list.timeout(of: item) : list.time, isFirst: index == 0)))
    }
    do throws(DBusError) {
      let (replies, serial) = try daemon.request(CoordinatorInterface.apply, (requests, [:]), starts: true)
      presentations = replies.compactMap { $0.first.flatMap { ObjectPath(value: $0) } }
      for item in list.items { asked[item.binding] = daemon.loop.now }
      return serial
    } catch {
      throw Failure(daemon.operation, DBusError(name: error.name, message: named(error.message)), starts: true)
    }
  }

  /// A message of navd about a request of the transaction, with the item in place of the number.
  private func named(_ message: String) -> String {
    for (index, item) in list.items.enumerated().reversed() {
      let prefix = "request \(index): "
      if message.hasPrefix(prefix) { return "\(item.name): \(message.dropFirst(prefix.count))" }
    }
    return message
  }

  /// Has each item wait in the queue again after its turn, until somebody ends that.
  func repeatUntilEnd() throws {
    let follower = StateFollower(daemon.connection)
    let restart = DaemonRestart(daemon)
    follower.onState = { [self] state, serial in
      let state = StateSnapshot(state, serial: serial)
      restart.note(state)
      settle(state)
    }
    follower.onEvent = { [self] event in
      restart.note(event)
      guard list.take(event.kind, at: daemon.loop.now) else { return }
      follower.look { [self] found in
        if let found { settle(StateSnapshot(found.state, serial: found.serial)) }
      }
    }
    follower.onFailure = { [self] error in fail(Failure(daemon.operation, error)) }
    daemon.connection.handlers.onDisconnected = { [self] in
      fail(Failure(daemon.operation, DBusError(name: .disconnected, message: Failure.disconnected)))
    }
    var isStopped = false
    let signals = try daemon.loop.onSignal([SIGINT, SIGTERM, SIGHUP]) { [self] _ in
      isStopped = true
      daemon.loop.stop()
    }
    defer { signals.cancel() }
    follower.start()
    daemon.loop.run()
    if isStopped || failure == nil { dismissAll() }
    if let failure { throw failure }
  }

  private func settle(_ state: StateSnapshot) {
    switch list.settle(state) {
    case .again(let items):
      for item in items { askAgain(item, after: list.endsEarly(item) ? Self.pause : .zero) }
    case .over: daemon.loop.stop()
    case .failed:
      fail(Failure(daemon.operation, "none of the items can be shown", hint: "“navctl list --failed” says why"))
    }
  }

  /// - Parameter pause: the least time since the request before.
  private func askAgain(_ item: Playlist.Item, after pause: Duration) {
    guard pending.insert(item.binding).inserted else { return }
    let now = daemon.loop.now
    let rest = pause - (now - (asked[item.binding] ?? now))
    guard rest > .zero else { return ask(item) }
    daemon.loop.timer(after: rest) { [self] in ask(item) }
  }

  private func ask(_ item: Playlist.Item) {
    asked[item.binding] = daemon.loop.now
    daemon.connection.call(
      CoordinatorInterface.present, on: CoordinatorNames.bus, at: CoordinatorNames.object,
      request(item, timeout: list.timeout(of: item)), autoStart: false
    ) { [self] result in
      pending.remove(item.binding)
      // A navd that has gone is asked again when it is back.
      guard case .failure(let error) = result, !DaemonClient.isRestart(error) else { return }
      if CoordinatorError.Name(error.name) == .held { return askAgain(item, after: Self.pauseWhileHeld) }
      list.drop(item)
      let refused = Failure("\(daemon.operation) \(item.name)", error)
      if list.items.isEmpty { fail(refused) } else { ErrorOutput.write("\(refused.line); it is left out") }
    }
  }

  private func fail(_ failure: Failure) {
    self.failure = failure
    daemon.loop.stop()
  }

  /// Dismisses the items, first those that wait, so that none of them comes.
  private func dismissAll() {
    guard let state = try? daemon.state() else { return }
    for entry in state.entries.filter({ $0.knownPhase != .dismissing }).sorted(by: {
      $0.knownPhase == .waiting && $1.knownPhase != .waiting
    }) {
      guard let binding = entry.binding, let number = entry.presentation,
        list.items.contains(where: { $0.binding == binding && $0.id == entry.id ?? "" })
      else { continue }
      var options: Properties = [:]
      options[Options.expectedPresentation] = CoordinatorNames.presentation(number)
      _ = try? daemon.request(CoordinatorInterface.dismiss, (binding, options), starts: false)
    }
  }
}

import DBusValues
import EventLoops

/// The clients that do not read the messages that the bus keeps for them.
///
/// dbus-daemon counts kept messages against their sender, and stops reading from a sender with too many. dbus-broker counts them
/// against the user, and disconnects clients of a user with too many. So a client that leaves much unread is sent nothing more until it
/// has read: its calls are held, calls to it fail, and signals are sent to the other clients one by one. Both buses tell how much they
/// keep, by `org.freedesktop.DBus.Debug.Stats`. On a bus without it, nothing is observed.
struct SlowReaders {
  /// The statistics that the bus provides.
  fileprivate enum Source {
    case ofConnections
    case ofAll
    case none
  }

  /// The bus's data about a client.
  fileprivate struct Load {
    /// Bytes that the bus keeps for the client.
    var bytes: Int
    var isSubscribed: Bool
  }

  /// The size up to which messages are also sent to clients that subscribed, but never called. The bus does not tell what they
  /// subscribed to.
  private static let smallSize = 4 << 10
  /// The largest number of remembered callers. Beyond it, all are forgotten.
  private static let maxCallers = 8192

  /// The connection that asks the bus; nil if the bus is not asked. It is separate, since an answer to this connection would arrive
  /// behind all calls that others have made to it.
  fileprivate var observer: Connection?
  /// Connects the observer; nil unless readers are observed.
  fileprivate var connect: (() -> Connection?)?
  /// Called with false when a client has left too much unread, and with true when it reads again.
  fileprivate var onChange: ((BusName, Bool) -> Void)?
  fileprivate var source = Source.ofConnections
  fileprivate var isLooking = false
  /// The result of the last look. It is judged at the end of the turn, when the answers of the turn have been sent.
  fileprivate var loads: [BusName: Load]?
  fileprivate var timer: Timer?
  /// The value of ``Transport/sentSize`` at the last look.
  fileprivate var lookedAt = 0
  /// The clients that do not read, each with the size of the messages that it is still sent.
  var stalled: [BusName: Int] = [:]
  /// The subscribed clients that read, and whether they have called. It is only meaningful while there are stalled clients.
  fileprivate var subscribers: [BusName: Bool] = [:]
  private var callers: Set<BusName> = []
  /// The refused calls of stalled clients, if there was no room for their errors.
  private var refused: [BusName: [ReplyAddress]] = [:]
  /// The number of refused calls. The bus lets a client wait for 50 000 answers. Beyond those of two clients, calls are not answered.
  private var countOfRefused = 0
  private static let maxRefused = 100_000

  mutating func note(caller: BusName) {
    guard callers.insert(caller).inserted, callers.count > Self.maxCallers else { return }
    callers = [caller]
  }

  mutating func postponeRefusal(of call: ReplyAddress) {
    guard countOfRefused < Self.maxRefused else { return }
    countOfRefused += 1
    refused[call.caller, default: []].append(call)
  }

  fileprivate mutating func takeRefused(of client: BusName) -> [ReplyAddress] {
    let calls = refused.removeValue(forKey: client) ?? []
    countOfRefused -= calls.count
    return calls
  }

  func isStalled(_ client: BusName) -> Bool { stalled[client] != nil }

  fileprivate func hasCalled(_ client: BusName) -> Bool { callers.contains(client) }

  /// The recipients of a signal; nil if it can be sent to all subscribers.
  func recipients(of signal: OutgoingMessage) -> [BusName]? {
    guard !stalled.isEmpty else { return nil }
    let isSmall = signal.bytes.count <= Self.smallSize
    return subscribers.filter { $0.value || isSmall }.map(\.key)
  }
}

extension Connection {
  /// Bytes that are sent until the bus is asked again.
  private static let lookInterval = 4 << 20
  /// Bytes that are sent since the bus was asked. Beyond this, nothing is answered before the bus has told how much it keeps.
  private static let blindSize = 16 << 20
  /// The time after which the bus is asked again while a client is stalled.
  private static let lookPause = Duration.milliseconds(250)
  /// The bytes that a client may always leave unread.
  private static let tolerated = 64 << 10

  /// Stops sending to clients that leave much unread (see ``Limits/unreadBytes``).
  /// - Parameters:
  ///   - connect: opens another connection to the same bus, which serves nothing. It is called when much has been sent, and there is no such
  ///     connection. It returns nil if there is none now.
  ///   - onChange: called with false when a client has left too much unread, and with true when it reads again.
  public func observeReaders(
    by connect: @escaping () -> Connection?, onChange: ((BusName, Bool) -> Void)? = nil
  ) {
    slowReaders.connect = connect
    slowReaders.onChange = onChange
  }

  var isBlind: Bool { slowReaders.isLooking && transport.sentSize - slowReaders.lookedAt > Self.blindSize }

  /// Whether a message may be sent to its recipient.
  func isRead(_ message: OutgoingMessage) -> Bool {
    guard !slowReaders.stalled.isEmpty, var client = message.destination else { return true }
    if !client.isUnique, case .known(let owner?) = rules.watchedNames[client]?.owner { client = owner }
    guard let room = slowReaders.stalled[client] else { return true }
    guard message.bytes.count <= room else { return false }
    slowReaders.stalled[client] = room - message.bytes.count
    return true
  }

  /// Asks the bus how much it keeps, if much has been sent since the last time. Call this at the end of a turn, after its messages were
  /// sent.
  func observeSlowReaders() {
    if let loads = slowReaders.loads {
      slowReaders.loads = nil
      judge(loads)
    }
    if !slowReaders.isLooking, transport.sentSize - slowReaders.lookedAt >= Self.lookInterval { look() }
  }

  private func look() {
    slowReaders.lookedAt = transport.sentSize
    guard !slowReaders.isLooking else { return }
    guard slowReaders.source != .none, let observer = openObserver() else {
      // Nobody can tell when a client has read.
      if !slowReaders.stalled.isEmpty { judge([:]) }
      return
    }
    // Set before the question, since the answer ends the look.
    slowReaders.isLooking = true
    if slowReaders.source == .ofAll { lookAtAll(observer) } else { lookAtOwn(observer) }
    // The observer may have ended its turn already.
    loop.soon {}
  }

  private func openObserver() -> Connection? {
    if let observer = slowReaders.observer, observer.isOpen { return observer }
    guard let connect = slowReaders.connect else { return nil }
    slowReaders.observer = connect()
    slowReaders.observer?.callers = .ignored
    return slowReaders.observer
  }

  /// Asks dbus-daemon how much it keeps of our messages, and if it is much, for which clients.
  private func lookAtOwn(_ observer: Connection) {
    observer.call(Bus.getConnectionStats, on: Bus.name, at: Bus.path, uniqueName.text) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let stats):
        let kept = stats["IncomingBytes"].flatMap { UInt32(value: $0) } ?? 0
        if kept > limits.unreadBytes || !slowReaders.stalled.isEmpty { lookAtEach(observer) } else { endLook() }
      case .failure(let error):
        // dbus-broker has this method, but does not implement it.
        guard ![.timedOut, .disconnected].contains(error.name) else { return endLook() }
        slowReaders.source = .ofAll
        lookAtAll(observer)
      }
    }
  }

  private func lookAtEach(_ observer: Connection) {
    observer.call(Bus.listNames, on: Bus.name, at: Bus.path, ()) { [weak self] result in
      guard let self, case .success(let names) = result else { return self?.endLook() ?? () }
      let clients = names.compactMap { BusName($0) }.filter { $0.isUnique && $0 != self.uniqueName }
      var loads: [BusName: SlowReaders.Load] = [:]
      var answers = 0
      for client in clients {
        observer.call(Bus.getConnectionStats, on: Bus.name, at: Bus.path, client.text) { [weak self] result in
          answers += 1
          if case .success(let stats) = result {
            loads[client] = SlowReaders.Load(
              bytes: stats["OutgoingBytes"].flatMap { UInt32(value: $0) }.map(Int.init) ?? 0,
              isSubscribed: stats["MatchRules"].flatMap { UInt32(value: $0) } != 0)
          }
          if answers == clients.count { self?.slowReaders.loads = loads }
        }
      }
      if clients.isEmpty { slowReaders.loads = [:] }
    }
  }

  /// Asks dbus-broker how much it keeps for each client.
  private func lookAtAll(_ observer: Connection) {
    observer.call(Bus.getStats, on: Bus.name, at: Bus.path, ()) { [weak self] result in
      guard let self else { return }
      guard case .success(let stats) = result,
        case .array(_, let accounts) = stats["org.bus1.DBus.Debug.Stats.PeerAccounting"]
      else {
        if case .failure(let error) = result, [.timedOut, .disconnected].contains(error.name) { return endLook() }
        slowReaders.source = .none
        return endLook()
      }
      var loads: [BusName: SlowReaders.Load] = [:]
      for case .structure(let fields) in accounts where fields.count == 3 {
        guard let client = String(value: fields[0]).flatMap({ BusName($0) }), client != uniqueName,
          let counts = [String: UInt32](value: fields[2])
        else { continue }
        loads[client] = SlowReaders.Load(bytes: Int(counts["OutgoingBytes"] ?? 0), isSubscribed: counts["Matches"] != 0)
      }
      if slowReaders.stalled.isEmpty, loads.values.reduce(0, { $0 + $1.bytes }) <= limits.unreadBytes {
        return endLook()
      }
      slowReaders.loads = loads
    }
  }

  /// Finds the clients that no longer read, and those that read again. Each client may leave its share unread.
  private func judge(_ loads: [BusName: SlowReaders.Load]) {
    let behind = loads.filter { $0.value.bytes > Self.tolerated }
    let share = limits.unreadBytes / (behind.count + 1)
    let wasDirected = !slowReaders.stalled.isEmpty
    for (client, load) in behind where load.bytes > share && slowReaders.stalled[client] == nil {
      slowReaders.stalled[client] = share / 16
      servingOrder.hold(client, refusing: limits.unreadReplies)
      slowReaders.onChange?(client, false)
    }
    let recovered = slowReaders.stalled.keys.filter { behind[$0] == nil }
    for client in recovered {
      slowReaders.stalled[client] = nil
      for call in slowReaders.takeRefused(of: client) { fail(call, limits.unreadReplies) }
      slowReaders.onChange?(client, true)
    }
    let former = slowReaders.subscribers
    slowReaders.subscribers = loads.filter { $0.value.isSubscribed && slowReaders.stalled[$0.key] == nil }.reduce(
      into: [:]) {
        $0[$1.key] = slowReaders.hasCalled($1.key)
      }
    let missing = wasDirected ? slowReaders.subscribers.keys.filter { former[$0] == nil } : []
    loop.soon { [weak self] in
      for client in recovered { self?.servingOrder.release(client) }
      for client in missing { self?.handlers.onSignalsMissed?(client) }
    }
    endLook()
  }

  private func endLook() {
    slowReaders.isLooking = false
    guard !slowReaders.stalled.isEmpty, slowReaders.timer?.isPending != true else { return }
    slowReaders.timer = loop.timer(after: Self.lookPause) { [weak self] in self?.look() }
  }
}

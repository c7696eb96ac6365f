import DBusValues
import DequeModule
import EventLoops

/// A queue of calls: it chooses the client whose call is served next (L2), and limits the bytes of the calls that wait (L1).
///
/// **Calls are served in rounds, one of each client in a round.**
///
/// *Time.* While a call waits behind `k - 1` earlier ones of its client, at most `k` calls of each other client are served before it.
/// Proof: `line` has each client with a waiting call once. ``next()`` serves one call of the first client, and puts the client at the end.
///
/// *Space.* A call of `s` bytes is accepted if
///
///     used(client) + s ≤ (all - used(others)) / 2   or   used(client) = 0 and s ≤ alone
///
/// So the calls of `n` clients have at most `all + n · alone` bytes. Nobody gets the last byte, and a client that waits for each answer
/// can always call, whatever others do.
///
/// A client may be *suspended*, because an earlier call of it needs what the service does not know yet. It stays out of the line until it
/// was resumed as often. So its calls keep their order (P9), and wait for nothing else.
struct Rounds<Work> {
  /// Sizes in bytes.
  struct Limits {
    var all: Int
    /// The size that the only call of a client may have in any case.
    var alone = 16 << 10
    /// The approximate size of a call without its arguments.
    var ofCall = 256
  }

  private struct Client {
    var waiting: Deque<(work: Work, size: Int)> = []
    var size = 0
    /// The number of reasons for which the client is suspended.
    var suspensions = 0
    var isInLine = false
  }

  private let limits: Limits
  private var clients: [BusName: Client] = [:]
  /// The clients with waiting calls in the order of the present round, and some that have been suspended or dropped since.
  private var line: Deque<BusName> = []
  /// The size of all waiting calls.
  private(set) var size = 0

  init(_ limits: Limits) { self.limits = limits }

  /// Whether nobody waits, and nobody is suspended.
  var isEmpty: Bool { clients.isEmpty }

  /// Whether a client has calls that are still to be served, or is suspended.
  func isWaiting(_ client: BusName) -> Bool { clients[client] != nil }

  /// Whether a client has calls that are served in the next rounds. Its later answers and signals wait for them, which keeps its order.
  func isInLine(_ client: BusName) -> Bool { clients[client].map { $0.isInLine && $0.suspensions == 0 } ?? false }

  /// The size that the next call of a client may have, with its arguments. It is negative if there is no room for any.
  func room(for client: BusName) -> Int {
    let used = clients[client]?.size ?? 0
    let room = (limits.all - (size - used)) / 2 - used
    return (used == 0 ? max(room, limits.alone) : room) - limits.ofCall
  }

  /// Whether there is room for an answer or a signal that has to come after the calls of its sender.
  func hasRoom(for size: Int) -> Bool { size <= (limits.all - self.size) / 2 }

  /// Appends a call with the size of its arguments, or what has to come after the earlier calls of its client.
  mutating func append(_ work: Work, of name: BusName, size: Int) {
    let size = size + limits.ofCall
    self.size += size
    clients[name, default: Client()].waiting.append((work, size))
    clients[name]!.size += size
    enterLine(name)
  }

  /// Removes and returns the call that is served next; nil if none waits, or all clients that wait are suspended.
  mutating func next() -> Work? {
    while let name = line.popFirst() {
      clients[name]?.isInLine = false
      guard clients[name]?.suspensions == 0, let (work, size) = clients[name]?.waiting.popFirst() else { continue }
      self.size -= size
      clients[name]!.size -= size
      enterLine(name)
      return work
    }
    return nil
  }

  /// Puts a client at the end of the line if it has waiting calls. Forgets it if nothing is left of it.
  private mutating func enterLine(_ name: BusName) {
    guard let client = clients[name], client.suspensions == 0, !client.isInLine else { return }
    guard !client.waiting.isEmpty else { return clients[name] = nil }
    clients[name]!.isInLine = true
    line.append(name)
  }

  mutating func suspend(_ client: BusName) { clients[client, default: Client()].suspensions += 1 }

  mutating func resume(_ client: BusName) {
    clients[client]?.suspensions -= 1
    enterLine(client)
  }

  /// Forgets the calls of a client that has left the bus.
  mutating func drop(_ client: BusName) { size -= clients.removeValue(forKey: client)?.size ?? 0 }
}

/// The calls that are served between two questions to the bus.
///
/// The bus keeps the order of messages. When it answers, it has read what the burst has sent, so no reply waits behind much. And the calls
/// that waited in it have come before its answer, so they are in the next round, even those behind megabytes of another client. To read
/// until the socket is empty would not do, since the bus fills it again only later.
struct Burst {
  /// The age at which a call ends its burst, so that a bus that reads nothing is noticed when there are few calls, too.
  private static let longest = Duration.seconds(1)

  /// Whether calls are served; if not, they wait until the bus has answered.
  var isUnderWay = true
  var calls = 0
  private var time = Duration.zero
  private var beginningOfTurn: EventLoop.Instant?
  private let beginning: EventLoop.Instant
  /// The bytes that had been sent before.
  private let sentBefore: Int

  init(at now: EventLoop.Instant, sent: Int = 0) {
    beginning = now
    sentBefore = sent
  }

  mutating func beginTurn(at now: EventLoop.Instant) { beginningOfTurn = beginningOfTurn ?? now }

  mutating func endTurn(at now: EventLoop.Instant) {
    if let begun = beginningOfTurn { time += now - begun }
    beginningOfTurn = nil
  }

  /// Whether no other call is served in this burst.
  func isOver(at now: EventLoop.Instant, sent: Int, _ limits: Connection.Limits) -> Bool {
    calls >= limits.messagesPerTurn || sent - sentBefore > limits.outgoingBytesPerTurn
      || time + (beginningOfTurn.map { now - $0 } ?? .zero) >= limits.timePerBurst
  }

  func isOld(at now: EventLoop.Instant) -> Bool { calls > 0 && now - beginning > Self.longest }
}

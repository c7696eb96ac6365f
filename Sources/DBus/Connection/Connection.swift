import CDBus
import DBusValues
import DequeModule
import EventLoops
import Glibc

/// A connection to a message bus, served by an event loop. It exports objects, makes calls, watches names and receives signals.
///
/// The messages of a turn of the loop are sent at its end in this order: signals as they were made, InterfacesAdded, PropertiesChanged,
/// InterfacesRemoved, then replies and calls as they were made. So a caller has received every change before the reply that announces
/// it. A reply that reports the state (``Method/isReading``) comes after the messages that were made before it, and before those that
/// were made after it. Only signals may wait for the messages of the next turn (``hasMoreToCome``). Use a connection only on the loop's
/// thread.
public final class Connection {
  public struct Limits: Sendable {
    /// The size of the arguments of one request: approximately their bytes, and at least 8 for each value.
    public var requestBytes = 4 << 20
    /// The error for a request larger than ``requestBytes``.
    public var requestTooLarge = DBusError(
      name: .limitsExceeded, message: "expected at most 4 MiB of arguments, found more")
    /// Bytes that are received and not yet handled. Beyond this, reading pauses.
    public var receivedBytes = 16 << 20
    /// Bytes that are not yet written. Beyond this, signals are dropped, nothing is read and no call is served.
    public var outgoingBytes = 16 << 20
    /// Messages that are read in one turn of the loop, and calls that are served in one burst (``Burst``).
    public var messagesPerTurn = 64
    /// Bytes of messages that are made in one turn, and in one burst. Beyond this, answers of any size are made later.
    public var outgoingBytesPerTurn = 1 << 20
    /// The time that the calls of one burst may take.
    public var timePerBurst = Duration.milliseconds(5)
    /// The time without an answer after which the bus counts as silent (``Handlers/onBusSilent``).
    public var longestSilence = Duration.seconds(30)
    /// Bytes of all waiting calls together (``Rounds``).
    public var waitingBytes = 32 << 20
    /// The error for calls that are too large while earlier ones of the same client wait.
    public var tooManyCalls = DBusError(
      name: .limitsExceeded, message: "expected earlier calls to be answered; wait for the answers, then call again")

    public init() {}
  }

  public let loop: EventLoop
  public let limits: Limits
  /// The name that the bus assigned to this connection.
  public var uniqueName: BusName { transport.uniqueName }

  /// The callbacks of a connection, which the program that has opened it sets.
  public struct Handlers {
    /// Called once when the bus ends the connection; not called for ``Connection/close(flushing:)``.
    public var onDisconnected: (() -> Void)?
    /// Called when another connection has taken over one of our names.
    public var onNameLost: ((BusName) -> Void)?
    /// Called at the end of each turn, before its messages are sent. Messages that are made here are sent with them.
    public var beforeFlush: (() -> Void)?
    /// Whether the next turn comes at once and makes more messages. If so, signals that nobody waits for wait for that turn. Signals
    /// never wait for more than one turn.
    public var hasMoreToCome: (() -> Bool)?
    /// Whether the turn still does what earlier turns have had begun. If so, calls wait for the next turn, and never for more than one.
    public var isBusy: (() -> Bool)?
    /// Called with the number of signals of a turn that were dropped because of ``Limits/outgoingBytes``.
    public var onSignalsDropped: ((Int) -> Void)?
    /// Called when signals were dropped, and there is room for signals again.
    public var onSignalsMissed: (() -> Void)?
    /// Called when the bus has read nothing for ``Limits/longestSilence`` although it has been sent something.
    ///
    /// A dbus-daemon stops reading from a sender, for good, when it keeps 1 GB of its messages for clients that do not read them, such as
    /// a stopped watcher. It counts anew for the next connection. So a service that ends now and is started again can serve the other
    /// clients, and keeps no account of slow readers.
    public var onBusSilent: (() -> Void)?
  }

  public var handlers = Handlers()

  /// The treatment of calls from other connections. Replies and signals are received in all cases.
  public enum Callers {
    case served
    /// Each call is answered with the error.
    case refused(DBusError)
    /// Calls are dropped without a reply.
    case ignored
  }

  public var callers = Callers.served

  /// Whether messages can still be exchanged.
  public private(set) var isOpen = true

  let transport: Transport
  var outbox = Outbox()
  private var inbox = Inbox()
  let objects = ExportedObjects()
  var openCalls = OpenCalls()
  var rules = MatchRules()
  var rounds: Rounds<() -> Void>
  private var burst: Burst
  var requiredCallers = RequiredCallers()
  lazy var standardInterfaces = StandardInterfaces(self)

  /// Received messages, as far as they are not handled yet.
  private struct Inbox {
    /// Messages that were received while waiting for a reply. They are handled later in order.
    var postponed: Deque<Message> = []
    var isDrainScheduled = false
    /// Whether the last turn has served no calls, because the service had something to do first.
    var hasYielded = false
    /// Whether messages may be left unhandled because of ``Limits/outgoingBytes``.
    var isDrainPaused = false
  }

  private init(_ transport: Transport, loop: EventLoop, limits: Limits) {
    self.transport = transport
    self.loop = loop
    self.limits = limits
    rounds = Rounds(.init(all: limits.waitingBytes))
    burst = Burst(at: loop.now)
    transport.onReady = { [unowned self] in drain() }
    loop.atEndOfTurn(of: self) { $0.endTurn() }
    // Messages may have been read together with the reply to Hello, and then do not wake the loop.
    scheduleDrain()
  }

  deinit { transport.close() }

  // MARK: Opening and closing

  /// Connects to the bus at a D-Bus address and registers with it. This blocks (in libdbus-1, up to 25 s).
  /// - Throws: `NoServer`, `BadAddress`, `FileNotFound`, … if there is no bus.
  public static func open(
    address: String, loop: EventLoop, limits: Limits = Limits()
  ) throws(DBusError) -> Connection {
    Connection(try Transport(address: address, loop: loop, limits: limits), loop: loop, limits: limits)
  }

  /// Connects to the bus at a D-Bus address, and registers with it without waiting for its answer.
  /// - Parameter completion: called once, in a later turn: when the bus has answered, with `Disconnected` when it has ended the connection,
  ///   or with the error because of which there is none; never if the bus does not answer.
  public static func open(
    address: String, loop: EventLoop, limits: Limits = Limits(),
    _ completion: @escaping (Result<Connection, DBusError>) -> Void
  ) {
    do throws(DBusError) {
      _ = try Transport(address: address, loop: loop, limits: limits) { transport in
        completion(transport.map { Connection($0, loop: loop, limits: limits) })
      }
    } catch {
      loop.soon { completion(.failure(error)) }
    }
  }

  /// Connects to the session bus at `$DBUS_SESSION_BUS_ADDRESS`, or else at `$XDG_RUNTIME_DIR/bus`.
  /// - Throws: the error `AuthFailed` for root if the bus belongs to another user: a program of root would leave files there that the
  ///   user's own programs cannot change.
  public static func session(loop: EventLoop, limits: Limits = Limits()) throws(DBusError) -> Connection {
    let address = try sessionAddress()
    if geteuid() == 0, let owner = BusAddress.owner(of: address), owner != 0 {
      throw DBusError(
        name: .authFailed, message: "this bus belongs to \(BusAddress.nameOfUser(owner)); run it without sudo")
    }
    return try open(address: address, loop: loop, limits: limits)
  }

  /// The address of the session bus.
  public static func sessionAddress() throws(DBusError) -> String {
    if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 { return String(cString: address) }
    if let address = BusAddress.inRuntimeDirectory { return address }
    throw DBusError(
      name: .noServer,
      message: "expected the session bus in DBUS_SESSION_BUS_ADDRESS, or a full path in XDG_RUNTIME_DIR; found neither"
        + (geteuid() == 0 && getenv("SUDO_USER") != nil ? "; run it without sudo" : ""))
  }

  /// Sends the pending messages and ends the connection. Calls without a reply fail with `Disconnected`.
  /// - Parameter flushing: the longest time to wait until the bus has read the messages.
  public func close(flushing: Duration = .seconds(1)) {
    guard isOpen else { return }
    flush()
    let deadline = loop.now + flushing
    while transport.isConnected, transport.outgoingSize > 0, loop.now < deadline {
      transport.readWrite(wait: deadline - loop.now)
    }
    end()
  }

  private func end() {
    isOpen = false
    transport.close()
    inbox.postponed = []
    rounds = Rounds(.init(all: limits.waitingBytes))
    requiredCallers = RequiredCallers()
    let unsent = outbox.first + outbox.entries
    outbox = Outbox()
    objects.changes = ObjectChanges()
    failPendingCalls()
    for case .call(_, let pending) in unsent { pending.finish(.failure(.disconnected())) }
  }

  // MARK: Receiving

  /// The number of bytes that are not yet written.
  public var outgoingSize: Int { transport.outgoingSize }

  var isFull: Bool { transport.outgoingSize > limits.outgoingBytes }

  func scheduleDrain() {
    guard !inbox.isDrainScheduled else { return }
    inbox.isDrainScheduled = true
    loop.soon { [weak self] in
      self?.inbox.isDrainScheduled = false
      self?.drain()
    }
  }

  private func drain() {
    for _ in 0..<limits.messagesPerTurn where isOpen && !isFull {
      guard let message = inbox.postponed.isEmpty ? transport.pop() : inbox.postponed.removeFirst() else { break }
      handle(message)
    }
    serveCalls()
    guard isOpen else { return }
    if isFull {
      inbox.isDrainPaused = true
    } else if !inbox.postponed.isEmpty || transport.hasIncoming {
      scheduleDrain()
    }
  }

  /// Serves calls in rounds until the burst is over.
  private func serveCalls() {
    guard !rounds.isEmpty, burst.isUnderWay else { return }
    // Programs that earlier calls have had begun start first: a client may ask now whether they could be started.
    if !inbox.hasYielded, handlers.isBusy?() ?? false {
      inbox.hasYielded = true
      return scheduleDrain()
    }
    inbox.hasYielded = false
    burst.beginTurn(at: loop.now)
    while isOpen, !isFull, !burst.isOver(at: loop.now, sent: sentSize, limits), let call = rounds.next() {
      call()
      burst.calls += 1
    }
  }

  /// The size of all messages since the start, in bytes.
  private var sentSize: Int { transport.sentSize + outbox.size }

  /// Ends a turn of a burst. If the burst is over, it ends with a question to the bus, whose answer begins the next one.
  private func endTurnOfBurst() {
    let now = loop.now
    burst.endTurn(at: now)
    guard burst.isUnderWay, burst.isOver(at: now, sent: sentSize, limits) || burst.isOld(at: now) else { return }
    burst.isUnderWay = false
    let silence = loop.timer(after: limits.longestSilence) { [weak self] in self?.handlers.onBusSilent?() }
    call(Bus.getID, on: Bus.name, at: Bus.path, (), timeout: nil) { [weak self] _ in
      silence.cancel()
      // Calls are served at the end of the drain that has read the answer.
      if let self { burst = Burst(at: loop.now, sent: sentSize) }
    }
    sendOutbox()
  }

  private func handle(_ message: Message) {
    switch message.kind {
    case .methodCall:
      switch callers {
      case .served: serve(message)
      case .refused(let error): refuse(message, error)
      case .ignored: break
      }
    case .methodReturn, .error: handleInOrder(message) { $0.completeCall($1) }
    case .signal:
      if message.isLocalDisconnect {
        end()
        handlers.onDisconnected?()
      } else {
        handleInOrder(message) { $0.deliver($1) }
      }
    // "Unknown types must be ignored" (D-Bus Specification, *Message Format*).
    case .unknown: break
    }
  }

  /// Handles an answer or a signal after the calls that its sender has made before, if there is room to keep it. What nobody expects is
  /// handled at once.
  private func handleInOrder(_ message: Message, _ handle: @escaping (Connection, Message) -> Void) {
    // libdbus-1 stops reading when too much of what it has read is kept. So a copy is kept.
    guard let sender = message.sender, rounds.isInLine(sender), isExpected(message, from: sender),
      let size = message.size, rounds.hasRoom(for: size), let copy = message.copy
    else { return handle(self, message) }
    rounds.append({ [weak self] in if let self { handle(self, copy) } }, of: sender, size: size)
  }

  private func isExpected(_ message: Message, from sender: BusName) -> Bool {
    message.kind == .signal ? isSubscribed(to: message, from: sender) : openCalls.pending[message.replySerial] != nil
  }

  /// Answers a call at once: answers that wait for the end of the turn would pile up during a blocking call.
  private func refuse(_ call: Message, _ error: DBusError) {
    guard !isFull, let address = ReplyAddress(call), address.isWanted, let message = try? address.error(error)
    else {
      return
    }
    _ = transport.send(message)
  }

  // MARK: Sending

  /// Sends the messages of the turn, then pauses or resumes reading. Each turn ends with this.
  public func flush() {
    guard isOpen else { return }
    handlers.beforeFlush?()
    send()
  }

  private func endTurn() {
    guard isOpen else { return }
    handlers.beforeFlush?()
    let hasSignals = !outbox.signals.isEmpty || !objects.changes.all.isEmpty
    outbox.areSignalsDelayed =
      hasSignals && outbox.isWithoutReplies && !outbox.areSignalsDelayed && handlers.hasMoreToCome?() ?? false
    if !outbox.areSignalsDelayed { send() }
  }

  private func send() {
    sendOutbox()
    endTurnOfBurst()
    transport.write()
    transport.isReading = !isFull
    if inbox.isDrainPaused, transport.isReading {
      inbox.isDrainPaused = false
      scheduleDrain()
    }
    if !isFull, outbox.hasDroppedSignals {
      outbox.hasDroppedSignals = false
      loop.soon { [weak self] in self?.handlers.onSignalsMissed?() }
    }
    transport.applyInterest()
  }

  // MARK: Blocking calls

  /// Sends calls at once, before the messages of this turn, and blocks until all replies have arrived. Meanwhile the loop does not run,
  /// and other messages are kept for later.
  /// - Parameter timeout: the time for all replies; nil to wait for ever.
  /// - Returns: the replies, in the order of the calls.
  /// - Throws: the first error in a reply, `Timeout` or `Disconnected`.
  public func callAndWait(
    _ calls: [OutgoingMessage], timeout: Duration? = defaultTimeout
  ) throws(DBusError) -> [Message] {
    var serials: [UInt32] = []
    for call in calls {
      guard isOpen, let serial = transport.send(call) else { throw .disconnected() }
      serials.append(serial)
    }
    // What was read together with the last reply does not wake the loop any more.
    defer { if transport.hasIncoming { scheduleDrain() } }
    let deadline = timeout.map { loop.now + $0 }
    var replies: [Message?] = Array(repeating: nil, count: calls.count)
    while true {
      while let message = transport.pop() {
        if let index = serials.firstIndex(of: message.replySerial), message.isAnswer(from: calls[index].destination) {
          if let error = message.error { throw error }
          replies[index] = message
          if !replies.contains(where: { $0 == nil }) { return replies.compactMap { $0 } }
        } else if canWait(message) {
          inbox.postponed.append(message)
          scheduleDrain()
        }
      }
      guard transport.isConnected else { throw .disconnected() }
      let rest = deadline.map { $0 - loop.now }
      if let rest, rest <= .zero { throw .timedOut(calls[replies.firstIndex { $0 == nil }!], after: timeout) }
      transport.readWrite(wait: rest)
    }
  }

  /// Whether a message is kept until a blocking call has its reply. The size of kept messages is limited. So others could keep the
  /// reply from being read by sending calls that are refused, descriptors, or signals and replies that nobody expects.
  private func canWait(_ message: Message) -> Bool {
    switch message.kind {
    case .methodCall:
      switch callers {
      case .served where !message.hasDescriptors: return true
      case .served: refuse(message, .undeclaredDescriptors())
      case .refused(let error): refuse(message, error)
      case .ignored: break
      }
      return false
    case .methodReturn, .error: return openCalls.pending[message.replySerial] != nil
    case .signal:
      if message.isLocalDisconnect || message.sender == Bus.name { return true }
      return !message.hasDescriptors && rules.subscriptions.contains { $0.rule.matches(message) }
    case .unknown: return false
    }
  }
}

extension Message {
  /// Whether this is libdbus-1's own signal for the end of the connection. The bus lets no client send it.
  fileprivate var isLocalDisconnect: Bool {
    dbus_message_is_signal(raw, "org.freedesktop.DBus.Local", "Disconnected") != 0
  }

  /// Whether this is a reply to a call to `destination`, and its sender may be the one that was called, or the bus.
  func isAnswer(from destination: BusName?) -> Bool {
    guard kind == .methodReturn || kind == .error else { return false }
    guard let destination, let sender else { return true }
    // The owner of a well-known name is not known here.
    guard destination.isUnique || destination == Bus.name else { return true }
    return sender == destination || sender == Bus.name
  }
}

// Why this file exists: everything that goes over one connection to a bus, in and out, passes here.

import CDBus
import DBusValues
import EventLoops
import Glibc

/// A connection to a message bus, served by an event loop: exports objects, makes calls, follows names and signals.
///
/// What is sent in a turn of the loop is collected and goes out at its end in this order: signals as they were made,
/// InterfacesAdded, PropertiesChanged, InterfacesRemoved, then replies and calls as they were made. So nobody learns the
/// answer before the change. Everything happens on the loop's thread.
public final class Connection {
  /// What a connection takes in and puts out.
  public struct Limits: Sendable {
    /// What the arguments of one request may cost, about their bytes and at least 8 for each value.
    public var requestBytes = 4 << 20
    /// The answer to a request past ``requestBytes``.
    public var requestTooLarge = DBusError(
      name: .limitsExceeded, message: "the arguments are larger than a request may be (4 MiB)")
    /// Bytes received and not yet handled, past which reading pauses.
    public var receivedBytes = 16 << 20
    /// Descriptors received and not yet handled, past which reading pauses.
    public var receivedDescriptors = 64
    /// Bytes that wait to be written, past which signals are dropped and no more requests are read.
    public var outgoingBytes = 16 << 20
    /// How many messages are handled in a turn of the loop.
    public var messagesPerTurn = 64

    public init() {}
  }

  public let loop: EventLoop
  public let limits: Limits
  /// By which the bus knows this connection.
  public let uniqueName: BusName

  /// The bus has gone, or thrown us out. Called once; not for ``close(flushing:)``.
  public var onDisconnected: (() -> Void)?
  /// A name that was ours is another's.
  public var onNameLost: ((BusName) -> Void)?
  /// Called at the end of each turn, before what was made in it goes out; what the hook makes goes out with it.
  public var beforeFlush: (() -> Void)?
  /// So many signals of a turn were not sent since too much waits to be written.
  public var onSignalsDropped: ((Int) -> Void)?

  /// Whether messages can still be exchanged.
  public private(set) var isOpen = true

  /// Whether calls of others are taken in; while they are not they keep, and answers and signals come all the same.
  public var isServing = true {
    didSet {
      guard isServing, !unserved.isEmpty else { return }
      postponed = unserved + postponed
      unserved = []
      planDrain()
    }
  }

  let transport: Transport
  var outbox = Outbox()
  var objects = ObjectTree()
  var changes = ObjectChanges()
  var pendingCalls: [UInt32: PendingCall] = [:]
  /// How many answers came that nobody waited for: too late, not wanted, or made up by their sender.
  var answersWithoutCall = 0
  var subscriptions: [Subscription] = []
  var followedNames: [BusName: FollowedName] = [:]
  var heldCalls: [BusName: HeldCalls] = [:]
  /// What every object has, made when it is first asked for.
  lazy var standardInterfaces = StandardInterfaces(self)
  /// What has arrived while a call was waited for, to be handled in its turn.
  private var postponed: [Message] = []
  /// Calls that came while nobody was to be served.
  private var unserved: [Message] = []
  private var isDrainPlanned = false
  /// Whether there may be messages that were not handled because too much waited to be written.
  private var isHeldBack = false

  private init(_ transport: Transport, loop: EventLoop, limits: Limits) {
    self.transport = transport
    self.loop = loop
    self.limits = limits
    uniqueName = transport.uniqueName
    transport.onReady = { [unowned self] in drain() }
    loop.atEndOfTurn { [weak self] in self?.flush() }
    // Bytes that were read while we said hello do not wake the loop.
    planDrain()
  }

  deinit { transport.close() }

  // MARK: Opening and closing

  /// Connects to the bus at a D-Bus address and says hello to it; waits for both (libdbus-1: 25 s at most).
  /// - Throws: `NoServer`, `BadAddress`, `FileNotFound`, … if there is no bus.
  public static func open(
    address: String, loop: EventLoop, limits: Limits = Limits()
  ) throws(DBusError) -> Connection {
    Connection(try Transport(address: address, loop: loop, limits: limits), loop: loop, limits: limits)
  }

  /// Connects to the session bus: at `$DBUS_SESSION_BUS_ADDRESS`, else at `$XDG_RUNTIME_DIR/bus`.
  public static func session(loop: EventLoop, limits: Limits = Limits()) throws(DBusError) -> Connection {
    try open(address: sessionAddress(), loop: loop, limits: limits)
  }

  private static func sessionAddress() throws(DBusError) -> String {
    if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 { return String(cString: address) }
    if let directory = getenv("XDG_RUNTIME_DIR") { return "unix:path=\(BusAddress.escaped(directory))/bus" }
    throw DBusError(
      name: .noServer, message: "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR says where the session bus is")
  }

  /// Sends what is to be sent, and ends the connection. Calls that have no answer yet fail with `Disconnected`.
  /// - Parameter flushing: how long the bus may take to read at most.
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
    postponed = []
    unserved = []
    heldCalls = [:]
    let unsent = outbox.answers
    outbox = Outbox()
    changes = ObjectChanges()
    failPendingCalls()
    for case .call(_, let pending?) in unsent { pending.finish(.failure(.disconnected())) }
  }

  // MARK: Taking messages in

  /// How many bytes wait to be written.
  public var outgoingSize: Int { transport.outgoingSize }

  private var isCongested: Bool { transport.outgoingSize > limits.outgoingBytes }

  func planDrain() {
    guard !isDrainPlanned else { return }
    isDrainPlanned = true
    loop.soon { [weak self] in
      self?.isDrainPlanned = false
      self?.drain()
    }
  }

  private func drain() {
    var room = limits.messagesPerTurn
    while isOpen {
      guard !isCongested else {
        isHeldBack = true
        return
      }
      guard room > 0 else {
        if !postponed.isEmpty || transport.hasIncoming { planDrain() }
        return
      }
      room -= 1
      guard let message = postponed.isEmpty ? transport.pop() : postponed.removeFirst() else { return }
      handle(message)
    }
  }

  private func handle(_ message: Message) {
    switch message.kind {
    case .methodCall: if isServing { serve(message) } else { unserved.append(message) }
    case .methodReturn, .error: completeCall(message)
    case .signal:
      if message.isLocalDisconnect {
        end()
        onDisconnected?()
      } else {
        deliver(message)
      }
    // "Unknown types must be ignored" (D-Bus Specification, *Message Format*).
    case .unknown: break
    }
  }

  // MARK: Sending

  /// Sends what the turn has made; then lets requests in again, or not.
  func flush() {
    guard isOpen else { return }
    beforeFlush?()
    sendOutbox()
    transport.write()
    transport.isReading = !isCongested
    if isHeldBack, transport.isReading {
      isHeldBack = false
      planDrain()
    }
    transport.applyInterest()
  }

  // MARK: Waiting for an answer

  /// Sends a call at once, ahead of what the turn has made, and waits for its answer; other messages keep. For programs
  /// that have nothing else to do: the loop stands still.
  /// - Parameter timeout: nil for ever.
  /// - Throws: the error that was answered, `Timeout`, `Disconnected`.
  public func callAndWait(
    _ call: OutgoingMessage, timeout: Duration? = defaultTimeout
  ) throws(DBusError) -> Message {
    guard isOpen, let serial = transport.send(call) else { throw .disconnected() }
    let deadline = timeout.map { loop.now + $0 }
    while true {
      while let message = transport.pop() {
        if message.replySerial == serial, message.isAnswer(from: call.destination) {
          if let error = message.error { throw error }
          return message
        }
        postponed.append(message)
        planDrain()
      }
      guard transport.isConnected else { throw .disconnected() }
      let rest = deadline.map { $0 - loop.now }
      if let rest, rest <= .zero { throw .timedOut(call, after: timeout) }
      transport.readWrite(wait: rest)
    }
  }
}

extension Message {
  /// What libdbus-1 makes up when the connection is gone; the bus lets nobody send it.
  fileprivate var isLocalDisconnect: Bool {
    dbus_message_is_signal(raw, "org.freedesktop.DBus.Local", "Disconnected") != 0
  }

  /// Whether this answers a call to `destination`: nobody else may, but for the bus itself.
  func isAnswer(from destination: BusName?) -> Bool {
    guard kind == .methodReturn || kind == .error else { return false }
    guard let destination, let sender else { return true }
    // Who owns a well-known name is the bus's to know.
    guard destination.isUnique || destination == Bus.name else { return true }
    return sender == destination || sender == Bus.name
  }
}

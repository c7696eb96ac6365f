import DBusValues
import EventLoops

/// The output of a connection, as far as the next call waits for it.
protocol ServingOutput: AnyObject {
  /// Whether messages can still be exchanged.
  var isOpen: Bool { get }
  /// The number of bytes that are not yet written.
  var outgoingSize: Int { get }
  /// The number of bytes of the messages that this turn has made.
  var turnSize: Int { get }
  /// Whether nothing more may be answered before the bus has read.
  var isCongested: Bool { get }
  /// Whether no reply is to be sent at the end of this turn, and the next turn has no message to make.
  var isQuiet: Bool { get }
  /// Whether a client leaves much unread.
  func isStalled(_ client: BusName) -> Bool
}

/// Decides whose call is served now, so that no client waits long because of another (L2).
///
/// Calls are served as they arrive, unless their client is *held*. Then they are read and kept in their order. A client is held for
/// each of these reasons, which may overlap:
///
/// | from | until | by |
/// |---|---|---|
/// | a call that needs what the service does not know yet | the service knows it | the service, ``RequiredCallers`` |
/// | a call that has taken long, or has made much output | nothing more comes from the bus | ``LongCalls`` |
/// | a call with a large reply | the reply has left, one after the other | ``LargeReplies`` |
/// | the client leaves much unread | it reads again | ``SlowReaders`` |
///
/// When the last reason has ended, the kept calls are served in a few turns, while there is room for their replies. They have a limit
/// for each client and one for all together, beyond which calls are refused.
public final class ServingOrder {
  let loop: EventLoop
  let limits: Connection.Limits
  unowned let output: any ServingOutput
  private(set) var heldCalls: [BusName: HeldCalls] = [:]
  /// The size of all held calls, in bytes.
  private(set) var heldBytes = 0
  /// The clients whose held calls wait only for room for their replies.
  private var waitingForRoom: Set<BusName> = []
  var longCalls = LongCalls()
  var largeReplies = LargeReplies()
  var requiredCallers = RequiredCallers()

  init(loop: EventLoop, limits: Connection.Limits, output: any ServingOutput) {
    self.loop = loop
    self.limits = limits
    self.output = output
  }

  /// Whether the messages of this turn have so many bytes that further calls are served in the next turn.
  var isTurnFull: Bool { output.turnSize > limits.outgoingBytesPerTurn }

  /// Reads all later calls of a client, but does not serve them until ``release(_:)`` was called as often as this.
  /// - Parameter refusal: the error for calls that together exceed ``Connection/Limits/requestBytes``, or
  ///   ``Connection/Limits/heldBytes`` together with those of other clients.
  public func hold(_ client: BusName, refusing refusal: DBusError) {
    let held = heldCalls[client] ?? HeldCalls(budget: limits.requestBytes, refusal: refusal)
    held.holds += 1
    heldCalls[client] = held
  }

  /// Serves the held calls of a client in their order while there is room for their replies, at most
  /// ``Connection/Limits/messagesPerTurn`` in a turn.
  public func release(_ client: BusName) {
    heldCalls[client]?.holds -= 1
    serveHeld(client)
  }

  /// Forgets the held calls of a client that has left the bus.
  func drop(_ client: BusName) {
    guard let held = heldCalls.removeValue(forKey: client) else { return }
    heldBytes -= limits.requestBytes - held.budget
  }

  /// Forgets all calls, because the connection has ended.
  func dropAll() {
    heldCalls = [:]
    heldBytes = 0
    waitingForRoom = []
    longCalls = LongCalls()
    largeReplies = LargeReplies()
    requiredCallers = RequiredCallers()
  }

  /// Reads the arguments of a call.
  /// - Parameter body: called with the arguments, and with the held calls behind which this one waits. (To return them would need a
  ///   generic tuple, whose type the runtime looks up at each call.)
  /// - Throws: the error of the arguments, or that for a call that is too large, or beyond the limits of held calls.
  func withArguments<Input>(
    by client: BusName, _ read: (_ budget: inout Int) throws(DBusError) -> Input, _ body: (Input, HeldCalls?) -> Void
  ) throws(DBusError) {
    let held = heldCalls.isEmpty ? nil : heldCalls[client]
    do throws(DBusError) {
      if let held {
        guard heldBytes < limits.heldBytes else { throw held.refusal }
        let before = held.budget
        defer { heldBytes += before - held.budget }
        body(try held.reading(read), held)
      } else {
        var budget = limits.requestBytes
        body(try read(&budget), nil)
      }
    } catch {
      throw error.name == .limitsExceeded ? held?.refusal ?? limits.requestTooLarge : error
    }
  }

  private func serveHeld(_ client: BusName) {
    for _ in 0..<limits.messagesPerTurn where !isTurnFull {
      guard let held = heldCalls[client], held.holds == 0 else { return }
      guard !output.isCongested else {
        waitingForRoom.insert(client)
        return
      }
      let before = held.budget
      guard let call = held.pop() else {
        heldBytes -= limits.requestBytes - held.budget
        heldCalls[client] = nil
        return
      }
      heldBytes -= held.budget - before
      yieldingToOthers(client, call)
    }
    loop.soon { [weak self] in self?.serveHeld(client) }
  }

  /// Serves the calls that wait for room for their replies. Call this at the end of a turn, after its messages were sent.
  func serveNext() {
    serveThoseWaitingForRoom()
    continueLongCalls()
    continueLargeReplies()
  }

  private func serveThoseWaitingForRoom() {
    guard !waitingForRoom.isEmpty, !output.isCongested else { return }
    let clients = waitingForRoom
    waitingForRoom = []
    loop.soon { [weak self] in
      for client in clients { self?.serveHeld(client) }
    }
  }
}

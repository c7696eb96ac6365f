import DBusValues
import DequeModule
import EventLoops

/// The calls of a client that are read but not served yet, because of an earlier call of the client, or until it reads.
final class HeldCalls {
  /// The approximate size of a call without its arguments, in bytes.
  private static let callSize = 256

  private var calls: Deque<(call: () -> Void, size: Int)> = []
  /// The size of the call that was read last, in bytes, until it is appended.
  private var sizeRead = 0
  /// The number of reasons for which the calls wait. If there is none, they are being served.
  fileprivate var holds = 0
  /// The size left for further calls, in bytes.
  fileprivate var budget: Int
  /// The error for calls beyond the budget.
  fileprivate let refusal: DBusError

  fileprivate init(budget: Int, refusal: DBusError) {
    self.budget = budget
    self.refusal = refusal
  }

  /// Appends the call whose arguments were read last.
  func append(_ call: @escaping () -> Void) {
    calls.append((call, sizeRead))
    sizeRead = 0
  }

  /// The next call. Its size does not count any more.
  fileprivate func pop() -> (() -> Void)? {
    guard let (call, size) = calls.popFirst() else { return nil }
    budget += size
    return call
  }

  /// Reads the arguments of one more call.
  /// - Throws: the error of `read`, or `refusal` beyond the budget.
  fileprivate func reading<Input>(_ read: (inout Int) throws(DBusError) -> Input) throws(DBusError) -> Input {
    var rest = budget - Self.callSize
    guard rest >= 0 else { throw refusal }
    let input = try read(&rest)
    sizeRead = budget - rest
    budget = rest
    return input
  }
}

extension Connection {
  /// Reads all later calls of a client, but does not serve them until ``release(_:)`` was called as often as this.
  /// - Parameter refusal: the error for calls that together exceed ``Limits/requestBytes``, or ``Limits/heldBytes`` together with those
  ///   of other clients.
  public func hold(_ client: BusName, refusing refusal: DBusError) {
    let held = heldCalls[client] ?? HeldCalls(budget: limits.requestBytes, refusal: refusal)
    held.holds += 1
    heldCalls[client] = held
  }

  /// Serves the held calls of a client in their order while there is room for their replies, at most ``Limits/messagesPerTurn`` in a
  /// turn.
  public func release(_ client: BusName) {
    heldCalls[client]?.holds -= 1
    serveHeld(client)
  }

  /// Forgets the held calls of a client that has left the bus.
  func drop(_ client: BusName) {
    guard let held = heldCalls.removeValue(forKey: client) else { return }
    heldBytes -= limits.requestBytes - held.budget
  }

  private func serveHeld(_ client: BusName) {
    for _ in 0..<limits.messagesPerTurn where !isTurnFull {
      guard let held = heldCalls[client], held.holds == 0 else { return }
      guard !isCongested else {
        clientsWaitingForRoom.insert(client)
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

  /// Serves the held calls that wait for room for their replies. Call this at the end of a turn, after its messages were sent.
  func continueHeldCalls() {
    guard !clientsWaitingForRoom.isEmpty, !isCongested else { return }
    let clients = clientsWaitingForRoom
    clientsWaitingForRoom = []
    loop.soon { [weak self] in
      for client in clients { self?.serveHeld(client) }
    }
  }

  /// Reads the arguments of a call. It replies with an error if they are invalid or too large.
  /// - Parameter body: called with the arguments, and with the held calls behind which this one waits. (To return them would need a
  ///   generic tuple, whose type the runtime looks up at each call.)
  func withArguments<Input>(
    of address: ReplyAddress, _ read: (_ budget: inout Int) throws(DBusError) -> Input,
    _ body: (Input, HeldCalls?) -> Void
  ) {
    slowReaders.note(caller: address.caller)
    let held = heldCalls.isEmpty ? nil : heldCalls[address.caller]
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
      let isTooLarge = error.name == .limitsExceeded
      fail(address, isTooLarge ? held?.refusal ?? limits.requestTooLarge : error)
    }
  }
}

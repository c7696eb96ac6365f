// Why this file exists: where one call of a client cannot be judged at once, its later calls wait behind it, and nobody
// else's do.

import DBusValues
import EventLoops

/// The calls of a client that are read and not served yet.
final class HeldCalls {
  /// What a call takes beside its arguments, about.
  private static let cost = 256

  private var calls: [() -> Void] = []
  private var next = 0
  /// Whether they are being served.
  fileprivate var isReleased = false
  /// What further calls may cost.
  private var budget: Int
  /// The answer to those for which there is no room.
  fileprivate let refusal: DBusError

  fileprivate init(budget: Int, refusal: DBusError) {
    self.budget = budget
    self.refusal = refusal
  }

  func append(_ call: @escaping () -> Void) { calls.append(call) }

  fileprivate func pop() -> (() -> Void)? {
    guard next < calls.count else { return nil }
    defer { next += 1 }
    return calls[next]
  }

  /// Reads the arguments of one more call.
  /// - Throws: what `read` throws, and the refusal where there is no room for them.
  fileprivate func room<Input>(for read: (inout Int) throws(DBusError) -> Input) throws(DBusError) -> Input {
    budget -= Self.cost
    guard budget >= 0 else { throw refusal }
    return try read(&budget)
  }
}

extension Connection {
  /// Keeps all later calls of a client until ``release(_:)``, read but not served.
  ///
  /// Together they may be no larger than one request may; others are answered with an error.
  /// - Parameter refusal: that error.
  public func hold(_ client: BusName, refusing refusal: DBusError) {
    let held = heldCalls[client] ?? HeldCalls(budget: limits.requestBytes, refusal: refusal)
    held.isReleased = false
    heldCalls[client] = held
  }

  /// Serves what was kept of a client, in its order, and no more of it in a turn than of the bus.
  public func release(_ client: BusName) {
    heldCalls[client]?.isReleased = true
    serveHeld(client)
  }

  private func serveHeld(_ client: BusName) {
    for _ in 0..<limits.messagesPerTurn {
      guard let held = heldCalls[client], held.isReleased else { return }
      guard let call = held.pop() else {
        heldCalls[client] = nil
        return
      }
      call()
    }
    loop.soon { [weak self] in self?.serveHeld(client) }
  }

  /// Reads the arguments of a call; answers with an error where they cannot be read, or are too much.
  /// - Parameter body: is given the arguments, and what the call has to wait behind. (As a value both would be a type that
  ///   the runtime has to look for at each call.)
  func withArguments<Input>(
    of address: ReplyAddress, _ read: (_ budget: inout Int) throws(DBusError) -> Input,
    _ body: (Input, HeldCalls?) -> Void
  ) {
    let held = heldCalls.isEmpty ? nil : heldCalls[address.caller]
    do throws(DBusError) {
      if let held {
        body(try held.room(for: read), held)
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

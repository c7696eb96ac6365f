// Why this file exists: who waits for a presentation is answered once, when what they wait for has come or never will.

import CoordinatorCore
import DBus
import DBusValues
import PresentationRules

/// Those who wait, by presentation.
struct Waiters {
  /// The answer: the reason of an end, empty where what was waited for came and no end did; and the result.
  typealias WaitCall = Call<(String, Properties)>
  private typealias Waiter = (phase: WaitPhase, call: WaitCall)

  private var waiting: [Handle: [Waiter]] = [:]
  /// How many of a client's calls wait for what.
  private var handles: [BusName: [Handle: Int]] = [:]
  private var counts: [BusName: Int] = [:]

  /// How many calls of a client wait.
  func count(of client: BusName) -> Int { counts[client] ?? 0 }

  mutating func add(_ call: WaitCall, for handle: Handle, until phase: WaitPhase) {
    waiting[handle, default: []].append((phase, call))
    handles[call.sender, default: [:]][handle, default: 0] += 1
    counts[call.sender, default: 0] += 1
  }

  mutating func arrived(_ handle: Handle) {
    for waiter in take(handle, where: { $0.phase == .presented }) { waiter.call.reply(("", [:])) }
  }

  mutating func ended(_ handle: Handle, _ reason: Reason, _ result: Properties) {
    for waiter in take(handle, where: { _ in true }) { waiter.call.reply((reason.rawValue, result)) }
  }

  /// A client left, and wants no answer any more.
  mutating func forget(_ client: BusName) {
    let refusal = Refusal(.shuttingDown, "its client left the bus")
    for handle in handles[client, default: [:]].keys {
      for waiter in take(handle, where: { $0.call.sender == client }) { waiter.call.fail(DBusError(refusal)) }
    }
  }

  /// Tells all who wait that they can ask again later (R5).
  mutating func refuseAll() {
    let refusal = Refusal(.shuttingDown, "navd is being stopped; ask again by the same handle when it is back")
    for handle in waiting.keys {
      for waiter in take(handle, where: { _ in true }) { waiter.call.fail(DBusError(refusal)) }
    }
  }

  private mutating func take(_ handle: Handle, where isMeant: (Waiter) -> Bool) -> [Waiter] {
    guard let all = waiting[handle] else { return [] }
    let taken = all.filter(isMeant)
    let rest = all.filter { !isMeant($0) }
    waiting[handle] = rest.isEmpty ? nil : rest
    for waiter in taken { uncount(handle, of: waiter.call.sender) }
    return taken
  }

  private mutating func uncount(_ handle: Handle, of client: BusName) {
    guard let all = counts[client], let count = handles[client]?[handle] else { return }
    counts[client] = all > 1 ? all - 1 : nil
    handles[client]![handle] = count > 1 ? count - 1 : nil
    if handles[client]!.isEmpty { handles[client] = nil }
  }
}

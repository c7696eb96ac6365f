import DBusValues
import PresentationModel
import PresentationRules

/// The unanswered calls of `Wait`, by presentation.
struct Waiters {
  /// The answer: the reason of the end, empty if the presentation is presented; and the result.
  typealias WaitCall = any ServiceCall<(String, Properties)>
  private typealias Waiter = (phase: WaitPhase, call: WaitCall)

  private var waiting: [Handle: [Waiter]] = [:]
  /// The number of a client's calls, by presentation.
  private var handles: [Client: [Handle: Int]] = [:]
  private var counts: [Client: Int] = [:]

  /// The number of a client's calls without an answer.
  func count(of client: Client) -> Int { counts[client] ?? 0 }

  mutating func add(_ call: WaitCall, for handle: Handle, until phase: WaitPhase) {
    waiting[handle, default: []].append((phase, call))
    handles[call.client, default: [:]][handle, default: 0] += 1
    counts[call.client, default: 0] += 1
  }

  /// Answers the calls that wait for a presentation to be presented.
  mutating func presented(_ handle: Handle) {
    for waiter in take(handle, where: { $0.phase == .presented }) { waiter.call.reply(("", [:])) }
  }

  /// Answers all calls that wait for a presentation.
  mutating func ended(_ handle: Handle, _ reason: Reason, _ result: Properties) {
    for waiter in take(handle, where: { _ in true }) { waiter.call.reply((reason.rawValue, result)) }
  }

  /// Drops the calls of a client that left.
  mutating func forget(_ client: Client) {
    let refusal = Refusal(.shuttingDown, "the client left the bus")
    for handle in handles[client, default: [:]].keys {
      for waiter in take(handle, where: { $0.call.client == client }) { waiter.call.fail(refusal) }
    }
  }

  /// Removes a cancelled call.
  /// - Returns: whether it was waiting.
  mutating func remove(_ call: AnyObject) -> Bool {
    for handle in waiting.keys where !take(handle, where: { $0.call === call }).isEmpty { return true }
    return false
  }

  /// Refuses every call (R5).
  mutating func refuseAll(_ refusal: Refusal) {
    for handle in waiting.keys {
      for waiter in take(handle, where: { _ in true }) { waiter.call.fail(refusal) }
    }
  }

  private mutating func take(_ handle: Handle, where isMeant: (Waiter) -> Bool) -> [Waiter] {
    guard let all = waiting[handle] else { return [] }
    let taken = all.filter(isMeant)
    guard !taken.isEmpty else { return [] }
    let rest = all.filter { !isMeant($0) }
    waiting[handle] = rest.isEmpty ? nil : rest
    for waiter in taken { uncount(handle, of: waiter.call.client) }
    return taken
  }

  private mutating func uncount(_ handle: Handle, of client: Client) {
    guard let all = counts[client], let count = handles[client]?[handle] else { return }
    counts[client] = all > 1 ? all - 1 : nil
    handles[client]![handle] = count > 1 ? count - 1 : nil
    if handles[client]!.isEmpty { handles[client] = nil }
  }
}

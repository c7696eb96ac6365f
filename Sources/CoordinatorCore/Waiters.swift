import DBusValues
import PresentationModel
import PresentationRules

/// The unanswered calls of `Wait`. To add or remove a call takes constant time, however many calls wait.
struct Waiters {
  /// The answer: the reason of the end, empty if the presentation has not ended; and the result.
  typealias WaitCall = any ServiceCall<(String, Properties)>

  private struct Waiter {
    let phase: WaitPhase
    let call: WaitCall
    /// The number of the call. Calls are answered in the order of their numbers.
    let number: UInt64
  }

  private var waiting: [Handle: [ObjectIdentifier: Waiter]] = [:]
  /// The presentation that each call of a client waits for.
  private var handles: [Client: [ObjectIdentifier: Handle]] = [:]
  private var lastNumber: UInt64 = 0

  /// The number of calls without an answer.
  private(set) var count = 0

  /// The number of a client's calls without an answer.
  func count(of client: Client) -> Int { handles[client]?.count ?? 0 }

  mutating func add(_ call: WaitCall, for handle: Handle, until phase: WaitPhase) {
    lastNumber += 1
    count += 1
    waiting[handle, default: [:]][ObjectIdentifier(call)] = Waiter(phase: phase, call: call, number: lastNumber)
    handles[call.client, default: [:]][ObjectIdentifier(call)] = handle
  }

  /// Answers the calls that wait for a presentation to be presented.
  mutating func presented(_ handle: Handle) { answer(handle, ("", [:])) { $0.phase == .presented } }

  /// Answers the calls that wait for the end of a dismissal, if the presenter keeps the presentation.
  mutating func kept(_ handle: Handle, _ result: Properties) { answer(handle, ("", result)) { $0.phase == .settled } }

  /// Answers all calls that wait for a presentation.
  mutating func ended(_ handle: Handle, _ reason: Reason, _ result: Properties) {
    answer(handle, (reason.rawValue, result)) { _ in true }
  }

  private mutating func answer(_ handle: Handle, _ answer: (String, Properties), where fits: (Waiter) -> Bool) {
    guard let all = waiting[handle] else { return }
    for waiter in Self.inOrder(all.values.filter(fits)) where remove(waiter.call) { waiter.call.reply(answer) }
  }

  /// Drops the calls of a client that left.
  mutating func forget(_ client: Client) {
    let refusal = Refusal(.shuttingDown, "the client left the bus")
    for (id, handle) in handles[client] ?? [:] {
      guard let call = waiting[handle]?[id]?.call, remove(call) else { continue }
      call.fail(refusal)
    }
  }

  /// Removes a cancelled call.
  /// - Returns: whether the call was waiting.
  mutating func remove(_ call: any ServiceCall) -> Bool {
    let id = ObjectIdentifier(call)
    guard let handle = handles[call.client]?.removeValue(forKey: id) else { return false }
    count -= 1
    if handles[call.client]!.isEmpty { handles[call.client] = nil }
    waiting[handle]![id] = nil
    if waiting[handle]!.isEmpty { waiting[handle] = nil }
    return true
  }

  /// Refuses every call (R5).
  mutating func refuseAll(_ refusal: Refusal) {
    let all = waiting.values.flatMap { $0.values }
    waiting = [:]
    handles = [:]
    count = 0
    for waiter in Self.inOrder(all) { waiter.call.fail(refusal) }
  }

  private static func inOrder(_ waiters: some Sequence<Waiter>) -> [Waiter] { waiters.sorted { $0.number < $1.number } }
}

import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRules

/// logind's inhibitor locks: one for each presented item that asks for one, and one that delays the
/// sleep of the computer until the items that sleep dismisses have ended (H5, H7).
/// `InhibitedAction` has the words of the destination files.
final class Inhibitors: Feature {
  private enum Purpose: Hashable {
    case item(Handle)
    case sleep
  }

  private enum Lock {
    /// The request of this number is under way.
    case asked(UInt64)
    case held(Descriptor)
    case refused
  }

  private let logind: LogindFacts
  private let log: Logger
  private var locks: [Purpose: Lock] = [:]
  /// The presented items that ask for a lock.
  private var items: [Handle: (what: String, who: String)] = [:]
  /// The presentations on the screen that have to end before the computer sleeps.
  private var sleepers: Set<Handle> = []
  private var isAsleep = false
  private var lastQuestion: UInt64 = 0
  /// The timer after which refused locks are requested again.
  private var retry: Timer?
  private var pause = firstPause
  private static let firstPause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(60)

  init(_ logind: LogindFacts, log: Logger) {
    self.logind = logind
    self.log = log
    logind.inhibitors = self
  }

  func note(_ happening: Happening, in machine: borrowing StateMachine) {
    switch happening {
    case .resumed: follow(machine)
    case .event(_, let change): note(change.event, in: machine)
    default: break
    }
  }

  /// Takes the locks of items that an earlier navd has presented.
  private func follow(_ machine: borrowing StateMachine) {
    isAsleep = machine.holdsInForce.contains(SessionFact.sleep.rawValue)
    machine.forEachPresentation { presentation in
      guard presentation.phase.isLive else { return }
      if presentation.phase == .presented { presented(presentation.handle, presentation.binding, presentation.item) }
      appeared(presentation.handle, presentation.item)
    }
    updateAll()
  }

  /// Takes the locks again, because an earlier logind has lost them.
  func takeAll() {
    locks = [:]
    pause = Self.firstPause
    updateAll()
  }

  /// Asks again later: logind refuses locks while it prepares for sleep, and beyond a number of
  /// them.
  private func askAgain() {
    for (purpose, lock) in locks { if case .refused = lock { locks[purpose] = nil } }
    updateAll()
  }

  /// Takes or releases locks after a change.
  func note(_ event: Change.Event, in machine: borrowing StateMachine) {
    switch event {
    case .presented(let handle, let binding, _, let item):
      presented(handle, binding, item)
      appeared(handle, item)
      update(.item(handle))
    case .phase(let handle, _, _, .presenting):
      if let presentation = machine.presentation(handle) { appeared(handle, presentation.item) }
    case .phase(let handle, _, _, .dismissing):
      items[handle] = nil
      update(.item(handle))
    case .declined(let handle, let binding, _, _):
      // The item stays, so waiting for its end would only cause a delay.
      if isAsleep { sleepers.remove(handle) }
      if let presentation = machine.presentation(handle) { presented(handle, binding, presentation.item) }
      update(.item(handle))
    case .dismissed(let handle, _, _, _, _):
      items[handle] = nil
      sleepers.remove(handle)
      update(.item(handle))
    case .hold(SessionFact.sleep.rawValue, let isInForce):
      guard isAsleep != isInForce else { return }
      isAsleep = isInForce
      guard !isInForce else { return askAgain() }
      machine.forEachPresentation { presentation in
        if presentation.phase.isLive { appeared(presentation.handle, presentation.item) }
      }
    default: return
    }
    update(.sleep)
  }

  private func presented(_ handle: Handle, _ binding: BindingID, _ item: Shared<Item>) {
    guard let inhibits = item.destination?.itemSettings?.inhibits, !inhibits.isEmpty else { return }
    items[handle] = (inhibits.map(\.rawValue).sorted().joined(separator: ":"), item.title ?? binding.text)
  }

  private func appeared(_ handle: Handle, _ item: Shared<Item>) {
    if item.holds[SessionFact.sleep.rawValue] == .dismiss { sleepers.insert(handle) }
  }

  /// The request for a lock; nil if it is not wanted.
  private func wanted(_ purpose: Purpose) -> (what: String, who: String, why: String, mode: String)? {
    switch purpose {
    case .item(let handle): items[handle].map { ($0.what, $0.who, "It is presented by navd", "block") }
    case .sleep: sleepers.isEmpty ? nil : ("sleep", "navd", "Private windows close first", "delay")
    }
  }

  private func updateAll() {
    for purpose in Set(items.keys.map(Purpose.item)).union(locks.keys).union([.sleep]) { update(purpose) }
  }

  private func update(_ purpose: Purpose) {
    // Closing the last copy of its descriptor ends a lock.
    guard let wanted = wanted(purpose) else { return locks[purpose] = nil }
    guard locks[purpose] == nil, let system = logind.system else { return }
    lastQuestion += 1
    let question = lastQuestion
    locks[purpose] = .asked(question)
    // A logind that does not answer is not asked again: each call would stay in the bus.
    system.call(
      Logind.Manager.inhibit, on: Logind.name, at: Logind.path, wanted, timeout: nil, autoStart: false
    ) { [weak self] result in self?.answered(question, for: purpose, result) }
  }

  private func answered(_ question: UInt64, for purpose: Purpose, _ result: Result<Descriptor, DBusError>) {
    // The lock may no longer be wanted, or the answer may come from an earlier logind.
    guard case .asked(question)? = locks[purpose] else { return }
    switch result {
    case .success(let descriptor):
      locks[purpose] = .held(descriptor)
      pause = Self.firstPause
    case .failure(let error):
      locks[purpose] = .refused
      if pause == Self.firstPause {
        log.warning("logind gives no inhibitor lock, and is asked again: \(error.message)")
      }
      guard retry?.isPending != true, let loop = logind.system?.loop else { return }
      retry = loop.timer(after: pause) { [weak self] in self?.askAgain() }
      pause = min(pause * 2, Self.longestPause)
    }
  }
}

import DBusValues
import PresentationModel
import PresentationRules

/// Simulated presenters: they are slow, fail, answer late, twice or never, decline, ask their users, lose windows, and end
/// presentations by themselves. Their reports wait in a box until the dice deliver them.
struct Presenters {
  private var box: [Input] = []
  /// The presentations that follow windows.
  private var withWindows: Set<Handle> = []
  private var lastResult: Int32 = 0

  var isEmpty: Bool { box.isEmpty }

  private mutating func result() -> Properties {
    lastResult += 1
    // Some commands say that they have failed (K3).
    return lastResult % 3 == 0
      ? ["n": .int32(lastResult)] : ["n": .int32(lastResult), "status": .int32(lastResult % 3 - 1)]
  }

  /// Puts the reports that a command causes into the box.
  ///
  /// - Parameters:
  ///   - faults: the percentage of commands that are not answered exactly once.
  ///   - wishes: the percentage of dismissals that are declined, or about which a user is asked, forced or not.
  ///   - window: how it follows windows, if it does.
  mutating func take(
    _ command: PresenterCommand, faults: Int, wishes: Int, window: WindowFollowing?, _ dice: inout SplitMix64
  ) {
    if case .present(let handle) = command, window != nil { withWindows.insert(handle) }
    if case .dismiss(let handle, _, _, let isForced) = command, window?.hides == true, !isForced || dice.chance(10),
      dice.chance(70)
    {
      box.append(.report(.hidden(handle)))
      if dice.chance(faults) { box.append(.report(.hidden(handle))) }
      // A report of hidden windows may come too late, so another answer to the dismissal follows.
      if isForced { box.append(.report(.dismissAnswered(handle, result: result()))) }
      return
    }
    if case .dismiss(let handle, _, _, let isForced) = command, window != nil, dice.chance(8) {
      box.append(.report(.guestHidden(handle)))
      if isForced { box.append(.report(.dismissAnswered(handle, result: result()))) }
      return
    }
    if case .dismiss(let handle, _, _, _) = command, dice.chance(wishes) {
      switch dice.below(3) {
      case 0: box += [.report(.declined(handle, message: ""))]
      case 1: box += [.report(.declined(handle, message: "")), .report(.declined(handle, message: "twice"))]
      default: box.append(.asking(handle, byPresenter: true))
      }
    } else if case .dismiss(let handle, _, _, _) = command, window != nil, dice.chance(60) {
      box.append(.report(.windowsGone(handle, isFinal: true)))
    } else {
      box += answers(to: command, faults: faults, &dice).map { .report($0) }
    }
  }

  /// Puts what a program says by itself about a presentation that is starting into the box, most times.
  mutating func sayReady(_ handle: Handle, _ dice: inout SplitMix64) {
    if dice.chance(90) { box.append(.report(.ready(handle))) }
  }

  private mutating func answers(to command: PresenterCommand, faults: Int, _ dice: inout SplitMix64) -> [Report] {
    switch command {
    case .present(let handle):
      // The first window may come long after the start timeout.
      if withWindows.contains(handle), dice.chance(20) { return [.startsSlowly(handle)] }
      guard dice.chance(faults) else { return [.presentAnswered(handle, error: nil)] }
      return switch dice.below(5) {
      // A program with windows reports at least that it starts slowly.
      case 0: withWindows.contains(handle) ? [.startsSlowly(handle)] : []
      case 1: [.presentAnswered(handle, error: "cannot")]
      case 2: [.presentAnswered(handle, error: nil), .presentAnswered(handle, error: dice.chance(50) ? "late" : nil)]
      case 3: [.ended(handle, failed: dice.chance(50), result: result())]
      default: [.presentAnswered(handle, error: nil), .ended(handle, failed: dice.chance(50), result: result())]
      }
    case .update(let handle, _):
      // The caller of presenters takes an error, or no reply in time, as an answer that ends nothing (D8).
      return [.updateAnswered(handle)]
    case .dismiss(let handle, _, _, _), .kill(let handle):
      guard dice.chance(faults) else { return [.dismissAnswered(handle, result: result())] }
      return switch dice.below(4) {
      case 0: []
      case 1: [.dismissAnswered(handle, result: result()), .dismissAnswered(handle, result: result())]
      case 2: [.ended(handle, failed: dice.chance(50), result: result()), .dismissAnswered(handle, result: [:])]
      default: [.presentAnswered(handle, error: "cancelled"), .dismissAnswered(handle, result: result())]
      }
    case .raise, .bring, .move, .releaseParked: return []
    case .endParked(let program, let isForced):
      return dice.chance(isForced ? 90 : 60) ? [.parkedEnded(program)] : [.parkedStays(program, message: "asks")]
    case .abandon(let handle):
      return dice.chance(faults) ? [.dismissAnswered(handle, result: result())] : []
    }
  }

  /// Drops the reports of a presenter about a presentation, since it has left the bus.
  mutating func forget(_ handle: Handle) {
    box.removeAll { input in
      switch input {
      case .report(let report): report.handle == handle
      case .asking(let asking, _): asking == handle
      default: false
      }
    }
  }

  /// Drops all reports, since navd was killed.
  /// - Returns: the presentations whose end was reported in them.
  mutating func forgetAll() -> Set<Handle> {
    defer { box = [] }
    return Set(
      box.compactMap { report in
        switch report {
        case .report(.ended(let handle, _, _)), .report(.dismissAnswered(let handle, _)): handle
        default: nil
        }
      })
  }

  /// The next report; presenters do not wait for each other.
  mutating func next(_ dice: inout SplitMix64) -> Input? {
    guard !box.isEmpty else { return nil }
    let input = box.remove(at: dice.below(box.count))
    switch input {
    case .asking(let handle, _):
      // The user answers some time, however late that is.
      box.append(
        .report(
          dice.chance(50) ? .declined(handle, message: "") : .dismissAnswered(handle, result: result())))
    case .report(let report): box += whatFollows(report, &dice).map { .report($0) }
    default: break
    }
    return input
  }

  /// The reports that a presenter of windows makes some time after another report (N3).
  private mutating func whatFollows(_ report: Report, _ dice: inout SplitMix64) -> [Report] {
    switch report {
    case .presentAnswered(let handle, error: nil), .windowsBack(let handle):
      guard withWindows.contains(handle), dice.chance(40) else { return [] }
      return [.windowsGone(handle, isFinal: dice.chance(40))]
    case .startsSlowly(let handle):
      return dice.chance(70) ? [.presentAnswered(handle, error: nil)] : [end(handle, failed: dice.chance(50))]
    case .windowsGone(let handle, isFinal: false):
      return switch dice.below(4) {
      case 0: []
      case 1: [.windowsBack(handle)]
      case 2: [.windowsGone(handle, isFinal: true)]
      default: [end(handle, failed: dice.chance(30))]
      }
    case .windowsGone(let handle, isFinal: true):
      return switch dice.below(6) {
      case 0: []
      case 1: [end(handle, failed: dice.chance(30)), end(handle, failed: dice.chance(30))]
      case 2: [.dismissAnswered(handle, result: result())]
      default: [end(handle, failed: dice.chance(30))]
      }
    default: return []
    }
  }

  /// A report that no presenter would make.
  mutating func nonsense(_ handles: UInt64, _ dice: inout SplitMix64) -> Report {
    let handle = Handle(handles + 2 - min(handles + 2, UInt64(dice.below(16))))
    return switch dice.below(17) {
    case 16: .ready(handle)
    case 15: .guestHidden(handle)
    case 14: .startsSlowly(handle)
    case 8: .windowsGone(handle, isFinal: true)
    case 9: .windowsGone(handle, isFinal: false)
    case 10: .windowsBack(handle)
    case 0: .presentAnswered(handle, error: nil)
    case 11: .presenterLeft(handle)
    case 12: .presenterReturned(handle)
    case 13: .parkedStays(handle, message: "stays")
    case 6: .hidden(handle)
    case 7: .parkedEnded(handle)
    case 1: .presentAnswered(handle, error: "no")
    case 2: .updateAnswered(handle)
    case 3: .declined(handle, message: "no")
    case 4: .dismissAnswered(handle, result: result())
    default: .ended(handle, failed: dice.chance(50), result: result())
    }
  }

  mutating func end(_ handle: Handle, failed: Bool) -> Report { .ended(handle, failed: failed, result: result()) }

  /// The report that the windows of a presentation are gone; what follows goes into the box.
  mutating func loseWindows(of handle: Handle, _ dice: inout SplitMix64) -> Report {
    let report = Report.windowsGone(handle, isFinal: dice.chance(50))
    box += whatFollows(report, &dice).map { .report($0) }
    return report
  }

  mutating func closing() -> Properties { result() }
}

extension Report {
  fileprivate var handle: Handle? {
    switch self {
    case .presentAnswered(let handle, _), .ready(let handle), .updateAnswered(let handle),
      .dismissAnswered(let handle, _),
      .declined(let handle, _), .hidden(let handle), .guestHidden(let handle), .outputGone(let handle),
      .parkedShown(let handle), .parkedEnded(let handle), .parkedStays(let handle, _),
      .asking(let handle, _), .presenterLeft(let handle), .presenterReturned(let handle), .windowsGone(let handle, _),
      .windowsBack(let handle), .startsSlowly(let handle), .hung(let handle, _), .ended(let handle, _, _):
      handle
    case .focused(let handle, _): handle
    case .focusLost, .noFocus: nil
    }
  }
}

import DBusValues
import PresentationModel
import PresentationRules

/// Simulated presenters: they are slow, fail, answer late, twice or never, and end presentations by themselves. Their reports
/// wait in a box until the dice deliver them.
struct Presenters {
  private var box: [Report] = []
  private var lastResult: Int32 = 0

  var isEmpty: Bool { box.isEmpty }

  private mutating func result() -> Properties {
    lastResult += 1
    return ["n": .int32(lastResult)]
  }

  /// Puts the reports that a command causes into the box.
  ///
  /// - Parameter faults: the percentage of commands that are not answered exactly once.
  mutating func take(_ command: Command, faults: Int, _ dice: inout SplitMix64) {
    switch command {
    case .present(let handle):
      guard dice.chance(faults) else {
        box.append(.presentAnswered(handle, error: nil))
        return
      }
      switch dice.below(5) {
      case 0: break
      case 1: box.append(.presentAnswered(handle, error: "cannot"))
      case 2:
        box += [.presentAnswered(handle, error: nil), .presentAnswered(handle, error: dice.chance(50) ? "late" : nil)]
      case 3: box.append(.ended(handle, failed: dice.chance(50), result: result()))
      default: box += [.presentAnswered(handle, error: nil), .ended(handle, failed: dice.chance(50), result: result())]
      }
    case .update(let handle, _):
      // Whoever calls presenters takes an error, or no reply in time, for an answer: it ends nothing (D8).
      box.append(.updateAnswered(handle))
    case .dismiss(let handle, _, _), .kill(let handle):
      guard dice.chance(faults) else {
        box.append(.dismissAnswered(handle, result: result()))
        return
      }
      switch dice.below(4) {
      case 0: break
      case 1: box += [.dismissAnswered(handle, result: result()), .dismissAnswered(handle, result: result())]
      case 2: box += [.ended(handle, failed: dice.chance(50), result: result()), .dismissAnswered(handle, result: [:])]
      default: box += [.presentAnswered(handle, error: "cancelled"), .dismissAnswered(handle, result: result())]
      }
    case .abandon(let handle):
      if dice.chance(faults) { box.append(.dismissAnswered(handle, result: result())) }
    }
  }

  /// Drops all reports, since navd was killed.
  /// - Returns: the presentations whose end was reported in them.
  mutating func forgetAll() -> Set<Handle> {
    defer { box = [] }
    return Set(
      box.compactMap { report in
        switch report {
        case .ended(let handle, _, _), .dismissAnswered(let handle, _): handle
        case .presentAnswered, .updateAnswered: nil
        }
      })
  }

  /// The next report; presenters do not wait for each other.
  mutating func next(_ dice: inout SplitMix64) -> Report? { box.isEmpty ? nil : box.remove(at: dice.below(box.count)) }

  /// A report that no presenter would make.
  mutating func nonsense(_ handles: UInt64, _ dice: inout SplitMix64) -> Report {
    let handle = Handle(handles + 2 - min(handles + 2, UInt64(dice.below(16))))
    return switch dice.below(5) {
    case 0: .presentAnswered(handle, error: nil)
    case 1: .presentAnswered(handle, error: "no")
    case 2: .updateAnswered(handle)
    case 3: .dismissAnswered(handle, result: result())
    default: .ended(handle, failed: dice.chance(50), result: result())
    }
  }

  mutating func end(_ handle: Handle, failed: Bool) -> Report { .ended(handle, failed: failed, result: result()) }

  mutating func closing() -> Properties { result() }
}

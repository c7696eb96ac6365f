// Why this file exists: what somebody waits for may have been so for long; who serves the contract answers that at once, and
// only keeps the others.

import CoordinatorAPI
import DBusValues
import PresentationRules
import TextFormats

/// What can be waited for.
package enum WaitPhase: String, CaseIterable, Sendable {
  case presented, gone
}

/// What `Wait` is answered, and when.
package enum WaitAnswer: Sendable {
  /// The reason is empty where it is presented, and did not end.
  case now(reason: String, Properties)
  case later(Handle, WaitPhase)
}

extension StateMachine {
  /// Whether a presentation has come as far as asked for, or has ended before.
  /// - Throws: `Refusal`: `invalidArgument` for what cannot be waited for, `unknownPresentation`.
  package func wait(for path: ObjectPath, until word: String) throws(Refusal) -> WaitAnswer {
    guard let phase = WaitPhase(rawValue: word) else {
      let words = WaitPhase.allCases.map(\.rawValue).joined(separator: " or ")
      throw Refusal(.invalidArgument, "phase is \(quoted(word)); \(words) would do")
    }
    let handle = try Handle(path)
    try requireKnown(handle)
    if let ending = ending(of: handle) { return .now(reason: ending.reason.rawValue, ending.result) }
    if phase == .presented, presentation(handle)?.presentedAt != nil { return .now(reason: "", [:]) }
    return .later(handle, phase)
  }
}

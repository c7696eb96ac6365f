import DBusValues
import Logging
import PresentationModel
import PresentationRules

/// Logs what was presented and what has ended.
final class EventLog: Feature {
  private let log: Logger

  init(_ log: Logger) { self.log = log }

  func note(_ happening: Happening, in machine: borrowing StateMachine) {
    guard case .event(_, let change) = happening else { return }
    switch change.event {
    case .presented(let handle, let binding, _, _):
      log.debug("presented", metadata: ["binding": "\(binding)", "presentation": "\(handle)"])
    case .dismissed(let handle, let binding, _, let reason, let result):
      // The metadata is computed only for log levels that are enabled.
      func metadata() -> Logger.Metadata {
        ["binding": "\(binding)", "presentation": "\(handle)", "reason": "\(reason.rawValue)"]
      }
      if let next = machine.current(at: binding)?.continuation, next.restarts > 0 {
        note(restart: next, after: result, metadata)
      } else if reason == .failed, let error = PresentationResult(result).error {
        log.warning("\(error)", metadata: metadata())
      } else {
        log.debug("dismissed", metadata: metadata())
      }
    default: break
    }
  }

  /// Logs the restart of an item (K3), but only its first one, so that a program that never runs for long does not fill the log.
  private func note(restart: Continuation, after result: Properties, _ metadata: () -> Logger.Metadata) {
    let cause = PresentationResult(result).error ?? "the item ended by itself"
    if restart.restarts == 1 {
      log.notice("\(cause); it is presented again", metadata: metadata())
    } else {
      log.debug("\(cause); it is presented again, for the \(restart.restarts)th time", metadata: metadata())
    }
  }
}

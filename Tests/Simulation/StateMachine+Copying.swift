import PresentationModel

@testable import PresentationRules

extension StateMachine {
  /// Copies the whole state.
  func copy() -> StateMachine {
    var copy = StateMachine(limits: limits)
    copy.state = state
    return copy
  }

  /// Ends all parked programs and all presentations, as `Quit` does (R5).
  mutating func shutDown(by client: Client? = nil, at now: Instant) -> Outcome {
    let ended = endParked(isForced: true)
    var outcome = end(beginShutDown(), by: client, at: now)
    outcome.changes = ended.changes + outcome.changes
    outcome.commands += ended.commands
    return outcome
  }
}

extension RecordedState {
  mutating func apply(_ changes: RecordChanges) {
    if let numbers = changes.numbers { self.numbers = numbers }
    for (key, row) in changes.presentations { presentations[key] = row }
    for (key, row) in changes.tags { tags[key] = row }
    for (key, row) in changes.endings { endings[key] = row?.content }
    for (key, row) in changes.containerValues { containerValues[key] = row }
    for (key, row) in changes.registrations { registrations[key] = row }
    for (key, row) in changes.holders { holders[key] = row }
    for (name, row) in changes.environment { environment[name] = row }
    for (key, row) in changes.loginItems { loginItems[key] = row }
    for (name, row) in changes.loginHolds { loginHolds[name] = row }
  }
}

import PresentationModel

extension StateMachine {
  /// The changes since the last call, to be recorded (R1). The cost is that of the changes, not of the whole state. Only a machine that
  /// was made by `init(limits:restoring:)` notes changes.
  public mutating func takeUnrecorded() -> RecordChanges {
    var changes = RecordChanges()
    let numbers = RecordedState.Numbers(
      serial: serial, lastHandle: lastHandle, lastQueueAge: state.lastQueueAge)
    if numbers != state.recordedNumbers {
      changes.numbers = numbers
      state.recordedNumbers = numbers
    }
    guard state.hasNoted else { return changes }
    // The handles of changed presentations and parked programs.
    var handles = state.presentations.takeNotedKeys()
    handles += state.parked.takeNotedKeys()
    changes.loginItems = takeUnrecordedLoginItems(state.slots.takeNotedKeys(), handles)
    handles.removeRepetitions()
    changes.presentations = handles.map { ($0, row(of: $0)) }
    changes.tags = state.tagMemory.takeNoted { memory, stamp in
      RecordedState.Tag(
        binding: memory.binding, id: memory.id, options: memory.options, isTrusted: memory.isTrusted, stamp: stamp)
    }
    changes.endings = state.endings.takeNoted { ending, _ in ending }
    changes.containerValues = state.containerValueDeclarations.takeNoted { $0.defaultValue }
    changes.registrations = state.registry.takeNoted()
    if state.holders.hasNoted || state.comparesLoginHolds {
      state.comparesLoginHolds = false
      changes.loginHolds = takeUnrecordedLoginHolds()
    }
    changes.holders = state.holders.takeNoted { $0 }
    changes.environment = state.environment.takeNoted { $0 }
    return changes
  }

  /// The presentations that may have changed since `takeUnrecorded` was last called.
  public var unrecordedPresentations: Set<Handle> { state.presentations.notedKeys }

  private func row(of handle: Handle) -> RecordedState.PresentationRow? {
    guard let presentation = state.presentations[handle] else { return state.parked[handle]?.row }
    return RecordedState.PresentationRow(presentation)
  }

}

extension State {
  /// Whether anything but the counters may differ from the record.
  fileprivate var hasNoted: Bool {
    presentations.hasNoted || slots.hasNoted || parked.hasNoted
      || containerValueDeclarations.hasNoted || tagMemory.hasNoted || endings.hasNoted
      || registry.hasNoted || holders.hasNoted || environment.hasNoted || departed.hasNoted || comparesLoginItems
      || comparesLoginHolds
  }

  mutating func beginNoting() {
    presentations.isNoting = true
    slots.isNoting = true
    containerValueDeclarations.isNoting = true
    tagMemory.isNoting = true
    endings.isNoting = true
    parked.isNoting = true
    registry.isNoting = true
    holders.isNoting = true
    environment.isNoting = true
    departed.isNoting = true
  }
}

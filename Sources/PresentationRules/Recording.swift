import PresentationModel

extension StateMachine {
  /// The changes to record: everything that changed since this was last called (R1). Its cost is that of the changes, not
  /// of the whole state. Only for a machine made by `init(limits:restoring:)`; other machines do not note changes.
  public mutating func takeUnrecorded() -> RecordChanges {
    var changes = RecordChanges()
    let numbers = RecordedState.Numbers(
      serial: serial, lastHandle: lastHandle, lastQueueAge: state.lastQueueAge, changesForgotten: state.changesForgotten
    )
    if numbers != state.recordedNumbers {
      changes.numbers = numbers
      state.recordedNumbers = numbers
    }
    var handles = state.presentations.takeNoted() + state.parked.takeNoted()
    let slots = state.slots.takeNoted()
    changes.kept = takeUnrecordedKeptItems(slots, handles)
    for binding in slots {
      if let slot = state.slots[binding], let holder = slot.current ?? slot.dismissing { handles.append(holder) }
    }
    for handle in handles.distinct { changes.presentations.append((handle, row(of: handle))) }
    for subject in state.takeSubjects() { changes.changed.append((subject, row(of: subject))) }
    for key in state.tagMemory.takeNoted() {
      let row = state.tagMemory.stamped(key).map { memory, stamp in
        RecordedState.Tag(
          binding: memory.binding, id: memory.id, options: memory.options, isTrusted: memory.isTrusted, stamp: stamp)
      }
      changes.tags.append((key, row))
    }
    for handle in state.endings.takeNoted() { changes.endings.append((handle, state.endings[handle])) }
    for key in state.containerValueDeclarations.takeNoted() {
      changes.containerValues.append((key, state.containerValueDeclarations[key]?.defaultValue))
    }
    for name in state.registry.takeNoted() {
      let registrations = state.registry.registrationsOfClients(name)
      changes.registrations.append((name, registrations.isEmpty ? nil : registrations))
    }
    for key in state.holders.takeNoted() { changes.holders.append((key, state.holders[key])) }
    return changes
  }

  /// The presentations that may have changed since `takeUnrecorded` was last called.
  public var unrecordedPresentations: Set<Handle> { state.presentations.notedKeys }

  private func row(of handle: Handle) -> RecordedState.PresentationRow? {
    guard var presentation = state.presentations[handle] else { return state.parked[handle]?.row }
    presentation.children = []
    presentation.announced = nil
    var row = RecordedState.PresentationRow(presentation)
    row.slotChanged = state.slots[presentation.binding]?.changed ?? Serial(0)
    return row
  }

  private func row(of subject: Subject) -> RecordedState.Changed? {
    var row = RecordedState.Changed()
    switch subject {
    case .slot: break
    case .group(let group): row.present = state.groups[group]?.changed
    case .stack(let stack): row.present = state.stacks[stack]?.changed
    }
    if let absent = state.changesOfAbsent.stamped(subject) { (row.absent, row.stamp) = absent }
    return row == RecordedState.Changed() ? nil : row
  }
}

extension State {
  fileprivate mutating func takeSubjects() -> [Subject] {
    var subjects = changesOfAbsent.takeNoted()
    for group in groups.takeNoted() { subjects.append(.group(group)) }
    for stack in stacks.takeNoted() { subjects.append(.stack(stack)) }
    return subjects.distinct
  }

  mutating func beginNoting() {
    presentations.isNoting = true
    slots.isNoting = true
    groups.isNoting = true
    stacks.isNoting = true
    containerValueDeclarations.isNoting = true
    tagMemory.isNoting = true
    endings.isNoting = true
    parked.isNoting = true
    changesOfAbsent.isNoting = true
    registry.isNoting = true
    holders.isNoting = true
    departed.isNoting = true
  }
}

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
    guard state.hasNoted else { return changes }
    var handles: [Handle] = []
    // For a presentation, the one that it replaces, and what its slot holds.
    handles.reserveCapacity(4)
    state.presentations.takeNotedKeys { handles.append($0) }
    state.parked.takeNotedKeys { handles.append($0) }
    var slots: [BindingID] = []
    state.slots.takeNotedKeys { slots.append($0) }
    changes.kept = takeUnrecordedKeptItems(slots, handles)
    for binding in slots {
      if let slot = state.slots[binding], let holder = slot.current ?? slot.dismissing { handles.append(holder) }
    }
    handles.takeDistinct { changes.presentations.append(($0, row(of: $0))) }
    var subjects: [Subject] = []
    state.changesOfAbsent.takeNotedKeys { subjects.append($0) }
    state.groups.takeNotedKeys { subjects.append(.group($0)) }
    state.stacks.takeNotedKeys { subjects.append(.stack($0)) }
    subjects.takeDistinct { changes.changed.append(($0, row(of: $0))) }
    state.tagMemory.takeNoted { key, entry in
      let row = entry.map { memory, stamp in
        RecordedState.Tag(
          binding: memory.binding, id: memory.id, options: memory.options, isTrusted: memory.isTrusted, stamp: stamp)
      }
      changes.tags.append((key, row))
    }
    state.endings.takeNoted { handle, ending in changes.endings.append((handle, ending?.value)) }
    state.containerValueDeclarations.takeNoted { key, declaration in
      changes.containerValues.append((key, declaration?.defaultValue))
    }
    state.registry.takeNoted { name, registrations in
      changes.registrations.append((name, registrations.isEmpty ? nil : registrations))
    }
    state.holders.takeNoted { key, holder in changes.holders.append((key, holder)) }
    return changes
  }

  /// The presentations that may have changed since `takeUnrecorded` was last called.
  public var unrecordedPresentations: Set<Handle> { state.presentations.notedKeys }

  private func row(of handle: Handle) -> RecordedState.PresentationRow? {
    guard let presentation = state.presentations[handle] else { return state.parked[handle]?.row }
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
  /// Whether anything but the counters may differ from the record.
  fileprivate var hasNoted: Bool {
    presentations.hasNoted || slots.hasNoted || groups.hasNoted || stacks.hasNoted || parked.hasNoted
      || containerValueDeclarations.hasNoted || tagMemory.hasNoted || endings.hasNoted || changesOfAbsent.hasNoted
      || registry.hasNoted || holders.hasNoted || departed.hasNoted || comparesKeptItems
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

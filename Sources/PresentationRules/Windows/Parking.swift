import DBusValues
import PresentationModel

// Programs that go on after a dismissal has hidden their windows (N8).

/// A program that has ended for the state. It waits to be shown again.
struct Parked: Sendable {
  /// The last presentation that the program showed, under the handle for which the program was started and without relations to others.
  let presentation: Presentation
  /// The presentation that shows the program again, until the windows are shown.
  var claimant: Handle?
  /// Whether the program was ordered to end without asking its user.
  var isEnding = false
  /// The reason why the program stays, since it was asked to end; nil if it was not, or has not answered.
  var stays: String?

  init(_ presentation: Presentation) {
    var item = presentation.item
    (item.membership, item.position, item.owner, item.timeout) = (nil, nil, nil, nil)
    self.presentation = Presentation(
      handle: presentation.program ?? presentation.handle, binding: presentation.binding, item: item, phase: .presented)
  }

  /// The row of the program in the record.
  var row: RecordedState.PresentationRow { RecordedState.PresentationRow(parked: presentation, stays: stays) }

  /// Whether the program has shown what another presentation is to show: an item of the same destination, binding and id.
  fileprivate func isProgram(of other: Presentation) -> Bool {
    other.binding == presentation.binding && other.item.id == presentation.item.id
      && other.item.destination?.name == presentation.item.destination?.name
  }

  /// Whether a file says now that another program shows the items of the destination, or that none is to be hidden.
  /// - Parameter destination: the destination of the same name.
  fileprivate func isOutdated(by destination: Destination) -> Bool {
    guard case .file = destination.source else { return false }
    // A guest is hidden whatever the file says of dismissals (N12).
    let wasHiding = presentation.item.destination?.window?.hides == true
    return destination.window == nil || wasHiding && destination.window?.hides != true
      || destination.presenter != presentation.item.destination?.presenter
  }
}

/// A parked program as watchers see it.
struct ShownParked: Hashable, Sendable {
  let program: Handle
  let isOutdated: Bool
  let stays: String?
}

extension Presentation {
  /// The same presentation, under the handle for which its program was started.
  package var ofProgram: Presentation {
    guard let program = self.program else { return self }
    var copy = Presentation(handle: program, binding: self.binding, item: self.item, phase: self.phase)
    copy.presentedAt = self.presentedAt
    return copy
  }
}

extension State {
  /// The handles of the parked programs that watchers see: those without a claimant, the oldest first.
  var listedParked: [Handle] { parked.filter { $0.value.claimant == nil }.keys.sorted() }

  /// The parked programs as watchers see them, the oldest first.
  fileprivate var shownParked: [ShownParked] {
    listedParked.map { ShownParked(program: $0, isOutdated: isOutdated($0), stays: parked[$0]!.stays) }
  }

  /// The destination of the parked program that shows an item; nil if there is no such program.
  func destinationOfParked(_ binding: BindingID, id: String, _ name: String) -> Shared<Destination>? {
    guard !parked.isEmpty else { return nil }
    let program = listedParked.first { program in
      guard let parked = parked[program], !parked.isEnding else { return false }
      return parked.presentation.binding == binding && parked.presentation.item.id == id
        && parked.presentation.item.destination?.name == name
    }
    return program.flatMap { parked[$0]?.presentation.item.destination }
  }

  fileprivate func isOutdated(_ program: Handle) -> Bool {
    guard let parked = parked[program], let name = parked.presentation.item.destination?.name,
      let written = registry.file(name)
    else { return false }
    return parked.isOutdated(by: written.content)
  }
}

extension StateMachine {
  /// The parked programs, the oldest first: the last presentation of each, under the handle for which the program was started.
  public var parked: [Presentation] { state.listedParked.map { state.parked[$0]!.presentation } }

  /// Whether the file of a parked program's destination has another command now, so that the program is not shown again.
  public func isOutdated(_ program: Handle) -> Bool { state.isOutdated(program) }

  /// The reason why a parked program stays, since it was asked to end; nil if it was not, or has not answered.
  public func reasonToStay(of program: Handle) -> String? { state.parked[program]?.stays }

  var countOfParked: Int { state.listedParked.count }

  /// Presents what a parked program shows again, as a request for it would: its user has shown the windows, or has to see them. What
  /// cannot be presented stays parked, and so does what would replace another item.
  mutating func presentShown(_ program: Handle, at now: Instant) -> Outcome {
    guard let parked = state.parked[program], parked.claimant == nil, !parked.isEnding, !isOutdated(program),
      case let presentation = parked.presentation, state.slots[presentation.binding]?.current == nil
    else { return Outcome() }
    var options = ItemOptions()
    options.destination = presentation.item.destination?.name
    let request = Request(.present(presentation.binding, id: presentation.item.id, options))
    return (try? perform(request, by: nil, at: now).outcome) ?? Outcome()
  }

  /// Ends every parked program.
  /// - Parameter isForced: whether programs must not ask their users.
  public mutating func endParked(isForced: Bool) -> Outcome { process { $0.endParked(isForced: isForced) } }
}

extension Transition {
  /// Notes that the windows of a presentation are hidden and that its program goes on. This ends the dismissal.
  mutating func park(_ handle: Handle) {
    guard let presentation = state.presentations[handle], presentation.item.destination?.window != nil,
      let dismissal = presentation.phase.dismissal, dismissal.stage == .asked
    else { return }
    end(handle, with: [:])
    let parked = Parked(presentation)
    state.parked[parked.presentation.handle] = parked
    if state.isShuttingDown { endParked(isForced: true) }
    advance()
  }

  /// Notes that a parked program has ended.
  mutating func unpark(_ program: Handle) {
    if state.parked[program] != nil { _ = state.parked.removeValue(forKey: program) }
  }

  /// Notes that a parked program that was to end goes on, so that it can be shown again. When navd quits, its user gets it back.
  mutating func stayParked(_ program: Handle, _ message: String) {
    guard let wasEnding = state.parked[program]?.isEnding else { return }
    state.parked[program]!.isEnding = false
    state.parked[program]!.stays = message
    guard wasEnding, state.isShuttingDown else { return }
    unpark(program)
    outcome.commands.append(.releaseParked(program))
  }

  mutating func endParked(isForced: Bool) {
    for program in state.listedParked where !state.parked[program]!.isEnding {
      endParked(program, isForced: isForced)
    }
  }

  private mutating func endParked(_ program: Handle, isForced: Bool) {
    (state.parked[program]!.isEnding, state.parked[program]!.stays) = (isForced, nil)
    outcome.commands.append(.endParked(program, isForced: isForced))
  }

  /// Shows a presentation that starts by a parked program, if there is one for it. Ends parked programs whose file has another command now.
  mutating func claimParked(for handle: Handle) {
    guard !state.parked.isEmpty, let presentation = state.presentations[handle],
      let destination = presentation.item.destination
    else { return }
    let programs = state.listedParked.filter {
      !state.parked[$0]!.isEnding && state.parked[$0]!.isProgram(of: presentation)
    }
    let outdated = programs.filter { state.parked[$0]!.isOutdated(by: destination.content) }
    for program in outdated { endParked(program, isForced: false) }
    guard destination.window != nil, let program = programs.first(where: { !outdated.contains($0) }) else {
      return
    }
    state.presentations[handle]!.program = program
    state.parked[program]!.claimant = handle
    state.parked[program]!.stays = nil
  }

  /// Notes that the windows of a program are shown again: it is no longer parked.
  mutating func leaveParking(_ handle: Handle) {
    if let program = state.presentations[handle]?.program { unpark(program) }
  }

  /// Notes that a presentation has ended before the windows of its program were shown again. They stay hidden.
  mutating func giveUpClaim(of presentation: Presentation) {
    guard let program = presentation.program, state.parked[program]?.claimant == presentation.handle else { return }
    state.parked[program]!.claimant = nil
    if state.isShuttingDown { endParked(program, isForced: true) }
  }

  /// Announces the parked programs if they have changed since the last announcement (W1).
  mutating func announceParked() {
    guard !state.parked.isEmpty || !state.toldParked.isEmpty else { return }
    let shown = state.shownParked
    guard shown != state.toldParked else { return }
    state.toldParked = shown
    announce(.parked)
  }

  /// Drops the parked programs that ended while navd was not running.
  /// - Parameter survivals: as for `StateMachine.resume`.
  mutating func loseParked(_ survivals: [Handle: Survival]) {
    for (program, parked) in Array(state.parked) {
      switch survivals[parked.claimant ?? program] {
      case .shown, .toBeShown, .awaited: break
      case .gone, nil: unpark(program)
      }
    }
  }
}

extension State {
  mutating func restore(parked row: RecordedState.PresentationRow) {
    var program = Parked(row.presentation)
    program.stays = row.stays
    parked[row.presentation.handle] = program
  }

  /// Marks parked programs with the presentations that were about to show them again.
  mutating func restoreClaims() {
    guard !parked.isEmpty else { return }
    for (handle, presentation) in presentations {
      if let program = presentation.program, parked[program] != nil { parked[program]!.claimant = handle }
    }
    toldParked = shownParked
  }
}

import DBusValues
import PresentationModel

// Presenters that leave the bus and may come back, such as a shell that reloads itself (D4).

/// The limits of a presenter's absences, after which its presentation has failed.
enum PresenterAbsence {
  static let milliseconds: UInt64 = 2000
  /// The largest number of absences within ``window``. A presenter with more counts as unable to show the item.
  static let most = 5
  /// The milliseconds in which absences are counted.
  static let window: UInt64 = 10_000
  static let error = "the presenter left the bus, and did not come back within \(milliseconds / 1000) seconds"
}

extension PresentationFields {
  /// The absences of the presenter that count now.
  fileprivate func recentAbsences(at now: Instant) -> [Instant] {
    absences.filter { $0.after(milliseconds: PresenterAbsence.window) > now }
  }
}

extension Destination {
  /// Whether a presentation has the presenter and the times of another registration.
  fileprivate func isShown(as other: Destination) -> Bool {
    (presenter, source, startTimeout, grace) == (other.presenter, other.source, other.startTimeout, other.grace)
  }
}

extension StateMachine {
  /// Whether a presenter on the bus shows a presentation, or ends it, and may leave.
  func hasPresenterOnBus(_ handle: Handle) -> Bool {
    guard let presentation = state.presentations[handle] else { return false }
    return presentation.item.destination?.isBus == true && !presentation.awaitsPresenter
      && presentation.phase != .waiting
  }

  /// Whether a presentation stays when its presenter leaves the bus, since the presenter may come back.
  func mayReturn(to handle: Handle, at now: Instant) -> Bool {
    guard let presentation = state.presentations[handle] else { return false }
    return presentation.phase == .presented
      && presentation.content.recentAbsences(at: now).count < PresenterAbsence.most
  }
}

extension Transition {
  /// Notes that the presenter of a presentation has left the bus.
  mutating func presenterLeft(_ handle: Handle) {
    guard let presentation = state.presentations[handle], machine.hasPresenterOnBus(handle) else { return }
    guard machine.mayReturn(to: handle, at: now) else {
      let error =
        presentation.phase == .presented
        ? "the presenter has left the bus \(PresenterAbsence.most + 1) times within \(PresenterAbsence.window / 1000) seconds"
        : "the presenter left the bus"
      return take(endOf: handle, reason: .failed, result: ["error": .string(error)])
    }
    state.presentations[handle]!.absences = presentation.content.recentAbsences(at: now) + [now]
    awaitPresenter(of: handle)
    // A shell may register a destination anew before it lets the earlier registration go.
    if let name = presentation.item.destination?.name, let successor = state.registry.successor(name, of: handle) {
      presenterReturned(handle, as: successor)
    }
  }

  mutating func awaitPresenter(of handle: Handle) {
    state.presentations[handle]!.awaitsPresenter = true
    state.presentations.modifyDerived(handle) { $0.awaitsUpdateAnswer = false }
    state.abandoned.insert(handle)
    expectAnswer(handle, for: PresenterAbsence.milliseconds)
  }

  /// Has the presentations that await a presenter shown by the client that has registered their destination.
  mutating func presenterReturned(toItemsOf name: String) {
    guard let destination = state.registry[name] else { return }
    for handle in state.abandoned.sorted() where state.presentations[handle]?.item.destination?.name == name {
      presenterReturned(handle, as: destination)
    }
  }

  /// Has a presentation shown by the presenter that has come back.
  mutating func presenterReturned(_ handle: Handle, as destination: Shared<Destination>) {
    guard state.presentations[handle]?.awaitsPresenter == true else { return }
    handOver(handle, to: destination)
    presentAgain(handle)
  }

  /// Gives a presentation that begins the destination that counts now: its file may have been corrected, or a shell may have registered
  /// anew, while it waited (D1).
  mutating func findPresenter(of handle: Handle) {
    guard let item = state.presentations[handle]?.item, let own = item.destination else { return }
    let written = machine.destinationAsWritten(of: item) ?? own
    if written != own { state.presentations[handle]!.item.destination = written }
    if written.isBus, let last = state.registry[own.name], last.isBus, !written.content.isShown(as: last.content) {
      handOver(handle, to: last)
    }
  }

  /// Gives a presentation the presenter of another registration. Everything else stays as its destination said at its start (D13).
  private mutating func handOver(_ handle: Handle, to destination: Shared<Destination>) {
    guard var own = state.presentations[handle]?.item.destination else { return }
    (own.presenter, own.source) = (destination.presenter, destination.source)
    (own.startTimeout, own.grace) = (destination.startTimeout, destination.grace)
    state.presentations[handle]!.item.destination = own
  }
}

// Why this file exists: what presenters and users do by themselves, written back into the state — but only where what
// they speak of is still the slot's own (P5).

import DBusValues
import PresentationModel

extension StateMachine {
  /// Takes in what a presenter says. Of what is gone, or asked to be otherwise, it changes nothing.
  public mutating func report(_ report: Report, at now: Instant) -> Outcome {
    progress.now = now
    switch report {
    case .presentAnswered(let handle, let error):
      guard presentations[handle]?.phase == .presenting else {
        shownAgain(handle, error: error, at: now)
        break
      }
      if let error {
        depart(handle, reason: .failed, result: ["error": .string(error)], at: now)
      } else {
        arrive(handle)
        updateAnswered(handle)
        advance()
      }

    case .updateAnswered(let handle):
      guard presentations[handle]?.phase == .presented else { break }
      updateAnswered(handle)

    case .dismissAnswered(let handle, let result):
      guard let presentation = presentations[handle] else { break }
      switch presentation.phase {
      case .dismissing(.asked, _, _), .dismissing(.killed, _, _):
        end(handle, with: limited(result))
        advance()
      default: break
      }

    case .ended(let handle, let failed, let result):
      depart(handle, reason: failed ? .failed : .closed, result: result, at: now)
    }
    return finish()
  }

  /// It is gone already, by itself or for it could not be shown: its end was not asked for, or only completed (P12).
  /// - Parameter client: who has reported it, if one has.
  mutating func depart(
    _ handle: Handle, reason: Reason, result: Properties, by client: Client? = nil, at now: Instant
  ) {
    guard var presentation = presentations[handle] else { return }
    switch presentation.phase {
    case .presenting, .presented:
      presentation.result = limited(result)
      presentation.hasDeparted = true
      presentations[handle] = presentation
      clear([handle], reason: reason, by: client, at: now)
    case .dismissing(.held, let first, let animated):
      presentation.result.merge(limited(result)) { first, _ in first }
      presentation.phase = .dismissing(.departed, reason: first, animated: animated)
      presentations[handle] = presentation
    case .dismissing(.asked, _, _), .dismissing(.killed, _, _):
      end(handle, with: limited(result))
      advance()
    case .waiting, .dismissing(.departed, _, _), .dismissing(.overtaken, _, _):
      break
    }
  }

  /// The answer to an update, or to the showing, lets the latest update follow (D8).
  mutating func updateAnswered(_ handle: Handle) {
    let state = presentations[handle]!.updates
    presentations[handle]!.updates = .idle
    if case .underWayAndPending(let author) = state { sendUpdate(of: handle, by: author) }
  }

  /// Somebody says that a presentation was closed (D11).
  ///
  /// - Parameters:
  ///   - client: who says so.
  ///   - byPresenter: whether that is the presentation's own D-Bus presenter.
  /// - Returns: whether it changed anything; one that is gone, or going, is not changed.
  /// - Throws: `Refusal`: `unknownPresentation`, `accessDenied`, `limitExceeded`.
  public mutating func closed(
    _ handle: Handle, result: Properties, by client: Client? = nil, byPresenter: Bool, at now: Instant
  ) throws(Refusal) -> (changed: Bool, outcome: Outcome) {
    // One that is too large is left out: an end is never refused (L1).
    try check(entriesOf: result, named: "result")
    guard let presentation = presentations[handle] else {
      guard wasGivenOut(handle) else { throw unknown(handle) }
      return (false, Outcome())
    }
    let isBus = if case .bus = presentation.item.destination?.presenter { true } else { false }
    guard byPresenter || !isBus else { throw notItsPresenter(handle, "report it closed") }
    progress.now = now
    let before = serial
    if isBus, presentation.phase != .waiting {
      depart(handle, reason: .closed, result: result, by: client, at: now)
    } else if slots[presentation.binding]?.current == handle {
      presentations[handle]!.result = limited(result)
      clear([handle], reason: .closed, by: client, at: now)
    }
    let outcome = finish()
    return (serial != before, outcome)
  }

  /// A presentation did something that its clients should hear of, before they hear of its end (P8).
  ///
  /// - Throws: `Refusal`: `unknownPresentation`, `accessDenied`, `invalidArgument`, `limitExceeded`.
  public mutating func act(
    _ handle: Handle, action: String, parameters: Properties, byPresenter: Bool
  ) throws(Refusal) -> Outcome {
    try limits.check("id", action.utf8.count, limits.id, of: "bytes of action")
    try check(value: parameters, named: "parameters")
    guard let presentation = presentations[handle] else {
      guard wasGivenOut(handle) else { throw unknown(handle) }
      return Outcome()
    }
    if case .bus = presentation.item.destination?.presenter, !byPresenter {
      throw notItsPresenter(handle, "act for it")
    }
    tell(
      .action(handle, presentation.binding, id: presentation.item.id, action: action, parameters: parameters))
    return finish()
  }

  /// Whether a handle was ever given out, as far as that can be told.
  func wasGivenOut(_ handle: Handle) -> Bool { handle.number > 0 && handle <= lastHandle }

  func unknown(_ handle: Handle) -> Refusal {
    Refusal(.unknownPresentation, "presentation \(handle) was never given out; Present and GetState tell handles")
  }

  private func notItsPresenter(_ handle: Handle, _ what: String) -> Refusal {
    Refusal(.accessDenied, "presentation \(handle) is shown by a D-Bus presenter, and only that one may \(what)")
  }

  /// A result within its limit; one past it is left out, saying so (L1).
  func limited(_ result: Properties) -> Properties {
    // A descriptor cannot be kept.
    let result = result.filter { !$0.value.holdsDescriptor }
    let size = result.byteCount
    guard size > limits.result else { return result }
    return ["error": .string("a result of \(size) bytes was left out: the limit “result” is \(limits.result)")]
  }
}

import DBusValues
import PresentationModel

extension StateMachine {
  /// Handles a presenter's report. A report counts only for the current presentation of a slot, or for one that is being dismissed
  /// (P5). A report about a presentation that has ended, or that the presenter was not asked about, changes nothing.
  public mutating func report(_ report: Report, at now: Instant) -> Outcome {
    if case .parkedShown(let program) = report { return presentShown(program, at: now) }
    return process(at: now) { $0.take(report) }
  }

  /// Whether `closed` would end the presentation, or begin to.
  /// - Throws: as `closed` does.
  private func canClose(_ handle: Handle, result: Properties, byPresenter: Bool) throws(Refusal) -> Bool {
    // A result that is too large is left out later: an end is never refused (L1).
    try check(entriesOf: result, named: "result")
    guard let presentation = presentation(handle) else {
      try requireGivenOut(handle)
      return false
    }
    guard byPresenter || presentation.item.destination?.isBus != true else {
      throw .notItsPresenter(handle, "report it closed")
    }
    if presentation.isProtected, !byPresenter {
      throw .protected(presentation.binding, "it cannot be reported as closed")
    }
    return isCurrent(handle)
  }

  /// Ends a presentation that was closed (D11).
  ///
  /// - Parameters:
  ///   - client: the client that reports it.
  ///   - byPresenter: whether the client is the presentation's own presenter on the bus.
  /// - Returns: whether this changed anything; it does not if the presentation has ended or is being dismissed.
  /// - Throws: `Refusal`: `unknownPresentation`, `accessDenied`, `limitExceeded`.
  public mutating func closed(
    _ handle: Handle, result: Properties, by client: Client? = nil, byPresenter: Bool, at now: Instant
  ) throws(Refusal) -> (changed: Bool, outcome: Outcome) {
    let isCurrent = try canClose(handle, result: result, byPresenter: byPresenter)
    guard let presentation = presentation(handle) else { return (false, Outcome()) }
    let isBus = presentation.item.destination?.isBus == true
    let before = serial
    let outcome = process(at: now) { transition in
      if isBus, presentation.phase != .waiting {
        transition.take(endOf: handle, reason: .closed, result: result, by: client)
      } else if isCurrent {
        transition.state.presentations[handle]!.result = transition.machine.limited(result)
        transition.clear([PlannedEnd(handle: handle, reason: .closed)], by: client)
      }
    }
    return (serial != before, outcome)
  }

  /// Notes that the program of a presentation says that it is on the screen (D19).
  ///
  /// - Returns: whether that was awaited; it is not if the presentation has ended, or is presented without it.
  /// - Throws: `Refusal`: `unknownPresentation`, `accessDenied`.
  public mutating func ready(
    _ handle: Handle, byPresenter: Bool, at now: Instant
  ) throws(Refusal) -> (changed: Bool, outcome: Outcome) {
    guard let presentation = presentation(handle) else {
      try requireGivenOut(handle)
      return (false, Outcome())
    }
    if presentation.item.destination?.isBus == true, !byPresenter {
      throw .notItsPresenter(handle, "say that it is ready")
    }
    guard presentation.phase == .presenting, presentation.awaitsReady else { return (false, Outcome()) }
    return (true, report(.ready(handle), at: now))
  }

  /// Announces an action of a presentation, before its end is announced (P8).
  ///
  /// - Throws: `Refusal`: `unknownPresentation`, `accessDenied`, `invalidArgument`, `limitExceeded`.
  public mutating func act(
    _ handle: Handle, action: String, parameters: Properties, byPresenter: Bool
  ) throws(Refusal) -> Outcome {
    try limits.check(text: action, as: "action")
    try check(value: parameters, named: "parameters")
    guard let presentation = presentation(handle) else {
      try requireGivenOut(handle)
      return Outcome()
    }
    if presentation.item.destination?.isBus == true, !byPresenter { throw .notItsPresenter(handle, "act for it") }
    return process { transition in
      transition.announce(
        .action(handle, presentation.binding, id: presentation.item.id, action: action, parameters: parameters))
    }
  }
}

extension Transition {
  /// Notes that a program is on the screen, and has said so if it has to (D19).
  private mutating func isThere(_ handle: Handle) {
    if state.presentations[handle]!.hasToComeForward {
      state.presentations.modifyDerived(handle) { $0.comesForward = true }
      expectStart(of: handle)
      outcome.commands.append(.present(handle))
    } else {
      becomePresented(handle)
      updateAnswered(handle)
      advance()
    }
  }

  fileprivate mutating func take(_ report: Report) {
    switch report {
    case .presentAnswered(let handle, let error):
      guard state.presentations[handle]?.phase == .presenting else {
        presentedAgain(handle, error: error)
        break
      }
      if let error {
        take(endOf: handle, reason: .failed, result: ["error": .string(error)])
      } else if state.presentations[handle]!.awaitsReady {
        state.presentations.modifyDerived(handle) { $0.isStarted = true }
      } else {
        isThere(handle)
      }

    case .ready(let handle):
      guard let presentation = state.presentations[handle], presentation.phase == .presenting, presentation.awaitsReady
      else { break }
      state.presentations[handle]!.isReady = true
      if presentation.isStarted { isThere(handle) }

    case .hung(let handle, let error):
      guard machine.isCurrent(handle), state.presentations[handle]?.phase == .presented,
        state.presentations[handle]?.isProtected != true
      else { break }
      state.presentations[handle]!.result[PresentationResult.keys.error] = error
      // A program that hangs cannot be asked.
      clear([PlannedEnd(handle: handle, reason: .failed, isForced: true)])

    case .updateAnswered(let handle):
      state.presentations.modifyDerived(handle) { $0.awaitsUpdateAnswer = false }
      guard state.presentations[handle]?.phase == .presented else { break }
      updateAnswered(handle)

    case .dismissAnswered(let handle, let result):
      switch state.presentations[handle]?.phase.dismissal?.stage {
      case .asked, .asking, .settling, .killed:
        end(handle, with: machine.limited(result))
        advance()
      case .overtaken, .held, .departed, nil: break
      }

    case .startsSlowly(let handle):
      if state.presentations[handle]?.phase == .presenting {
        state.presentations.modifyDerived(handle) { $0.isLate = true }
      }

    case .windowsGone(let handle, let isFinal): windowsGone(of: handle, isFinal: isFinal)

    case .windowsBack(let handle):
      if state.presentations[handle]?.isWithoutWindow == true {
        state.presentations.modifyDerived(handle) { $0.isWithoutWindow = false }
      }

    case .hidden(let handle):
      if state.presentations[handle]?.item.destination?.window?.hides == true { park(handle) }

    case .guestHidden(let handle): park(handle)

    // It is carried out as a request.
    case .parkedShown: break

    case .parkedStays(let program, let message): stayParked(program, message)

    case .parkedEnded(let handle): unpark(handle)

    case .outputGone(let handle): take(outputOf: handle)

    case .declined(let handle, let message):
      decline(handle, message: message)

    case .asking(let handle, let message):
      if machine.mayDecline(handle) { ask(handle, machine.limited(message)) }

    case .focusLost: state.hasLostFocus = true

    case .focused(let handle, let isOwn): take(focusOf: handle, isOwn: isOwn)

    case .noFocus(let isOwn): takeNoFocus(isOwn: isOwn)

    case .presenterLeft(let handle): presenterLeft(handle)

    case .presenterReturned(let handle):
      if let destination = state.presentations[handle]?.item.destination { presenterReturned(handle, as: destination) }

    case .ended(let handle, let failed, let result):
      take(endOf: handle, reason: failed ? .failed : .closed, result: result)
    }
  }

  /// Handles the end of a presentation: it ended by itself, could not be shown, or its dismissal is complete (P12).
  /// - Parameter client: the client that reported the end; nil if none did.
  mutating func take(endOf handle: Handle, reason: Reason, result: Properties, by client: Client? = nil) {
    guard var presentation = state.presentations[handle] else { return }
    guard var dismissal = presentation.phase.dismissal else {
      guard presentation.phase != .waiting else { return }
      presentation.result = machine.limited(result)
      if reason == .failed, let failure = presentation.result.failure {
        presentation.result[PresentationResult.keys.error] = failure
      }
      state.presentations[handle] = presentation
      clear([PlannedEnd(handle: handle, reason: reason, isOver: true)], by: client)
      return
    }
    switch dismissal.stage {
    case .held:
      presentation.result.merge(machine.limited(result)) { first, _ in first }
      dismissal.stage = .departed
      presentation.phase = .dismissing(dismissal)
      state.presentations[handle] = presentation
      state.lists.mayForce.append(handle)
      state.lists.mayEnd.append(handle)
      advance()
    case .asked, .asking, .killed:
      end(handle, with: machine.limited(result))
      advance()
    case .departed where presentation.awaitsResult, .settling:
      completeResult(of: handle, hasCrashed: reason == .failed, result)
    case .departed, .overtaken: break
    }
  }

  /// Handles the end of a presentation's windows (N3, N5).
  /// - Parameter isFinal: whether only the result of the program is still to come.
  private mutating func windowsGone(of handle: Handle, isFinal: Bool) {
    guard let presentation = state.presentations[handle], presentation.item.destination?.window != nil else { return }
    guard isFinal, machine.mayEndWithWindows(handle) else {
      // This stays true if the presentation gets its slot back (P15).
      state.presentations.modifyDerived(handle) { $0.isWithoutWindow = true }
      // It has nothing to show until its successor is there (G10).
      state.lists.mayEnd.append(handle)
      return advance()
    }
    switch presentation.phase {
    case .waiting: break
    case .presenting, .presented:
      state.presentations.modifyDerived(handle) { $0.awaitsResult = true }
      clear([PlannedEnd(handle: handle, reason: .closed, isOver: true)])
    case .dismissing(var dismissal):
      switch dismissal.stage {
      case .asked, .asking, .killed:
        settle(handle)
        advance()
      case .held:
        state.presentations.modifyDerived(handle) { $0.awaitsResult = true }
        dismissal.stage = .departed
        state.presentations[handle]!.phase = .dismissing(dismissal)
        state.lists.mayForce.append(handle)
        state.lists.mayEnd.append(handle)
        advance()
      case .overtaken, .departed, .settling: break
      }
    }
  }

  /// Completes the result of a program whose windows were gone before. If the program has crashed, the presentation has failed: its
  /// user did not close it.
  private mutating func completeResult(of handle: Handle, hasCrashed: Bool, _ result: Properties) {
    var presentation = state.presentations[handle]!
    guard var dismissal = presentation.phase.dismissal else { return }
    var result = machine.limited(result)
    if hasCrashed, dismissal.reason == .closed {
      dismissal.reason = .failed
      if let failure = result.failure { result[PresentationResult.keys.error] = failure }
    }
    presentation.result.merge(result) { first, _ in first }
    presentation.phase = .dismissing(dismissal)
    presentation.awaitsResult = false
    state.presentations[handle] = presentation
    guard dismissal.stage == .settling else { return }
    end(handle, with: [:])
    advance()
  }

  /// Handles the answer to an update or to the first showing. The latest update may follow (D8).
  mutating func updateAnswered(_ handle: Handle) {
    let updates = state.presentations[handle]!.updates
    state.presentations[handle]!.updates = .idle
    if case .underWayAndPending(let author) = updates { sendUpdate(of: handle, by: author) }
  }
}

extension Properties {
  /// The reason for a failure, if the presenter gave none; nil if it gave one.
  fileprivate var failure: String? {
    let lastLine = self[PresentationResult.keys.error]
    let crashes = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS"]
    guard let signal = self[PresentationResult.keys.signal] else {
      return lastLine == nil ? "it failed, and gave no reason" : nil
    }
    let end =
      crashes.contains(signal)
      ? "its program crashed (\(signal))" : "its program was ended by \(signal), which navd did not send"
    return lastLine.map { "\(end): \($0)" } ?? end
  }
}

extension StateMachine {
  /// Whether a presentation ends when its windows are gone for good, whatever its result. The item
  /// stays until the result is known if the result decides whether it is presented again (K3).
  func mayEndWithWindows(_ handle: Handle) -> Bool {
    guard let presentation = state.presentations[handle], presentation.item.destination?.window != nil else {
      return false
    }
    return presentation.phase.isDismissing || restartRule(of: presentation.item) == nil
  }

  /// The result within its limit. A larger result is replaced by an error (L1).
  func limited(_ result: Properties) -> Properties {
    // A file descriptor cannot be kept.
    let result = result.filter { !$0.value.holdsDescriptor }
    let size = result.byteCount
    guard size > limits.value else { return result }
    return ["error": .string("a result of \(size) bytes was left out: the limit “value” is \(limits.value)")]
  }
}

extension Refusal {
  fileprivate static func notItsPresenter(_ handle: Handle, _ what: String) -> Refusal {
    Refusal(.accessDenied, "presentation \(handle) is shown by a D-Bus presenter, and only that one may \(what)")
  }
}

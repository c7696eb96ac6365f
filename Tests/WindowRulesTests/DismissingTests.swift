import DBusValues
import PresentationModel
import Testing

@testable import WindowRules

/// N2, N3, N5, N6: dismissals in every state of a presentation.
@Suite struct DismissingTests {
  private let absence = "no window-system adapter is on the bus, or it does not answer"
  private let killing = WindowFollowing(kills: true)

  /// A presentation that was dismissed with “kill”, and whose grace is over.
  private func unanswered() -> WindowTracker {
    var tracker = tracker()
    tracker.show(one, killing)
    tracker.dismiss(one, isForced: false)
    tracker.closeAnswered("w1")
    tracker.graceIsOver(for: one)
    _ = tracker.next()
    return tracker
  }

  @Test("a presentation that has not begun is gone when it is dismissed, and starts no program")
  func dismissal_beforeBeginning_isComplete() {
    var tracker = tracker()
    tracker.request(
      one, WindowFollowing(), FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000))
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:])), .released(one)])
    #expect(!tracker.follows(one))
    tracker.begin(one, at: early)
    #expect(tracker.takeEffects() == [])
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
  }

  @Test("N2: a command that has ended is not signalled, and gives its result")
  func dismissal_ofEndedCommand_givesResult() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: ["status": .int32(0)]))])
  }

  /// A presentation whose program shows a window of its user's, too.
  private func besideUsers(_ rule: WindowFollowing = WindowFollowing(takesAll: false)) -> WindowTracker {
    var tracker = tracker()
    tracker.show(one, rule)
    tracker.opened(window("users", pid: 7), program: one)
    _ = tracker.next()
    return tracker
  }

  @Test("N5: a dismissal that a rule or Quit forces leaves a program alone that shows a window of its user's")
  func dismissal_forcedByRuleOrQuit_sparesWindowOfUser() {
    for cause in [WindowTracker.Cause.rule, .failure, .quit] {
      var tracker = besideUsers()
      tracker.dismiss(one, isForced: true, because: cause)
      #expect(tracker.next() == [.close(window: "w1")])
      tracker.graceIsOver(for: one)
      #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
    }
    var tracker = besideUsers()
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [.terminate(one)])
  }

  @Test(
    "N5: a dismissal that a rule forces asks the windows to close, and leaves a program that stays, unless it kills")
  func dismissal_forcedByRule_asksWindows() {
    for kills in [false, true] {
      var tracker = tracker()
      tracker.show(one, WindowFollowing(kills: kills))
      tracker.dismiss(one, isForced: true, because: .rule)
      #expect(tracker.next() == [kills ? .terminate(one) : .close(window: "w1")])
    }
    for closes in [false, true] {
      var tracker = tracker()
      tracker.show(one)
      tracker.dismiss(one, isForced: true, because: .rule)
      tracker.opened(window("dialog", title: "Save?", parent: "w1"), program: one)
      _ = tracker.next()
      if closes {
        tracker.closed("dialog")
        tracker.closed("w1")
        #expect(tracker.next() == gone(one))
        tracker.timeIsOver(for: one)
      } else {
        tracker.graceIsOver(for: one)
      }
      #expect(
        tracker.next().last
          == .report(closes ? .ended(one, failed: false, result: [:]) : .dismissAnswered(one, result: [:])))
      tracker.forget(one)
      #expect(tracker.next() == [])
    }
  }

  @Test("N2, R2: an item that had a window is not ended while the adapter may be starting with navd")
  func dismissal_whileAdapterStarts_isDeclined() {
    var tracker = WindowTracker()
    tracker.becameAbsent(isExpected: true, isStarting: true)
    _ = tracker.restore(
      one, WindowFollowing(), grace: 2000, windows: [window("w1")], before: [], end: nil, isPresented: true)
    _ = tracker.next()
    tracker.dismiss(one, isForced: false)
    let message = "its windows cannot be asked to close: \(absence)"
    #expect(tracker.next() == [.report(.declined(one, message: message))])
    tracker.becameAbsent(isExpected: true)
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.terminate(one)])
  }

  @Test("N8: without an adapter, a program whose windows a dismissal would hide is not ended, unless by force")
  func dismissal_hidingAfterAdapterHasGone_isDeclined() {
    for isForced in [false, true] {
      var tracker = tracker()
      tracker.show(one, WindowFollowing(hides: true))
      tracker.left()
      tracker.becameAbsent()
      _ = tracker.next()
      tracker.dismiss(one, isForced: isForced)
      let message = "its windows cannot be hidden: \(absence)"
      #expect(tracker.next() == [isForced ? .terminate(one) : .report(.declined(one, message: message))])
    }
  }

  @Test("N2: without an adapter, a program that has shown a window of its user's is not ended")
  func dismissal_afterAdapterHasGone_sparesWindowOfUser() {
    var tracker = besideUsers()
    tracker.left()
    tracker.becameAbsent(isExpected: false)
    _ = tracker.next()
    tracker.dismiss(one, isForced: false)
    let message = "its program still shows a window of its user's, and is not ended"
    #expect(tracker.next() == [.report(.declined(one, message: message))])
  }

  @Test("N2, R2: without an adapter, the next navd spares a program, too, that has shown a window of its user's")
  func dismissal_withoutAdapterAfterRestart_sparesWindowOfUser() {
    var before = besideUsers()
    #expect(before.showedWindowOfUser(one))
    before.left()
    before.closed("users")
    _ = before.next()
    #expect(before.showedWindowOfUser(one))
    let message = "its program still shows a window of its user's, and is not ended"
    for isParked in [false, true] {
      var tracker = WindowTracker()
      _ = tracker.restore(
        one, WindowFollowing(takesAll: false), grace: 2000, windows: [window("w1")], before: [], end: nil,
        isPresented: true, isParked: isParked, showedWindowOfUser: true)
      _ = tracker.next()
      if isParked { tracker.endParked(one, isForced: true) } else { tracker.dismiss(one, isForced: false) }
      #expect(
        tracker.next() == [
          isParked ? .parkedStays(one, message: message) : .report(.declined(one, message: message))
        ])
    }
  }

  @Test("N2: a window of its user's that has closed does not count without an adapter")
  func windowOfUser_closed_isForgotten() {
    var tracker = besideUsers()
    _ = tracker.takeEffects()
    tracker.closed("users")
    #expect(tracker.takeEffects() == [.windowsChanged(one)])
    #expect(!tracker.showedWindowOfUser(one))
  }

  @Test("N2: a presentation that has no window yet leaves a program alone that shows one of its user's")
  func dismissal_beforeFirstWindow_sparesWindowOfUser() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.programStarted(one)
    var users = window("users", pid: 7).properties
    users.startupID = "launcher_TIME1"
    tracker.opened(Window(id: "users", users), program: one)
    _ = tracker.next()
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
  }

  @Test("N8: a parked program that shows a window of its user's is not ended")
  func endOfParked_sparesWindowOfUser() {
    var tracker = besideUsers(WindowFollowing(takesAll: false, hides: true))
    tracker.dismiss(one, isForced: false)
    tracker.hidden("w1")
    _ = tracker.next()
    tracker.endParked(one, isForced: true)
    let message = "its program still shows a window of its user's, and is not ended"
    #expect(tracker.next() == [.parkedStays(one, message: message)])
  }

  @Test("N3: a program that goes on unseen makes no dismissal wait")
  func dismissal_ofLeftover_isComplete() {
    var tracker = tracker()
    tracker.show(one)
    tracker.closed("w1")
    tracker.timeIsOver(for: one)
    _ = tracker.next()
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
  }

  @Test("N2: a late program that gets SIGTERM gets SIGKILL after its grace")
  func dismissal_ofLateProgram_killsAfterGrace() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.programStarted(one)
    tracker.dismiss(one, isForced: false, because: .failure)
    tracker.confirmed(one)
    _ = tracker.next()
    tracker.graceIsOver(for: one)
    #expect(tracker.next() == [.kill(one)])
  }

  @Test("N2: a late program that goes on, since the adapter does not answer, is released at its end")
  func dismissal_ofLateProgramWithoutAnswer_leavesIt() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programStarted(one)
    tracker.dismiss(one, isForced: false, because: .failure)
    tracker.unconfirmed(one)
    tracker.forget(one)
    #expect(tracker.next() == [.confirm(one, milliseconds: 1000), .report(.dismissAnswered(one, result: [:]))])
    #expect(tracker.isLeft(one))
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.released(one)])
  }

  @Test("N6: with kill, there is no SIGKILL while the adapter has not answered the request to close")
  func grace_overWithKill_beforeTheAnswer_declines() {
    var tracker = tracker()
    tracker.show(one, killing)
    tracker.dismiss(one, isForced: false)
    _ = tracker.next()
    tracker.graceIsOver(for: one)
    let message = "the window “Title” cannot be asked to close: \(absence)"
    #expect(tracker.next() == [.report(.declined(one, message: message))])
    tracker.dismiss(one, isForced: false)
    tracker.closeAnswered("w1")
    tracker.left()
    _ = tracker.next()
    tracker.graceIsOver(for: one)
    #expect(tracker.next() == [.report(.declined(one, message: message))])
  }

  @Test("N6: a late answer of the adapter means nothing to a dismissal that was forced meanwhile")
  func answer_afterForce_changesNothing() {
    for isConfirmed in [true, false] {
      var tracker = unanswered()
      tracker.dismiss(one, isForced: true)
      #expect(tracker.next() == [.terminate(one)])
      if isConfirmed { tracker.confirmed(one) } else { tracker.unconfirmed(one) }
      #expect(tracker.next() == [])
    }
  }

  @Test("N6: a program that ends before the adapter answers gets no signal, though its windows are still there")
  func answer_afterProgramEnded_killsNothing() {
    var tracker = unanswered()
    tracker.programEnded(one, failed: false, result: [:])
    tracker.confirmed(one)
    #expect(tracker.next() == [])
  }

  @Test("N5: forced, a window of another process is only asked where the adapter can ask")
  func dismissal_forcedWithoutCapability_asksNoWindow() {
    var tracker = tracker(capabilities: [.pid])
    tracker.show(one)
    tracker.opened(window("foreign", parent: "w1"), program: nil)
    _ = tracker.next()
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [.terminate(one)])
    tracker.closeRefused("foreign", "gone")
    #expect(tracker.next() == [])
  }

  @Test("N5: a window without a title is called a window")
  func close_refusedByUntitled_declines() {
    for title in [nil, ""] {
      var tracker = tracker()
      tracker.show(one, window: window("w1", title: title))
      tracker.dismiss(one, isForced: false)
      _ = tracker.next()
      tracker.closeRefused("w1", "no")
      #expect(tracker.next() == [.report(.declined(one, message: "a window cannot be asked to close: no"))])
    }
  }

  @Test("N5: a window is asked once more, and then kept")
  func dismissal_ofNewWindow_asksNoThirdTime() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false, isNew: true)
    tracker.timeIsOver(for: one)
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.declined(one, message: "the window “Title” was kept open"))])
  }

  @Test("N5: the time to answer means nothing to a dismissal that was forced meanwhile")
  func time_overAfterForce_changesNothing() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false, isNew: true)
    tracker.dismiss(one, isForced: true)
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [])
  }

  @Test("N5: a dismissal that is forced, or asks its user, goes on when the adapter is gone")
  func adapter_gone_duringDismissal_declinesOnlyWhatItCannotAsk() {
    var tracker = tracker()
    for (handle, id) in [(one, "w1"), (two, "w2"), (Handle(3), "w3")] {
      tracker.show(handle, window: window(id, appID: id))
      tracker.dismiss(handle, isForced: handle == one)
    }
    tracker.opened(window("d2", appID: "w2", parent: "w2"), program: two)
    _ = tracker.next()
    tracker.left()
    tracker.becameAbsent()
    #expect(
      tracker.next() == [.report(.declined(Handle(3), message: "its windows cannot be asked to close: \(absence)"))])
  }

  // MARK: Timers and the record

  /// Whether a timer still runs after these effects.
  private func isWaiting(after effects: [WindowTracker.Effect]) -> Bool {
    effects.reduce(false) { isWaiting, effect in
      if case .wait(one, _) = effect { true } else { effect != .stopWaiting(one) && isWaiting }
    }
  }

  @Test("a timer is stopped when its time does not matter any more")
  func timers_ofWhatIsOver_areStopped() {
    func expectStop(
      _ begin: (inout WindowTracker) -> Void, _ end: (inout WindowTracker) -> Void,
      following rule: WindowFollowing = WindowFollowing(), from sourceLocation: SourceLocation = #_sourceLocation
    ) {
      var tracker = tracker()
      tracker.show(one, rule)
      begin(&tracker)
      let effects = tracker.takeEffects()
      #expect(isWaiting(after: effects), sourceLocation: sourceLocation)
      end(&tracker)
      #expect(!isWaiting(after: effects + tracker.takeEffects()), sourceLocation: sourceLocation)
    }
    func dismissNew(_ tracker: inout WindowTracker) { tracker.dismiss(one, isForced: false, isNew: true) }
    expectStop(dismissNew, { $0.opened(window("d", parent: "w1"), program: one) })
    expectStop(dismissNew, { $0.dismiss(one, isForced: true) })
    expectStop(dismissNew, { $0.closeRefused("w1", "no") })
    expectStop(
      {
        $0.programEnded(one, failed: false, result: [:]); dismissNew(&$0)
      }, { $0.closed("w1") })
    func close(_ tracker: inout WindowTracker) { tracker.closed("w1") }
    expectStop(close, { $0.programEnded(one, failed: false, result: [:]) })
    expectStop(close, { $0.timeIsOver(for: one) })
    expectStop(close, { $0.forget(one) })
    let lingering = WindowFollowing(linger: 500)
    expectStop(close, { $0.dismiss(one, isForced: false) }, following: lingering)
    expectStop(close, { $0.opened(window("w2"), program: one) }, following: lingering)
    func endParked(_ tracker: inout WindowTracker) {
      tracker.dismiss(one, isForced: false)
      tracker.hidden("w1")
      tracker.endParked(one, isForced: false)
    }
    let hiding = WindowFollowing(hides: true)
    expectStop(endParked, { $0.closeRefused("w1", "no") }, following: hiding)
    expectStop(endParked, { _ = $0.showAgain(one, as: two) }, following: hiding)
    var withdrawing = tracker()
    withdrawing.follow(one, byApp, grace: 2000)
    withdrawing.dismiss(one, isForced: false)
    #expect(isWaiting(after: withdrawing.takeEffects()))
    withdrawing.programEnded(one, failed: false, result: [:])
    #expect(withdrawing.takeEffects() == [.stopWaiting(one)])
  }
}

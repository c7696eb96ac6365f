import PresentationModel
import Testing

@testable import WindowRules

/// N5, N6: windows that ask the user about a dismissal.
@Suite struct DialogTests {
  @Test("N6: with kill, no program is killed whose user may have opened a window in it during the dismissal")
  func kill_withWindowThatOnlyCountsAsDialog_isNone() {
    for takesAll in [true, false] {
      var tracker = tracker()
      tracker.show(one, WindowFollowing(takesAll: takesAll, kills: true), window: window("w1", pid: 7))
      tracker.dismiss(one, isForced: false)
      tracker.closeAnswered("w1")
      tracker.opened(window("w2", pid: 7), program: one)
      tracker.graceIsOver(for: one)
      _ = tracker.next()
      tracker.confirmed(one)
      #expect(tracker.next().contains(.kill(one)) == takesAll)
      #expect(tracker.owner(of: "w2") == (takesAll ? one : nil))
    }
  }

  @Test("N6: a window that only counted as a dialog is its user's again when nothing is left that it could ask about")
  func dialog_ofNothing_isGivenBack() {
    var tracker = tracker()
    tracker.show(one, byApp, window: window("w1", pid: 7))
    tracker.dismiss(one, isForced: false)
    tracker.opened(window("w2", pid: 7), program: nil)
    #expect(tracker.owner(of: "w2") == one)
    _ = tracker.next()
    tracker.closed("w1")
    #expect(tracker.owner(of: "w2") == nil)
    #expect(tracker.next() == gone(one))
  }

  /// A presentation that has a tiled window of the process 7, and is being dismissed.
  private func dismissed(isForced: Bool = false) -> WindowTracker {
    var tracker = tracker()
    tracker.show(one, window: window("w1", pid: 7, floating: false))
    tracker.dismiss(one, isForced: isForced)
    _ = tracker.next()
    return tracker
  }

  @Test("N6: a window that has no parent, as the adapter says, is no dialog")
  func window_saidToHaveNoParent_isNoDialog() {
    var tracker = dismissed()
    tracker.opened(window("w2", pid: 7, parent: "", floating: true), program: one)
    #expect(tracker.next() == [])
  }

  @Test("N6: where neither parents nor processes are known, a window of the same app-id is a dialog")
  func window_ofSameAppID_isDialog() {
    for (first, second, isDialog) in [
      ("app", "app", true), ("app", "other", false), ("app", nil, false), (nil, "app", false), (nil, nil, false),
    ] as [(String?, String?, Bool)] {
      var tracker = tracker()
      tracker.show(one, window: window("w1", appID: first))
      tracker.dismiss(one, isForced: false)
      _ = tracker.next()
      tracker.opened(window("d", appID: second, title: "Save?"), program: one)
      #expect(
        tracker.next() == (isDialog ? [.report(.asking(one, message: "Save?"))] : []),
        "\(first ?? "-"), \(second ?? "-")")
    }
  }

  @Test("N5: where parents are not known, a floating window beside a tiled one of its process is an open dialog")
  func dismissal_withFloatingWindow_isAsking() {
    for (first, second, pid, isDialog) in [
      (false, true, 7, true), (false, false, 7, false), (false, nil, 7, false), (nil, true, 7, false),
      (true, true, 7, false), (false, true, 8, false),
    ] as [(Bool?, Bool?, UInt32, Bool)] {
      var tracker = tracker()
      tracker.show(one, window: window("w1", pid: 7, floating: first))
      tracker.opened(window("d", title: "Open file", pid: pid, floating: second), program: one)
      _ = tracker.next()
      tracker.dismiss(one, isForced: false)
      #expect(
        tracker.next()
          == (isDialog ? [.report(.asking(one, message: "Open file"))] : [.close(window: "w1"), .close(window: "d")]))
    }
  }

  @Test("N5: a window of another process than the open dialog is asked to close")
  func dismissal_withDialogOfOtherProcess_asksTheRest() {
    var tracker = tracker()
    tracker.show(one, window: window("w1", pid: 7, floating: false))
    tracker.opened(window("w2", pid: 8, floating: false), program: one)
    tracker.opened(window("d", title: "Open file", pid: 7, floating: true), program: one)
    _ = tracker.next()
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.close(window: "w2"), .report(.asking(one, message: "Open file"))])
  }

  @Test("N5: a forced dismissal asks nobody, whatever opens")
  func dialog_duringForcedDismissal_asksNobody() {
    var tracker = dismissed(isForced: true)
    tracker.opened(window("d", title: "Save?", pid: 7, parent: "w1"), program: one)
    tracker.closed("d")
    #expect(tracker.next() == [])
  }

  @Test("N6: while one of two dialogs is open, the window is not kept; a dialog without a title asks all the same")
  func dialogs_two_askUntilTheLastCloses() {
    var tracker = dismissed()
    tracker.opened(window("d1", title: nil, pid: 7, parent: "w1"), program: one)
    tracker.opened(window("d2", title: "Name?", pid: 7, parent: "d1"), program: one)
    #expect(tracker.next() == [.report(.asking(one, message: "")), .report(.asking(one, message: "Name?"))])
    tracker.closed("d2")
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [])
    tracker.closed("d1")
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeAfterDialog)])
  }
}

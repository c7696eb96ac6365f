import DBusValues
import PresentationModel
import Testing

@testable import WindowRules

/// Windows that were there before, and that an item shows because its command asked their program to (N12).
@Suite struct GuestTests {
  private let server = WindowProcess(program: nil, ancestor: nil, started: BootTime(milliseconds: 1))

  /// A tracker with windows of a program that ran before, and an item whose command has ended with a status.
  private func handedOver(
    _ rule: WindowFollowing = byApp, _ windows: [Window] = [window("w1", pid: 7)], status: Int32 = 0,
    capabilities: Set<WindowCapability> = all
  ) -> WindowTracker {
    var tracker = WindowTracker()
    tracker.arrived(capabilities, windows, at: later) { _ in server }
    tracker.follow(one, rule, grace: 2000)
    tracker.programStarted(one)
    tracker.programEnded(one, failed: false, result: ["status": .int32(status)])
    return tracker
  }

  /// The same with its guest on the screen.
  private func shown(capabilities: Set<WindowCapability> = all) -> WindowTracker {
    var tracker = handedOver(capabilities: capabilities)
    tracker.timeIsOver(for: one)
    _ = tracker.next()
    return tracker
  }

  /// An item whose command has ended with status 0 while another program starts, which its user has started by the same command line.
  private func besideTwin(_ open: (inout WindowTracker) -> Void) -> WindowTracker {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programStarted(one)
    open(&tracker)
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    return tracker
  }

  private let twin = WindowProcess(
    program: nil, ancestor: nil, started: BootTime(milliseconds: early.milliseconds - 5000), twins: [one])

  @Test("N12: the first window of a program that its user has just started in the same way is a guest, before or after")
  func window_ofTwin_isGuest() {
    for opensBefore in [true, false] {
      var tracker = besideTwin { if opensBefore { $0.opened(window("w1", pid: 7), by: twin) } }
      if !opensBefore { tracker.opened(window("w1", pid: 7), by: twin) }
      #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToOpen)])
      tracker.timeIsOver(for: one)
      #expect(tracker.windows(of: one).map(\.id) == ["w1"] && tracker.isGuest(one))
      _ = tracker.next()
      tracker.dismiss(one, isForced: false)
      #expect(tracker.next() == [.hide(window: "w1")])
    }
  }

  @Test("N1: its second window may be one that the command has asked for, or its user, and is a guest at once")
  func window_ofTwinAfterItsFirst_isGuest() {
    var tracker = besideTwin { $0.opened(window("w1", pid: 7), by: twin) }
    tracker.opened(window("w2", pid: 7), by: twin)
    #expect(tracker.windows(of: one).map(\.id) == ["w2"] && tracker.isGuest(one))
    tracker.timeIsOver(for: one)
    #expect(tracker.windows(of: one).map(\.id) == ["w2"])
  }

  @Test("N1: a program that its user has started in a terminal of navd's is their own, too")
  func window_ofTwinInTerminal_isGuest() {
    var inTerminal = twin
    inTerminal.ancestor = two
    var tracker = besideTwin {
      $0.follow(two, WindowFollowing(WindowPattern(appID: "terminal")), grace: 2000, of: "terminal")
      $0.opened(window("w1", pid: 7), by: inTerminal)
    }
    #expect(tracker.windows(of: one).isEmpty)
    tracker.timeIsOver(for: one)
    #expect(tracker.windows(of: one).map(\.id) == ["w1"] && tracker.isGuest(one))
  }

  @Test(
    "N1: a program that has run for longer, or that an earlier item of the destination has left, opens its window for the item"
  )
  func window_ofNoTwin_isItems() {
    var (old, left) = (twin, twin)
    old.started = BootTime(milliseconds: early.milliseconds - WindowTracker.timeOfTwins)
    left.ancestor = two
    for process in [old, left] {
      let tracker = besideTwin {
        $0.follow(two, byApp, grace: 2000)
        $0.programStarted(two)
        $0.opened(window("w0", pid: 8), by: WindowProcess(program: two, ancestor: two, started: early))
        $0.closed("w0")
        $0.timeIsOver(for: two)
        $0.opened(window("w1", pid: 7), by: process)
      }
      #expect(tracker.windows(of: one).map(\.id) == ["w1"] && !tracker.isGuest(one))
    }
  }

  @Test("N12: half a second after the command, the one window that fits is brought to its user, and is a guest")
  func window_oneThatFits_isGuest() {
    var tracker = handedOver()
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToOpen)])
    tracker.timeIsOver(for: one)
    #expect(
      tracker.next() == [
        .presented(one), .wait(one, milliseconds: 10_000), .summon(window: "w1"),
      ])
    #expect(tracker.isGuest(one))
  }

  @Test("N12: a guest that stays although it was dismissed is not replaced by a later window, which is its user's")
  func window_afterDeclinedDismissal_isUsers() {
    var tracker = shown()
    tracker.dismiss(one, isForced: false)
    tracker.hideRefused("w1", "no")
    _ = tracker.next()
    tracker.opened(window("w2", pid: 7), by: server)
    #expect(tracker.owner(of: "w2") == nil)
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }

  @Test("N12: a hidden guest is shown, even if the adapter cannot bring windows here")
  func window_hidden_isShown() {
    var hidden = window("w1", pid: 7).properties
    hidden.hidden = true
    var tracker = handedOver(byApp, [Window(id: "w1", hidden)], capabilities: [.pid, .hide, .activate, .close])
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next().suffix(2) == [.show(window: "w1"), .activate(window: "w1")])
  }

  @Test("N12: of two windows that fit, or one that another item has, none is a guest")
  func window_amongTwo_isNoGuest() {
    var tracker = handedOver(byApp, [window("w1", pid: 7), window("w2", pid: 7)])
    tracker.timeIsOver(for: one)
    #expect(tracker.windows(of: one) == [])
    tracker = handedOver(byApp, [window("other", appID: "other", pid: 7)])
    tracker.timeIsOver(for: one)
    #expect(tracker.windows(of: one) == [])
  }

  @Test("N12: if several fit, a window that opens later is a guest: its user may have opened it")
  func window_openedAfterTwoThatFit_isGuest() {
    for isLate in [false, true] {
      var tracker = handedOver(byApp, [window("w1", pid: 7), window("w2", pid: 7)])
      if isLate { tracker.timeIsOver(for: one) }
      tracker.opened(window("w3", pid: 7), by: server)
      #expect(tracker.windows(of: one).map(\.id) == ["w3"] && tracker.isGuest(one) == isLate)
    }
  }

  @Test("N1: a window that opens after a second press is its user's if another one fits, and otherwise the command's")
  func window_openedAfterWithdrawal_isUsers() {
    for windows in [[window("w1", pid: 7)], []] {
      var tracker = handedOver(byApp, windows)
      tracker.dismiss(one, isForced: false)
      _ = tracker.takeEffects()
      tracker.opened(window("w2", pid: 7), by: server)
      #expect(tracker.takeEffects().contains(.close(window: "w2")) == windows.isEmpty)
      #expect((tracker.owner(of: "w2") == nil) == !windows.isEmpty)
    }
  }

  @Test("N12: a dialog beside the window does not count")
  func dialog_besideWindow_doesNotCount() {
    var tracker = handedOver(byApp, [window("w1", pid: 7), window("d", pid: 7, parent: "w1")])
    tracker.timeIsOver(for: one)
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }

  @Test("N12: a command that runs, or has failed, has no guest")
  func command_notEndedWell_hasNoGuest() {
    var tracker = handedOver(status: 1)
    #expect(!tracker.next().contains(.presented(one)))
    tracker = WindowTracker()
    tracker.arrived(all, [window("w1", pid: 7)], at: later) { _ in server }
    tracker.follow(one, byApp, grace: 2000)
    tracker.programStarted(one)
    tracker.timeIsOver(for: one)
    #expect(tracker.windows(of: one) == [])
  }

  @Test("N12: a window that opens soon takes the place of the guest, and is one, too: its user may have opened it")
  func window_opened_replacesGuest() {
    var tracker = shown()
    tracker.opened(window("w2", pid: 7), by: server)
    #expect(tracker.windows(of: one).map(\.id) == ["w2"])
    #expect(tracker.owner(of: "w1") == nil)
    #expect(tracker.isGuest(one))
    tracker.opened(window("w3", pid: 7), by: server)
    #expect(tracker.owner(of: "w3") == nil)
  }

  @Test("N12: a window of the command's own process that opens soon is the item's")
  func window_ofOwnProcess_replacesGuestForGood() {
    var tracker = shown()
    tracker.opened(window("w2", pid: 8), by: WindowProcess(program: nil, ancestor: one, started: later))
    #expect(tracker.windows(of: one).map(\.id) == ["w2"])
    #expect(tracker.owner(of: "w1") == nil)
    #expect(!tracker.isGuest(one))
  }

  @Test("N12: a window that its user opens later in the program is his")
  func window_openedLater_isItsUsers() {
    var tracker = shown()
    tracker.timeIsOver(for: one)
    tracker.opened(window("w2", pid: 7), by: server)
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }

  @Test("N12: a dismissal hides a guest, and the next showing shows it again", arguments: [false, true])
  func dismissal_hidesGuest(isForced: Bool) {
    var tracker = shown()
    tracker.dismiss(one, isForced: isForced)
    #expect(tracker.next() == [.hide(window: "w1")])
    tracker.hidden("w1")
    #expect(tracker.next() == [.report(.guestHidden(one))])
    let isShown = tracker.showAgain(one, as: two)
    #expect(isShown)
    #expect(tracker.next().contains(.presented(two)))
    tracker.dismiss(two, isForced: isForced)
    #expect(tracker.next() == [.hide(window: "w1")])
  }

  @Test("N12: where windows cannot be hidden, a dismissal lets the guest go; the next item finds it again")
  func dismissal_withoutHiding_letsGuestGo() {
    for isForced in [false, true] {
      var tracker = shown(capabilities: [.pid, .close, .activate])
      tracker.dismiss(one, isForced: isForced)
      #expect(tracker.next() == [.report(.dismissAnswered(one, result: ["status": .int32(0)]))])
      tracker.forget(one)
      tracker.follow(two, byApp, grace: 2000)
      tracker.programStarted(two)
      tracker.programEnded(two, failed: false, result: [:])
      tracker.timeIsOver(for: two)
      #expect(tracker.isGuest(two))
    }
  }

  @Test("N12: a guest that cannot be hidden stays; a forced dismissal then lets it go", arguments: [false, true])
  func guest_notHidden_isNeverClosed(isForced: Bool) {
    var tracker = shown()
    tracker.dismiss(one, isForced: isForced)
    _ = tracker.next()
    tracker.hideRefused("w1", "no")
    let effects = tracker.next()
    #expect(effects.contains(.show(window: "w1")))
    #expect(effects.contains(.report(.dismissAnswered(one, result: ["status": .int32(0)]))) == isForced)
    #expect(!effects.contains(.close(window: "w1")))
  }

  @Test("N12: the end of everything, and of a hidden guest, shows the guest and lets it go")
  func end_ofAll_letsGuestGo() {
    var tracker = shown()
    tracker.dismiss(one, isForced: true, because: .quit)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: ["status": .int32(0)]))])
    for isForced in [false, true] {
      tracker = shown()
      tracker.dismiss(one, isForced: false)
      tracker.hidden("w1")
      _ = tracker.next()
      tracker.endParked(one, isForced: isForced)
      #expect(tracker.next() == [.show(window: "w1"), .report(.parkedEnded(one)), .released(one)])
    }
  }

  @Test(
    "N12: the guest of a hidden item, or of another item of the destination, becomes that of the item that asks for it")
  func guest_askedForByAnotherItem_becomesThatItems() {
    for (isHidden, destination) in [(true, "app"), (true, "other"), (false, "app"), (false, "other")] {
      var tracker = shown()
      if isHidden {
        tracker.dismiss(one, isForced: false)
        tracker.hidden("w1")
      }
      tracker.follow(two, byApp, grace: 2000, of: destination)
      tracker.programStarted(two)
      _ = tracker.next()
      tracker.programEnded(two, failed: false, result: ["status": .int32(0)])
      tracker.timeIsOver(for: two)
      let effects = tracker.next()
      guard isHidden || destination == "app" else {
        #expect(tracker.windows(of: one).map(\.id) == ["w1"] && tracker.windows(of: two).isEmpty)
        continue
      }
      #expect(tracker.windows(of: two).map(\.id) == ["w1"] && tracker.isGuest(two))
      #expect(
        effects.contains(
          isHidden
            ? .report(.parkedEnded(one)) : .report(.ended(one, failed: false, result: ["status": .int32(0)]))))
      #expect(effects.contains(.summon(window: "w1")))
    }
  }

  @Test("N12, N7: a guest that a key asks for where no window is in view is brought there, and not raised where it is")
  func guest_askedForOnEmptyWorkspace_isBroughtThere() {
    var tracker = WindowTracker()
    tracker.arrived(all, [window("w1", pid: 7, inView: false)], at: later) { _ in server }
    tracker.follow(one, byApp, grace: 2000, mustBeSeen: true)
    tracker.programStarted(one)
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    tracker.timeIsOver(for: one)
    let effects = tracker.next()
    #expect(effects.contains(.summon(window: "w1")) && !effects.contains(.activate(window: "w1")))
  }

  @Test("N12, N9: a guest that has the focus already takes it for its item")
  func guest_withFocus_hasFocusOfItem() {
    var tracker = handedOver(byApp, [window("w1", pid: 7, focused: true)])
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next().contains(.report(.focused(one, isOwn: false))))
  }

  @Test("N12: when its user closes the guest, the item is closed")
  func guest_closedByUser_endsItem() {
    var tracker = shown()
    tracker.closed("w1")
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(0)]))])
  }

  @Test("N12: after a restart, a guest is one as before")
  func guest_afterRestart_isOne() {
    var tracker = tracker()
    tracker.recover(
      one, byApp, FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000), for: one,
      windows: [window("w1")])
    tracker.arrived(all, [window("w1")]) { _ in nil }
    _ = tracker.restore(
      one, windows: [window("w1")], before: ["w1"], beganAt: early, end: [:], isPresented: true, isGuest: true)
    _ = tracker.next()
    tracker.dismiss(one, isForced: true, because: .quit)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
    tracker.forget(one)
    #expect(tracker.owner(of: "w1") == nil)
  }

  @Test("N12: with adopt = true, the window is the item's own, and a dismissal closes it")
  func window_adopted_isItemsOwn() {
    var tracker = handedOver(WindowFollowing(WindowPattern(appID: "app"), adopts: true))
    tracker.timeIsOver(for: one)
    #expect(tracker.next().suffix(2) == [.presented(one), .summon(window: "w1")])
    #expect(!tracker.isGuest(one))
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next().first == .close(window: "w1"))
  }
}

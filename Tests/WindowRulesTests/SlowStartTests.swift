import DBusValues
import PresentationModel
import Testing

@testable import WindowRules

/// Programs whose first window takes longer than expected (N2), adapters that come after programs (N13), and other displays (N14).
@Suite struct SlowStartTests {
  private let server = WindowProcess(program: nil, ancestor: nil, started: BootTime(milliseconds: 1))

  private func begun(_ rule: WindowFollowing = WindowFollowing()) -> WindowTracker {
    var tracker = tracker()
    tracker.request(
      one, rule, FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000, isStartLimited: false))
    tracker.begin(one, at: early)
    tracker.programStarted(one)
    return tracker
  }

  @Test("N2: a program that runs without a window after its start timeout goes on, and the reason is known")
  func program_slow_goesOn() {
    var tracker = begun()
    #expect(tracker.next() == [.wait(one, milliseconds: 10_000)])
    #expect(tracker.lateness(of: one) == nil)
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.startsSlowly(one))])
    #expect(tracker.lateness(of: one) == "no window within 10000 ms; its program runs")
    tracker.opened(window("w1"), program: one)
    #expect(tracker.next() == [.presented(one)])
    #expect(tracker.lateness(of: one) == nil)
  }

  @Test("N2: a slow start ends when its program ends")
  func program_slow_endsWithProgram() {
    var tracker = begun()
    tracker.timeIsOver(for: one)
    _ = tracker.next()
    tracker.programEnded(one, failed: false, result: ["status": .int32(1)])
    guard case .report(.ended(one, failed: true, _))? = tracker.next().first else {
      return #expect(Bool(false), "it has not ended")
    }
  }

  @Test("N2: a slow program that hands over at last has a moment for the window")
  func program_slowAndHandingOver_hasAMoment() {
    var tracker = begun(byApp)
    tracker.timeIsOver(for: one)
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    #expect(tracker.next().last == .wait(one, milliseconds: WindowTracker.timeBetweenWindows))
    tracker.timeIsOver(for: one)
    #expect(
      tracker.next() == [
        .report(
          .ended(
            one, failed: true,
            result: ["status": .int32(0), "error": .string("its program ended before it had a window")]))
      ])
  }

  @Test("N1: a window of an older process that opens between the start timeout and the handing over is its user's")
  func window_ofServerAfterStartTimeout_isGuestAtMost() {
    for opensAnother in [false, true] {
      var tracker = begun(byApp)
      tracker.timeIsOver(for: one)
      tracker.opened(window("w1", pid: 7), by: server)
      #expect(tracker.owner(of: "w1") == nil)
      tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
      if opensAnother { tracker.opened(window("w2", pid: 7), by: server) } else { tracker.timeIsOver(for: one) }
      #expect(tracker.windows(of: one).map(\.id) == [opensAnother ? "w2" : "w1"])
      #expect(tracker.isGuest(one) != opensAnother)
    }
  }

  @Test("N2: a command that has handed over, and whose window does not come, has failed")
  func program_handedOverWithoutWindow_fails() {
    var tracker = begun(byApp)
    tracker.programEnded(one, failed: false, result: [:])
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(
      tracker.next() == [
        .report(
          .ended(
            one, failed: true,
            result: ["error": .string("no window of it opened within 10000 ms (start-timeout)")]))
      ])
  }

  @Test("N2: the timer of a slow start stops with the first window, and with a dismissal")
  func timer_stops() {
    var tracker = begun()
    tracker.opened(window("w1"), program: one)
    #expect(tracker.takeEffects().contains(.stopWaiting(one)))
    tracker = begun()
    tracker.dismiss(one, isForced: false)
    #expect(tracker.takeEffects().suffix(2) == [.stopWaiting(one), .terminate(one)])
  }

  // MARK: Adapters that come later

  /// An item that began before an adapter that is expected, and whose command has ended with 0.
  private func over(isExpected: Bool = true) -> WindowTracker {
    var tracker = WindowTracker()
    tracker.becameAbsent(isExpected: isExpected)
    tracker.follow(one, byApp, grace: 2000)
    tracker.programStarted(one)
    tracker.programEnded(one, failed: false, result: [:])
    return tracker
  }

  @Test("N13: where no adapter is expected, an item ends with its command")
  func end_withoutExpectedAdapter_isTheItems() {
    var tracker = over(isExpected: false)
    #expect(tracker.next() == [.presented(one), .report(.ended(one, failed: false, result: [:]))])
  }

  @Test("N13: where one is expected and does not come, an item ends after five seconds")
  func end_withoutAdapter_waitsForFiveSeconds() {
    var tracker = over()
    #expect(tracker.next() == [.presented(one), .wait(one, milliseconds: 5000)])
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: [:]))])
  }

  @Test("N13: when it comes, a window of a process that began later is the item's, and an older one is a guest")
  func adapter_coming_tellsWindow() {
    for (process, isGuest) in [
      (WindowProcess(program: nil, ancestor: nil, started: later, activated: later), false), (server, true),
    ] {
      var tracker = over()
      tracker.arrived(all, [window("w1", pid: 7)], at: later) { _ in process }
      #expect(tracker.windows(of: one).isEmpty == isGuest)
      if isGuest { tracker.timeIsOver(for: one) }
      #expect(tracker.windows(of: one).map(\.id) == ["w1"])
      #expect(tracker.isGuest(one) == isGuest)
    }
  }

  @Test("N13: when it comes and tells no window, an item ends at last")
  func adapter_comingWithoutWindow_endsItem() {
    var tracker = over()
    tracker.arrived(all, [], at: later) { _ in nil }
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: [:]))])
  }

  @Test("N13: a failure is told at once")
  func failure_withoutAdapter_isToldAtOnce() {
    var tracker = WindowTracker()
    tracker.becameAbsent(isExpected: true)
    tracker.follow(one, byApp, grace: 2000)
    tracker.programStarted(one)
    _ = tracker.next()
    tracker.programEnded(one, failed: false, result: ["status": .int32(1)])
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(1)]))])
  }

  // MARK: An adapter that is gone

  @Test("N2: a dismissal without the adapter that told the windows ends the program, as if there had been none")
  func dismissal_afterAdapterIsGone_endsProgram() {
    var tracker = tracker()
    tracker.show(one)
    tracker.left()
    tracker.becameAbsent()
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.terminate(one)])
  }

  @Test("N5: a dismissal is declined while the adapter does not answer, or may come back")
  func dismissal_withSilentAdapter_isDeclined() {
    for isSilent in [true, false] {
      var tracker = tracker()
      tracker.show(one)
      tracker.left()
      if isSilent { tracker.becameAbsent(isSilent: true) }
      tracker.dismiss(one, isForced: false)
      guard case .report(.declined(one, _))? = tracker.next().first else {
        return #expect(Bool(false), "it was not declined")
      }
    }
  }

  @Test("N2: an item whose program ends while the adapter is away is over at once, unless others show its windows")
  func program_endingWithoutAdapter_endsItem() {
    for isOwn in [true, false] {
      var tracker = tracker()
      tracker.follow(one, byApp, grace: 2000)
      tracker.opened(window("w1"), program: isOwn ? one : nil)
      tracker.left()
      _ = tracker.next()
      tracker.programEnded(one, failed: true, result: ["signal": .string("SIGKILL")])
      let end = WindowTracker.Effect.report(.ended(one, failed: true, result: ["signal": .string("SIGKILL")]))
      #expect(tracker.next() == (isOwn ? [end] : []))
    }
  }

  @Test("N1: an item that was being dismissed takes no window that opened before the next navd saw it")
  func item_dismissedBeforeRestart_takesNoEarlierWindow() {
    for isKnown in [true, false] {
      var tracker = WindowTracker()
      _ = tracker.restore(one, byApp, grace: 2000, windows: [], before: isKnown ? ["other"] : nil, end: [:])
      if !isKnown { tracker.dismiss(one, isForced: false) }
      _ = tracker.next()
      let process = WindowProcess(program: nil, ancestor: nil, started: later, activated: later)
      tracker.arrived(all, [window("other"), window("w1", pid: 7)], at: later) { $0.id == "w1" ? process : nil }
      #expect(tracker.owner(of: "w1") == (isKnown ? one : nil))
    }
  }

  @Test("N8: windows that may be hidden are shown when their item is over, although its program goes on")
  func windows_hiddenWhenItemEnds_areShown() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(takesAll: false, hides: true))
    tracker.dismiss(one, isForced: false)
    tracker.left()
    tracker.becameAbsent()
    tracker.dismiss(one, isForced: true, because: .rule)
    _ = tracker.next()
    tracker.arrived(all, [window("w1"), window("w2")]) { _ in one }
    tracker.graceIsOver(for: one)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
    tracker.forget(one)
    #expect(tracker.next() == [.show(window: "w1")])
  }

  // MARK: Other displays

  @Test(
    "N14: a display is another one by its Wayland name, or else by its X11 name",
    arguments: [
      (DisplayNames(wayland: "wayland-1", x11: ":0"), false),
      (DisplayNames(wayland: "/run/user/1000/wayland-1", x11: nil), false),
      (DisplayNames(wayland: "wayland-2", x11: ":0"), true), (DisplayNames(wayland: nil, x11: ":0.0"), false),
      (DisplayNames(wayland: nil, x11: ":1"), true), (DisplayNames(wayland: nil, x11: nil), false),
      (DisplayNames(wayland: "", x11: ""), false),
    ])
  func display_ofProgram_isComparedWithAdapters(_ display: DisplayNames, isOther: Bool) {
    #expect(display.isOther(than: DisplayNames(["wayland-1", ":0"])) == isOther)
    #expect(!display.isOther(than: DisplayNames([])))
  }

  @Test("N14: an item of another display is presented with its program, takes no window, and ends with its program")
  func item_onOtherDisplay_isShownAsWithoutAdapter() {
    var tracker = tracker()
    tracker.setDisplay(DisplayNames(["wayland-1"]))
    var settings = FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000)
    settings.display = DisplayNames(wayland: "wayland-2", x11: nil)
    tracker.request(one, byApp, settings)
    tracker.begin(one, at: early)
    tracker.programStarted(one)
    #expect(tracker.next() == [.presented(one)])
    tracker.opened(window("w1"), program: nil)
    #expect(tracker.owner(of: "w1") == nil)
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.terminate(one)])
  }
}

import DBusValues
import PresentationModel
import Testing

@testable import WindowRules

// The tracker of windows: which window belongs to which presentation, and how these begin and end with them (N1 to N11, U1 to U3).

/// Ownership of windows: by process, pattern, startup id or parent (N1).
@Suite struct WindowOwnershipTests {
  @Test("N1: a window of the presentation's own processes belongs to it")
  func window_ofOwnProcess_belongsToPresentation() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.opened(window("w1", appID: "anything"), program: one)
    #expect(tracker.next() == [.presented(one)])
    #expect(tracker.owner(of: "w1") == one)
  }

  @Test(
    "N1: a window of another process belongs to a presentation whose pattern it matches, if it opened after the presentation began"
  )
  func window_matchingPattern_belongsToPresentation() {
    var tracker = tracker([window("old")])
    tracker.follow(one, byApp, grace: 2000)
    #expect(tracker.owner(of: "old") == nil)
    tracker.opened(window("other", appID: "other"), program: nil)
    tracker.opened(window("new"), program: nil)
    #expect(tracker.next() == [.presented(one)])
    #expect(tracker.owner(of: "other") == nil)
    #expect(tracker.owner(of: "new") == one)
  }

  @Test(
    "N1: patterns are shell patterns, of app-id and title",
    arguments: [
      (WindowPattern(appID: "org.gnome.*"), true), (WindowPattern(appID: "org.gnome.?autilus", title: "H*"), true),
      (WindowPattern(appID: "nautilus"), false), (WindowPattern(title: "[A-H]ome"), true),
      (WindowPattern(appID: "org.gnome.*", title: "home"), false), (WindowPattern(), false),
    ])
  func pattern_isMatched(_ pattern: WindowPattern, _ fits: Bool) {
    let nautilus = window("w", appID: "org.gnome.Nautilus", title: "Home")
    #expect(pattern.matches(nautilus.properties) == fits)
  }

  @Test("N1: of two presentations whose patterns match, the older one without a window gets it")
  func window_matchingTwoPatterns_belongsToOlderOneWithoutWindow() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.follow(two, byApp, grace: 2000)
    tracker.opened(window("w1"), program: nil)
    tracker.opened(window("w2"), program: nil)
    #expect(tracker.owner(of: "w1") == one)
    #expect(tracker.owner(of: "w2") == two)
  }

  @Test("N1: a pattern finds the first window, and no other; a dialog belongs to the first window")
  func window_secondMatchingPattern_isItsUsers() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.opened(window("w1"), program: nil)
    tracker.opened(window("w2"), program: nil)
    tracker.opened(window("dialog", parent: "w1"), program: nil)
    #expect(tracker.windows(of: one).map(\.id) == ["w1", "dialog"])
    #expect(tracker.owner(of: "w2") == nil)
  }

  @Test("N1: a program that the user starts meanwhile is the user's; one that ran before shows the window for the item")
  func window_ofYoungerProcess_isItsUsers() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    func process(_ milliseconds: UInt64, ancestor: Handle? = nil) -> WindowProcess {
      WindowProcess(program: nil, ancestor: ancestor, started: BootTime(milliseconds: milliseconds))
    }
    tracker.opened(window("by hand"), by: process(early.milliseconds))
    #expect(tracker.next() == [])
    tracker.opened(window("of a server"), by: process(1))
    #expect(tracker.windows(of: one).map(\.id) == ["of a server"])
    tracker.follow(two, byApp, grace: 2000)
    tracker.opened(window("of its own start"), by: process(early.milliseconds + 1, ancestor: two))
    #expect(tracker.windows(of: two).map(\.id) == ["of its own start"])
  }

  @Test("N1, N2: after a command has handed over, a window of a younger process is taken, even if it was there first")
  func window_ofProcessThatTheBusStarted_isTakenAfterHandingOver() {
    for result: Properties in [["status": .int32(0)], [:]] {
      var tracker = tracker()
      tracker.follow(one, byApp, grace: 2000)
      tracker.opened(
        window("w1"), by: WindowProcess(program: nil, ancestor: nil, started: later, activated: later))
      #expect(tracker.next() == [])
      tracker.programEnded(one, failed: false, result: result)
      #expect(tracker.next() == [.presented(one)])
      #expect(tracker.windows(of: one).map(\.id) == ["w1"])
    }
  }

  @Test("N1: after a command has handed over, a window of a program that somebody else has started is its user's")
  func window_ofProcessOfUser_isNotTakenAfterHandingOver() {
    let session = BootTime(milliseconds: 1)
    for activated in [nil, session] {
      var tracker = tracker()
      tracker.follow(one, byApp, grace: 2000)
      tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
      tracker.opened(
        window("w1"), by: WindowProcess(program: nil, ancestor: nil, started: later, activated: activated))
      #expect(tracker.owner(of: "w1") == nil)
    }
  }

  @Test("N1: the leftover of an earlier item of the same destination may show the window, even by a new process")
  func window_ofLeftover_isTaken() {
    for (destination, isTaken) in [("app", true), ("other", false)] {
      var tracker = tracker()
      tracker.show(one)
      tracker.closed("w1")
      tracker.timeIsOver(for: one)
      tracker.forget(one)
      tracker.follow(two, byApp, grace: 2000, of: destination)
      tracker.opened(window("w2"), by: WindowProcess(program: nil, ancestor: one, started: later))
      #expect((tracker.owner(of: "w2") == two) == isTaken)
    }
  }

  @Test("N1: a startup id is a proof, even without a pattern; a window with another id belongs to another start")
  func window_withStartupID_belongsToItsStart() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000, startupID: .made("first"))
    tracker.follow(two, WindowFollowing(), grace: 2000, startupID: .made("second"))
    func window(_ id: String, startupID: String) -> Window {
      var properties = WindowProperties()
      (properties.appID, properties.pid, properties.startupID) = ("app", 0, startupID)
      return Window(id: id, properties)
    }
    tracker.opened(window("w1", startupID: "of a menu"), program: nil)
    tracker.opened(window("w2", startupID: "second"), program: nil)
    tracker.opened(window("w3", startupID: "first"), program: nil)
    #expect(tracker.owner(of: "w1") == nil)
    #expect(tracker.owner(of: "w2") == two)
    #expect(tracker.owner(of: "w3") == one)
  }

  @Test("N1: the startup id that a running program keeps for all its windows tells nothing")
  func window_withStartupIDOfEarlierWindow_isFoundByPattern() {
    func window(_ id: String) -> Window {
      var properties = WindowProperties()
      (properties.appID, properties.pid, properties.startupID) = ("app", 0, "of its start")
      return Window(id: id, properties)
    }
    var tracker = tracker([window("old")])
    tracker.follow(one, byApp, grace: 2000)
    tracker.opened(window("new"), program: nil)
    #expect(tracker.owner(of: "new") == one)
  }

  @Test("N1: a startup id that an earlier window gets only later tells nothing, but that of a closed window does")
  func window_withStartupIDOfClosedWindow_belongsToItsStart() {
    func window(_ id: String, startupID: String?) -> Window {
      var properties = WindowProperties()
      (properties.appID, properties.pid, properties.startupID) = ("other", 0, startupID)
      return Window(id: id, properties)
    }
    for isClosed in [true, false] {
      var tracker = tracker([window("old", startupID: nil)])
      tracker.changed("old", window("old", startupID: "id").properties)
      if isClosed { tracker.closed("old") }
      tracker.follow(one, WindowFollowing(), grace: 2000, startupID: .made("id"))
      tracker.opened(window("new", startupID: "id"), program: nil)
      #expect((tracker.owner(of: "new") == one) == isClosed)
    }
  }

  @Test("N1: of two presentations, the one that began first is the older one, whatever its number")
  func window_matchingTwoPatterns_belongsToTheFirstBegun() {
    var tracker = tracker()
    tracker.follow(two, byApp, grace: 2000)
    tracker.follow(one, byApp, grace: 2000)
    tracker.opened(window("w1"), program: nil)
    #expect(tracker.owner(of: "w1") == two)
  }

  @Test("N1: when the first window closes, another one that fits the pattern stays its user's")
  func window_secondMatchingPattern_staysItsUsersBetweenWindows() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "app"), linger: 500), grace: 2000)
    tracker.opened(window("w1"), program: nil)
    tracker.opened(window("w2"), program: nil)
    tracker.closed("w1")
    #expect(tracker.windows(of: one) == [])
    tracker.opened(window("w3"), program: nil)
    #expect(tracker.windows(of: one).map(\.id) == ["w3"])
  }

  @Test("N1: an empty startup id tells nothing")
  func window_withEmptyStartupID_isFoundByPattern() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    var properties = window("w1").properties
    properties.startupID = ""
    tracker.opened(Window(id: "w1", properties), program: nil)
    #expect(tracker.owner(of: "w1") == one)
  }

  @Test("N1: in a program of scope “process”, the item has the first window with its dialogs, and its user the others")
  func window_ofHost_isItsUsers() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(WindowPattern(appID: "app"), takesAll: false))
    tracker.opened(window("w2"), program: one)
    tracker.opened(window("dialog", parent: "w1"), program: one)
    #expect(tracker.windows(of: one).map(\.id) == ["w1", "dialog"])
    #expect(tracker.owner(of: "w2") == nil)
  }

  @Test("N1: a pattern is tried again when the title changes")
  func window_retitled_isMatchedAgain() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(WindowPattern(title: "Ready*")), grace: 2000)
    tracker.opened(window("w1", title: ""), program: nil)
    #expect(tracker.next() == [])
    tracker.changed("w1", window("w1", title: "Ready to go").properties)
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("N1: a window that was there before belongs to its user, even if it matches only later")
  func window_earlier_retitled_isItsUsers() {
    var tracker = tracker([window("old", title: "")])
    tracker.follow(one, WindowFollowing(WindowPattern(title: "Ready*")), grace: 2000)
    tracker.changed("old", window("old", title: "Ready to go").properties)
    #expect(tracker.next() == [])
    #expect(tracker.owner(of: "old") == nil)
  }

  @Test("N1: a transient window belongs to its parent's presentation")
  func window_transient_belongsToParentsPresentation() {
    var tracker = tracker()
    tracker.show(one)
    tracker.opened(window("dialog", appID: "portal", parent: "w1"), program: nil)
    #expect(tracker.windows(of: one).map(\.id) == ["w1", "dialog"])
  }

  @Test("N1: a window belongs to one presentation for its life")
  func window_ofEndedPresentation_belongsToNoOther() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.opened(window("w1"), program: nil)
    tracker.forget(one)
    tracker.follow(two, byApp, grace: 2000)
    tracker.changed("w1", window("w1", title: "Another").properties)
    #expect(tracker.owner(of: "w1") == nil)
    #expect(tracker.windows(of: two).isEmpty)
  }
}

/// Presentations that begin with a first window, and end with their last one (N2, N3).
@Suite struct WindowPresentingTests {
  @Test("a presentation is requested until it begins, or shows a parked program again")
  func isRequested_untilItBegins() {
    var tracker = tracker()
    #expect(!tracker.isRequested(one))
    let settings = FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000)
    tracker.request(one, WindowFollowing(hides: true), settings)
    #expect(tracker.isRequested(one))
    #expect(tracker.beginning(of: one) == nil)
    tracker.begin(one, at: early)
    #expect(!tracker.isRequested(one))
    #expect(tracker.beginning(of: one) == early)
    tracker.opened(window("w1"), program: one)
    tracker.dismiss(one, isForced: false)
    tracker.hidden("w1")
    tracker.claim(one, for: two)
    #expect(tracker.isRequested(two))
    let isShown = tracker.showAgain(two)
    #expect(isShown && !tracker.isRequested(two))
  }

  @Test("N2: an item is presented with its first window, once")
  func program_running_isPresentedWithFirstWindow() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    #expect(tracker.next() == [])
    tracker.opened(window("w1"), program: one)
    tracker.opened(window("w2"), program: one)
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("N2: without an adapter, an item is presented when its program runs, and once")
  func program_runningWithoutAdapter_isPresented() {
    var tracker = WindowTracker()
    tracker.programStarted(one)
    tracker.follow(one, WindowFollowing(), grace: 2000)
    #expect(tracker.takeEffects() == [.windowsChanged(one), .start(one)])
    tracker.programStarted(one)
    tracker.programStarted(one)
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("N2: an item is not presented while its program may not have started, or while there is an adapter")
  func program_notRunning_isNotPresented() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.becameAbsent()
    tracker.programStarted(one)
    #expect(tracker.next() == [])
    tracker.follow(two, byApp, grace: 2000)
    tracker.left()
    tracker.becameAbsent()
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("N2: a program that crashes before its first window has failed, with its result")
  func program_crashingBeforeWindow_hasFailed() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programEnded(one, failed: true, result: ["signal": .string("SIGSEGV")])
    #expect(tracker.next() == [.report(.ended(one, failed: true, result: ["signal": .string("SIGSEGV")]))])
  }

  @Test("a presentation that could not be started is forgotten")
  func drop_requested_isReleased() {
    var tracker = tracker()
    tracker.request(
      one, WindowFollowing(), FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000))
    tracker.drop(one)
    #expect(tracker.next() == [.released(one)])
    #expect(!tracker.follows(one))
    tracker.forget(one)
    #expect(tracker.next() == [.released(one)])
  }

  @Test("N2, N3, N5, N6, N9: the times are those that users know")
  func times_asDocumented() {
    #expect(WindowTracker.timeToEnd == 250 && WindowTracker.timeBetweenWindows == 2000)
    #expect(WindowTracker.timeAfterDialog == 500 && WindowTracker.timeToAnswer == 500)
    #expect(WindowTracker.timeOfSilence == 3000 && WindowTracker.timeToStart == 1000)
    #expect(WindowTracker.timeWithoutFocus == 250 && WindowTracker.maxWindows == 1024)
  }

  @Test("N2: a command that ends with status 0 has handed over, and its window is awaited")
  func program_handingOver_isAwaited() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    #expect(tracker.next() == [])
    tracker.opened(window("w1"), program: nil)
    #expect(tracker.next() == [.presented(one)])
    tracker.closed("w1")
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(0)]))])
  }

  @Test("N2: a command that ends with another status before it has a window has failed")
  func program_endingWithStatus_hasFailed() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programEnded(one, failed: false, result: ["status": .int32(3)])
    #expect(
      tracker.next() == [
        .report(
          .ended(
            one, failed: true,
            result: ["status": .int32(3), "error": .string("its program ended with status 3 before it had a window")]))
      ])
  }

  @Test("N2: with adopt, a window that was there before counts when it comes forward after the handing over")
  func window_adopted_countsWhenItComesForward() {
    var tracker = tracker([window("old", focused: false)])
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "app"), adopts: true), grace: 2000)
    tracker.changed("old", window("old", title: "Editing").properties)
    #expect(tracker.next() == [])
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToOpen)])
    tracker.changed("old", window("old", title: "Editing", focused: true).properties)
    #expect(tracker.next() == [.presented(one), .report(.focused(one, isOwn: false))])
  }

  @Test(
    "N2: with adopt, a window that is urgent or gets another title after the handing over counts, too",
    arguments: ["urgent", "title"])
  func window_adopted_countsWhenUrgentOrRetitled(change: String) {
    var tracker = tracker([window("old", focused: false)])
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "app"), adopts: true), grace: 2000)
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToOpen)])
    var changed = window("old", title: change == "title" ? "Other" : "Title").properties
    if change == "urgent" { changed.urgent = true }
    tracker.changed("old", changed)
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("N2: with adopt, at the handing over the window with the focus comes before an urgent one")
  func windows_forward_focusedIsAdopted() {
    var urgent = window("a")
    urgent.properties.urgent = true
    for (windows, adopted) in [([urgent], "a"), ([urgent, window("b", focused: true)], "b")] {
      var tracker = tracker(windows)
      tracker.follow(one, WindowFollowing(WindowPattern(appID: "app"), adopts: true), grace: 2000)
      tracker.programEnded(one, failed: false, result: [:])
      #expect(tracker.next().contains(.presented(one)))
      #expect(tracker.windows(of: one).map(\.id) == [adopted])
    }
  }

  @Test("N3: an item is closed with its last window; its program may end by itself, with its result")
  func window_lastClosed_endsWithResultOfProgram() {
    var tracker = tracker()
    tracker.show(one)
    tracker.closed("w1")
    #expect(tracker.next() == gone(one))
    tracker.programEnded(one, failed: false, result: ["status": .int32(1)])
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(1)]))])
  }

  @Test("N3: the leftover of an item goes on, and is left alone")
  func program_stayingWithoutWindow_goesOn() {
    var tracker = tracker()
    tracker.show(one)
    tracker.closed("w1")
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: [:]))])
    tracker.forget(one)
    tracker.opened(window("w2"), program: one)
    #expect(tracker.next() == [])
    #expect(tracker.owner(of: "w2") == nil)
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.released(one)])
  }

  @Test("N3: with leftover = “end”, the remaining processes get SIGTERM, and SIGKILL after the grace")
  func program_stayingWithoutWindow_isEnded() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(endsLeftover: true))
    tracker.closed("w1")
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: [:])), .confirm(one, milliseconds: 1000)])
    tracker.forget(one)
    #expect(tracker.next() == [])
    tracker.confirmed(one)
    #expect(tracker.next() == [.terminate(one), .wait(one, milliseconds: 2000)])
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.kill(one)])
    tracker.programEnded(one, failed: true, result: [:])
    #expect(tracker.next() == [.released(one)])
  }

  @Test("N3: with linger, another window may follow the last one")
  func window_closedWithLinger_mayBeFollowedByAnother() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(linger: 500), window: window("splash"))
    tracker.closed("splash")
    #expect(tracker.next() == [.report(.windowsGone(one, isFinal: false)), .wait(one, milliseconds: 500)])
    tracker.opened(window("main"), program: one)
    #expect(tracker.next() == [.report(.windowsBack(one))])
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    tracker.closed("main")
    #expect(tracker.next() == [.report(.windowsGone(one, isFinal: false)), .wait(one, milliseconds: 500)])
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(0)]))])
  }

  @Test("N3: a program that still starts may be between two windows; an older one, or one that has ended, is not")
  func window_closedWhileStarting_mayBeFollowedByAnother() {
    var tracker = tracker()
    tracker.show(one, window: window("splash"))
    tracker.closed("splash", at: BootTime(milliseconds: early.milliseconds + 9_999))
    #expect(
      tracker.next() == [
        .report(.windowsGone(one, isFinal: false)), .wait(one, milliseconds: WindowTracker.timeBetweenWindows),
      ])
    tracker.opened(window("main"), program: one)
    #expect(tracker.next() == [.report(.windowsBack(one))])
    tracker.closed("main", at: BootTime(milliseconds: early.milliseconds + 10_000))
    #expect(tracker.next() == gone(one))
    tracker.follow(two, byApp, grace: 2000)
    tracker.opened(window("w2"), program: nil)
    tracker.programEnded(two, failed: false, result: [:])
    _ = tracker.next()
    tracker.closed("w2", at: early)
    #expect(tracker.next() == [.report(.ended(two, failed: false, result: [:]))])
  }

  @Test("N3: with linger, the shortest time is one, and zero is none")
  func linger_shortest_isWaitedFor() {
    for time: UInt64 in [0, 1] {
      var tracker = tracker()
      tracker.show(one, WindowFollowing(linger: time))
      tracker.closed("w1", at: early)
      let waiting: [WindowTracker.Effect] = [
        .report(.windowsGone(one, isFinal: false)), .wait(one, milliseconds: time),
      ]
      #expect(tracker.next() == (time == 0 ? gone(one) : waiting))
    }
  }

  @Test("N3: a program that goes on unseen belongs to nobody, and is released at its end")
  func leftover_forgotten_isReleasedAtItsEnd() {
    var tracker = tracker()
    tracker.show(one)
    tracker.closed("w1")
    tracker.timeIsOver(for: one)
    #expect(!tracker.isLeft(one))
    _ = tracker.next()
    tracker.forget(one)
    #expect(tracker.isLeft(one) && tracker.next() == [])
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.released(one)])
    #expect(!tracker.isLeft(one))
  }

  @Test("N3: a program that ends between two windows ends the item at once, with its result")
  func program_endingBetweenWindows_endsItem() {
    var tracker = tracker()
    tracker.show(one)
    tracker.closed("w1", at: early)
    _ = tracker.next()
    tracker.programEnded(one, failed: false, result: ["status": .int32(7)])
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(7)]))])
  }

  @Test("N3: a dismissal between two windows leaves the program alone")
  func dismissal_betweenWindows_leavesProgram() {
    var tracker = tracker()
    tracker.show(one, window: window("splash"))
    tracker.closed("splash", at: early)
    _ = tracker.next()
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: [:]))])
  }

  @Test("N3: a dismissal between two windows ends an item whose program has ended, with its result")
  func dismissal_betweenWindowsOfEndedProgram_endsWithResult() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(linger: 500), window: window("splash"))
    tracker.programEnded(one, failed: false, result: ["status": .int32(7)])
    tracker.closed("splash")
    _ = tracker.next()
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(7)]))])
  }

  @Test(
    "N3: with linger, the window that opened beside a splash screen follows it, if only the first window belongs to the item"
  )
  func splash_closed_isFollowedByWindowBesideIt() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(takesAll: false, linger: 500), window: window("splash"))
    tracker.opened(window("main"), program: one)
    #expect(tracker.windows(of: one).map(\.id) == ["splash"])
    tracker.closed("splash", at: early)
    #expect(tracker.windows(of: one).map(\.id) == ["main"])
  }
}

/// Dismissals that ask windows to close, dialogs that ask the user, and grace periods (N5, N6).
@Suite struct WindowClosingTests {
  @Test("N5: a dismissal asks the windows to close; the leftover of the program a moment later goes on")
  func dismissal_asksWindows_thenLeavesProgram() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.close(window: "w1")])
    tracker.closed("w1")
    #expect(tracker.next() == gone(one))
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: [:]))])
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.released(one)])
  }

  @Test("N5: a window of a process that ran before is asked, and no process is signalled")
  func dismissal_ofHandedOverWindow_signalsNothing() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    tracker.opened(window("w1"), program: nil)
    _ = tracker.next()
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [.close(window: "w1")])
    tracker.graceIsOver(for: one)
    #expect(tracker.next() == [])
    tracker.closed("w1")
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: ["status": .int32(0)]))])
  }

  @Test("N5: a window of a program that still starts is asked once more, since it may have lost the request")
  func dismissal_ofNewWindow_asksOnceMore() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false, isNew: true)
    #expect(tracker.next() == [.close(window: "w1"), .wait(one, milliseconds: WindowTracker.timeToAnswer)])
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.close(window: "w1")])
    tracker.graceIsOver(for: one)
    #expect(tracker.next().contains { if case .report(.declined) = $0 { true } else { false } })
  }

  @Test("N5, N6: a program that asks its user has got the request, and is not asked once more")
  func dismissal_ofNewWindowThatAsks_isNotRepeated() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false, isNew: true)
    _ = tracker.next()
    tracker.opened(window("d", title: "Save?", parent: "w1"), program: one)
    #expect(tracker.next() == [.report(.asking(one, message: "Save?"))])
    tracker.closed("d")
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(!tracker.next().contains(.close(window: "w1")))
  }

  @Test(
    "N6: a dialog after the request to close is a question; if it goes and the window stays, the dismissal is declined")
  func dismissal_answeredByDialog_isAskingThenDeclined() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false)
    _ = tracker.next()
    tracker.opened(window("d", title: "Save?", parent: "w1"), program: one)
    #expect(tracker.next() == [.report(.asking(one, message: "Save?"))])
    tracker.closed("d")
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeAfterDialog)])
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.declined(one, message: "the window “Title” was kept open"))])
    // A window that goes later has been closed by its user.
    tracker.closed("w1")
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == gone(one) + [.report(.ended(one, failed: false, result: [:]))])
  }

  @Test("N6: if the window goes with its dialog, the dismissal is complete")
  func dismissal_agreedToInDialog_isComplete() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false)
    tracker.opened(window("d", parent: "w1"), program: one)
    tracker.closed("d")
    _ = tracker.next()
    tracker.closed("w1")
    #expect(tracker.next() == gone(one))
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(0)]))])
  }

  @Test(
    "N6: if the adapter knows no parents, a new floating window of the same process is the dialog, and a tiled one is not"
  )
  func dialog_withoutParent_isFloatingWindowOfSameProcess() {
    var tracker = tracker()
    tracker.show(one, window: window("w1", pid: 7, floating: false))
    tracker.dismiss(one, isForced: false)
    _ = tracker.next()
    tracker.opened(window("tiled", pid: 7, floating: false), program: one)
    tracker.opened(window("strange", pid: 8, floating: true), program: nil)
    #expect(tracker.next() == [])
    tracker.opened(window("d", title: "Save?", pid: 7, floating: false), program: one)
    tracker.changed("d", window("d", title: "Save?", pid: 7, floating: true).properties)
    #expect(tracker.next() == [.report(.asking(one, message: "Save?"))])
  }

  @Test("N6: a dialog of a process that ran before is found by its process")
  func dialog_ofForeignProcess_isFound() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.opened(window("w1", pid: 7, floating: false), program: nil)
    tracker.dismiss(one, isForced: false)
    _ = tracker.next()
    tracker.opened(window("d", appID: "other", title: "Save?", pid: 7, floating: true), program: nil)
    #expect(tracker.next() == [.report(.asking(one, message: "Save?"))])
    #expect(tracker.owner(of: "d") == one)
  }

  @Test("N6: a window that another presentation's pattern takes is no dialog, though it is of the same process")
  func dialog_fittingAnotherPattern_isThatPresentations() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.opened(window("w1", pid: 7, floating: false), program: nil)
    tracker.follow(two, WindowFollowing(WindowPattern(appID: "other")), grace: 2000)
    tracker.dismiss(one, isForced: false)
    _ = tracker.next()
    tracker.opened(window("w2", appID: "other", pid: 7, floating: true), program: nil)
    #expect(tracker.next() == [.presented(two)])
    #expect(tracker.owner(of: "w2") == two)
  }

  @Test("N6: a dialog after the dismissal was declined changes nothing")
  func dialog_afterDecline_changesNothing() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false)
    tracker.graceIsOver(for: one)
    _ = tracker.next()
    tracker.opened(window("d", title: "Save?", parent: "w1"), program: one)
    tracker.closed("d")
    #expect(tracker.next() == [])
    tracker.closed("w1")
    #expect(tracker.next() == gone(one))
  }

  @Test("N5: with a dialog open already, the item is asking, and only windows without a dialog are asked to close")
  func dismissal_withOpenDialog_isAsking() {
    var tracker = tracker()
    tracker.show(one)
    tracker.opened(window("w2"), program: one)
    tracker.opened(window("d", title: "Open file", parent: "w1"), program: one)
    _ = tracker.next()
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.close(window: "w2"), .report(.asking(one, message: "Open file"))])
  }

  @Test("N6: a window that is still there after the grace is kept")
  func grace_over_declines() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false)
    _ = tracker.next()
    tracker.graceIsOver(for: one)
    #expect(tracker.next() == [.report(.declined(one, message: "the window “Title” is still open"))])
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }

  @Test("N6: with kill, SIGKILL follows the grace")
  func grace_overWithKill_kills() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(kills: true))
    tracker.dismiss(one, isForced: false)
    _ = tracker.next()
    tracker.closeAnswered("w1")
    tracker.graceIsOver(for: one)
    #expect(tracker.next() == [.confirm(one, milliseconds: 1000)])
    tracker.confirmed(one)
    #expect(tracker.next() == [.kill(one)])
  }

  @Test("N5: a forced dismissal ends the item's own processes at once, and asks the windows of other processes")
  func dismissal_forced_endsOwnProcesses() {
    var tracker = tracker()
    tracker.show(one)
    tracker.opened(window("foreign", parent: "w1"), program: nil)
    _ = tracker.next()
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [.close(window: "foreign"), .terminate(one)])
    tracker.closed("foreign")
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [])
    tracker.closed("w1")
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
  }

  @Test(
    "N5: a window that the window system cannot ask is kept, and the message says why",
    arguments: [nil, Set<WindowCapability>()])
  func dismissal_ofWindowThatCannotBeAsked_isDeclined(_ capabilities: Set<WindowCapability>?) {
    var tracker = tracker(capabilities: capabilities ?? all)
    tracker.show(one)
    if capabilities == nil { tracker.left() }
    tracker.dismiss(one, isForced: false)
    let why =
      capabilities == nil
      ? "no window-system adapter is on the bus, or it does not answer"
      : "the window-system adapter has no “close”"
    #expect(tracker.next() == [.report(.declined(one, message: "its windows cannot be asked to close: \(why)"))])
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next().contains(.terminate(one)))
  }

  @Test("N5: a window that refuses to be asked is kept")
  func close_refused_declines() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false)
    _ = tracker.next()
    tracker.closeRefused("w1", "no WM_DELETE_WINDOW")
    #expect(
      tracker.next() == [
        .report(.declined(one, message: "the window “Title” cannot be asked to close: no WM_DELETE_WINDOW"))
      ])
  }

  @Test("N2: a dismissal before the first window ends the program; without a pattern, at once")
  func dismissal_beforeWindow_endsProgram() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [.terminate(one)])
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])

    tracker.follow(two, byApp, grace: 2000)
    tracker.dismiss(two, isForced: true)
    #expect(tracker.next() == [.wait(two, milliseconds: WindowTracker.timeToEnd)])
    tracker.timeIsOver(for: two)
    #expect(tracker.next() == [.terminate(two)])
    tracker.opened(window("late"), program: nil)
    #expect(tracker.owner(of: "late") == nil)
  }

  @Test("N2: after a command has handed over, a dismissal waits for the window, and closes it")
  func dismissal_afterHandingOver_closesWindowToCome() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.dismiss(one, isForced: true)
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    _ = tracker.next()
    tracker.opened(window("w1"), program: nil)
    #expect(tracker.next() == [.close(window: "w1")])
    tracker.closed("w1")
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: ["status": .int32(0)]))])
  }

  @Test("N2: if the awaited window does not open within the grace, the dismissal is complete")
  func dismissal_afterHandingOver_waitsForGrace() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programEnded(one, failed: false, result: [:])
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [])
    tracker.graceIsOver(for: one)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
  }

  @Test("N2: a command that fails has not handed over, and completes its dismissal", arguments: [true, false])
  func dismissal_ofFailingCommand_isComplete(crashes: Bool) {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.dismiss(one, isForced: true)
    _ = tracker.next()
    let result: Properties = crashes ? ["signal": .string("SIGSEGV")] : ["status": .int32(1)]
    tracker.programEnded(one, failed: crashes, result: result)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: result))])
  }
}

/// Times without the window-system adapter, and adapters that come back with other ids or do not answer.
@Suite struct WindowSystemAbsenceTests {
  @Test("without the adapter, windows stay as they were; its return shows what has closed meanwhile")
  func adapter_backAgain_showsWhatClosed() {
    var tracker = tracker()
    tracker.show(one)
    tracker.show(two, window: window("w2", appID: "two"))
    tracker.left()
    #expect(tracker.next() == [])
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
    tracker.arrived(all, [window("w1")]) { _ in nil }
    #expect(tracker.next() == gone(two))
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }

  @Test("N2: without an answer of the adapter, an item is presented when its program runs")
  func adapter_silent_presentsWhatRuns() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programStarted(one)
    tracker.left()
    #expect(tracker.next() == [])
    tracker.becameAbsent()
    #expect(tracker.next() == [.presented(one)])
    tracker.follow(Handle(3), byApp, grace: 2000)
    tracker.programStarted(Handle(3))
    #expect(tracker.next() == [.presented(Handle(3))])
    // The adapter answers again.
    tracker.arrived(all, [window("w2")]) { _ in nil }
    #expect(tracker.windows(of: one).map(\.id) == ["w2"])
    #expect(tracker.next() == [])
  }

  @Test(
    "N2, N3, N6: no program gets a signal because an adapter that does not answer tells nothing",
    arguments: [false, true])
  func adapter_silent_endsNoProgram(isKnownToBeSilent: Bool) {
    func fallSilent(_ tracker: inout WindowTracker) {
      guard isKnownToBeSilent else { return }
      tracker.left()
      tracker.becameAbsent()
    }
    for isClosed in [false, true] {
      // The windows were asked to close, or their user has closed them.
      var closing = tracker()
      closing.show(one, WindowFollowing(kills: true))
      if isClosed { closing.closed("w1") } else { closing.dismiss(one, isForced: false) }
      fallSilent(&closing)
      // The dismissal was declined after that.
      if isClosed || !isKnownToBeSilent { closing.graceIsOver(for: one) }
      closing.unconfirmed(one)
      let effects = closing.next()
      #expect(!effects.contains(.kill(one)) && !effects.contains(.terminate(one)))
      #expect(
        effects.contains {
          switch $0 {
          case .report(.ended(one, failed: false, result: [:])): isClosed
          case .report(.declined(one, let message)): !isClosed && message.hasSuffix("or it does not answer")
          default: false
          }
        })
    }
    // No window of this presentation is known within its start timeout.
    var late = tracker()
    late.follow(one, byApp, grace: 2000)
    late.programStarted(one)
    late.dismiss(one, isForced: false, because: .failure)
    #expect(late.next() == [.confirm(one, milliseconds: 1000)])
    if isKnownToBeSilent { late.unconfirmed(one) } else { late.graceIsOver(for: one) }
    #expect(late.next() == [.report(.dismissAnswered(one, result: [:]))])
    late.forget(one)
    late.programEnded(one, failed: false, result: [:])
    #expect(late.next() == [.released(one)])
  }

  @Test(
    "N2, N6: with an adapter that answers, a late program ends; without a confirmation, a window that was asked stays")
  func adapter_answering_endsWhatIsLate() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.programStarted(one)
    tracker.dismiss(one, isForced: false, because: .failure)
    _ = tracker.next()
    tracker.confirmed(one)
    #expect(tracker.next() == [.terminate(one)])
    tracker.show(two, WindowFollowing(kills: true))
    tracker.dismiss(two, isForced: false)
    _ = tracker.next()
    tracker.closeAnswered("w1")
    tracker.graceIsOver(for: two)
    #expect(tracker.next() == [.confirm(two, milliseconds: 1000)])
    tracker.unconfirmed(two)
    let message =
      "whether its windows are open is not known: no window-system adapter is on the bus, or it does not answer"
    #expect(tracker.next() == [.report(.declined(two, message: message))])
  }

  @Test("N2: an item that has handed over, and waits for its window, is not presented because the adapter is gone")
  func adapter_gone_afterHandingOver_presentsNothing() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programStarted(one)
    tracker.programEnded(one, failed: false, result: [:])
    tracker.left()
    tracker.becameAbsent()
    #expect(tracker.next() == [])
  }

  @Test("N2: a program that hands over while the adapter is away is waited for until the adapter is back")
  func programEnds_adapterIsAway_isWaitedFor() {
    var tracker = tracker()
    tracker.follow(two, byApp, grace: 2000)
    tracker.left()
    tracker.programStarted(two)
    tracker.programEnded(two, failed: false, result: [:])
    #expect(tracker.next() == [])
    tracker.arrived(all, [window("w2")]) { _ in nil }
    #expect(tracker.next() == [.presented(two)])
  }

  @Test("an adapter that is back is asked again to close windows")
  func adapter_backDuringDismissal_isAskedAgain() {
    var tracker = tracker()
    tracker.show(one)
    tracker.follow(two, byApp, grace: 2000)
    tracker.opened(window("w2"), program: nil)
    _ = tracker.next()
    tracker.dismiss(one, isForced: false)
    tracker.dismiss(two, isForced: true)
    _ = tracker.next()
    tracker.left()
    tracker.arrived(all, [window("w1"), window("w2")]) { _ in nil }
    #expect(tracker.next() == [.close(window: "w1"), .close(window: "w2")])
  }

  @Test("an adapter with new ids gives its windows back to their presentations")
  func adapter_withNewIDs_keepsOwners() {
    var tracker = tracker()
    tracker.show(one, window: window("w1", pid: 7))
    tracker.left()
    tracker.arrived(all, [window("new-1", pid: 7)]) { _ in nil }
    #expect(tracker.windows(of: one).map(\.id) == ["new-1"])
    #expect(tracker.next() == [])
  }

  @Test(
    "N1: a window that looks like others under new ids is not closed, raised or hidden for an item", arguments: 0...2)
  func adapter_withNewIDsOfWindowsThatLookAlike_givesBackNone(strangers: Int) {
    for isHiding in [false, true] {
      var tracker = tracker()
      tracker.show(one, WindowFollowing(hides: isHiding))
      for number in 0..<strangers { tracker.opened(window("s\(number)"), program: nil) }
      tracker.left()
      // Without another window before, there are two now; otherwise one of them has closed.
      let now = (0..<max(strangers, 2)).map { window("new-\($0)") }
      tracker.arrived(all, now) { _ in nil }
      #expect(tracker.next() == [])
      #expect(tracker.windows(of: one) == [])
      tracker.raise(one)
      tracker.bring(one, to: nil)
      #expect(tracker.next() == [])
      tracker.dismiss(one, isForced: false)
      #expect(tracker.next() == [.report(.declined(one, message: lossMessage))])
      tracker.dismiss(one, isForced: true)
      #expect(tracker.next() == [.terminate(one)])
      tracker.programEnded(one, failed: false, result: [:])
      #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
    }
  }

  @Test("N1: a window whose look no other one had or has is given back, whatever else is told")
  func adapter_withNewIDsOfOneLook_keepsOwner() {
    var tracker = tracker([window("s1", title: "Other")])
    tracker.show(one)
    tracker.left()
    tracker.arrived(all, [window("new-2"), window("new-1", title: "Other"), window("new-3", title: "Later")]) { _ in nil
    }
    #expect(tracker.windows(of: one).map(\.id) == ["new-2"])
    #expect(tracker.next() == [])
  }

  @Test("N1: an item that has all windows of its processes keeps them under new ids, even with other titles")
  func adapter_withNewIDsOfOwnProcess_keepsOwner() {
    var tracker = tracker()
    tracker.show(one, window: window("w1", pid: 7))
    tracker.opened(window("w2", pid: 7), program: one)
    tracker.left()
    tracker.arrived(all, [window("n1", pid: 7), window("n2", title: "Other", pid: 7)]) { _ in one }
    #expect(tracker.windows(of: one).map(\.id) == ["n1", "n2"])
    #expect(tracker.next() == [])
    tracker.closed("n1")
    tracker.closed("n2")
    #expect(tracker.next() == gone(one))
  }

  @Test("N1: under new ids, a window that looks as two did before is given to neither")
  func adapter_withNewIDOfOneOfTwo_givesItToNobody() {
    var tracker = tracker()
    tracker.show(one)
    tracker.show(two, window: window("w2"))
    tracker.left()
    tracker.arrived(all, [window("n1")]) { _ in nil }
    #expect(tracker.next() == [])
    #expect(tracker.owner(of: "n1") == nil && tracker.windows(of: one) == [] && tracker.windows(of: two) == [])
    #expect(Array(tracker.windows.all.keys) == ["n1"])
  }

  @Test("N1: an item that has lost its windows gets none by its pattern")
  func adapter_withNewIDAndTitle_givesNoLaterWindow() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.opened(window("w1"), program: nil)
    tracker.left()
    tracker.arrived(all, [window("n1", title: "Changed")]) { _ in nil }
    tracker.opened(window("w2"), program: nil)
    #expect(tracker.windows(of: one) == [])
  }

  @Test("N1: a forced dismissal of lost windows goes on to the end of the program, and is complete if that has ended")
  func adapter_withNewIDAndTitle_endsForcedDismissal() {
    for isRunning in [true, false] {
      var tracker = tracker()
      tracker.follow(one, byApp, grace: 2000)
      if !isRunning { tracker.programEnded(one, failed: false, result: ["status": .int32(0)]) }
      tracker.opened(window("w1"), program: nil)
      tracker.dismiss(one, isForced: true)
      tracker.left()
      _ = tracker.next()
      tracker.arrived(all, [window("n1", title: "Changed")]) { _ in nil }
      if isRunning {
        #expect(tracker.next() == [])
        tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
      }
      #expect(tracker.next() == [.report(.dismissAnswered(one, result: ["status": .int32(0)]))])
    }
  }

  @Test("N1: a dismissal of lost windows is declined, and the item stays as long as its program")
  func adapter_withNewIDAndTitle_declinesDismissal() {
    for isHiding in [true, false] {
      var tracker = tracker()
      tracker.show(one, WindowFollowing(hides: isHiding))
      tracker.dismiss(one, isForced: false)
      tracker.left()
      _ = tracker.next()
      tracker.arrived(all, [window("n1", title: "Changed")]) { _ in nil }
      #expect(tracker.next() == [.report(.declined(one, message: lossMessage))])
      tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
      #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(0)]))])
    }
  }

  @Test("N1: an item of an ended command whose windows are lost has ended, with its result")
  func adapter_withNewIDAndTitle_endsWhatHasHandedOver() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    tracker.opened(window("w1"), program: nil)
    tracker.left()
    _ = tracker.next()
    tracker.arrived(all, [window("n1", title: "Changed")]) { _ in nil }
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(0)]))])
  }

  @Test("N1, N9: a focus that was lost with its window is reported as lost")
  func adapter_withNewIDAndTitle_losesFocus() {
    var tracker = tracker()
    tracker.show(one, window: window("w1", focused: true))
    tracker.left()
    tracker.arrived(all, [window("n1", title: "Changed", focused: false)]) { _ in nil }
    #expect(tracker.next() == [.report(.focusLost), .waitForFocus(milliseconds: WindowTracker.timeWithoutFocus)])
  }

  @Test("N9, U1: under new ids, the window that navd moved, and the one with the focus, are known")
  func adapter_withNewIDs_knowsFocus() {
    var tracker = tracker()
    tracker.show(one, window: window("w1", focused: true, output: "left"))
    tracker.show(two, window: window("w2", title: "Two", focused: false))
    tracker.move(one, to: "right")
    tracker.left()
    _ = tracker.next()
    let (first, second) = (
      window("n1", focused: true, output: "left"), window("n2", title: "Two", focused: false)
    )
    tracker.arrived(all, [first, second]) { _ in nil }
    #expect(tracker.takeEffects() == [.windowsChanged(one), .windowsChanged(two)])
    tracker.changed("n1", window("n1", focused: false, output: "left").properties)
    #expect(tracker.next() == [.report(.focusLost), .waitForFocus(milliseconds: WindowTracker.timeWithoutFocus)])
    tracker.changed("n1", first.properties)
    #expect(tracker.next() == [.stopWaitingForFocus, .report(.focused(one, isOwn: false))])
    tracker.changed("n2", window("n2", title: "Two", focused: true).properties)
    #expect(tracker.next() == [.report(.focused(two, isOwn: true))])
  }

  @Test("N9: where parents are not told, a floating window of the same process leaves the focus with the item")
  func focus_onFloatingWindowOfProcess_isTheItems() {
    for tellsParents in [false, true] {
      var tracker = tracker(capabilities: tellsParents ? all : all.subtracting([.parent]))
      tracker.show(one, WindowFollowing(takesAll: false), window: window("w1", pid: 7, focused: true))
      tracker.opened(window("dialog", pid: 7, floating: true, focused: true), program: one)
      #expect(tracker.next() == [.report(.focused(tellsParents ? nil : one, isOwn: false))])
      #expect(tracker.owner(of: "dialog") == nil)
      tracker.opened(window("users", pid: 7, floating: false, focused: true), program: one)
      #expect(tracker.next() == [.report(.focused(nil, isOwn: false))])
    }
  }

  @Test("N7, N9: under new ids, the focus of a window that navd raised is navd's own doing")
  func adapter_withNewIDs_knowsWhatWasRaised() {
    var tracker = tracker()
    tracker.show(one)
    tracker.raise(one)
    tracker.left()
    _ = tracker.next()
    tracker.arrived(all, [window("n1", focused: true)]) { _ in nil }
    #expect(tracker.next() == [.report(.focused(one, isOwn: true))])
  }

  @Test("N1: an adapter with new ids for windows of nobody has nothing recorded")
  func adapter_withNewIDsOfStrangers_recordsNothing() {
    var tracker = tracker([window("s1", appID: "x")])
    tracker.follow(one, byApp, grace: 2000)
    tracker.left()
    _ = tracker.takeEffects()
    tracker.arrived(all, [window("n1", appID: "y")]) { _ in nil }
    #expect(tracker.takeEffects() == [])
  }

  @Test("N1: a window that may be an earlier one is not taken for the window that a presentation awaits")
  func adapter_withNewIDs_givesNoOldWindowToWhatWaits() {
    var tracker = tracker([window("s1", title: "a"), window("s2", title: "b")])
    tracker.follow(one, byApp, grace: 2000)
    tracker.left()
    tracker.arrived(all, [window("n1", title: "c"), window("n2", title: "b")]) { _ in nil }
    #expect(tracker.next() == [])
    #expect(tracker.windowsBefore(one)?.isSuperset(of: ["n1", "n2"]) == true)
    tracker.opened(window("w1"), program: nil)
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("N1: an adapter that is still the same uses no id twice, so a missing window has closed")
  func adapter_same_tellsWhatHasClosed() {
    var tracker = tracker()
    tracker.show(one)
    tracker.arrived(all, [window("new")], isSameAdapter: true, at: later) { _ in nil }
    #expect(tracker.next() == gone(one))
  }

  @Test(
    "N3: a window with another title under a new id has not been closed by its user: no program gets a signal",
    arguments: [WindowFollowing(endsLeftover: true), WindowFollowing(kills: true)])
  func adapter_withNewIDAndTitle_endsNoProgram(rule: WindowFollowing) {
    var tracker = tracker()
    tracker.show(one, rule)
    tracker.show(two, rule, window: window("w2", appID: "two"))
    // One of the two windows of this presentation is known again.
    tracker.opened(window("w3", appID: "two", title: "Same"), program: two)
    tracker.left()
    let now = [
      window("n1", title: "Changed"), window("n2", appID: "two", title: "Changed"),
      window("n3", appID: "two", title: "Same"),
    ]
    tracker.arrived(all, now) { _ in nil }
    #expect(tracker.next() == [])
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: [:]))])
    tracker.closed("n3")
    #expect(tracker.next() == [])
    tracker.dismiss(two, isForced: false)
    #expect(tracker.next() == [.report(.declined(two, message: lossMessage))])
    tracker.opened(window("later", appID: "two"), program: nil)
    #expect(tracker.next() == [] && tracker.windows(of: two) == [])
  }

  @Test("N8: hidden windows that cannot be told from others end the parking, and not the program")
  func adapter_withNewIDsOfParked_leavesProgram() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(endsLeftover: true, hides: true))
    tracker.dismiss(one, isForced: false)
    tracker.hidden("w1")
    _ = tracker.next()
    tracker.left()
    tracker.arrived(all, [window("n1", title: "Changed")]) { _ in nil }
    #expect(tracker.next() == [.report(.parkedEnded(one))])
  }

  @Test("N6: a dialog that asks keeps asking under its new id, and the focus is where it was")
  func adapter_withNewIDsDuringQuestion_knowsDialog() {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false)
    tracker.opened(window("d1", title: "Save?", parent: "w1", focused: true), program: one)
    _ = tracker.next()
    tracker.left()
    tracker.arrived(all, [window("n1"), window("n2", title: "Save?", parent: "n1", focused: true)]) { _ in nil }
    #expect(tracker.next() == [])
    tracker.closed("n2")
    #expect(tracker.next().contains(.wait(one, milliseconds: WindowTracker.timeAfterDialog)))
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.declined(one, message: "the window “Title” was kept open"))])
  }

  /// Makes a tracker whose adapter leaves while the dialog “Save?” of the window “w1” asks.
  private func leftWhileADialogAsks() -> WindowTracker {
    var tracker = tracker()
    tracker.show(one)
    tracker.dismiss(one, isForced: false)
    tracker.opened(window("d1", title: "Save?", parent: "w1"), program: one)
    _ = tracker.next()
    tracker.left()
    return tracker
  }

  @Test("N6: a dialog of a window that is known again asks, even with another title")
  func adapter_withNewIDAndTitleOfDialog_knowsDialog() {
    var tracker = leftWhileADialogAsks()
    tracker.arrived(all, [window("n1"), window("n2", title: "Save 2?", parent: "n1")]) { _ in nil }
    #expect(tracker.next() == [.report(.asking(one, message: "Save 2?"))])
    #expect(tracker.windows(of: one).map(\.id) == ["n1", "n2"])
    tracker.closed("n1")
    tracker.closed("n2")
    #expect(tracker.next().contains(.report(.windowsGone(one, isFinal: true))))
  }

  @Test("N6: if the dialog that asks is not known again, the window stays a moment later")
  func adapter_withNewIDsDuringQuestion_declinesWithoutDialog() {
    var tracker = leftWhileADialogAsks()
    tracker.arrived(all, [window("n1"), window("n2", title: "Save 2?")]) { _ in nil }
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeAfterDialog), .close(window: "n1")])
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.report(.declined(one, message: "the window “Title” was kept open"))])
  }

  @Test("the next navd finds the only window that looks like the recorded one, and none of several", arguments: [1, 2])
  func window_ofThePreviousNavdWithNewID_isFoundIfItIsTheOnlyOne(count: Int) {
    var tracker = tracker((1...count).map { window("new-\($0)") })
    let hasWindows = tracker.restore(
      one, WindowFollowing(WindowPattern(appID: "app"), endsLeftover: true), grace: 2000, windows: [window("w1")],
      before: [], end: nil, isPresented: true)
    #expect(hasWindows == (count == 1))
    #expect(tracker.next() == [])
    if count == 1 { return }
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.report(.declined(one, message: lossMessage))])
  }

  @Test("a window that opened without the adapter belongs to a presentation that began before, not later")
  func window_openedInAbsence_belongsToEarlierPresentation() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.left()
    tracker.follow(two, WindowFollowing(WindowPattern(appID: "two")), grace: 2000)
    // It was gone already.
    tracker.left()
    tracker.arrived(all, [window("w1"), window("w2", appID: "two")]) { _ in nil }
    #expect(tracker.next() == [.presented(one)])
    #expect(tracker.owner(of: "w2") == nil)
  }

  @Test("a program that ends without the adapter takes its windows with it")
  func program_endingInAbsence_ends() {
    var tracker = tracker()
    tracker.show(one)
    tracker.left()
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next().contains(.report(.ended(one, failed: false, result: [:]))))
  }

  @Test("a window that is reported again as opened stays as it is")
  func window_openedAgain_changesNothing() {
    var tracker = tracker()
    tracker.show(one)
    tracker.opened(window("w1", title: "Other"), program: nil)
    #expect(tracker.windows(of: one) == [window("w1")])
    #expect(tracker.next() == [])
  }

  @Test("unknown ids and too many windows change nothing")
  func adapter_lying_changesNothing() {
    var tracker = tracker()
    tracker.changed("nobody", window("nobody").properties)
    tracker.closed("nobody")
    tracker.closeRefused("nobody", "x")
    for number in 0...WindowTracker.maxWindows { tracker.opened(window("\(number)"), program: nil) }
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.opened(window("more"), program: one)
    #expect(tracker.next() == [])
  }
}

/// Windows after a restart of navd: those on record, and those that come later.
@Suite struct WindowRestoringTests {
  @Test("after a restart, recorded windows belong to their presentations")
  func presentation_restored_hasItsWindows() {
    var tracker = tracker([window("w1"), window("stranger")])
    let hasWindows = tracker.restore(
      one, byApp, grace: 2000, windows: [window("w1")], before: ["stranger"], end: ["status": .int32(0)])
    #expect(hasWindows)
    #expect(tracker.next() == [])
    tracker.closed("w1")
    #expect(tracker.next() == [.report(.ended(one, failed: false, result: ["status": .int32(0)]))])
  }

  @Test("after a restart, a program that is shown again belongs to the presentation that shows it")
  func program_restoredForAnother_isShownForThat() {
    var tracker = tracker([window("w1")])
    let settings = FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000)
    tracker.recover(one, byApp, settings, for: two, windows: [window("w1")])
    #expect(tracker.program(of: two) == one && tracker.presentation(of: one) == two)
    let hasWindows = tracker.restore(one, windows: [window("w1")], before: [], beganAt: early, end: [:])
    #expect(hasWindows)
    tracker.closed("w1")
    #expect(tracker.next() == [.report(.ended(two, failed: false, result: [:]))])
  }

  @Test("after a restart, a presentation that was not started is not followed")
  func presentation_notStarted_isForgotten() {
    var tracker = tracker()
    let settings = FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000)
    tracker.recover(one, byApp, settings, for: one)
    #expect(tracker.follows(one))
    tracker.notStarted(one)
    #expect(!tracker.follows(one))
  }

  @Test("after a restart, a window on record for two presentations belongs to one")
  func window_recordedTwice_belongsToOne() {
    var tracker = tracker([window("w1")])
    _ = tracker.restore(one, byApp, grace: 2000, windows: [window("w1")], before: [], end: [:])
    let hasWindows = tracker.restore(two, byApp, grace: 2000, windows: [window("w1")], before: [], end: [:])
    #expect(!hasWindows)
    #expect(tracker.windows(of: one).map(\.id) == ["w1"] && tracker.owner(of: "w1") == one)
  }

  @Test("N1: after a restart beside the same adapter, a closed window is not taken for one that looks alike")
  func window_closedMeanwhile_isNotRecognized() {
    for isOnRecord in [true, false] {
      // Another window of before tells that the ids are the same.
      var tracker = tracker([window("known", appID: "other"), window("stranger")])
      let settings = FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000)
      if isOnRecord {
        tracker.recover(two, byApp, settings, for: two, windows: [window("known", appID: "other")])
      }
      let hasWindows = tracker.restore(
        one, byApp, grace: 2000, windows: [window("w1")], before: isOnRecord ? [] : ["known"], end: nil)
      #expect(!hasWindows)
      #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToEnd)])
    }
  }

  @Test("N1: after a restart, an earlier window that fits only later is its user's, also between two windows")
  func window_earlier_retitledAfterRestart_isItsUsers() {
    let rule = WindowFollowing(WindowPattern(title: "Ready*"), linger: 500)
    var tracker = tracker([window("w1", title: "Ready"), window("old", title: "")])
    _ = tracker.restore(one, rule, grace: 2000, windows: [window("w1", title: "Ready")], before: [], end: nil)
    tracker.closed("w1")
    tracker.changed("old", window("old", title: "Ready to go").properties)
    #expect(tracker.windows(of: one) == [])
  }

  @Test("the windows of a presentation are recorded whenever they change")
  func windows_changed_areRecorded() {
    func isRecorded(_ tracker: inout WindowTracker) -> Bool { tracker.takeEffects().contains(.windowsChanged(one)) }
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    #expect(isRecorded(&tracker))
    tracker.opened(window("w1"), program: one)
    #expect(isRecorded(&tracker))
    tracker.opened(window("stranger", appID: "other"), program: nil)
    tracker.changed("w1", window("w1", focused: true).properties)
    #expect(!isRecorded(&tracker))
    tracker.opened(window("w2"), program: one)
    #expect(isRecorded(&tracker))
    tracker.closed("w2")
    #expect(isRecorded(&tracker))
    tracker.left()
    tracker.arrived(all, [window("n1", title: "Changed"), window("n2", title: "Other")]) { _ in nil }
    #expect(isRecorded(&tracker))
    #expect(tracker.windowsBefore(one)?.isSuperset(of: ["n1", "n2"]) == true)
    // Of an item without a record of the windows before it, the loss is recorded.
    tracker = WindowRulesTests.tracker([window("w1")])
    _ = tracker.restore(one, byApp, grace: 2000, windows: [window("w1")], before: nil, end: nil)
    tracker.left()
    _ = tracker.takeEffects()
    tracker.arrived(all, [window("n1", title: "Changed")]) { _ in nil }
    #expect(isRecorded(&tracker))
    // Of what waits for its window, the windows before it are recorded.
    tracker = WindowRulesTests.tracker([window("s1", title: "a")])
    tracker.follow(one, byApp, grace: 2000)
    tracker.left()
    _ = tracker.takeEffects()
    tracker.arrived(all, [window("n1", title: "b")]) { _ in nil }
    #expect(isRecorded(&tracker))
  }

  @Test("after a restart, a presentation that still waits gets a window that is new, and none that was there before")
  func presentation_restoredWaiting_getsNewWindow() {
    var tracker = tracker([window("stranger"), window("w1")])
    let hasWindows = tracker.restore(one, byApp, grace: 2000, windows: [], before: ["stranger"], end: [:])
    #expect(hasWindows)
    #expect(tracker.next() == [.presented(one)])
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }

  @Test("after a restart, a window is a stranger's if it is not on record which windows were there before")
  func presentation_restoredWithoutRecord_takesNoWindow() {
    var tracker = tracker([window("stranger")])
    let hasWindows = tracker.restore(one, byApp, grace: 2000, windows: [], before: nil, end: [:])
    #expect(!hasWindows)
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToOpen)])
    tracker.opened(window("w1"), program: nil)
    #expect(tracker.next() == [.presented(one)])
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }

  @Test("without the adapter, the windows from before a presentation are unknown")
  func windowsBefore_withoutAdapter_areUnknown() {
    var tracker = WindowTracker()
    tracker.follow(one, byApp, grace: 2000)
    #expect(tracker.windowsBefore(one) == nil)
    tracker.arrived(all, [window("stranger"), window("other", appID: "other")]) { _ in nil }
    tracker.follow(two, byApp, grace: 2000)
    #expect(tracker.windowsBefore(two) == ["other", "stranger"])
    #expect(tracker.next() == [])
    // What is presented without an adapter has none to wait for.
    tracker = WindowTracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.programStarted(one)
    tracker.arrived(all, [window("stranger")]) { _ in nil }
    #expect(tracker.windowsBefore(one) == nil)
  }

  @Test("windows that opened while the adapter was away count as older than a presentation that began meanwhile")
  func windowsBefore_begunInAbsence_areThoseAtTheReturn() {
    var tracker = tracker([window("old")])
    tracker.left()
    tracker.follow(one, byApp, grace: 2000)
    #expect(tracker.windowsBefore(one) == nil)
    tracker.arrived(all, [window("old"), window("stranger")]) { _ in nil }
    #expect(tracker.windowsBefore(one) == ["old", "stranger"])
    #expect(tracker.takeEffects().last == .windowsChanged(one))
    tracker.opened(window("w1"), program: nil)
    #expect(tracker.next() == [.presented(one)])
    #expect(tracker.windowsBefore(one) == ["old", "stranger"])
  }

  @Test("after a restart, the end of the recorded windows ends the presentation, and its program gets SIGTERM")
  func presentation_restoredWithoutItsWindow_ends() {
    var tracker = tracker([window("stranger", appID: "other")])
    let hasWindows = tracker.restore(
      one, byApp, grace: 2000, windows: [window("w1", title: "Gone")], before: [], end: nil)
    #expect(!hasWindows)
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToEnd)])
  }

  @Test("after a restart without the adapter, windows count as they were recorded")
  func presentation_restoredWithoutAdapter_staysAsRecorded() {
    var tracker = WindowTracker()
    let hasWindows = tracker.restore(one, byApp, grace: 2000, windows: [window("w1")], before: [], end: [:])
    #expect(hasWindows)
    tracker.arrived(all, [window("w1")]) { _ in nil }
    #expect(tracker.next() == [])
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.close(window: "w1")])
  }
}

/// Earlier windows that count after a program has handed over (N2).
@Suite struct AdoptionTests {
  private let adopting = WindowFollowing(WindowPattern(appID: "app"), adopts: true)

  /// A presentation whose command has handed over, with an earlier window.
  private func handedOver(_ rule: WindowFollowing, window old: Window = window("old", focused: false)) -> WindowTracker
  {
    var tracker = tracker([old])
    tracker.follow(one, rule, grace: 2000)
    tracker.programEnded(one, failed: false, result: [:])
    _ = tracker.next()
    return tracker
  }

  @Test("N2: without adopt, an earlier window that comes forward is its user's")
  func window_forward_withoutAdopt_isItsUsers() {
    var tracker = handedOver(byApp)
    tracker.changed("old", window("old", focused: true).properties)
    #expect(tracker.owner(of: "old") == nil)
    tracker = handedOver(byApp, window: window("old", focused: true))
    #expect(tracker.owner(of: "old") == nil)
  }

  @Test("N2: with adopt, an earlier window counts only if it fits, and comes forward")
  func window_notForward_isItsUsers() {
    var tracker = handedOver(adopting, window: window("old", appID: "other", focused: false))
    tracker.changed("old", window("old", appID: "other", focused: true).properties)
    #expect(tracker.owner(of: "old") == nil)
    tracker = handedOver(adopting)
    tracker.changed("old", window("old", focused: false, output: "left").properties)
    #expect(tracker.owner(of: "old") == nil)
    tracker.changed("old", window("old", focused: true, output: "left").properties)
    #expect(tracker.owner(of: "old") == one)
  }

  @Test("N2: with adopt, an earlier window counts only for an item without a window")
  func window_forward_besideTheNewOne_isItsUsers() {
    var tracker = handedOver(adopting)
    tracker.opened(window("new"), program: nil)
    tracker.changed("old", window("old", focused: true).properties)
    #expect(tracker.windows(of: one).map(\.id) == ["new"])
    // The bus has started the program for the command, which has not ended yet.
    tracker = WindowRulesTests.tracker([window("old", focused: true)])
    tracker.follow(one, adopting, grace: 2000)
    tracker.opened(
      window("new"), by: WindowProcess(program: nil, ancestor: nil, started: later, activated: later))
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.windows(of: one).map(\.id) == ["new"])
  }
}

/// Fullscreen windows, a fact of the session (H2).
@Suite struct FullscreenTests {
  @Test("H2: a fullscreen window of nobody counts while it has the focus")
  func fullscreen_ofNobody_countsWithFocus() {
    var tracker = tracker()
    func film(focused: Bool = true, fullscreen: Bool = true) -> Window {
      window("film", focused: focused, fullscreen: fullscreen)
    }
    tracker.opened(film(), program: nil)
    #expect(tracker.isOtherFullscreen)
    for other in [film(focused: false), film(fullscreen: false)] {
      tracker.changed("film", other.properties)
      #expect(!tracker.isOtherFullscreen)
      tracker.changed("film", film().properties)
      #expect(tracker.isOtherFullscreen)
    }
    tracker.left()
    #expect(!tracker.isOtherFullscreen)
    tracker.arrived(all, [film()]) { _ in nil }
    #expect(tracker.isOtherFullscreen)
    tracker.closed("film")
    #expect(!tracker.isOtherFullscreen)
  }

  @Test("H2: a fullscreen window of a presentation does not count, and one that an ended one has left does")
  func fullscreen_ofPresentation_countsAfterItsEnd() {
    var tracker = tracker()
    tracker.show(one, window: window("film", focused: true, fullscreen: true))
    #expect(!tracker.isOtherFullscreen)
    tracker.forget(one)
    #expect(tracker.isOtherFullscreen)
  }
}

/// The focus of windows, its loss, and the part that navd has in it (N7, N9).
@Suite struct WindowFocusTests {
  @Test("N9: the focus is lost if no window has had it for a moment, and not if another one gets it")
  func focus_atNoWindow_isLostAfterAMoment() {
    var tracker = tracker()
    tracker.show(one, window: window("w1", focused: true))
    tracker.changed("w1", window("w1", focused: false).properties)
    #expect(tracker.next() == [.report(.focusLost), .waitForFocus(milliseconds: WindowTracker.timeWithoutFocus)])
    tracker.focusTimeIsOver()
    #expect(tracker.next() == [.report(.noFocus(isOwn: false))])
    tracker.changed("w1", window("w1", focused: true).properties)
    #expect(tracker.next() == [.report(.focused(one, isOwn: false))])
    tracker.changed("w1", window("w1", focused: false).properties)
    tracker.changed("w1", window("w1", focused: true).properties)
    #expect(
      tracker.next() == [
        .report(.focusLost), .waitForFocus(milliseconds: WindowTracker.timeWithoutFocus), .stopWaitingForFocus,
        .report(.focused(one, isOwn: false)),
      ])
    tracker.focusTimeIsOver()
    #expect(tracker.next() == [])
  }

  @Test("N9: the focus is reported once for each window, with its presentation")
  func focus_moving_isReported() {
    var tracker = tracker([window("stranger", focused: true)])
    #expect(tracker.next() == [.report(.focused(nil, isOwn: false))])
    tracker.show(one)
    tracker.changed("w1", window("w1", focused: true).properties)
    tracker.changed("stranger", window("stranger", focused: false).properties)
    tracker.changed("w1", window("w1", title: "Other", focused: true).properties)
    #expect(tracker.next() == [.report(.focused(one, isOwn: false))])
    // Now no window has the focus.
    tracker.changed("w1", window("w1", focused: false).properties)
    #expect(tracker.next() == [.report(.focusLost), .waitForFocus(milliseconds: WindowTracker.timeWithoutFocus)])
    tracker.changed("stranger", window("stranger", focused: true).properties)
    #expect(tracker.next() == [.stopWaitingForFocus, .report(.focused(nil, isOwn: false))])
  }

  @Test("N7, N9: the focus after navd has raised a window is its own doing")
  func focus_afterRaising_isOwn() {
    var tracker = tracker()
    tracker.show(one)
    tracker.opened(window("stranger", focused: true), program: nil)
    _ = tracker.next()
    tracker.raise(one)
    tracker.changed("w1", window("w1", focused: true).properties)
    #expect(tracker.next() == [.activate(window: "w1"), .report(.focused(one, isOwn: true))])
  }
}

/// Moves of the focus that are navd's own doing (N7, N9, U1).
@Suite struct FocusOwnershipTests {
  private func focus(_ id: String, _ isFocused: Bool, of tracker: inout WindowTracker) {
    tracker.changed(id, window(id, focused: isFocused).properties)
  }

  @Test("N9: a window that has lost the focus, and closes then, is reported once")
  func focus_lostBeforeClosing_isReportedOnce() {
    var tracker = tracker([window("w1", focused: true)])
    _ = tracker.next()
    focus("w1", false, of: &tracker)
    #expect(tracker.next() == [.report(.focusLost), .waitForFocus(milliseconds: WindowTracker.timeWithoutFocus)])
    tracker.closed("w1")
    #expect(tracker.next() == [])
    tracker = WindowRulesTests.tracker([window("w1", focused: true)])
    _ = tracker.next()
    tracker.closed("w1")
    #expect(tracker.next() == [.report(.focusLost), .waitForFocus(milliseconds: WindowTracker.timeWithoutFocus)])
  }

  @Test("N7, N9: only the first focus of a window that navd has raised is navd's own doing")
  func focus_againAfterRaising_isNotOwn() {
    var tracker = tracker()
    tracker.show(one)
    tracker.opened(window("stranger", focused: true), program: nil)
    tracker.raise(one)
    focus("w1", true, of: &tracker)
    focus("stranger", false, of: &tracker)
    focus("stranger", true, of: &tracker)
    _ = tracker.next()
    focus("w1", false, of: &tracker)
    focus("w1", true, of: &tracker)
    #expect(tracker.next() == [.report(.focused(one, isOwn: false))])
  }

  /// A window of a presentation that has the focus, and is being moved to another output.
  private func moving() -> WindowTracker {
    var tracker = tracker([window("stranger", focused: false)])
    tracker.show(one, window: window("w1", focused: true, output: "left"))
    tracker.move(one, to: "right")
    _ = tracker.next()
    return tracker
  }

  @Test("U1, N9: only the first loss of the focus after a move is navd's own doing")
  func focus_lostAgainAfterMove_isNotOwn() {
    var tracker = moving()
    for isOwn in [true, false] {
      focus("stranger", true, of: &tracker)
      #expect(tracker.next() == [.report(.focused(nil, isOwn: isOwn))])
      focus("stranger", false, of: &tracker)
      focus("w1", false, of: &tracker)
      focus("w1", true, of: &tracker)
      _ = tracker.next()
    }
    tracker = moving()
    for isOwn in [true, false] {
      focus("w1", false, of: &tracker)
      _ = tracker.next()
      tracker.focusTimeIsOver()
      #expect(tracker.next() == [.report(.noFocus(isOwn: isOwn))])
      focus("w1", true, of: &tracker)
      _ = tracker.next()
    }
  }

  @Test("U1, N9: the loss of another window's focus is not navd's own doing, and leaves that of the moved one to come")
  func focus_lostByAnother_isNotOwn() {
    var tracker = tracker([window("stranger", focused: true)])
    tracker.show(one, window: window("w1", output: "left"))
    tracker.move(one, to: "right")
    focus("stranger", false, of: &tracker)
    _ = tracker.next()
    tracker.focusTimeIsOver()
    #expect(tracker.next() == [.report(.noFocus(isOwn: false))])
    focus("w1", true, of: &tracker)
    focus("stranger", true, of: &tracker)
    #expect(tracker.next() == [.report(.focused(one, isOwn: false)), .report(.focused(nil, isOwn: true))])
  }
}

/// Outputs and places: windows are moved to the output of their item, or brought to their user (N11, U1, U2).
@Suite struct WindowOutputTests {
  @Test(
    "N11: windows come to the place in use with the focus, and the loss of focus that this causes is navd's own doing")
  func bring_toPlaceInUse_summons() {
    var tracker = tracker()
    tracker.show(one)
    tracker.opened(window("dialog", parent: "w1"), program: one)
    tracker.opened(window("stranger", focused: true), program: nil)
    _ = tracker.next()
    tracker.bring(one, to: nil)
    #expect(tracker.next() == [.summon(window: "w1"), .summon(window: "dialog")])
    tracker.changed("dialog", window("dialog", parent: "w1", focused: true).properties)
    #expect(tracker.next() == [.report(.focused(one, isOwn: true))])
  }

  @Test("N11: windows are moved to a named output and raised, and likewise where windows cannot be summoned")
  func bring_toOutput_movesAndRaises() {
    var tracker = tracker()
    tracker.show(one)
    _ = tracker.next()
    tracker.bring(one, to: "two")
    #expect(tracker.next() == [.move(window: "w1", output: "two"), .activate(window: "w1")])
    tracker.bring(two, to: nil)
    #expect(tracker.next() == [])
  }

  @Test("N7: a first window that a key has asked for comes out from behind a fullscreen one", arguments: [true, false])
  func firstWindow_behindFullscreenOne_isRaisedForKey(isKey: Bool) {
    let film = window("film", appID: "film", focused: true, fullscreen: true, output: "one", inView: true)
    for isTold in [true, false] {
      var tracker = tracker([film])
      _ = tracker.next()
      tracker.follow(one, byApp, grace: 2000, mustBeSeen: isKey)
      // Some adapters tell the place of a window after the window.
      tracker.opened(window("w1", output: "one", inView: isTold ? false : nil), program: one)
      if !isTold { tracker.changed("w1", window("w1", output: "one", inView: false).properties) }
      let raised: [WindowTracker.Effect] = isKey ? [.activate(window: "w1")] : []
      #expect(tracker.next() == [.presented(one)] + raised)
      // Once it was seen, what its user puts in front of it stays there.
      tracker.changed("w1", window("w1", output: "one", inView: true).properties)
      tracker.changed("w1", window("w1", output: "one", inView: false).properties)
      #expect(tracker.next() == [])
    }
  }

  @Test("N7: a first window on another workspace, or behind a window on another output, is not raised")
  func firstWindow_onOtherWorkspace_staysThere() {
    let editor = window("editor", appID: "editor", focused: true, fullscreen: false, output: "one", inView: true)
    let film = window("film", appID: "film", fullscreen: true, output: "two", inView: true)
    var tracker = tracker([editor, film])
    _ = tracker.next()
    tracker.follow(one, byApp, grace: 2000, mustBeSeen: true)
    tracker.opened(window("w1", output: "one", inView: false), program: one)
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("N7: a first window that a key has asked for is raised where its user sees no window, as in an overview")
  func firstWindow_inOverview_isRaisedForKey() {
    var tracker = tracker([window("editor", appID: "editor", focused: false, output: "one", inView: false)])
    tracker.follow(one, byApp, grace: 2000, mustBeSeen: true)
    tracker.opened(window("w1", output: "one", inView: false), program: one)
    #expect(tracker.next() == [.presented(one), .activate(window: "w1")])
  }

  @Test(
    "G10: the first window of an item that takes over comes out from behind that of the item before, once it has settled",
    arguments: [true, false])
  func firstWindow_takingOver_isRaisedWhenSettled(takesOver: Bool) {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "film")), grace: 2000)
    let film = window("film", appID: "film", focused: true, fullscreen: true, output: "one", inView: true)
    tracker.opened(film, program: one)
    tracker.follow(two, byApp, grace: 2000, takesOver: takesOver)
    _ = tracker.next()
    tracker.opened(window("w1", output: "one", inView: false), program: two)
    #expect(tracker.next() == [.presented(two)], "it may not have painted yet")
    tracker.settled(two)
    #expect(tracker.next() == (takesOver ? [.activate(window: "w1")] : []))
    // Once it was raised, what its user puts in front of it stays there.
    tracker.changed("w1", window("w1", output: "one", inView: true).properties)
    tracker.changed("w1", window("w1", output: "one", inView: false).properties)
    #expect(tracker.next() == [])
  }

  @Test("G10: the first window of an item that takes over stays behind a window of its user's own")
  func firstWindow_takingOverBehindUsersWindow_staysThere() {
    var tracker = tracker([window("film", appID: "film", focused: true, fullscreen: true, output: "one", inView: true)])
    _ = tracker.next()
    tracker.follow(one, byApp, grace: 2000, takesOver: true)
    tracker.opened(window("w1", output: "one", inView: false), program: one)
    tracker.settled(one)
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("N11: what was just shown, brought or raised counts as being there, until the adapter tells where it is")
  func places_ofArrivingWindows_areWhereTheUserIs() {
    let asks: [(inout WindowTracker) -> Void] = [
      { $0.bring(one, to: nil) }, { $0.raise(one) },
      { tracker in
        tracker.dismiss(one, isForced: false)
        tracker.hidden("w1")
        let isShown = tracker.showAgain(one, as: two)
        #expect(isShown)
      },
    ]
    let away = window("w1", output: "", inView: false)
    for ask in asks {
      for isTold in [true, false] {
        var tracker = tracker()
        tracker.show(one, WindowFollowing(hides: true), window: away)
        ask(&tracker)
        #expect(tracker.next().contains { $0 == .activate(window: "w1") || $0 == .summon(window: "w1") })
        #expect(tracker.places.values.map(\.self) == [.init()])
        if isTold { tracker.changed("w1", window("w1", output: "one", inView: true).properties) }
        // A window manager may refuse without a word.
        tracker.arrivalTimeIsOver()
        #expect(tracker.places.values.map(\.isOutOfView) == [!isTold])
      }
    }
  }

  @Test("N11: a window that cannot be shown is not there")
  func places_afterRefusal_areOutOfView() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(), window: window("w1", output: "one", inView: false))
    tracker.bring(one, to: nil)
    tracker.showRefused("w1")
    #expect(tracker.places[one]?.isOutOfView == true)
  }

  @Test("N11: a presentation is out of view only if none of its windows is in view, and if it could be brought")
  func places_ofPresentations_areThoseOfTheirWindows() {
    var tracker = tracker()
    func window(_ id: String, _ inView: Bool) -> Window {
      var properties = WindowProperties()
      (properties.output, properties.inView) = ("one", inView)
      return Window(id: id, properties)
    }
    tracker.follow(one, WindowFollowing(), grace: 2000)
    #expect(tracker.places == [:])
    tracker.opened(window("w1", false), program: one)
    #expect(tracker.places == [one: .init(isOutOfView: true, outputs: ["one"])])
    tracker.opened(window("w2", true), program: one)
    #expect(tracker.places == [one: .init(isOutOfView: false, outputs: ["one"])])
    tracker.changed("w2", window("w2", false).properties)
    #expect(tracker.places[one]?.isOutOfView == true)
    tracker.left()
    #expect(tracker.places == [:])
  }

  @Test("U1: a window is moved to its presentation's output as soon as it opens, unless it is there or is a dialog")
  func window_opened_isMovedToOutput() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000, output: "two")
    tracker.opened(window("w1", output: "one"), program: one)
    #expect(tracker.next() == [.move(window: "w1", output: "two"), .presented(one)])
    tracker.opened(window("w2", output: "two"), program: one)
    tracker.opened(window("dialog", parent: "w1", output: "one"), program: one)
    tracker.opened(window("stranger", output: "one"), program: nil)
    #expect(tracker.next() == [])
    tracker.opened(window("w3"), program: one)
    #expect(tracker.next() == [.move(window: "w3", output: "two")])
  }

  @Test("U2: another output moves its windows, and those that open later; none moves nothing")
  func output_changed_movesWindows() {
    var tracker = tracker()
    tracker.show(one, window: window("w1", output: "one"))
    tracker.move(one, to: "two")
    #expect(tracker.next() == [.move(window: "w1", output: "two")])
    tracker.changed("w1", window("w1", output: "two").properties)
    tracker.move(one, to: "two")
    tracker.move(one, to: nil)
    tracker.opened(window("w2", output: "one"), program: one)
    tracker.move(two, to: "one")
    #expect(tracker.next() == [])
  }

  @Test("U1: a window system that cannot move windows is not asked to")
  func window_whereNothingMoves_stays() {
    var tracker = tracker(capabilities: [.close, .pid])
    tracker.follow(one, WindowFollowing(), grace: 2000, output: "two")
    tracker.opened(window("w1", output: "one"), program: one)
    #expect(tracker.next() == [.presented(one)])
  }

  @Test("U1, R2: after a restart, windows stay where they are, and later ones are moved")
  func window_restored_stays() {
    var tracker = tracker([window("w1", output: "one")])
    _ = tracker.restore(
      one, WindowFollowing(), grace: 2000, output: "two", windows: [window("w1", output: "one")], before: [], end: nil)
    #expect(tracker.next() == [])
    tracker.opened(window("w2", output: "one"), program: one)
    #expect(tracker.next() == [.move(window: "w2", output: "two")])
  }

  @Test("U1, N9: a loss of the focus that the move causes is navd's own; one after it is not")
  func focus_lostByMove_isOwn() {
    var tracker = tracker([window("stranger", focused: true)])
    tracker.follow(one, WindowFollowing(), grace: 2000, output: "two")
    tracker.opened(window("w1", focused: true, output: "one"), program: one)
    _ = tracker.next()
    tracker.changed("stranger", window("stranger", focused: false).properties)
    tracker.changed("stranger", window("stranger", focused: true).properties)
    #expect(tracker.next() == [.report(.focused(nil, isOwn: true))])
    tracker.changed("w1", window("w1", focused: true, output: "two").properties)
    tracker.changed("stranger", window("stranger", focused: false).properties)
    tracker.changed("stranger", window("stranger", focused: true).properties)
    #expect(tracker.next() == [.report(.focused(one, isOwn: false)), .report(.focused(nil, isOwn: false))])
  }
}

/// The focus after the move of a window (U1, N9).
@Suite struct WindowMovedTests {
  @Test("U1, N9: a loss of the focus after the move is not navd's own")
  func focus_lostAfterMove_isNotOwn() {
    var tracker = tracker([window("stranger", focused: true)])
    tracker.follow(one, WindowFollowing(), grace: 2000, output: "two")
    tracker.opened(window("w1", focused: true, output: "one"), program: one)
    tracker.changed("w1", window("w1", focused: true, output: "two").properties)
    _ = tracker.next()
    tracker.changed("stranger", window("stranger", focused: false).properties)
    tracker.changed("stranger", window("stranger", focused: true).properties)
    #expect(tracker.next() == [.report(.focused(nil, isOwn: false))])
  }
}

/// Parking: windows that a dismissal hides, and programs that are shown again or end (N8).
@Suite struct WindowHidingTests {
  private static let rule = WindowFollowing(hides: true)

  /// Makes a tracker of a presentation with two windows, which is being dismissed.
  private func dismissed(maxParked: Int = 64) -> WindowTracker {
    var tracker = WindowTracker(maxParked: maxParked)
    tracker.arrived(all, []) { _ in nil }
    tracker.show(one, Self.rule)
    tracker.opened(window("w2"), program: one)
    tracker.dismiss(one, isForced: false)
    return tracker
  }

  private func parked() -> WindowTracker {
    var tracker = dismissed()
    tracker.hidden("w1")
    tracker.hidden("w2")
    _ = tracker.next()
    return tracker
  }

  @Test("N8: a dismissal hides all windows, and is complete when they are hidden")
  func dismissal_hidesWindows() {
    var tracker = dismissed()
    #expect(tracker.next() == [.hide(window: "w1"), .hide(window: "w2")])
    tracker.hidden("w2")
    #expect(tracker.next() == [])
    tracker.hidden("w1")
    #expect(tracker.next() == [.report(.hidden(one))])
  }

  @Test("N8: hidden windows are shown again, with the focus, which is navd's own doing")
  func show_showsWindows() {
    var tracker = parked()
    let isShown = tracker.showAgain(one, as: two)
    #expect(isShown)
    #expect(
      tracker.next() == [.show(window: "w1"), .show(window: "w2"), .presented(two), .activate(window: "w2")])
    tracker.changed("w2", window("w2", focused: true).properties)
    #expect(tracker.next() == [.report(.focused(two, isOwn: true))])
    tracker.closed("w1")
    tracker.closed("w2")
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next().last == .report(.ended(two, failed: false, result: [:])))
  }

  @Test("N8, N11: with here, hidden windows come back where their user is")
  func show_here_summonsWindows() {
    var tracker = WindowRulesTests.tracker()
    tracker.show(one, WindowFollowing(comesHere: true, hides: true))
    tracker.dismiss(one, isForced: false)
    tracker.hidden("w1")
    _ = tracker.next()
    _ = tracker.showAgain(one, as: two)
    #expect(tracker.next() == [.summon(window: "w1"), .presented(two)])
  }

  @Test(
    "N8: a window whose adapter left before it was shown is shown by the next adapter, and one that was shown is not")
  func show_unanswered_isRepeated() {
    for isAnswered in [true, false] {
      var tracker = parked()
      _ = tracker.showAgain(one, as: two)
      tracker.shown("w1")
      if isAnswered { tracker.shown("w2") }
      tracker.left()
      _ = tracker.next()
      tracker.arrived(all, [window("w1"), window("w2")], programs: { _ in one })
      #expect(tracker.next() == (isAnswered ? [] : [.show(window: "w2")]))
    }
  }

  @Test("N8: a window of a process that ran before, whose user cancels a forced end, stays parked")
  func parked_forcedAndCancelled_isShownAgain() {
    var tracker = parked()
    tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
    tracker.endParked(one, isForced: true)
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.parkedStays(one, message: "the window “Title” is still open")])
    let isShown = tracker.showAgain(one, as: two)
    #expect(isShown)
  }

  @Test("N8: a window that cannot be hidden keeps the presentation, with the others shown")
  func hiding_refused_isDeclined() {
    var tracker = dismissed()
    tracker.hidden("w1")
    _ = tracker.next()
    tracker.hideRefused("w2", "no scratchpad")
    #expect(
      tracker.next() == [
        .show(window: "w1"), .show(window: "w2"),
        .report(.declined(one, message: "the window “Title” cannot be hidden: no scratchpad")),
      ])
  }

  @Test(
    "N8: a forced dismissal hides, too; it ends the program only if it cannot hide, if all is to end, or with “kill”")
  func dismissal_forced_hidesOrEndsProgram() {
    var tracker = dismissed()
    _ = tracker.next()
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [])
    tracker.hideRefused("w1", "no scratchpad")
    #expect(tracker.next() == [.terminate(one)])
    tracker = dismissed()
    _ = tracker.next()
    tracker.dismiss(one, isForced: true, because: .quit)
    #expect(tracker.next() == [.terminate(one)])
    for (rule, capabilities) in [(Self.rule, Set([.close])), (WindowFollowing(kills: true, hides: true), all)] {
      tracker = WindowTracker()
      tracker.arrived(capabilities, []) { _ in nil }
      tracker.show(one, rule)
      tracker.dismiss(one, isForced: true)
      #expect(tracker.next() == [.terminate(one)])
    }
  }

  @Test("N8: without windows a dismissed item ends, and without the capability to hide it stays")
  func dismissal_withoutWindowsOrCapability_endsOrStays() {
    var tracker = dismissed()
    _ = tracker.next()
    tracker.closed("w1")
    tracker.closed("w2")
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next().last == .report(.ended(one, failed: false, result: [:])))
    tracker = WindowTracker()
    tracker.arrived([.close], []) { _ in nil }
    tracker.show(one, Self.rule)
    tracker.dismiss(one, isForced: false)
    #expect(
      tracker.next() == [
        .report(.declined(one, message: "its windows cannot be hidden: the window-system adapter has no “hide”"))
      ])
  }

  @Test("N8: past the limit, a dismissal closes the windows")
  func dismissal_pastLimit_closesWindows() {
    var tracker = dismissed(maxParked: 0)
    #expect(tracker.next() == [.close(window: "w1"), .close(window: "w2")])
  }

  @Test("N8: a window that opens while others are hidden is hidden, too; one of a parked program belongs to nobody")
  func window_openingMeanwhile_isHidden() {
    var tracker = dismissed()
    _ = tracker.next()
    tracker.opened(window("w3"), program: one)
    #expect(tracker.next() == [.hide(window: "w3")])
    tracker.hidden("w1")
    tracker.hidden("w2")
    #expect(tracker.next() == [])
    tracker.hidden("w3")
    #expect(tracker.next() == [.report(.hidden(one))])
    tracker = parked()
    tracker.opened(window("w3"), program: one)
    #expect(tracker.next() == [])
    #expect(tracker.owner(of: "w3") == nil)
  }

  @Test("N8: a parked program is asked to close, and kept if it stays; by force, it ends")
  func parked_toEnd_isAskedOrEnds() {
    var tracker = parked()
    tracker.endParked(one, isForced: false)
    #expect(
      tracker.next() == [.close(window: "w1"), .close(window: "w2"), .wait(one, milliseconds: 2000)])
    tracker.timeIsOver(for: one)
    #expect(
      tracker.next() == [
        .parkedStays(one, message: "the window “Title” is still open"), .report(.parkedShown(one)),
      ])
    tracker.endParked(one, isForced: true)
    #expect(tracker.next() == [.terminate(one), .wait(one, milliseconds: 2000)])
    tracker.closed("w1")
    tracker.closed("w2")
    tracker.programEnded(one, failed: false, result: [:])
    #expect(tracker.next() == [.report(.parkedEnded(one)), .released(one)])
  }

  @Test("N8, P14: a parked program that does not end gets SIGKILL after its grace, and is given up after another one")
  func parked_forcedAndStaying_isKilledAndGivenUp() {
    var tracker = parked()
    tracker.endParked(one, isForced: true)
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.kill(one), .wait(one, milliseconds: 2000)])
    tracker.timeIsOver(for: one)
    // A window that stays is not left hidden.
    #expect(
      tracker.next() == [
        .abandon(one), .report(.parkedEnded(one)), .show(window: "w1"), .show(window: "w2"), .released(one),
      ])
  }

  @Test("N8, P14: a parked program whose windows are gone, and that does not end, gets SIGKILL, too")
  func parked_forcedWithoutWindowsAndStaying_isKilledAndGivenUp() {
    var tracker = parked()
    tracker.endParked(one, isForced: true)
    tracker.closed("w1")
    tracker.closed("w2")
    _ = tracker.next()
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.kill(one), .wait(one, milliseconds: 2000)])
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.abandon(one), .report(.parkedEnded(one)), .released(one)])
  }

  @Test("N8: forced from the beginning, a window that cannot be hidden ends the program")
  func hiding_forcedAndRefused_endsProgram() {
    var tracker = WindowRulesTests.tracker()
    tracker.show(one, Self.rule)
    tracker.dismiss(one, isForced: true)
    #expect(tracker.next() == [.hide(window: "w1")])
    tracker.hideRefused("w1", "no scratchpad")
    #expect(tracker.next() == [.terminate(one)])
  }

  @Test("N8: a window that is not hidden within the grace is shown, and so is one when the adapter is gone")
  func hiding_unanswered_isDeclined() {
    for isGone in [false, true] {
      var tracker = dismissed()
      tracker.hidden("w1")
      _ = tracker.next()
      if isGone {
        tracker.left()
        tracker.becameAbsent()
      } else {
        tracker.graceIsOver(for: one)
      }
      let why =
        isGone
        ? "its windows cannot be hidden: no window-system adapter is on the bus, or it does not answer"
        : "the window “Title” was not hidden"
      #expect(tracker.next() == [.show(window: "w1"), .show(window: "w2"), .report(.declined(one, message: why))])
    }
  }

  @Test("N8: another adapter that cannot hide has the dismissal declined, and each later one")
  func hiding_withOtherAdapter_isDeclined() {
    var tracker = dismissed()
    tracker.left()
    _ = tracker.next()
    tracker.arrived([.close], [window("w1"), window("w2")]) { _ in one }
    let message = "its windows cannot be hidden: the window-system adapter has no “hide”"
    #expect(tracker.next() == [.report(.declined(one, message: message))])
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.report(.declined(one, message: message))])
  }

  @Test("N8: a window that closes while others are hidden is not waited for")
  func window_closingMeanwhile_isNotWaitedFor() {
    var tracker = dismissed()
    tracker.hidden("w1")
    tracker.closed("w1")
    _ = tracker.next()
    tracker.hidden("w2")
    #expect(tracker.next() == [.report(.hidden(one))])
    tracker = dismissed()
    tracker.hidden("w1")
    _ = tracker.next()
    tracker.closed("w2")
    #expect(tracker.next() == [.report(.hidden(one))])
  }

  @Test("N8: a parked program is parked until its last window closes, and then has nothing to show again")
  func parked_lastWindowCloses_isNotShownAgain() {
    var tracker = parked()
    tracker.closed("w1")
    #expect(tracker.next() == [])
    tracker.closed("w2")
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToEnd)])
    let isShown = tracker.showAgain(one, as: two)
    #expect(!isShown && tracker.next() == [])
    tracker.endParked(one, isForced: true)
    tracker.programEnded(one, failed: false, result: [:])
    #expect(
      tracker.next() == [.terminate(one), .wait(one, milliseconds: 2000), .report(.parkedEnded(one)), .released(one)])
  }

  @Test("N8: a parked program that is shown again is on the output asked for, and may be parked again")
  func show_again_mayBeDismissedAgain() {
    var tracker = parked()
    tracker.claim(one, for: two)
    let isShown = tracker.showAgain(two, on: "right")
    #expect(isShown)
    #expect(
      tracker.next() == [
        .show(window: "w1"), .show(window: "w2"), .move(window: "w1", output: "right"),
        .move(window: "w2", output: "right"), .presented(two), .activate(window: "w2"),
      ])
    tracker.dismiss(two, isForced: false)
    tracker.hidden("w1")
    tracker.hidden("w2")
    #expect(tracker.next() == [.hide(window: "w1"), .hide(window: "w2"), .report(.hidden(two))])
    #expect(tracker.program(of: two) == two)
    tracker.forget(two)
    #expect(tracker.next() == [.released(two)])
  }

  @Test("N8: a program that ends after it was shown again leaves nothing")
  func show_again_mayEnd() {
    var tracker = parked()
    _ = tracker.showAgain(one, as: two)
    tracker.programEnded(one, failed: false, result: [:])
    _ = tracker.next()
    tracker.forget(two)
    #expect(tracker.next() == [.released(one)])
    #expect(tracker.program(of: two) == two && !tracker.follows(two))
  }

  @Test("N8: a program that is not parked counts as one that has ended; one that is being ended is ended once")
  func endParked_ofOthers_hasEnded() {
    var tracker = parked()
    tracker.endParked(two, isForced: true)
    #expect(tracker.next() == [.report(.parkedEnded(two))])
    tracker.endParked(one, isForced: true)
    #expect(tracker.next() == [.terminate(one), .wait(one, milliseconds: 2000)])
    tracker.endParked(one, isForced: true)
    tracker.endParked(one, isForced: false)
    #expect(tracker.next() == [])
    tracker = WindowRulesTests.tracker()
    tracker.show(one, Self.rule)
    tracker.endParked(one, isForced: true)
    #expect(tracker.next() == [.report(.parkedEnded(one))])
  }

  @Test("N8: windows that stay when navd quits are shown, and are their user's")
  func releaseParked_showsWindows() {
    var tracker = parked()
    tracker.releaseParked(one)
    #expect(tracker.next() == [.show(window: "w1"), .show(window: "w2"), .released(one)])
    #expect(!tracker.follows(one) && tracker.owner(of: "w1") == nil)
    tracker.releaseParked(one)
    #expect(tracker.next() == [])
  }

  @Test("N8, N11: hidden windows come to where their user is if the request or the destination says so")
  func showAgain_here_summons() {
    for (inFile, inRequest) in [(true, nil), (false, true), (true, false), (false, nil)] as [(Bool, Bool?)] {
      var tracker = tracker()
      tracker.show(one, WindowFollowing(comesHere: inFile, hides: true))
      tracker.dismiss(one, isForced: false)
      tracker.hidden("w1")
      _ = tracker.next()
      tracker.claim(one, for: two)
      let isShown = tracker.showAgain(two, comesHere: inRequest)
      #expect(isShown)
      let asks: [WindowTracker.Effect] =
        inRequest ?? inFile ? [.summon(window: "w1")] : [.show(window: "w1"), .activate(window: "w1")]
      #expect(tracker.next().filter { $0 != .presented(two) } == asks)
    }
  }

  @Test("N8: a parked program that asks its user is to be presented again, each time that it is to end")
  func parked_asking_isToBePresented() {
    var tracker = parked()
    tracker.endParked(one, isForced: false)
    _ = tracker.next()
    let asks: [WindowTracker.Effect] = [.parkedStays(one, message: "Save?"), .report(.parkedShown(one))]
    tracker.opened(window("d", title: "Save?", parent: "w1"), program: one)
    #expect(tracker.next() == asks)
    tracker.endParked(one, isForced: false)
    #expect(tracker.next() == asks)
    let isShown = tracker.showAgain(one, as: two)
    #expect(isShown)
    #expect(tracker.next().prefix(3) == [.show(window: "w1"), .show(window: "w2"), .show(window: "d")])
  }

  @Test("N8: a parked program that cannot be asked, for lack of an adapter, stays parked")
  func parked_withoutAdapter_staysParked() {
    for isAsked in [true, false] {
      var tracker = parked()
      if isAsked { tracker.endParked(one, isForced: false) }
      tracker.left()
      tracker.becameAbsent()
      if !isAsked { tracker.endParked(one, isForced: false) }
      let absence = "no window-system adapter is on the bus, or it does not answer"
      let effects = tracker.next()
      #expect(effects.contains(.parkedStays(one, message: "its windows cannot be asked to close: \(absence)")))
      #expect(!effects.contains(.report(.parkedShown(one))))
    }
  }

  @Test("N8: what is let go while the adapter cannot show it, as on X11 without a window manager, is shown once it can")
  func windowGivenUp_withoutCapability_isShownOnceThereIsOne() {
    var tracker = parked()
    let windows = [window("w1"), window("w2")]
    tracker.arrived(all.subtracting([.hide]), windows, isSameAdapter: true, at: later) { _ in nil }
    tracker.releaseParked(one)
    #expect(tracker.next() == [.released(one)])
    #expect(tracker.windowsToShow.map(\.id) == ["w1", "w2"])
    tracker.arrived(all, windows, isSameAdapter: true, at: later) { _ in nil }
    #expect(tracker.next() == [.show(window: "w1"), .show(window: "w2")])
    #expect(tracker.windowsToShow == [])
  }

  @Test("N8: a window that was given up without an adapter is shown by the first adapter of the next navd")
  func windowGivenUp_isShownByNextNavd() {
    for (present, shown) in [("w1", "w1"), ("other", "other"), ("none", nil)] as [(String, String?)] {
      var before = parked()
      before.left()
      before.becameAbsent()
      before.releaseParked(one)
      #expect(before.windowsToShow.map(\.id) == ["w1", "w2"])
      var tracker = WindowTracker()
      tracker.showLater([before.windowsToShow[0]])
      #expect(tracker.windowsToShow.map(\.id) == ["w1"])
      var there = window(present, appID: present == "none" ? "none" : "app").properties
      there.hidden = true
      tracker.arrived(all, [Window(id: present, there)]) { _ in nil }
      #expect(tracker.next() == (shown.map { [.show(window: $0)] } ?? []))
      #expect(tracker.windowsToShow == [])
    }
  }

  @Test("N8: a parked program that ends without the adapter takes its windows with it, also while it is asked to end")
  func parked_endingInAbsence_hasEnded() {
    for isAsked in [false, true] {
      var tracker = parked()
      if isAsked { tracker.endParked(one, isForced: false) }
      tracker.left()
      _ = tracker.next()
      tracker.programEnded(one, failed: false, result: [:])
      #expect(tracker.next() == [.report(.parkedEnded(one)), .released(one)])
    }
  }

  @Test("N8: a claim of a presentation that could not be started is given up")
  func claim_dropped_leavesParked() {
    var tracker = parked()
    tracker.claim(one, for: two)
    tracker.drop(two)
    #expect(!tracker.isRequested(two) && tracker.follows(one))
    let isShown = tracker.showAgain(one, as: Handle(3))
    #expect(isShown)
  }

  @Test("N8: a presentation that was dismissed before it shows a parked program again leaves that parked")
  func claim_dismissed_leavesParked() {
    var tracker = parked()
    tracker.claim(one, for: two)
    #expect(tracker.isRequested(two))
    tracker.dismiss(two, isForced: false)
    #expect(tracker.next() == [.report(.dismissAnswered(two, result: [:]))])
    #expect(!tracker.isRequested(two))
    let isShown = tracker.showAgain(one, as: Handle(3))
    #expect(isShown && tracker.windows(of: Handle(3)).map(\.id) == ["w1", "w2"])
  }

  @Test("N8: a parked program that ended before a presentation could claim it leaves nothing")
  func claim_programHasEnded_isReleased() {
    for isDismissed in [false, true] {
      var tracker = parked()
      for window in ["w1", "w2"] { tracker.closed(window) }
      tracker.programEnded(one, failed: false, result: [:])
      #expect(tracker.next().contains(.released(one)))
      tracker.claim(one, for: two)
      let isShown = tracker.showAgain(two)
      #expect(!isShown)
      if isDismissed { tracker.dismiss(two, isForced: false) } else { tracker.drop(two) }
      #expect(tracker.next().contains(.released(one)))
      tracker.forget(two)
      #expect(!tracker.follows(two))
    }
  }

  @Test("N8: another adapter is asked again to hide; a parked program is taken over after a restart")
  func hiding_isContinued() {
    var tracker = dismissed()
    _ = tracker.next()
    tracker.left()
    tracker.arrived(all, [window("w1"), window("w2")]) { _ in one }
    #expect(tracker.next() == [.hide(window: "w1"), .hide(window: "w2")])
    var next = WindowTracker()
    next.arrived(all, [window("w1"), window("w2")]) { _ in one }
    let hasWindows = next.restore(
      one, Self.rule, grace: 1, windows: [window("w1"), window("w2")], before: [], end: nil, isParked: true)
    #expect(hasWindows && next.next() == [])
    let isShown = next.showAgain(one, as: two)
    #expect(isShown)
  }

  @Test("N8: a parked program that ends with its compositor, just before the adapter does, has ended")
  func parked_endingBeforeAdapter_hasEnded() {
    var tracker = parked()
    tracker.programEnded(one, failed: true, result: [:])
    #expect(tracker.next() == [])
    tracker.left()
    #expect(tracker.next() == [.report(.parkedEnded(one)), .released(one)])
  }

  @Test("N8: a restart of navd leaves hidden windows hidden, and shows only those that cannot be told from others")
  func hidden_afterRestart_staysHidden() {
    func hidden(_ id: String, title: String) -> Window {
      var properties = window(id, title: title, pid: 7).properties
      properties.hidden = true
      return Window(id: id, properties)
    }
    let before = [hidden("w1", title: "Title")]
    for (present, shown) in [(before, []), ([hidden("x1", title: "Other")], [WindowTracker.Effect.show(window: "x1")])]
    {
      var tracker = WindowTracker()
      tracker.arrived(all, present) { _ in one }
      _ = tracker.restore(one, Self.rule, grace: 1, windows: before, before: [], end: nil, isParked: true)
      #expect(tracker.next().filter { if case .show = $0 { true } else { false } } == shown)
    }
  }
}

@Test("U3: with output-gone, only presentations with a window on the unplugged output are reported")
func outputGone_endsWhatIsThere() {
  let rule = WindowFollowing(endsWithOutput: true)
  var tracker = tracker()
  tracker.show(one, rule, window: window("w1", output: "left"))
  tracker.show(two, rule, window: window("w2", output: "right"))
  tracker.follow(Handle(3), rule, grace: 2000, output: "left")
  tracker.opened(window("w3"), program: Handle(3))
  tracker.show(Handle(4), window: window("w4", output: "left"))
  _ = tracker.next()
  tracker.outputsGone(["left"])
  #expect(tracker.next() == [.report(.outputGone(one)), .report(.outputGone(Handle(3)))])
}

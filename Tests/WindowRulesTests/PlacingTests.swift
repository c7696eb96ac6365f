import PresentationModel
import Testing

@testable import WindowRules

/// Which windows are placed, and when (N15).
struct PlacingTests {
  private static let placement = WindowPlacement(.anchor(.topRight))
  private static let rule = WindowFollowing(WindowPattern(appID: "app"), placement: placement)

  private func places(_ tracker: inout WindowTracker) -> [String] {
    tracker.takeEffects().compactMap { if case .place(let id, Self.placement) = $0 { id } else { nil } }
  }

  @Test("N15: each window of the item is placed once, after its output, and no dialog")
  func place_windowsOfItem_areEachPlacedOnce() {
    var tracker = tracker()
    tracker.follow(one, Self.rule, grace: 2000, output: "B")
    tracker.opened(window("w1", output: "A"), program: one)
    let effects = tracker.takeEffects()
    let move = effects.firstIndex(of: .move(window: "w1", output: "B"))
    let place = effects.firstIndex(of: .place(window: "w1", Self.placement))
    #expect(move != nil && place != nil && move! < place!)
    tracker.changed("w1", window("w1", title: "Other", output: "B").properties)
    tracker.opened(window("w2"), program: one)
    tracker.opened(window("dialog", parent: "w1"), program: one)
    #expect(places(&tracker) == ["w2"])
  }

  @Test("N15: with windows = first, only the first one is placed")
  func place_furtherWindow_isLeft() {
    var tracker = tracker()
    var rule = Self.rule
    rule.takesAll = false
    tracker.follow(one, rule, grace: 2000)
    tracker.opened(window("w1"), program: one)
    tracker.opened(window("w2"), program: one)
    #expect(places(&tracker) == ["w1"])
  }

  @Test("N15: the windows of an item that is to be elsewhere are placed anew, once")
  func place_otherPlacement_isAnUpdate() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "app")), grace: 2000)
    tracker.opened(window("w1"), program: one)
    #expect(places(&tracker).isEmpty)
    tracker.place(one, Self.placement)
    #expect(places(&tracker) == ["w1"])
    tracker.place(one, Self.placement)
    #expect(places(&tracker).isEmpty)
    tracker.opened(window("w2"), program: one)
    #expect(places(&tracker) == ["w2"])
  }

  @Test("N15: what a placement has switched on is switched off by one that does not say it")
  func place_otherPlacement_undoesTheFormer() {
    var tracker = tracker()
    let former = WindowPlacement(isSticky: true, isAbove: true, isFullscreen: true)
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "app"), placement: former), grace: 2000)
    tracker.opened(window("w1"), program: one)
    _ = tracker.takeEffects()
    tracker.place(one, WindowPlacement(isAbove: true))
    #expect(
      tracker.takeEffects()
        == [.place(window: "w1", WindowPlacement(isSticky: false, isAbove: true, isFullscreen: false))])
    tracker.place(one, WindowPlacement(isSticky: true, isAbove: true))
    #expect(tracker.takeEffects() == [.place(window: "w1", WindowPlacement(isSticky: true, isAbove: true))])
  }

  @Test("N15: a further window that floats as it opens is left to the compositor if the adapter tells no parents")
  func place_furtherWindowThatFloats_isLeft() {
    for tellsParents in [false, true] {
      var tracker = tracker()
      if !tellsParents { tracker.arrived(all.subtracting([.parent]), [], at: later) { _ in nil } }
      tracker.follow(one, Self.rule, grace: 2000)
      for id in ["w1", "w2"] {
        var floating = window(id)
        floating.properties.floating = true
        tracker.opened(floating, program: one)
      }
      tracker.opened(window("w3"), program: one)
      #expect(places(&tracker) == (tellsParents ? ["w1", "w2", "w3"] : ["w1", "w3"]))
    }
  }

  @Test("N15: a window that is brought to another output is placed again there; one that its user moves is not")
  func place_broughtToOtherOutput_isPlacedAgain() {
    var tracker = tracker()
    tracker.follow(one, Self.rule, grace: 2000)
    tracker.opened(window("w1", output: "A"), program: one)
    _ = tracker.takeEffects()
    tracker.changed("w1", window("w1", output: "B").properties)
    #expect(places(&tracker).isEmpty)
    tracker.bring(one, to: nil)
    tracker.changed("w1", window("w1", output: "C").properties)
    #expect(places(&tracker) == ["w1"])
    tracker.bring(one, to: nil)
    tracker.arrivalTimeIsOver()
    tracker.changed("w1", window("w1", output: "D").properties)
    #expect(places(&tracker).isEmpty)
  }

  @Test("N15: a hidden window that is to be elsewhere when it is shown again is placed there")
  func place_shownAgainElsewhere_isPlaced() {
    var tracker = tracker()
    var rule = WindowFollowing(WindowPattern(appID: "app"))
    rule.hides = true
    tracker.follow(one, rule, grace: 2000)
    tracker.opened(window("w1"), program: one)
    tracker.dismiss(one, isForced: false)
    tracker.hidden("w1")
    tracker.claim(one, for: two)
    #expect(places(&tracker).isEmpty)
    let isShown = tracker.showAgain(two, Self.placement)
    #expect(isShown)
    #expect(places(&tracker) == ["w1"])
  }

  private func expectations(_ tracker: inout WindowTracker) -> [WindowTracker.Effect] {
    tracker.takeEffects().filter { effect in
      switch effect {
      case .expect, .stopExpecting, .start: true
      default: false
      }
    }
  }

  @Test("N15: the first window is announced before its program starts, and once")
  func expect_placedItem_precedesItsProgram() {
    var tracker = tracker()
    tracker.follow(one, Self.rule, grace: 2000)
    #expect(expectations(&tracker) == [.expect(one, ExpectedWindow(Self.placement, Self.rule.pattern)), .start(one)])
    tracker.opened(window("w1"), program: one)
    #expect(expectations(&tracker) == [.stopExpecting(one)])
    tracker.opened(window("w2"), program: one)
    #expect(expectations(&tracker).isEmpty)
  }

  @Test("N15: a program that ends without a window is no longer expected to open one")
  func expect_programThatEnds_isWithdrawn() {
    var tracker = tracker()
    tracker.follow(one, Self.rule, grace: 2000)
    _ = tracker.takeEffects()
    tracker.drop(one)
    #expect(expectations(&tracker) == [.stopExpecting(one)])
  }

  @Test("N15: where an item is to be on an output, only the focus of its first window is announced")
  func expect_itemOfAnOutput_isAboutTheFocusAlone() {
    var tracker = tracker()
    var rule = Self.rule
    tracker.follow(one, rule, grace: 2000, output: "B")
    #expect(expectations(&tracker) == [.start(one)])
    rule.placement.takesFocus = false
    tracker.follow(two, rule, grace: 2000, output: "B")
    let window = ExpectedWindow(WindowPlacement(takesFocus: false), Self.rule.pattern)
    #expect(expectations(&tracker) == [.expect(two, window), .start(two)])
  }

  @Test("N15: what needs no place, and an adapter that expects nothing, are told nothing")
  func expect_withoutNeed_isNotTold() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "app")), grace: 2000)
    #expect(expectations(&tracker) == [.start(one)])
    tracker = WindowRulesTests.tracker(capabilities: all.subtracting([.expect]))
    tracker.follow(one, Self.rule, grace: 2000)
    #expect(expectations(&tracker) == [.start(one)])
  }

  @Test("N15: an adapter is asked for what it can do of a place", arguments: [true, false])
  func place_withPartOfTheCapabilities_isThatPart(_ fills: Bool) {
    var tracker = tracker(capabilities: all.subtracting([fills ? .place : .fullscreen]))
    var rule = Self.rule
    rule.placement.isFullscreen = true
    tracker.follow(one, rule, grace: 2000)
    _ = tracker.takeEffects()
    tracker.opened(window("w1"), program: one)
    let asked = tracker.takeEffects().compactMap { effect in
      if case .place(_, let placement) = effect { placement } else { nil }
    }
    #expect(asked == [fills ? WindowPlacement(isFullscreen: true) : Self.placement])
  }

  private static func fullscreen(settle: UInt64 = 300) -> WindowFollowing {
    WindowFollowing(
      WindowPattern(appID: "app"), settle: settle, placement: WindowPlacement(isFullscreen: true))
  }

  private func areFullscreen(_ tracker: inout WindowTracker) -> [String] {
    tracker.takeEffects().compactMap { effect in
      switch effect {
      case .place(let id, WindowPlacement(isFullscreen: true)): id
      case .expect(_, let window) where window.placement.isFullscreen == true: "expected"
      default: nil
      }
    }
  }

  @Test("G10: a window that takes over is fullscreen when it has painted, where it opens behind a fullscreen one")
  func place_takingOver_isFullscreenWhenSettled() {
    var tracker = tracker()
    tracker.follow(one, Self.fullscreen(), grace: 2000, takesOver: true)
    tracker.opened(window("w1", inView: false), program: one)
    #expect(areFullscreen(&tracker).isEmpty)
    tracker.settled(one)
    #expect(areFullscreen(&tracker) == ["w1"])
    tracker.settled(one)
    #expect(areFullscreen(&tracker).isEmpty)
  }

  @Test("G10: it is fullscreen at once if its user sees it in any case: what covered it has gone")
  func place_takingOverInView_isFullscreenAtOnce() {
    var tracker = tracker()
    tracker.follow(one, Self.fullscreen(), grace: 2000, takesOver: true)
    tracker.opened(window("w1", inView: false), program: one)
    tracker.changed("w1", window("w1", inView: true).properties)
    #expect(areFullscreen(&tracker) == ["w1"])
  }

  @Test(
    "G10: it is fullscreen at once without a time to paint, without one before, and where windows open in front",
    arguments: [
      (UInt64(0), true, all), (300, false, all), (300, true, all.subtracting([.behind])),
    ])
  func place_withoutReasonToStayBehind_isFullscreenAtOnce(
    _ settle: UInt64, _ takesOver: Bool, _ capabilities: Set<WindowCapability>
  ) {
    var tracker = tracker(capabilities: capabilities)
    tracker.follow(one, Self.fullscreen(settle: settle), grace: 2000, takesOver: takesOver)
    #expect(areFullscreen(&tracker) == ["expected"])
    tracker.opened(window("w1", inView: false), program: one)
    #expect(areFullscreen(&tracker) == ["w1"])
  }

  @Test("G10: a window that was behind when navd was killed is fullscreen after its restart", arguments: [true, false])
  func place_behindAtRestart_isFullscreen(_ isPresented: Bool) {
    let behind = window("w1", appID: "app", inView: false)
    var tracker = tracker([behind])
    let hasWindow = tracker.restore(
      one, Self.fullscreen(), grace: 2000, windows: [behind], before: [], end: nil, isPresented: isPresented)
    #expect(hasWindow && areFullscreen(&tracker) == (isPresented ? [] : ["w1"]))
  }

  @Test("N15: an adapter that cannot place windows is not asked to")
  func place_withoutCapability_isNotAsked() {
    var tracker = tracker(capabilities: all.subtracting([.place]))
    tracker.follow(one, Self.rule, grace: 2000)
    tracker.opened(window("w1"), program: one)
    #expect(places(&tracker).isEmpty)
  }

  @Test(
    "N15: a hidden window is placed again if it is shown on another output, and not on the same one",
    arguments: ["A", "B"])
  func place_shownAgain_followsTheOutput(_ output: String) {
    var tracker = tracker()
    var rule = Self.rule
    rule.hides = true
    tracker.follow(one, rule, grace: 2000)
    tracker.opened(window("w1", output: "A"), program: one)
    #expect(places(&tracker) == ["w1"])
    tracker.dismiss(one, isForced: false)
    tracker.hidden("w1")
    tracker.changed("w1", window("w1", output: "").properties)
    tracker.claim(one, for: two)
    let isShown = tracker.showAgain(two)
    #expect(isShown)
    tracker.changed("w1", window("w1", output: output).properties)
    #expect(places(&tracker) == (output == "A" ? [] : ["w1"]))
    // Later, its user moves it.
    tracker.changed("w1", window("w1", output: "C").properties)
    #expect(places(&tracker).isEmpty)
  }
}

import DBusValues
import Glibc
import PresentationModel
import Testing

@testable import WindowRules

/// Trackers at the limits: the cost of what an adapter tells is proportionate to what it tells,
/// however many programs there are.
@Suite(.serialized) struct WindowCeilingTests {
  /// What is told, of as many windows of the user as there are items with a window.
  enum Flood: String, CaseIterable, Sendable {
    case itemsChange, strangersChange, strangersComeAndGo, processesAreTold, leftoversWait
  }

  private static func program(_ index: Int) -> WindowProcess {
    let handle = Handle(UInt64(index + 1))
    return WindowProcess(program: handle, ancestor: handle, started: later)
  }

  private static func own(_ index: Int) -> Window { window("own\(index)", pid: UInt32(index + 2)) }

  /// A window of the user. An item with the pattern of the first half of the items would take it.
  private static func stranger(_ index: Int, pid: UInt32? = 1) -> Window { window("stranger\(index)", pid: pid) }

  /// The processor time that a flood takes.
  private func cost(of flood: Flood, _ count: Int) -> Duration {
    var tracker = tracker()
    let rule = WindowFollowing(WindowPattern(appID: "app"), endsLeftover: flood == .leftoversWait)
    for index in 0..<count {
      tracker.follow(Handle(UInt64(index + 1)), rule, grace: 2000)
      tracker.programStarted(Handle(UInt64(index + 1)))
      tracker.opened(Self.own(index), by: Self.program(index))
    }
    if flood == .leftoversWait {
      // Each program shows a window that its user has opened, and is to end after it.
      for index in 0..<count {
        tracker.opened(Self.stranger(index), by: Self.program(index))
        tracker.closed("own\(index)")
      }
    } else if flood != .processesAreTold {
      for index in 0..<count { tracker.opened(Self.stranger(index), by: nil) }
    }
    _ = tracker.takeEffects()
    let start = Self.now
    for round in 0..<8 {
      for index in 0..<count {
        switch flood {
        case .itemsChange: change(&tracker, Self.own(index), round)
        case .strangersChange, .leftoversWait: change(&tracker, Self.stranger(index), round)
        case .strangersComeAndGo:
          tracker.closed("stranger\(index)")
          tracker.opened(Self.stranger(index), by: nil)
        case .processesAreTold: tracker.opened(Self.stranger(index, pid: nil), by: nil)
        }
        _ = tracker.isOtherFullscreen
      }
      guard flood == .processesAreTold else { continue }
      for index in 0..<count {
        tracker.changed("stranger\(index)", Self.stranger(index).properties)
        tracker.closed("stranger\(index)")
      }
    }
    return Self.now - start
  }

  /// The processor time in which the items of another navd are taken over.
  private func costOfRestart(_ count: Int, isSameAdapter: Bool) -> Duration {
    var tracker = tracker(
      (0..<count).map { index in
        window(isSameAdapter ? "own\(index)" : "new\(index)", title: "\(index)", pid: UInt32(index + 2))
      })
    let settings = FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000)
    func recorded(_ index: Int) -> [Window] { [window("own\(index)", title: "\(index)", pid: UInt32(index + 2))] }
    for index in 0..<count {
      let handle = Handle(UInt64(index + 1))
      tracker.recover(handle, byApp, settings, for: handle, windows: recorded(index))
    }
    let before: Set = ["gone"]
    let start = Self.now
    for index in 0..<count {
      let isShown = tracker.restore(
        Handle(UInt64(index + 1)), windows: recorded(index), before: before, beganAt: early, end: nil, isPresented: true
      )
      if !isShown { Issue.record("the item \(index) has no window") }
    }
    return Self.now - start
  }

  @Test("L2: a restart of navd costs in proportion to the items that it takes over", arguments: [false, true])
  func restart_withManyItems_costsInProportion(isSameAdapter: Bool) {
    let (many, few) = (WindowTracker.maxWindows, WindowTracker.maxWindows / 4)
    var (ofMany, ofFew) = (Duration.seconds(1000), Duration.seconds(1000))
    for _ in 0..<8 {
      ofMany = min(ofMany, costOfRestart(many, isSameAdapter: isSameAdapter))
      ofFew = min(ofFew, costOfRestart(few, isSameAdapter: isSameAdapter))
      if ofMany < ofFew * 6 { break }
    }
    print("ceiling restart: \(many) items \(ofMany), \(few) items \(ofFew), ratio \(ofMany / ofFew)")
    #expect(ofMany < ofFew * 8, "\(ofMany) for \(many), \(ofFew) for \(few)")
  }

  private func change(_ tracker: inout WindowTracker, _ window: Window, _ round: Int) {
    var properties = window.properties
    properties.title = "\(round)"
    tracker.changed(window.id, properties)
  }

  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  @Test(
    "L2: what an adapter tells costs in proportion, beside as many programs as there may be", arguments: Flood.allCases)
  func flood_ofManyPrograms_costsInProportion(_ flood: Flood) {
    let (many, few) = (WindowTracker.maxWindows / 2, WindowTracker.maxWindows / 8)
    // The lowest of several costs is that without other programs. A cost that grows with the square
    // would be sixteen times as much.
    var (ofMany, ofFew) = (Duration.seconds(1000), Duration.seconds(1000))
    for _ in 0..<8 {
      ofMany = min(ofMany, cost(of: flood, many))
      ofFew = min(ofFew, cost(of: flood, few))
      if ofMany < ofFew * 6 { break }
    }
    print("ceiling \(flood.rawValue): \(many) programs \(ofMany), \(few) programs \(ofFew), ratio \(ofMany / ofFew)")
    #expect(ofMany < ofFew * 8, "\(ofMany) for \(many), \(ofFew) for \(few)")
  }
}

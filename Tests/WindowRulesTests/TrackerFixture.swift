import DBusValues
import PresentationModel

@testable import WindowRules

// Shorter ways to give a tracker windows and presentations, and to read what it does.

let all = Set(WindowCapability.allCases)
let one = Handle(1)
let two = Handle(2)
let early = BootTime(milliseconds: 1_000_000)
let later = BootTime(milliseconds: 2_000_000)

/// A window, of no known process if nothing else is said.
func window(
  _ id: String, appID: String? = "app", title: String? = "Title", pid: UInt32? = 0, parent: String? = nil,
  floating: Bool? = nil, focused: Bool? = nil, fullscreen: Bool? = nil, output: String? = nil, inView: Bool? = nil
) -> Window {
  var properties = WindowProperties()
  properties.appID = appID
  properties.title = title
  properties.pid = pid
  properties.parent = parent
  properties.floating = floating
  properties.focused = focused
  properties.fullscreen = fullscreen
  properties.output = output
  properties.inView = inView
  return Window(id: id, properties)
}

func tracker(_ windows: [Window] = [], capabilities: Set<WindowCapability> = all) -> WindowTracker {
  var tracker = WindowTracker()
  tracker.arrived(capabilities, windows) { _ in nil }
  return tracker
}

extension WindowTracker {
  /// The effects since the last call, without those that start a program, begin or end a timer of navd's own, or record.
  mutating func next() -> [Effect] {
    takeEffects().filter { effect in
      switch effect {
      case .start, .windowsChanged, .stopWaiting, .waitForArrival: false
      default: true
      }
    }
  }

  /// Begins a presentation that has been requested, or shows a parked program again.
  mutating func follow(
    _ handle: Handle, _ rule: WindowFollowing, grace: UInt64, of destination: String = "app",
    startupID: StartupID? = nil,
    output: String? = nil, mustBeSeen: Bool = false, takesOver: Bool = false
  ) {
    request(
      handle, rule, settings(grace, destination, startupID), output: output, mustBeSeen: mustBeSeen,
      takesOver: takesOver)
    begin(handle, at: early)
  }

  private func settings(_ grace: UInt64, _ destination: String, _ startupID: StartupID?) -> FollowingSettings {
    FollowingSettings(destination: destination, grace: grace, startTimeout: 10_000, startupID: startupID)
  }

  /// - Parameter program: the program that shows the window. Its process is younger than any presentation.
  mutating func opened(_ window: Window, program: Handle?) {
    opened(window, by: program.map { WindowProcess(program: $0, ancestor: $0, started: later) })
  }

  /// Closes a window when no program counts as starting any more.
  mutating func closed(_ id: String) { closed(id, at: later) }

  mutating func arrived(
    _ capabilities: Set<WindowCapability>, _ all: [Window], programs: (Window) -> Handle?
  ) {
    arrived(capabilities, all, at: later) { window in
      programs(window).map { WindowProcess(program: $0, ancestor: $0, started: later) }
    }
  }

  mutating func showAgain(_ program: Handle, as handle: Handle) -> Bool {
    claim(program, for: handle)
    return showAgain(handle)
  }

  /// Takes over the presentations that the previous navd has begun.
  mutating func restore(
    _ handle: Handle, _ rule: WindowFollowing, grace: UInt64, output: String? = nil, windows: [Window],
    before: Set<String>?, end: Properties?, isPresented: Bool = false, isParked: Bool = false,
    showedWindowOfUser: Bool = false
  ) -> Bool {
    recover(handle, rule, settings(grace, "app", nil), for: isParked ? nil : handle, windows: windows)
    return restore(
      handle, on: output, windows: windows, before: before, beganAt: early, showedWindowOfUser: showedWindowOfUser,
      end: end, isPresented: isPresented)
  }

  /// Shows a window to a presentation that follows windows by an app-id.
  mutating func show(
    _ handle: Handle, _ rule: WindowFollowing = WindowFollowing(), window first: Window = window("w1")
  ) {
    follow(handle, rule, grace: 2000)
    opened(first, program: handle)
    _ = next()
  }
}

let byApp = WindowFollowing(WindowPattern(appID: "app"))

let lossMessage =
  "its windows cannot be told from others since the window-system adapter was started again"

/// The effects when the last window is gone, and only the result of the program is to come.
func gone(_ handle: Handle) -> [WindowTracker.Effect] {
  [.report(.windowsGone(handle, isFinal: true)), .wait(handle, milliseconds: WindowTracker.timeToEnd)]
}

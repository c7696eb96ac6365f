import DBusValues
import PresentationModel
import Testing
import WindowRules

// Windows without known processes: the ids that commands suggest, and when a suggestion is not enough (N1).

private func suggested(_ words: String...) -> SuggestedAppID? {
  SuggestedAppID(of: words.map { Array($0.utf8) }) { $0 == "gnome-calculator" ? ["org.gnome.Calculator"] : [] }
}

@Test(
  "N1: a command suggests the id of its option, or else its program and the ids of the program's desktop file",
  arguments: [
    (suggested("foot"), "foot", true), (suggested("/usr/bin/foot"), "foot", true),
    (suggested("foot"), "footclient", false),
    (suggested("thunar"), "thunar", true), (suggested("thunar"), "Thunar", true),
    (suggested("thunar"), "org.xfce.Thunar", true), (suggested("thunar"), "org.xfce.Thunar-bulk", false),
    (suggested("gnome-calculator"), "org.gnome.Calculator", true), (suggested("gnome-calculator"), nil, false),
    (suggested("foot", "--app-id=notes"), "notes", true), (suggested("foot", "--app-id=notes"), "foot", false),
    (suggested("foot", "--app-id=notes"), "org.x.notes", false),
    (suggested("kitty", "--class", "notes"), "notes", true),
    (suggested("alacritty", "--class=notes,other"), "notes", true),
    (suggested("foot", "-e", "emacs", "--app-id=x"), "foot", true),
    (suggested("gtk-launch", "org.gnome.Calculator.desktop"), "org.gnome.Calculator", true),
    (suggested("gtk-launch", "calculator.desktop"), "org.gnome.Calculator", false),
    (suggested("flatpak", "run", "--branch=stable", "org.x.Y"), "org.x.Y", true),
  ])
private func appID_ofCommand_isSuggested(_ suggested: SuggestedAppID?, _ appID: String?, _ fits: Bool) throws {
  #expect(try #require(suggested).fits(appID) == fits)
}

@Test(
  "N1: a shell, an interpreter, a launcher and a placeholder suggest nothing",
  arguments: [
    ["sh", "-c", "foot"], ["/usr/bin/env", "foot"], ["python3", "x.py"], ["python3.11", "x.py"], ["flatpak", "list"],
    ["gtk-launch"], ["{value}"], ["foot", "--app-id={id}"], ["foot", "--app-id="], [],
  ])
private func appID_ofALauncher_isNotSuggested(_ words: [String]) {
  #expect(SuggestedAppID(of: words.map { Array($0.utf8) }) { _ in [] } == nil)
}

/// A tracker without processes, with presentations that have no pattern.
private func tracker(
  _ handles: [Handle], _ id: SuggestedAppID?, windows: [Window] = [], but missing: Set<WindowCapability> = [.pid]
) -> WindowTracker {
  var tracker = WindowTracker()
  tracker.arrived(Set(WindowCapability.allCases).subtracting(missing), windows, at: BootTime(milliseconds: 2)) { _ in
    nil
  }
  for handle in handles {
    let settings = FollowingSettings(destination: "app", grace: 1000, startTimeout: 10_000)
    tracker.request(handle, WindowFollowing(), settings)
    tracker.suggest(id, for: handle)
    tracker.begin(handle, at: BootTime(milliseconds: 1))
  }
  return tracker
}

private func window(_ id: String, _ appID: String) -> Window {
  var properties = WindowProperties()
  (properties.appID, properties.title) = (appID, "")
  return Window(id: id, properties)
}

extension WindowTracker {
  fileprivate mutating func windowIDs(of handle: Handle, after opened: [Window]) -> [String] {
    for window in opened { self.opened(window, by: nil) }
    return windows(of: handle).map(\.id)
  }
}

@Test("N1: without processes, the first window with the suggested id belongs to the item, and a later one to the user")
private func window_withSuggestedID_isItems() {
  var tracker = tracker([one], suggested("foot"))
  #expect(tracker.windowIDs(of: one, after: [window("a", "other"), window("b", "Foot"), window("c", "foot")]) == ["b"])
}

@Test("N1: where processes are known, the suggested id does not count")
private func window_withSuggestedIDAndProcesses_isUsers() {
  var tracker = tracker([one], suggested("foot"), but: [])
  #expect(tracker.windowIDs(of: one, after: [window("a", "foot")]) == [])
}

@Test("N1: while a window of the user has the suggested id, a new one belongs to the user, too")
private func window_besideAnotherWithTheID_isUsers() {
  var tracker = tracker([one], suggested("foot"), windows: [window("users", "foot")])
  #expect(tracker.suggestion(for: one)?.rival?.id == "users")
  #expect(tracker.windowIDs(of: one, after: [window("a", "foot")]) == [])
  // A window of another item causes no doubt.
  var second = trackerOfTwoInTurn()
  #expect(second.windowIDs(of: two, after: [window("b", "foot")]) == ["b"])
}

/// Makes a tracker of two presentations, of which the first one has its window when the second one begins.
private func trackerOfTwoInTurn() -> WindowTracker {
  var tracker = tracker([one], suggested("foot"))
  tracker.opened(window("a", "foot"), by: nil)
  tracker.request(two, WindowFollowing(), FollowingSettings(destination: "app", grace: 1000, startTimeout: 10_000))
  tracker.suggest(suggested("foot"), for: two)
  tracker.begin(two, at: BootTime(milliseconds: 1))
  return tracker
}

@Test("N1: an empty application id is no suggested one")
private func appID_empty_fitsNothing() throws {
  let suggested = try #require(SuggestedAppID(of: [Array("foot".utf8)]) { _ in [""] })
  #expect(suggested.fits("foot") && !suggested.fits(""))
}

@Test("N1: with a pattern, the suggested id neither counts nor is in doubt")
private func window_withPatternAndSuggestedID_isItems() {
  var tracker = tracker([], nil, windows: [window("users", "foot")])
  let settings = FollowingSettings(destination: "app", grace: 1000, startTimeout: 10_000)
  tracker.request(one, WindowFollowing(WindowPattern(appID: "f*")), settings)
  tracker.suggest(suggested("foot"), for: one)
  tracker.begin(one, at: BootTime(milliseconds: 1))
  #expect(tracker.suggestion(for: one) == nil)
  #expect(tracker.windowIDs(of: one, after: [window("a", "foot")]) == ["a"])
}

@Test("N1: a window for which two items without patterns wait belongs to neither")
private func window_forWhichTwoWait_isNobodys() {
  var tracker = tracker([one, two], suggested("foot"))
  #expect(tracker.windowIDs(of: one, after: [window("a", "foot")]) == [])
  #expect(tracker.windows(of: two).isEmpty)
}

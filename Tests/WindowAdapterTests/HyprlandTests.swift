import EventLoops
import PresentationModel
import Testing
import TextFormats

@testable import WindowAdapter

// The model of Hyprland's windows: what its answers and events mean, and the commands for requests.

private let now = MonotonicInstant(nanoseconds: 0)

/// A workspace, as Hyprland 0.57 or an earlier version describes it.
private func workspace(_ name: String, isOld: Bool = false) -> JSON {
  let number = Int(name)
  if isOld {
    return ["id": JSON(number ?? (name.hasPrefix("special") ? -98 : name.isEmpty ? 0 : -1337)), "name": .string(name)]
  }
  var members: [String: JSON] = ["address": .string(name), "type": "normal", "name": .string(name)]
  if let number { members["id"] = JSON(number) }
  return .object(members)
}

private func window(
  _ address: Int, _ title: String, on name: String = "1", _ more: [String: JSON] = [:], isOld: Bool = false
)
  -> JSON
{
  .object(
    [
      "address": .string("0x" + String(address, radix: 16)), "mapped": true, "hidden": false, "class": "foot",
      "title": .string(title), "pid": 17, "workspace": workspace(name, isOld: isOld), "monitor": 0, "floating": false,
      "pinned": false, "fullscreen": 0, "grouped": [], "tags": [], "size": [1, 2],
      "stableId": .string(String(0x1800_0000 + address, radix: 16)),
    ].merging(more) { $1 })
}

private func monitor(_ number: Int, _ name: String, shows: String, above special: String = "", isOld: Bool = false)
  -> JSON
{
  [
    "id": JSON(number), "name": .string(name), "focused": .boolean(number == 0), "refreshRate": .real(60),
    "activeWorkspace": workspace(shows, isOld: isOld), "specialWorkspace": workspace(special, isOld: isOld),
  ]
}

private let two = [monitor(0, "A", shows: "1"), monitor(1, "B", shows: "say \"b\"")]

private func answer(_ windows: [JSON], focused: Int? = nil, _ monitors: [JSON] = two) throws -> HyprlandAnswer {
  let active: JSON = focused.map { ["address": .string("0x" + String($0, radix: 16))] } ?? [:]
  let parts = [JSON.array(monitors), .array(windows), active].map(\.text)
  return try #require(HyprlandAnswer(Array(parts.joined(separator: "\n\n\n").utf8)))
}

private func model(_ answer: HyprlandAnswer) -> HyprlandModel {
  var number = 0
  var model = HyprlandModel(NumberedIDs(token: "h", WindowIDs())) {
    number += 1
    return "made \(number)"
  }
  #expect(model.wantsAnswer)
  model.takeWant()
  model.take(answer, now: now)
  #expect(!model.wantsAnswer)
  return model
}

extension HyprlandModel {
  fileprivate mutating func take(_ line: String) { take(Array(line.utf8), now: now) }

  /// Whether everything is to be read again after a line. The call counts as the reading.
  fileprivate mutating func wants(after line: String) -> Bool {
    take(line)
    defer { takeWant() }
    return wantsAnswer
  }
}

@Test(
  "Windows and their places are told, whether a version names workspaces by addresses or by numbers",
  arguments: [false, true])
private func hyprland_answer_tellsWindowsAndTheirPlaces(isOld: Bool) throws {
  let windows = [
    window(8, "foot", isOld: isOld), window(7, "mine", on: "special:mine", ["fullscreen": 2], isOld: isOld),
    window(9, "hidden", on: "special:navd", ["floating": true, "fullscreen": 1], isOld: isOld),
    window(10, "elsewhere", on: "name", ["monitor": 1, "pid": -1, "grouped": ["0x10"]], isOld: isOld),
    window(11, "unmapped", ["mapped": false], isOld: isOld),
  ]
  let monitors = [
    monitor(0, "A", shows: "1", above: "special:mine", isOld: isOld), monitor(1, "B", shows: "2", isOld: isOld),
  ]
  var model = model(try answer(windows, focused: 8, monitors))
  #expect(model.state.outputs == ["A", "B"])
  #expect(model.state.focusedOutput == "A")
  let known = model.state.windows.windows
  let first = 0x1800_0000
  #expect(known.map(\.id) == [7, 8, 9, 10].map { "h-\(first + $0)" }, "in the order in which they opened")
  #expect(known.map(\.properties.title) == ["mine", "foot", "hidden", "elsewhere"])
  #expect(known.map(\.properties.output) == ["A", "A", "", "B"])
  // The old form does not tell special workspaces apart, since all have one number here.
  if !isOld { #expect(known.map(\.properties.inView) == [true, true, false, false]) }
  #expect(known.map(\.properties.hidden) == [false, false, true, false])
  #expect(known.map(\.properties.floating) == [false, false, true, false])
  #expect(known.map(\.properties.fullscreen) == [true, false, false, false])
  #expect(known.map(\.properties.pid) == [17, 17, 17, 0])
  #expect(known.map(\.properties.focused) == [nil, true, nil, nil])
  #expect(known.first?.properties.appID == "foot")
  #expect(model.takeEvents().count == 5)
}

@Test("Hyprland: what a fullscreen or maximized window covers is not in view, nor is the back of a group")
func hyprland_covered_isNotInView() throws {
  func inView(_ windows: [JSON], focused: Int? = nil) throws -> [Bool?] {
    try model(answer(windows, focused: focused)).state.windows.windows.map(\.properties.inView)
  }
  for mode in [1, 2] {
    let film = window(8, "film", ["fullscreen": JSON(mode)])
    let others = [window(9, "a"), window(10, "b", ["pinned": true]), window(11, "c", on: "say \"b\"")]
    #expect(try inView([film] + others, focused: 8) == [true, false, true, true])
    #expect(try inView([film] + others, focused: 9) == [true, true, true, true])
  }
  #expect(try inView([window(8, "front"), window(9, "back", ["hidden": true])]) == [true, false])
}

@Test func hyprland_versionWithoutStableIDs_getsIdsOfTheAdapter() throws {
  var model = model(try answer([window(8, "a", ["stableId": .null])]))
  #expect(model.state.windows.windows.map(\.id) == ["made 1"])
  model.take("closewindow>>8")
  model.takeWant()
  model.take(try answer([window(8, "b", ["stableId": .null])]), now: now)
  #expect(model.state.windows.windows.map(\.id) == ["made 2"])
}

@Test func hyprland_answersOfAnotherKind_areNone() {
  for text in ["", "[]", "[]\n\n\n[]", "{}\n\n\n[]\n\n\n{}", "[]\n\n\n[{]\n\n\n{}", "unknown request", "\n\n\n\n\n\n"] {
    #expect(HyprlandAnswer(Array(text.utf8)) == nil, "\(text)")
  }
  let odd = #"[3,{"id":"0"}]"# + "\n\n\n" + #"[{"address":5},{"address":"0xZ"},null,{"address":"0x8"}]"# + "\n\n\n{}"
  let answer = HyprlandAnswer(Array(odd.utf8))
  #expect(answer?.monitors == [])
  #expect(answer?.clients.map(\.address) == [8], "a window of which little is known is one")
}

@Test func hyprland_events_tellWhatTheySayAtOnce() throws {
  var model = model(try answer([window(8, "a"), window(9, "b")], focused: 8))
  func wants(after line: String) -> Bool { model.wants(after: line) }
  _ = model.takeEvents()
  #expect(!wants(after: "windowtitlev2>>9,a, b >> c"))
  #expect(model.state.windows.properties(of: 9)?.title == "a, b >> c")
  #expect(wants(after: "activewindowv2>>9"))
  #expect(model.state.windows.focused == 9)
  #expect(!wants(after: "activewindowv2>>9"), "its title changes all the time")
  #expect(!wants(after: "activewindow>>foot,a, b"))
  #expect(wants(after: "activewindow>>other,a, b"), "its class has changed")
  #expect(!wants(after: "urgent>>9"))
  #expect(model.state.windows.properties(of: 9)?.urgent == nil, "it has the focus")
  #expect(!wants(after: "urgent>>8"))
  #expect(model.state.windows.properties(of: 8)?.urgent == true)
  #expect(wants(after: "activewindowv2>>8"))
  #expect(model.state.windows.properties(of: 8)?.urgent == false)
  #expect(wants(after: "activewindowv2>>"))
  #expect(model.state.windows.focused == nil)
  #expect(wants(after: "closewindow>>8"))
  #expect(model.state.windows.windows.map(\.properties.title) == ["a, b >> c"])
  for event in ["openwindow>>a,1,foot,x", "movewindow>>9,2", "workspace>>2", "monitorremoved>>B", "fullscreen>>1"] {
    #expect(wants(after: event), "\(event)")
  }
  for event in [
    "", ">", ">>", "x", "fromthefuture>>9", "windowtitlev2>>99,x", "windowtitlev2>>9", "closewindow>>Z", "urgent>>",
  ] {
    #expect(!wants(after: event), "\(event)")
  }
}

@Test func hyprland_titles_areReadWhereTheEventDoesNotTellThem() throws {
  var model = model(try answer([window(8, "a")]))
  func wants(after line: String) -> Bool { model.wants(after: line) }
  #expect(wants(after: "windowtitle>>8"), "before 0.42 there is no other event")
  let long = String(repeating: "x", count: 1022)
  #expect(wants(after: "windowtitlev2>>8,\(long)"), "the event is cut off at 1024 bytes")
  #expect(model.state.windows.properties(of: 8)?.title == "a")
  #expect(!wants(after: "windowtitle>>8"))
}

@Test("An answer that is older than later events does not take back what these have told")
func hyprland_olderAnswer_takesNothingBack() throws {
  let old = try answer([window(8, "a"), window(9, "b"), window(10, "c")], focused: 8)
  var model = model(old)
  model.takeWant()
  model.take("windowtitlev2>>8,new")
  model.take("activewindowv2>>9")
  model.take("closewindow>>a")
  model.take(old, now: now)
  #expect(model.state.windows.windows.map(\.properties.title) == ["new", "b"])
  #expect(model.state.windows.focused == 9)
  #expect(model.wantsAnswer)
  model.takeWant()
  model.take(try answer([window(8, "newer"), window(9, "b")], focused: 8), now: now)
  #expect(model.state.windows.windows.map(\.properties.title) == ["newer", "b"])
  #expect(model.state.windows.focused == 8)
}

@Test("A new window is asked for at once, and other changes together")
func hyprland_newWindow_isAskedForAtOnce() throws {
  var model = model(try answer([window(8, "a")]))
  model.take("movewindow>>8,2")
  #expect(model.wantsAnswer && !model.hasNewWindow)
  model.take("openwindow>>9,1,foot,b")
  #expect(model.wantsAnswer && model.hasNewWindow)
  model.takeWant()
  #expect(!model.wantsAnswer && !model.hasNewWindow)
}

@Test("A new window takes the focus from another one only when it is known, so that one of them has it at any time")
func hyprland_newWindowWithTheFocus_takesItWhenItIsKnown() throws {
  var model = model(try answer([window(8, "a")], focused: 8))
  func wants(after line: String) -> Bool { model.wants(after: line) }
  #expect(wants(after: "openwindow>>9,1,foot,b"))
  #expect(wants(after: "activewindowv2>>9"))
  #expect(model.state.windows.focused == 8)
  model.take(try answer([window(8, "a"), window(9, "b")], focused: 9), now: now)
  #expect(model.state.windows.focused == 9)
}

@Test("An address or a stable number that is used again means another window")
func hyprland_usedAgain_isAnotherWindow() throws {
  var model = model(try answer([window(8, "a")]))
  let first = model.state.windows.windows.map(\.id)
  model.takeWant()
  // The end of the former window was not told.
  model.take(try answer([window(8, "b", ["stableId": "5"])]), now: now)
  #expect(model.state.windows.windows.map(\.id) == ["h-5"])
  // The window is unmapped, and mapped once more.
  model.take("closewindow>>8")
  model.takeWant()
  model.take(try answer([window(8, "b", ["stableId": "5"])]), now: now)
  let again = model.state.windows.windows.map(\.id)
  #expect(again.count == 1 && again != ["h-5"] && again != first)
}

@Test func hyprland_commands_areInTheLanguageOfTheConfiguration() {
  let monitor = HyprlandAnswer.Monitor(
    number: 0, name: "a\" b\\", workspace: HyprlandAnswer.Workspace(identity: "5", number: 5, name: "five"),
    special: nil, isFocused: true, usableArea: nil)
  let named = HyprlandAnswer.Monitor(
    number: 0, name: "B", workspace: HyprlandAnswer.Workspace(identity: "-1337", number: -1337, name: "a, b"),
    special: nil, isFocused: true, usableArea: nil)
  let window = #"window = "address:0x1f""#
  for (command, lua, words) in [
    (HyprlandCommand.close(31), "window.close({ \(window) })", "closewindow address:0x1f"),
    (.focus(31), "focus({ \(window) })", "focuswindow address:0x1f"),
    (
      .hide(31), #"window.move({ \#(window), workspace = "special:navd", follow = false })"#,
      "movetoworkspacesilent special:navd,address:0x1f"
    ),
    (
      .move(31, to: monitor, withFocus: false), #"window.move({ \#(window), monitor = "a\" b\\", follow = false })"#,
      "movetoworkspacesilent 5,address:0x1f"
    ),
    (
      .move(31, to: named, withFocus: true), #"window.move({ \#(window), monitor = "B", follow = true })"#,
      "movetoworkspace name:a, b,address:0x1f"
    ),
    (.leaveGroup(31), "window.move({ \(window), out_of_group = true })", "moveoutofgroup address:0x1f"),
    (.togglePin(31), #"window.pin({ \#(window), action = "toggle" })"#, "pin address:0x1f"),
    (.float(31), #"window.float({ \#(window), action = "enable" })"#, "setfloating address:0x1f"),
    (
      .resize(31, ScreenSize(width: 640, height: 400)), "window.resize({ \(window), x = 640, y = 400 })",
      "resizewindowpixel exact 640 400,address:0x1f"
    ),
    (
      .moveTo(31, ScreenPoint(x: -5, y: 7)), "window.move({ \(window), x = -5, y = 7 })",
      "movewindowpixel exact -5 7,address:0x1f"
    ),
    (.raise(31), #"window.alter_zorder({ \#(window), mode = "top" })"#, "alterzorder top,address:0x1f"),
    (.makeFullscreen(31), #"window.fullscreen({ \#(window), action = "set" })"#, "fullscreenstate 2 -1"),
    (.tag(31, "t"), #"window.tag({ \#(window), tag = "+t" })"#, "tagwindow +t address:0x1f"),
    (.untag(31, "t"), #"window.tag({ \#(window), tag = "-t" })"#, "tagwindow -t address:0x1f"),
  ] {
    #expect(command.text(.lua) == "/dispatch hl.dsp.\(lua)")
    #expect(command.text(.words) == "/dispatch \(words)")
  }
}

@Test("A request continues from the effect of the one before, until an answer tells the real effect")
func hyprland_requestsInARow_areEachForWhatTheLastOneMade() throws {
  let answers = (
    shown: try answer([window(8, "a"), window(9, "b")], focused: 8),
    hidden: try answer([window(8, "a"), window(9, "b", on: "special:navd")], focused: 8)
  )
  var model = model(answers.shown)
  func commands(_ request: WindowRequest, _ key: UInt64) throws -> [HyprlandCommand] {
    try model.commands(request, key, now: now)
  }
  let (a, b) = try (
    #require(answers.shown.monitors.first), #require(answers.shown.monitors.last)
  )
  #expect(try commands(.close, 8) == [.close(8)])
  #expect(!model.wantsAnswer)
  #expect(try commands(.show, 9) == [])
  #expect(try commands(.hide, 9) == [.hide(9)])
  #expect(model.wantsAnswer)
  #expect(try commands(.hide, 9) == [])
  model.takeWant()
  // The answer may be older than this request.
  #expect(try commands(.show, 9) == [.move(9, to: a, withFocus: false), .focus(9)])
  model.take(answers.hidden, now: now)
  #expect(try commands(.show, 9) == [])
  model.takeWant()
  model.take(answers.hidden, now: now)
  #expect(try commands(.hide, 9) == [])
  #expect(try commands(.activate, 9) == [.move(9, to: a, withFocus: false), .focus(9)])
  #expect(try commands(.activate, 8) == [.focus(8)])
  // A window that has the focus keeps it, and another one does not get it.
  #expect(try commands(.move(output: "B"), 8) == [.move(8, to: b, withFocus: true), .focus(8)])
  #expect(try commands(.move(output: "A"), 8) == [.focus(8)])
  #expect(try commands(.move(output: "B"), 9) == [.move(9, to: b, withFocus: false)])
  #expect(throws: Refusal.self) { try commands(.move(output: "C"), 9) }
}

@Test("A tag tells what a hidden window was, so that it is shown the same, even by another adapter")
func hyprland_hidingAPinnedWindow_pinsItAgain() throws {
  let pinned = window(8, "a", ["pinned": true, "grouped": ["0x8", "0x9"], "floating": true])
  let hidden = window(8, "a", on: "special:navd", ["tags": ["navd-pinned"], "floating": true])
  let hiding: [HyprlandCommand] = [.leaveGroup(8), .tag(8, "navd-pinned"), .togglePin(8), .hide(8)]
  var first = model(try answer([pinned]))
  func firstCommands(_ request: WindowRequest, _ key: UInt64) throws -> [HyprlandCommand] {
    try first.commands(request, key, now: now)
  }
  #expect(try firstCommands(.hide, 8) == hiding)
  let monitor = try #require(try answer([]).monitors.first)
  let showing: [HyprlandCommand] = [
    .move(8, to: monitor, withFocus: false), .togglePin(8), .untag(8, "navd-pinned"), .focus(8),
  ]
  #expect(try firstCommands(.show, 8) == showing)
  #expect(try firstCommands(.hide, 8) == hiding)
  var second = model(try answer([hidden]))
  func secondCommands(_ request: WindowRequest, _ key: UInt64) throws -> [HyprlandCommand] {
    try second.commands(request, key, now: now)
  }
  #expect(try secondCommands(.summon, 8) == showing)
  #expect(hiding.filter(\.isEssential) == [.hide(8)])
}

@Test func hyprland_summoning_bringsAWindowToWhatItsUserSees() throws {
  let windows = [window(8, "a", on: "7"), window(9, "b", on: "special:mine"), window(10, "c")]
  var model = model(try answer(windows, focused: 10))
  func commands(_ request: WindowRequest, _ key: UInt64) throws -> [HyprlandCommand] {
    try model.commands(request, key, now: now)
  }
  let monitor = try #require(try answer([]).monitors.first)
  #expect(try commands(.summon, 8) == [.move(8, to: monitor, withFocus: true), .focus(8)])
  #expect(try commands(.summon, 9) == [.move(9, to: monitor, withFocus: false), .focus(9)])
  #expect(try commands(.summon, 10) == [.focus(10)])
}

// MARK: Placing

@Test(
  "N15: Hyprland: a place counts in logical pixels of the monitor without its bars, and again when the size is another one"
)
func hyprland_placement_isThatOfTheUsableArea() throws {
  let edges: JSON = [10, 30, 0, 0]
  let screen: JSON = .object(
    (monitor(0, "A", shows: "1").object ?? [:]).merging([
      "x": 100, "y": 0, "width": 1440, "height": 2560, "scale": .real(2), "transform": 1, "reserved": edges,
    ]) { $1 })
  func area(_ width: Int, _ height: Int) -> [String: JSON] {
    ["at": [500, 500], "size": [JSON(width), JSON(height)], "monitor": 0]
  }
  var model = model(
    try answer([window(8, "a", area(300, 200)), window(9, "b", area(300, 200))], focused: 8, [screen]))
  let placement = WindowPlacement(
    .anchor(.bottomRight), size: .init(width: .pixels(400), height: .percent(50)), margin: 20, isSticky: true)
  // 1280×720 logical pixels, without 10 at the left and 30 at the top.
  let size = ScreenSize(width: 400, height: 345)
  #expect(try model.commands(.place(placement), 9, now: now) == [.float(9), .togglePin(9)])
  // What was read before may be older than a move to another output.
  #expect(model.placing(now: now) == [])
  model.takeWant()
  #expect(model.placing(now: now) == [.resize(9, size), .moveTo(9, ScreenPoint(x: 960, y: 355))])
  #expect(model.isPlacing)
  // The program has rounded its size.
  model.take(
    try answer([window(8, "a", area(300, 200)), window(9, "b", area(396, 340))], focused: 8, [screen]), now: now)
  #expect(model.placing(now: now) == [.moveTo(9, ScreenPoint(x: 964, y: 360))])
  #expect(model.placing(now: now + .seconds(2)) == [])
  #expect(!model.isPlacing)
}

@Test("N15: Hyprland: with focus = false, the window that had the focus gets it back")
func hyprland_placementWithoutFocus_returnsIt() throws {
  var model = model(try answer([window(8, "a")], focused: 8))
  model.take(try answer([window(8, "a"), window(9, "b")], focused: 9), now: now)
  let placement = WindowPlacement(takesFocus: false, isAbove: true, isFullscreen: true)
  #expect(
    try model.commands(.place(placement), 9, now: now) == [
      .float(9), .raise(9), .focus(9), .makeFullscreen(9), .focus(8),
    ])
}

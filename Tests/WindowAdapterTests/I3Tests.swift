import EventLoops
import PresentationModel
import Testing
import TextFormats

@testable import WindowAdapter

// The model of the windows of sway and i3: what trees and events mean, and the commands for requests.

private let now = MonotonicInstant(nanoseconds: 0)

private func node(
  _ id: Int, _ name: String? = nil, type: String = "con", pid: Int? = nil, focused: Bool = false, marks: [String] = [],
  focus: [Int] = [], _ nodes: [JSON] = [], floating: [JSON] = [], more: [String: JSON] = [:]
) -> JSON {
  var members: [String: JSON] = [
    "id": JSON(id), "name": name.map { .string($0) } ?? .null, "type": .string(type), "focused": .boolean(focused),
    "nodes": .array(nodes), "floating_nodes": .array(floating), "marks": .array(marks.map { .string($0) }),
    "focus": .array(focus.map { JSON($0) }), "fullscreen_mode": 0,
  ]
  if let pid { members["pid"] = JSON(pid) }
  return .object(members.merging(more) { $1 })
}

/// A tree of sway, with windows on a workspace and in the scratchpad.
private func tree(_ windows: [JSON], floating: [JSON] = [], hidden: [JSON] = []) -> JSON {
  node(
    1, "root", type: "root", focus: [3, 2],
    [
      node(2, "__i3", type: "output", [node(4, "__i3_scratch", type: "workspace", floating: hidden)]),
      node(3, "HEADLESS-1", type: "output", [node(5, "1", type: "workspace", windows, floating: floating)]),
    ])
}

private func model(_ tree: JSON) -> I3Model {
  var model = I3Model(capabilities: [.close, .hide, .move], programsResize: true) { node, _ in
    I3Model.Identity(id: "c\(node.container)")
  }
  _ = model.takeWants()
  model.take(tree: tree, now: now)
  model.take(outputs: [["name": "HEADLESS-1", "active": true], ["name": "off", "active": false]])
  return model
}

private func event(_ change: String, _ container: JSON) -> JSON { ["change": .string(change), "container": container] }

@Test func i3_tree_tellsWindowsAndTheirPlaces() throws {
  var model = model(
    tree(
      [node(8, "foot", pid: 17, focused: true, more: ["app_id": "foot"])],
      hidden: [node(9, "x", type: "floating_con", pid: 18)]))
  #expect(model.state.outputs == ["HEADLESS-1"])
  #expect(model.state.focusedOutput == "HEADLESS-1")
  let windows = model.state.windows.windows
  #expect(windows.map(\.id) == ["c8", "c9"])
  #expect(windows[0].properties.appID == "foot")
  #expect(windows[0].properties.pid == 17)
  #expect(windows[0].properties.output == "HEADLESS-1")
  #expect(windows[0].properties.focused == true)
  #expect(windows[0].properties.hidden == false)
  #expect(windows[0].properties.floating == false)
  #expect(windows[0].properties.parent == nil)
  #expect(windows[1].properties.output == "")
  #expect(windows[1].properties.hidden == true)
  #expect(windows[1].properties.floating == true)
  #expect(model.takeEvents().map(\.serial) == [1, 2])
}

@Test func i3_newWindow_isToldByItsEvents() {
  var model = model(tree([]))
  model.take(.window, event("new", node(8, nil, pid: 17)), now: now)
  #expect(model.takeEvents() == [])
  model.take(.window, event("title", node(8, "foot", pid: 17)), now: now)
  model.take(.window, event("floating", node(8, "foot", type: "floating_con", pid: 17)), now: now)
  model.take(.window, event("focus", node(8, "foot", type: "floating_con", pid: 17)), now: now)
  var properties = WindowProperties()
  (properties.title, properties.pid, properties.floating, properties.focused) = ("foot", 17, true, true)
  properties.fullscreen = false
  #expect(model.takeEvents() == [WindowEvent(.opened(Window(id: "c8", properties)), serial: 1)])
  #expect(model.takeWants() == [.tree])
  model.take(.window, event("close", ["id": 8]), now: now)
  #expect(model.takeEvents() == [WindowEvent(.closed(id: "c8"), serial: 2)])
}

@Test func i3_workspaceEvent_readsTreeAndOutputs() {
  var model = model(tree([node(8, "foot", pid: 17, focused: true)]))
  model.take(.workspace, ["change": "focus"], now: now)
  #expect(model.takeWants() == [.tree, .outputs])
  // An empty workspace has the focus now.
  _ = model.takeEvents()
  model.take(tree: tree([node(8, "foot", pid: 17)]), now: now)
  #expect(model.state.windows.focused == nil)
  #expect(model.takeEvents().count == 1)
}

@Test func i3_brokenEvents_readTheTreeAgain() {
  var model = model(tree([node(8, "foot", pid: 17)]))
  _ = model.takeEvents()
  for broken: JSON? in [
    nil, .null, "x", ["change": "new"], event("new", .null), event("close", ["id": "8"]), ["change": 3],
  ] {
    model.take(.window, broken, now: now)
    #expect(model.takeWants() == [.tree])
  }
  model.take(.window, event("close", ["id": 99]), now: now)
  model.take(tree: .null, now: now)
  #expect(model.takeEvents() == [WindowEvent(.closed(id: "c8"), serial: 2)])
  model.take(outputs: "x")
  #expect(model.state.outputs == [])
}

@Test func i3_reusedContainer_isAnotherWindow() {
  var number = 0
  var model = I3Model(capabilities: [.parent], programsResize: false) { _, _ in
    number += 1
    return I3Model.Identity(id: "n\(number)", pid: 5)
  }
  model.take(tree: tree([]), now: now)
  for id in ["n1", "n2"] {
    model.take(.window, event("new", node(8, "a", more: ["window": 4711])), now: now)
    #expect(model.state.windows.windows.map(\.id) == [id])
    #expect(model.state.windows.windows.first?.properties.pid == 5)
    model.take(.window, event("close", ["id": 8]), now: now)
  }
}

@Test func i3_dialog_isOfTheWindowThatItIsTransientFor() {
  var model = model(tree([node(8, "main", more: ["window": 100])]))
  func dialog(_ id: Int, for window: JSON) -> JSON {
    node(id, "dialog", more: ["window": JSON(id), "window_properties": ["transient_for": window, "class": "Gimp"]])
  }
  model.take(.window, event("new", dialog(9, for: 100)), now: now)
  model.take(.window, event("new", dialog(10, for: 7)), now: now)
  model.take(.window, event("new", dialog(11, for: .null)), now: now)
  #expect(model.state.windows.windows.map(\.properties.parent) == ["", "c8", "", ""])
  #expect(model.state.windows.windows.last?.properties.appID == "Gimp")
}

@Test func i3_fullscreen_isAskedForBeforeTheWindowCanBeRaised() {
  var model = model(tree([node(8, "sign", pid: 1, focused: true), node(9, "next", pid: 2)]))
  #expect(model.place(9, WindowPlacement(isFullscreen: true), now: now) == ["[con_id=9] fullscreen enable"])
  // A window that is fullscreen cannot be moved.
  #expect(model.place(9, WindowPlacement(.anchor(.topLeft), isFullscreen: true), now: now) == [])
}

@Test func i3_requests_areCommandsForTheContainerOnly() {
  let tiled = node(8, "a", pid: 1, focused: true)
  let hidden = node(9, "b", type: "floating_con", pid: 2, marks: ["_navd_tiled_9"])
  let floating = node(10, "c", type: "floating_con", pid: 3)
  let model = model(tree([tiled], floating: [floating], hidden: [hidden]))
  func commands(_ request: WindowRequest, _ key: UInt64) -> String {
    var model = model
    let (doing, after) = model.commands(request, key)
    return (doing + ["|"] + after).joined(separator: "; ")
  }
  #expect(commands(.close, 8) == "[con_id=8] kill; |")
  #expect(commands(.activate, 8) == "[con_id=8] focus; |")
  #expect(commands(.hide, 8) == "[con_id=8] mark --add _navd_tiled_8; [con_id=8] move scratchpad; |")
  #expect(commands(.hide, 10) == "[con_id=10] move scratchpad; |; [con_id=8] focus")
  let restored = [
    ("tiled", "floating disable"), ("fullscreen", "fullscreen enable"), ("global", "fullscreen enable global"),
  ]
  .map { #"[con_mark="^_navd_\#($0)_9$"] \#($1); [con_mark="^_navd_\#($0)_9$"] unmark _navd_\#($0)_9"# }
  .joined(separator: "; ")
  #expect(commands(.show, 9) == "[con_id=9] focus; |; \(restored)")
  #expect(commands(.activate, 9) == "[con_id=9] focus; |; \(restored)")
  #expect(commands(.summon, 9) == "[con_id=9] move container to workspace current; [con_id=9] focus; |; \(restored)")
  #expect(commands(.summon, 10) == "[con_id=10] move container to workspace current; [con_id=10] focus; |")
  #expect(commands(.hide, 9) == "nop; |")
  #expect(commands(.show, 8) == "nop; |")
  #expect(
    commands(.move(output: "a\" b\\"), 10) == #"[con_id=10] move container to output "a\" b\\"; |; [con_id=8] focus"#)
}

@Test("A request that follows another before the tree is read continues from the effect of the first")
func i3_requestsInARow_areEachForWhatTheLastOneMade() {
  var model = model(tree([node(8, "a", pid: 1, focused: true), node(9, "b", pid: 2), node(10, "c", pid: 3)]))
  func first(_ request: WindowRequest, _ key: UInt64) -> String { model.commands(request, key).doing.last ?? "" }
  #expect(first(.show, 9) == "nop")
  #expect(first(.hide, 9) == "[con_id=9] move scratchpad")
  #expect(first(.hide, 9) == "nop")
  // The tree that is read meanwhile may be older.
  #expect(model.takeWants() == [.tree])
  #expect(first(.show, 9) == "[con_id=9] focus")
  model.take(tree: tree([node(8, "a", pid: 1, focused: true)], hidden: [node(9, "b", pid: 2)]), now: now)
  #expect(first(.show, 9) == "nop")
  // The window that gets the focus also keeps it.
  #expect(model.commands(.hide, 10).after == ["[con_id=9] focus"])
  #expect(model.takeWants() == [.tree])
  model.take(tree: tree([node(8, "a", pid: 1, focused: true), node(10, "c", pid: 3)]), now: now)
  #expect(first(.show, 10) == "nop", "the tree says that it was not hidden")
  #expect(model.commands(.move(output: "one"), 10).after == ["[con_id=8] focus"])
}

@Test("A tiled window that is hidden, shown and hidden again before the tree is read is remembered as tiled")
func i3_hidingInARow_keepsWhatTheWindowWas() {
  let mark = "[con_id=9] mark --add _navd_tiled_9"
  // The tree has the window as it was, or hidden, with its mark.
  let trees = [
    tree([node(9, "b", pid: 2)]),
    tree([], hidden: [node(9, "b", type: "floating_con", pid: 2, marks: ["_navd_tiled_9"])]),
  ]
  for tree in trees {
    var model = model(tree)
    _ = model.commands(.hide, 9)
    _ = model.commands(.show, 9)
    #expect(model.commands(.hide, 9).doing.first == mark)
    _ = model.takeWants()
    _ = model.commands(.summon, 9)
    #expect(model.commands(.hide, 9).doing.first == mark)
  }
}

@Test("A hidden window is marked with what the scratchpad takes from it, and with nothing else")
func i3_hiding_marksWhatIsLost() {
  func commands(fullscreen mode: Int, floats: Bool, marks: [String] = []) -> [String] {
    let window = node(
      8, "a", type: floats ? "floating_con" : "con", pid: 1, focused: true, marks: marks,
      more: ["fullscreen_mode": JSON(mode)])
    var model = model(floats ? tree([], floating: [window]) : tree([window]))
    return model.commands(.hide, 8).doing
  }
  let hidden = "[con_id=8] move scratchpad"
  func mark(_ name: String) -> String { "[con_id=8] mark --add _navd_\(name)_8" }
  #expect(commands(fullscreen: 1, floats: false) == [mark("tiled"), mark("fullscreen"), hidden])
  #expect(commands(fullscreen: 2, floats: true) == [mark("global"), hidden])
  #expect(
    commands(fullscreen: 0, floats: true, marks: ["_navd_tiled_8", "_navd_fullscreen_8", "mine"]) == [
      "[con_id=8] unmark _navd_tiled_8", "[con_id=8] unmark _navd_fullscreen_8", hidden,
    ])
}

@Test(
  "The windows in view are those of the workspace of each output that had the focus last, and no hidden ones")
func i3_workspaces_tellWhatIsInView() {
  // The tree of i3 has a container between the output and its workspaces.
  for isI3 in [false, true] {
    let workspaces = [
      node(5, "1", type: "workspace", [node(8, "a", pid: 1, focused: true)]),
      node(6, "2", type: "workspace", [node(9, "b", pid: 2)], floating: [node(10, "c", type: "floating_con", pid: 3)]),
    ]
    let content = node(7, "content", focus: [6, 5], workspaces)
    let output =
      isI3
      ? node(3, "HEADLESS-1", type: "output", focus: [7], [content])
      : node(3, "HEADLESS-1", type: "output", focus: [6, 5], workspaces)
    let scratchpad = node(4, "__i3_scratch", type: "workspace", floating: [node(11, "d", type: "floating_con", pid: 4)])
    let pseudo = node(2, "__i3", type: "output", focus: [4], [scratchpad])
    let model = model(node(1, "root", type: "root", focus: [3, 2], [pseudo, output]))
    #expect(model.state.windows.windows.map(\.properties.inView) == [false, true, true, false])
  }
}

/// Whether the windows with the numbers from 8 on are in view, on a workspace in view with these containers.
private func inView(_ tiled: [JSON], focus: [Int], floating: [JSON] = [], layout: String = "splith") -> [Bool?] {
  let workspace = node(
    5, "1", type: "workspace", focus: focus, tiled, floating: floating,
    more: ["layout": .string(layout), "fullscreen_mode": 1])
  let content = node(7, "content", focus: [5], [workspace])
  let root = node(1, "root", type: "root", focus: [3], [node(3, "A", type: "output", focus: [7], [content])])
  return model(root).state.windows.windows.map(\.properties.inView)
}

@Test(
  "i3: of tabs and stacked windows, only the one in front is in view, at every depth", arguments: ["tabbed", "stacked"])
func i3_tabsInTheBack_areNotInView(_ layout: String) {
  func window(_ id: Int) -> JSON { node(id, "w", more: ["window": JSON(id)]) }
  func tabs(_ id: Int, front: [Int], _ inner: [JSON]) -> JSON {
    node(id, focus: front, inner, more: ["layout": .string(layout)])
  }
  let deep = tabs(20, front: [9, 8], [window(8), window(9)])
  #expect(inView([tabs(21, front: [20, 10], [deep, window(10)])], focus: [21]) == [false, true, false])
  #expect(inView([tabs(21, front: [10, 20], [deep, window(10)])], focus: [21]) == [false, false, true])
  #expect(inView([deep, window(10)], focus: [10, 20]) == [false, true, true])
  // Floating windows are above the tabs of a workspace, and in the same list.
  let floating = node(22, type: "floating_con", [window(10)])
  #expect(
    inView([window(8), window(9)], focus: [22, 9, 8], floating: [floating], layout: layout) == [false, true, true])
}

@Test("i3: what lies under a fullscreen window is not in view, except its dialogs")
func i3_underFullscreen_isNotInView() {
  func window(_ id: Int, mode: Int = 0, for leader: Int? = nil) -> JSON {
    var more: [String: JSON] = ["window": JSON(id), "fullscreen_mode": JSON(mode)]
    if let leader { more["window_properties"] = ["transient_for": JSON(leader)] }
    return node(id, "w", more: more)
  }
  func floating(_ window: JSON) -> JSON { node(30, type: "floating_con", [window]) }
  for mode in [1, 2] {
    #expect(
      inView(
        [window(8, mode: mode), window(9)], focus: [8, 9],
        floating: [floating(window(10)), floating(window(11, for: 8))]
      ) == [true, false, false, true])
  }
  // A container may be fullscreen, with all that it has.
  let container = node(20, nil, [window(8), window(9)], more: ["fullscreen_mode": 1])
  #expect(inView([container, window(10)], focus: [20, 10]) == [true, true, false])
}

@Test("sway says itself whether a window is visible")
func i3_visible_isTakenFromSway() {
  let windows = [true, false].map { node($0 ? 8 : 9, "w", pid: 1, more: ["visible": .boolean($0)]) }
  #expect(inView(windows, focus: [9, 8]) == [true, false])
}

@Test("What covers a window may change with a fullscreen mode or a layout, for which windows cause no event")
func i3_coveringEvents_readTheTree() {
  var model = model(tree([node(8, "a", pid: 1), node(9, "b", pid: 2)]))
  model.take(.window, event("fullscreen_mode", node(8, "a", pid: 1, more: ["fullscreen_mode": 1])), now: now)
  #expect(model.takeWants() == [.tree])
  model.take(.binding, ["change": "run"], now: now)
  #expect(model.takeWants() == [.tree])
}

@Test("If no window has the focus, it comes back to the output and the workspace that had it")
func i3_focusOfAnEmptyWorkspace_comesBackToIt() {
  let workspaces = [
    node(5, "1", type: "workspace", [node(8, "a", pid: 1)]), node(6, "say \"2\"", type: "workspace"),
  ]
  var model = model(
    node(1, "root", type: "root", focus: [3], [node(3, "HEADLESS-1", type: "output", focus: [6, 5], workspaces)]))
  #expect(
    model.commands(.hide, 8).after == [
      #"focus output "HEADLESS-1""#, #"workspace --no-auto-back-and-forth "say \"2\"""#,
    ])
}

@Test("News of sway's windows by the Wayland protocol cause a reading of the tree, if it may tell something new")
func i3_toplevels_areAReasonToRead() {
  var model = model(tree([node(8, "a", pid: 1, focused: true)]))
  func wants(_ edit: (inout WindowProperties) -> Void) -> Set<I3Message.Kind> {
    var changes = WindowProperties()
    edit(&changes)
    model.takeToplevel(changes)
    return model.takeWants()
  }
  #expect(wants { $0.title = "b" } == [])
  #expect(wants { $0.focused = true } == [])
  #expect(wants { $0.appID = "b" } == [.tree])
  #expect(wants { $0.focused = false } == [.tree])
  model.take(tree: tree([node(8, "a", pid: 1)]), now: now)
  #expect(wants { $0.focused = true } == [.tree])
}

@Test("A class and a startup id that come after the window are told, and belong to the window in later trees")
func i3_lateProperties_areTold() {
  var model = model(tree([node(8, "a", more: ["window": 100])]))
  _ = model.takeEvents()
  var late = WindowProperties()
  (late.appID, late.startupID) = ("Late", "navd-1")
  model.take(late, of: 100, now: now)
  model.take(late, of: 7, now: now)
  #expect(model.takeEvents() == [WindowEvent(.changed(id: "c8", late), serial: 2)])
  #expect(model.takeWants() == [.tree])
}

@Test func i3_messages_areReadInAnyPieces() throws {
  let bytes = I3Message.bytes(.tree, "{}") + I3Message.bytes(.command, "") + I3Message.bytes(.version, "[1]")
  for size in [1, 3, 14, 17, bytes.count] {
    var reader = I3Reader()
    var found: [String] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      reader.take(bytes[start..<min(start + size, bytes.count)])
      while let message = try reader.next() {
        found.append("\(message.type) \(String(decoding: message.payload ?? [], as: UTF8.self))")
      }
    }
    #expect(found == ["4 {}", "0 ", "7 [1]"])
  }
}

@Test func i3_messageThatIsTooLarge_isPassedOver() throws {
  var reader = I3Reader(limit: 8)
  reader.take(I3Message.bytes(.tree, String(repeating: " ", count: 100)).dropLast(50))
  #expect(try reader.next() == nil)
  reader.take(I3Message.bytes(.tree, String(repeating: " ", count: 100)).suffix(50))
  reader.take(I3Message.bytes(.outputs, "[]"))
  #expect(try reader.next() == I3Message(type: 4, payload: nil))
  #expect(try reader.next() == I3Message(type: 3, payload: Array("[]".utf8)))
  reader.take(Array("GET / HTTP/1.1".utf8))
  #expect(throws: I3Reader.Fault.self) { try reader.next() }
}

@Test("A title that is not UTF-8 hides neither its window nor others: sway and i3 pass on the bytes of the client")
func i3_titleThatIsNotUTF8_isRepaired() throws {
  let payload = Array(tree([node(8, "caf~", pid: 17), node(9, "other", pid: 18)]).text.utf8)
    .map { $0 == UInt8(ascii: "~") ? 0xE9 : $0 }
  let content = I3Message(type: 4, payload: payload).content
  #expect(model(content ?? .null).state.windows.windows.map(\.properties.title) == ["caf\u{FFFD}", "other"])
}

@Test("A workspace whose containers are split again and again has its windows")
func i3_deepLayout_isRead() throws {
  var layout = node(1000, "innermost", pid: 17)
  for level in 0..<200 { layout = node(level + 10, nil, [layout, node(level + 500, "window", pid: 18)]) }
  let content = I3Message(type: 4, payload: Array(tree([layout]).text.utf8)).content
  let windows = model(content ?? .null).state.windows.windows
  #expect(windows.count == 201 && windows.last?.properties.title == "innermost")
}

@Test("A window that a floating one covers is not in view, unless it has the focus")
func i3_windowUnderFloating_isNotInView() {
  func area(_ x: Int, _ width: Int) -> [String: JSON] {
    ["rect": .object(["x": JSON(x), "y": 0, "width": JSON(width), "height": 100])]
  }
  func inView(_ tiled: JSON, _ floating: [JSON]) -> [String: Bool?] {
    let workspace = node(
      5, "1", type: "workspace", focus: [8], [tiled, node(9, "beside", pid: 2, more: area(50, 50))], floating: floating)
    let root = node(1, "root", type: "root", focus: [3], [node(3, "A", type: "output", focus: [5], [workspace])])
    let windows = model(root).state.windows.windows
    return Dictionary(windows.map { ($0.properties.title ?? "", $0.properties.inView) }) { first, _ in first }
  }
  let tile = node(8, "tile", pid: 1, more: area(0, 50))
  func above(_ id: Int, _ name: String, _ x: Int, _ width: Int) -> JSON {
    node(id, name, type: "floating_con", pid: 3, more: area(x, width))
  }
  let half = above(10, "half", 0, 40)
  #expect(inView(tile, [half]) == ["tile": true, "beside": true, "half": true])
  let whole = above(11, "whole", 0, 60)
  #expect(inView(tile, [half, whole]) == ["tile": false, "beside": true, "half": false, "whole": true])
  #expect(inView(tile, [whole, half]) == ["tile": false, "beside": true, "half": true, "whole": true])
  let focused = node(8, "tile", pid: 1, focused: true, more: area(0, 50))
  #expect(inView(focused, [whole]) == ["tile": true, "beside": true, "whole": true])
}

@Test("A window is covered by a single one above it, unless it has the focus")
func stack_windowsUnderAnother_areCovered() {
  func layer(_ key: Int, _ x: Int, _ width: Int, isFocused: Bool = false) -> WindowStack<Int>.Layer {
    WindowStack.Layer(key: key, area: ScreenArea(x: x, y: 0, width: width, height: 10), isFocused: isFocused)
  }
  #expect(WindowStack.covered([layer(1, 0, 10), layer(2, 0, 10), layer(3, 5, 10)]) == [1])
  #expect(WindowStack.covered([layer(1, 0, 10), layer(2, 0, 5), layer(3, 5, 5)]) == [])
  #expect(WindowStack.covered([layer(1, 0, 10, isFocused: true), layer(2, 2, 3), layer(3, 0, 20)]) == [2])
}

@Test func monitors_window_isWhereMostOfItIs() {
  let monitors = [
    Monitor(name: "left", area: ScreenArea(x: 0, y: 0, width: 100, height: 100)),
    Monitor(name: "right", area: ScreenArea(x: 100, y: 0, width: 100, height: 100)),
  ]
  #expect(monitors.holding(ScreenArea(x: 60, y: 0, width: 50, height: 10)) == "left")
  #expect(monitors.holding(ScreenArea(x: 95, y: 0, width: 50, height: 10)) == "right")
  #expect(monitors.holding(ScreenArea(x: 300, y: 0, width: 50, height: 10)) == "")
  #expect([Monitor]().holding(ScreenArea(x: 0, y: 0, width: 5, height: 5)) == "")
}

// MARK: Windows that open without the focus (N15)

/// A window in an event, and in a tree that shows where it is.
private func window(_ id: Int, _ appID: String, focused: Bool = false) -> JSON {
  node(id, appID, pid: id, focused: focused, more: ["app_id": .string(appID), "visible": true])
}

@Test("N15: sway is told once of a pattern whose windows open without the focus, and again after it has read its file")
func i3_expectedWithoutFocus_isARule() {
  var model = model(tree([window(8, "foot", focused: true)]))
  let osd = WindowPattern(appID: "osd")
  model.expectWithoutFocus([osd])
  #expect(model.takeRules() == [#"no_focus [app_id="^osd$"]"#, #"no_focus [class="^osd$"]"#])
  model.expectWithoutFocus([osd, WindowPattern(title: "Volume*")])
  #expect(model.takeRules() == [#"no_focus [title="^Volume.*$"]"#])
  model.expectWithoutFocus([])
  model.expectWithoutFocus([osd])
  #expect(model.takeRules() == [])
  model.take(.workspace, ["change": "reload"], now: now)
  #expect(model.takeRules() == [#"no_focus [app_id="^osd$"]"#, #"no_focus [class="^osd$"]"#])
  model.expectWithoutFocus([])
  model.take(.workspace, ["change": "reload"], now: now)
  #expect(model.takeRules() == [])
}

@Test("N15: no more than 64 rules are told, since sway compares each with each window")
func i3_manyPatternsWithoutFocus_areLimited() {
  var model = model(tree([]))
  for number in 1...100 { model.expectWithoutFocus([WindowPattern(title: "\(number)")]) }
  #expect(model.takeRules().count == 64)
}

@Test("N15: a window that is not expected gets the focus, though a rule fits it", arguments: [true, false])
func i3_otherWindowWithARule_getsTheFocus(_ isExpected: Bool) {
  var model = model(tree([window(8, "foot", focused: true)]))
  model.expectWithoutFocus([WindowPattern(appID: "osd", title: "os*")])
  if !isExpected { model.expectWithoutFocus([]) }
  // sway tells the title later.
  model.take(.window, event("new", node(9, pid: 9, more: ["app_id": "osd", "visible": true])), now: now)
  #expect(model.givingFocus() == [])
  model.expectWithoutFocus([])
  model.take(tree: tree([window(8, "foot", focused: true), window(9, "osd")]), now: now)
  #expect(model.givingFocus() == (isExpected ? [] : ["[con_id=9] focus"]))
  #expect(model.givingFocus() == [])
}

@Test("N15: a window that a rule fits is left where its user has gone on, and where it is not in view")
func i3_otherWindowOutOfReach_getsNoFocus() {
  let foot = window(8, "foot", focused: true)
  var model = model(tree([foot, window(7, "third")]))
  model.expectWithoutFocus([WindowPattern(appID: "osd")])
  model.expectWithoutFocus([])
  model.take(.window, event("new", window(9, "osd")), now: now)
  model.take(tree: tree([window(8, "foot"), window(7, "third", focused: true), window(9, "osd")]), now: now)
  #expect(model.givingFocus() == [])
  model.take(tree: tree([foot]), now: now)
  model.take(.window, event("new", window(10, "osd")), now: now)
  model.take(tree: tree([foot], hidden: [window(10, "osd")]), now: now)
  #expect(model.givingFocus() == [])
}

import EventLoops
import PresentationModel
import Testing
import TextFormats

@testable import WindowAdapter

// The model of niri's windows: what its events mean, and the actions for requests.

private let now = MonotonicInstant(nanoseconds: 0)

private func window(_ id: JSON, _ title: JSON, pid: JSON = 17, workspace: JSON = 1, _ more: [String: JSON] = [:])
  -> JSON
{
  .object(
    [
      "id": id, "title": title, "app_id": "foot", "pid": pid, "workspace_id": workspace, "is_focused": false,
      "is_floating": false, "is_urgent": false,
      "layout": ["tile_size": [.real(1.5), 2], "pos_in_scrolling_layout": .null],
    ].merging(more) { $1 })
}

private func workspace(_ id: JSON, _ output: JSON, isActive: Bool, isFocused: Bool = false) -> JSON {
  [
    "id": id, "idx": 1, "name": .null, "output": output, "is_active": .boolean(isActive),
    "is_focused": .boolean(isFocused),
  ]
}

private func event(_ name: String, _ content: [String: JSON]) -> JSON { .object([name: .object(content)]) }

/// A model that has been told two outputs with two workspaces each, and some windows.
private func model(_ windows: [JSON], findProcess: @escaping NiriModel.FindingProcess = { $0.client }) -> NiriModel {
  var model = NiriModel(NumberedIDs(token: "n", WindowIDs()), findProcess: findProcess)
  #expect(!model.isComplete)
  let workspaces = [
    workspace(3, "B", isActive: true), workspace(1, "A", isActive: true, isFocused: true),
    workspace(2, "A", isActive: false), workspace(4, "B", isActive: false),
  ]
  model.take(event("WorkspacesChanged", ["workspaces": .array(workspaces)]), now: now)
  #expect(!model.isComplete)
  model.take(event("WindowsChanged", ["windows": .array(windows)]), now: now)
  #expect(model.isComplete)
  return model
}

@Test func niri_events_tellWindowsAndTheirPlaces() throws {
  let floating = window(9, "dialog", pid: .null, workspace: 4, ["is_floating": true, "is_urgent": true])
  var model = model([floating, window(8, "foot", ["is_focused": true])])
  #expect(model.state.outputs == ["A", "B"])
  #expect(model.state.focusedOutput == "A")
  var tiled = WindowProperties()
  (tiled.appID, tiled.title, tiled.pid, tiled.output) = ("foot", "foot", 17, "A")
  (tiled.focused, tiled.urgent, tiled.floating, tiled.inView) = (true, false, false, true)
  var dialog = WindowProperties()
  (dialog.appID, dialog.title, dialog.output) = ("foot", "dialog", "B")
  (dialog.urgent, dialog.floating, dialog.inView) = (true, true, false)
  #expect(model.state.windows.windows == [Window(id: "n-8", tiled), Window(id: "n-9", dialog)])
  #expect(model.takeEvents().map(\.serial) == [1, 2, 3], "the focus is told after they have opened")
}

@Test func niri_changes_areToldAsTheyCome() {
  var model = model([window(8, "a"), window(9, "b", ["is_focused": true])])
  _ = model.takeEvents()
  func changes() -> [WindowEvent.Kind] { model.takeEvents().map(\.kind) }
  func properties(_ edit: (inout WindowProperties) -> Void) -> WindowProperties {
    var properties = WindowProperties()
    edit(&properties)
    return properties
  }
  model.take(event("WindowFocusChanged", ["id": 8]), now: now)
  #expect(
    changes() == [
      .changed(id: "n-9", properties { $0.focused = false }), .changed(id: "n-8", properties { $0.focused = true }),
    ])
  // A launcher has the focus now.
  model.take(event("WindowFocusChanged", ["id": .null]), now: now)
  #expect(changes() == [.changed(id: "n-8", properties { $0.focused = false })])
  model.take(event("WindowUrgencyChanged", ["id": 8, "urgent": true]), now: now)
  #expect(changes() == [.changed(id: "n-8", properties { $0.urgent = true })])
  model.take(event("WorkspaceActivated", ["id": 2, "focused": true]), now: now)
  model.take(event("WorkspaceActivated", ["id": 4, "focused": false]), now: now)
  #expect(Set(changes()) == Set(["n-8", "n-9"].map { .changed(id: $0, properties { $0.inView = false }) }))
  #expect(model.state.focusedOutput == "A")
  let moved = window(8, "new", workspace: 4, ["is_urgent": true])
  model.take(event("WindowOpenedOrChanged", ["window": moved]), now: now)
  #expect(changes() == [.changed(id: "n-8", properties { ($0.title, $0.output, $0.inView) = ("new", "B", true) })])
  // A window is on no workspace while its user moves it.
  model.take(
    event("WindowOpenedOrChanged", ["window": window(8, "new", workspace: .null, ["is_urgent": true])]), now: now)
  #expect(changes() == [])
  model.take(event("WindowOpenedOrChanged", ["window": window(10, "c", workspace: 2, ["is_focused": true])]), now: now)
  #expect(model.state.windows.windows.map(\.properties.focused) == [false, false, true])
  model.take(event("WindowClosed", ["id": 10]), now: now)
  #expect(model.takeEvents().last?.kind == .closed(id: "n-10"))
}

@Test func niri_outputThatIsGone_isReported() {
  var model = model([window(8, "a", workspace: 3)])
  model.take(
    event(
      "WorkspacesChanged", ["workspaces": [workspace(3, "A", isActive: false), workspace(1, "A", isActive: true)]]),
    now: now)
  #expect(model.state.outputs == ["A"])
  #expect(model.state.windows.windows.first?.properties.output == "A")
  #expect(model.state.windows.windows.first?.properties.inView == false)
  model.take(event("WorkspacesChanged", ["workspaces": [workspace(3, .null, isActive: false)]]), now: now)
  #expect(model.state.outputs == [])
  #expect(model.state.windows.windows.first?.properties.output == "")
}

@Test("A window whose number wraps, or belonged to another, has an id of its own, and keeps it when all are told again")
func niri_numberUsedAgain_isAnotherWindow() {
  var model = model([window(.unsigned(.max), "last"), window(0, "first")])
  #expect(Set(model.state.windows.windows.map(\.id)) == ["n-18446744073709551615", "n-0"])
  model.take(event("WindowClosed", ["id": .unsigned(.max)]), now: now)
  model.take(event("WindowClosed", ["id": 0]), now: now)
  model.take(event("WindowOpenedOrChanged", ["window": window(0, "again")]), now: now)
  let again = model.state.windows.windows.map(\.id)
  #expect(again.count == 1 && again != ["n-0"])
  // The end of this window was not told, nor that of the next one.
  model.take(event("WindowOpenedOrChanged", ["window": window(0, "other", pid: 18)]), now: now)
  let other = model.state.windows.windows.map(\.id)
  #expect(other.count == 1 && other != again && other != ["n-0"])
  model.take(event("WindowsChanged", ["windows": [window(0, "other", pid: 18), window(1, "one")]]), now: now)
  #expect(model.state.windows.windows.map(\.id) == other + ["n-1"])
}

@Test func niri_brokenAndUnknownEvents_areLeftOut() {
  var model = model([window(8, "a")])
  _ = model.takeEvents()
  let broken: [JSON] = [
    .null, "x", [], 3, ["Ok": "Handled"], ["Err": "no"], ["FromTheFuture": ["id": 8]], ["WindowClosed": .null],
    event("WindowClosed", ["id": "8"]), event("WindowClosed", ["id": -8]), event("WindowClosed", ["id": 99]),
    event("WindowFocusChanged", ["id": 99]), event("WindowFocusChanged", [:]), event("WindowOpenedOrChanged", [:]),
    event("WindowOpenedOrChanged", ["window": ["id": -1]]), event("WindowUrgencyChanged", ["id": 99, "urgent": true]),
    event("WindowUrgencyChanged", ["id": 8, "urgent": 1]), event("WorkspaceActivated", ["id": 99, "focused": true]),
    event("WorkspacesChanged", ["workspaces": 1]), event("WindowsChanged", ["windows": ["8": 1]]),
  ]
  for event in broken { model.take(event, now: now) }
  #expect(model.takeEvents() == [])
  model.take(event("WindowOpenedOrChanged", ["window": window(8, 5, pid: -1, workspace: "x")]), now: now)
  #expect(model.state.windows.windows.map(\.properties.title) == ["a"])
  #expect(model.state.windows.windows.map(\.id) == ["n-8"])
}

@Test("The process of an X11 window is asked for until it is known")
func niri_windowOfX11_getsItsProcessWhenItIsKnown() {
  var asked: [String?] = []
  var answer: UInt32?
  var model = model([window(8, .null, pid: 500)]) { node in
    asked.append(node.properties.title)
    return answer
  }
  #expect(model.state.windows.windows.first?.properties.pid == nil)
  model.take(event("WindowOpenedOrChanged", ["window": window(8, "xterm", pid: 500)]), now: now)
  answer = 42
  for title: JSON in ["a", "b", "c"] {
    model.take(event("WindowOpenedOrChanged", ["window": window(8, title, pid: 500)]), now: now)
  }
  #expect(model.state.windows.windows.first?.properties.pid == 42)
  #expect(asked == [nil, "xterm", "a"])
}

@Test("A client that changes the title of its window without end does not make the adapter ask the X server each time")
func niri_processThatIsNotFound_isNotSearchedForWithoutEnd() {
  var asked = 0
  var model = model([window(8, .null, pid: 500)]) { _ in
    asked += 1
    return nil
  }
  for number in 1...100 {
    model.take(event("WindowOpenedOrChanged", ["window": window(8, .string("\(number)"), pid: 500)]), now: now)
    model.take(event("WindowUrgencyChanged", ["id": 8, "urgent": .boolean(number % 2 == 0)]), now: now)
  }
  #expect(asked == 4, "once without a title, three times with one")
  // The process of another window with the same number is searched for.
  model.take(event("WindowClosed", ["id": 8]), now: now)
  model.take(event("WindowOpenedOrChanged", ["window": window(8, "new", pid: 500)]), now: now)
  #expect(asked == 5)
}

@Test("Windows past the limit are told when others have closed")
func niri_windowsThatWereTooMany_areToldLater() {
  let windows = (0...4096).map { window(JSON($0), .string("w\($0)")) }
  var model = model(windows)
  #expect(model.state.windows.windows.count == 4096)
  model.take(event("WorkspaceActivated", ["id": 2, "focused": true]), now: now)
  #expect(model.state.windows.windows.count == 4096)
  model.take(event("WindowClosed", ["id": 7]), now: now)
  #expect(model.state.windows.windows.last?.id == "n-4096")
}

@Test func niri_requests_areActionsForTheWindowOnly() throws {
  var model = model([window(8, "a")])
  func actions(_ request: WindowRequest) throws -> [String] {
    try model.actions(request, 8, now: now).map { try #require($0.split(separator: "\n").first.map(String.init)) }
  }
  #expect(try actions(.close) == [#"{"Action":{"CloseWindow":{"id":8}}}"#])
  #expect(try actions(.activate) == [#"{"Action":{"FocusWindow":{"id":8}}}"#])
  func moved(to workspace: Int) -> String {
    #"{"Action":{"MoveWindowToWorkspace":{"window_id":8,"reference":{"Id":\#(workspace)},"focus":true}}}"#
  }
  #expect(try actions(.move(output: "B")) == [moved(to: 3)])
  #expect(throws: Refusal.self) { try actions(.move(output: "C")) }
  #expect(try actions(.summon) == [moved(to: 1), #"{"Action":{"FocusWindow":{"id":8}}}"#])
}

import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

@testable import WindowAdapter

// The model of KWin's windows: what the events of its scripts mean, and the scripts for requests.

private let now = MonotonicInstant(nanoseconds: 0)

private func model(_ events: String..., outputs: [Monitor] = []) throws -> KWinModel {
  var model = KWinModel()
  model.take(outputs, now: now)
  for event in events { _ = try model.take(JSON.parse(event), now: now) }
  return model
}

private func window(_ id: String, _ more: String = "", title: String = "one") -> String {
  #"{"window":{"id":"\#(id)","appID":"editor","title":"\#(title)","pid":7,"x":640,"y":0,"isHere":true\#(more)}}"#
}

private let outputs = [
  Monitor(name: "L", area: ScreenArea(x: 0, y: 0, width: 640, height: 720)),
  Monitor(name: "R", area: ScreenArea(x: 640, y: 0, width: 640, height: 720)),
]

@Test("KWin: a window is told with the facts that the script knows, on the output at its place")
func kwin_window_isTold() throws {
  let model = try model(
    window("{a}", #","focused":true"#, title: "one <2>"), window("{b}", #","minimized":true,"parent":"{a}""#),
    #"{"ready":true}"#, outputs: outputs)
  let windows = model.state.windows.windows
  #expect(model.isReady && windows.map(\.id) == ["{a}", "{b}"])
  let (first, second) = (windows[0].properties, windows[1].properties)
  #expect(first.appID == "editor" && first.title == "one" && first.pid == 7 && first.focused == true)
  #expect(first.output == "R" && first.inView == true && first.hidden == false && first.parent == "")
  #expect(second.output == "" && second.inView == false && second.hidden == true && second.parent == "{a}")
  #expect(model.state.focusedOutput == "R" && model.state.outputs == ["L", "R"])
}

@Test("KWin: a parent that was not told is no parent, and a window that closes is gone")
func kwin_parent_isAWindow() throws {
  var model = try model(window("{b}", #","parent":"{a}""#), window("{a}"))
  #expect(model.state.windows.windows.map(\.properties.parent) == ["", ""])
  #expect(try !model.take(JSON.parse(window("{b}", #","parent":"{a}""#)), now: now))
  #expect(model.state.windows.windows.map(\.properties.parent) == ["{a}", ""])
  #expect(try !model.take(JSON.parse(#"{"closed":"{a}"}"#), now: now))
  #expect(model.state.windows.windows.map(\.id) == ["{b}"])
  #expect(model.state.windows.windows.map(\.properties.parent) == [""])
}

@Test("KWin: a window for which there was no room is told when another one has closed")
func kwin_windowLeftOut_isToldLater() throws {
  var model = KWinModel(limits: WindowTable.Limits(windows: 3))
  for number in 1...5 { _ = try model.take(JSON.parse(window("{\(number)}")), now: now) }
  #expect(model.state.windows.windows.map(\.id) == ["{1}", "{2}", "{3}"])
  _ = try model.take(JSON.parse(#"{"closed":"{2}"}"#), now: now)
  #expect(model.state.windows.windows.map(\.id) == ["{1}", "{3}", "{4}"])
}

@Test("KWin: nothing is claimed about outputs before any is known; outputs that come later are told for each window")
func kwin_outputs_areClaimedOnceKnown() throws {
  var model = try model(window("{a}"), #"{"ready":true}"#)
  #expect(!model.state.capabilities.contains(.output) && !model.state.capabilities.contains(.move))
  #expect(model.state.windows.windows[0].properties.output == nil)
  model.take(outputs, now: now)
  #expect(model.state.capabilities.contains(.output) && model.state.capabilities.contains(.move))
  #expect(model.state.windows.windows[0].properties.output == "R")
  let key = try #require(model.state.windows.key(of: "{a}"))
  #expect(model.place(for: .move(output: "L"), key) == KWinModel.Place(x: 0, y: 0))
  #expect(model.place(for: .close, key) == nil)
}

@Test(
  "KWin: malformed events are left out",
  arguments: ["7", "{}", #"{"window":{}}"#, #"{"window":{"id":7}}"#, #"{"closed":"?"}"#])
func kwin_strangeEvent_isLeftOut(_ event: String) throws {
  let model = try model(event)
  #expect(model.state.windows.windows.isEmpty && !model.isReady)
}

@Test("KWin: an id cannot leave the text of a script")
func kwin_idInAScript_isQuoted() {
  let script = KWinScript.request(.close, #"a"; evil(); ""#, place: nil, ":1.7")
  #expect(script.contains(#"=== "a\"; evil(); \"")"#))
}

@Test("KWin: a script that cannot be written, since the disk is full, leaves no descriptor open")
func kwin_scriptThatCannotBeWritten_leavesNoDescriptor() async {
  await #expect(processExitsWith: .success) {
    let directory = TemporaryDirectory()
    let path = directory.path(of: "script.js")
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: 4, rlim_max: 4)
    setrlimit(__rlimit_resource_t(1), &limit)
    for _ in 1...10 {
      #expect(throws: SystemError.self) { try KWinScripting.write("too long", to: path) }
      #expect(throws: Never.self) { try KWinScripting.write("x", to: path) }
    }
    // Other threads of the process may open and close files of their own meanwhile.
    let open = try Files.names(in: "/proc/self/fd").compactMap { Files.target(of: "/proc/self/fd/\($0)") }
    #expect(!open.contains { $0.hasPrefix(path) })
  }
}

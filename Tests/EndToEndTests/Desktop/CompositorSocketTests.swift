import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

// The backends for niri and Hyprland, with compositors that are scripted from their sources, and from what Hyprland 0.57 was seen
// to send.

private typealias Rows = WindowSystemInterface

extension RunningAdapter {
  fileprivate var capabilities: [String] { [String](value: properties["Capabilities"] ?? .string("")) ?? [] }

  fileprivate var titles: [String?] { windows.map(\.properties.title) }

  /// Ends the compositor, and requires that the adapter ends with it.
  fileprivate func expectEnd(with compositor: ScriptedServer) throws {
    // The adapter may end before it is known that the compositor has.
    program.mayFail = true
    try compositor.tell("os._exit(0)")
    try session.wait("the adapter ends") { program.hasEnded }
    #expect(program.exitCode == 1)
    #expect(program.errorText.contains("connection"), "\(program.errorText)")
  }

  /// Calls a method that fails, and returns the message of its error.
  fileprivate func failure<Input>(_ method: Method<Input, Void>, _ input: Input) throws -> String? {
    do {
      try call(method, input)
      return nil
    } catch let error as DBusError {
      return error.message
    }
  }
}

@Test("niri is found by its socket; its windows are followed, closed, raised, moved and summoned")
private func windows_ofNiri_areFollowed() throws {
  let session = try Session(starting: false)
  let niri = try FakeNiri(session)
  let adapter = try RunningAdapter(session, variables: niri.variables)
  #expect(adapter.properties["Backend"] == "niri".value)
  #expect(
    try adapter.capabilities == documentedCapabilities("niri", on: "niri").filter { $0.cell != "no" }.map(\.capability))
  #expect(adapter.properties["Outputs"] == ["FAKE-1"].value)
  #expect(adapter.properties["FocusedOutput"] == "FAKE-1".value)
  let window = try #require(adapter.windows.first)
  #expect(window.properties.pid == 1 && window.properties.output == "FAKE-1" && window.properties.inView == true)

  try niri.tell(
    "workspaces.append(workspace(2, 'FAKE-2'))", "event('WorkspacesChanged', workspaces=workspaces)",
    "event('WindowOpenedOrChanged', window=window(9, 'second', workspace_id=2, is_focused=True))")
  try adapter.wait("the other one is there") { adapter.window("fake", "second")?.properties.focused == true }
  #expect(adapter.window("fake", "second")?.properties.output == "FAKE-2")
  #expect(adapter.properties["Outputs"] == ["FAKE-1", "FAKE-2"].value)
  try adapter.call(Rows.close, window.id)
  try adapter.call(Rows.activate, window.id)
  try adapter.call(Rows.moveToOutput, (window.id, "FAKE-2"))
  try adapter.call(Rows.summon, window.id)
  #expect(
    niri.program.lines.dropFirst() == [
      #"{"CloseWindow": {"id": 8}}"#, #"{"FocusWindow": {"id": 8}}"#,
      #"{"MoveWindowToWorkspace": {"window_id": 8, "reference": {"Id": 2}, "focus": true}}"#,
      #"{"MoveWindowToWorkspace": {"window_id": 8, "reference": {"Id": 1}, "focus": true}}"#,
      #"{"FocusWindow": {"id": 8}}"#,
    ])
  #expect(try adapter.refusal(Rows.hide, window.id) == .notSupported)
  try niri.tell("answer = lambda action: dict(Err='not today')")
  #expect(try adapter.failure(Rows.close, window.id)?.contains("not today") == true)
  // The answer of the compositor is not JSON.
  try niri.tell("answer = lambda action: [1]")
  #expect(try adapter.refusal(Rows.close, window.id) == .notSupported)

  try niri.tell("event('WindowClosed', id=8)")
  try adapter.wait("it is closed") { adapter.titles == ["second"] }
  #expect(try adapter.refusal(Rows.close, window.id) == .unknownWindow)
  try adapter.expectEnd(with: niri)
}

@Test(
  "N15: niri is told the place of a window in shares of its usable area, and again when the program has decided about its size"
)
private func windows_ofNiri_arePlaced() throws {
  let session = try Session(starting: false)
  let niri = try FakeNiri(session)
  let adapter = try RunningAdapter(session, variables: niri.variables)
  let window = try #require(adapter.windows.first)
  try niri.tell("event('WindowOpenedOrChanged', window=window(9, 'other', is_focused=True))")
  try adapter.wait("the other one is there") { adapter.window("fake", "other")?.properties.focused == true }
  try niri.tell("event('WindowOpenedOrChanged', window=window(10, 'panel', is_focused=True))")
  try adapter.wait("the panel is there") { adapter.window("fake", "panel")?.properties.focused == true }
  let panel = try #require(adapter.window("fake", "panel"))
  let options: Properties = [
    "place": "right".value, "size": "640 50%".value, "margin": .uint32(20), "focus": .boolean(false),
  ]
  try adapter.call(Rows.place, (panel.id, options))
  #expect(
    niri.program.lines.dropFirst() == [
      #"{"MoveWindowToFloating": {"id": 10}}"#, #"{"SetWindowWidth": {"id": 10, "change": {"SetFixed": 640}}}"#,
      #"{"SetWindowHeight": {"id": 10, "change": {"SetProportion": 50}}}"#,
      #"{"MoveFloatingWindow": {"id": 10, "x": {"SetProportion": 50}, "y": {"SetProportion": 50}}}"#,
      #"{"MoveFloatingWindow": {"id": 10, "x": {"AdjustFixed": -21.5}, "y": {"AdjustFixed": -1.0}}}"#,
      #"{"MoveFloatingWindow": {"id": 10, "x": {"AdjustProportion": 50}, "y": {"AdjustFixed": 0}}}"#,
      #"{"FocusWindow": {"id": 9}}"#,
    ])
  try niri.tell("event('WindowLayoutsChanged', changes=[[10, dict(tile_size=[640, 500])]])")
  let last = #"{"MoveFloatingWindow": {"id": 10, "x": {"AdjustFixed": -660.0}, "y": {"AdjustFixed": -250.0}}}"#
  try session.wait("it is placed again") { niri.program.lines.contains(last) }
  #expect(try adapter.refusal(Rows.hide, window.id) == .notSupported)
}

@Test("An item with “window = true” follows the window of its process", arguments: ["niri", "hyprland"])
private func windows_ofProcesses_areThoseOfItems(_ backend: String) throws {
  let session = try Session(destinations: ["panel": "command = [\"sleep\", \"1000\"]\nwindow = true"])
  let compositor: any ScriptedCompositor = backend == "niri" ? try FakeNiri(session) : try FakeHyprland(session)
  let adapter = try RunningAdapter(session, variables: compositor.variables)
  #expect(adapter.properties["Backend"] == backend.value)
  let path = try session.present("panel")
  var pid: UInt64?
  try session.poll("its program runs") {
    pid = try session.call(CoordinatorInterface.get, "panel").1["pid"].flatMap { UInt64(value: $0) }
    return pid != nil
  }
  let window = "window(9, 'panel', pid=\(try #require(pid)))"
  if backend == "niri" {
    try compositor.tell("event('WindowOpenedOrChanged', window=\(window))")
  } else {
    try compositor.tell("windows.append(\(window))", "event('openwindow', '9,1,fake,panel')")
  }
  #expect(try session.call(CoordinatorInterface.wait, (path, "presented")).0 == "")
}

/// The commands that close the first window, raise it, move it to the other output, hide it, show it and place it.
private func hyprlandCommands(inLua lua: Bool) -> [String] {
  let address = "address:0x8"
  return lua
    ? [
      "hl.dsp.window.close({ window = \"\(address)\" })", "hl.dsp.focus({ window = \"\(address)\" })",
      "hl.dsp.window.move({ window = \"\(address)\", monitor = \"FAKE-2\", follow = true })",
      "hl.dsp.focus({ window = \"\(address)\" })",
      "hl.dsp.window.move({ window = \"\(address)\", workspace = \"special:navd\", follow = false })",
      "hl.dsp.window.move({ window = \"\(address)\", monitor = \"FAKE-1\", follow = false })",
      "hl.dsp.focus({ window = \"\(address)\" })",
      "hl.dsp.window.float({ window = \"\(address)\", action = \"enable\" })",
      "hl.dsp.window.resize({ window = \"\(address)\", x = 640, y = 345 })",
      "hl.dsp.window.move({ window = \"\(address)\", x = 620, y = 50 })",
    ]
    : [
      "closewindow \(address)", "focuswindow \(address)", "movetoworkspace 2,\(address)", "focuswindow \(address)",
      "movetoworkspacesilent special:navd,\(address)", "movetoworkspacesilent 1,\(address)", "focuswindow \(address)",
      "setfloating \(address)", "resizewindowpixel exact 640 345,\(address)", "movewindowpixel exact 620 50,\(address)",
    ]
}

@Test("Hyprland is told what to do in the language of its configuration", arguments: [true, false])
private func windows_ofHyprland_areFollowed(inLua lua: Bool) throws {
  let session = try Session(starting: false)
  let hyprland = try FakeHyprland(session, lua: lua)
  let adapter = try RunningAdapter(session, variables: hyprland.variables)
  #expect(adapter.properties["Backend"] == "hyprland".value)
  #expect(
    try adapter.capabilities
      == documentedCapabilities("hyprland", on: "Hyprland").filter { $0.cell != "no" }.map(\.capability))
  #expect(adapter.properties["Outputs"] == ["FAKE-1", "FAKE-2"].value)
  #expect(adapter.properties["FocusedOutput"] == "FAKE-1".value)
  let window = try #require(adapter.windows.first)
  #expect(window.id == "1795710765_731092797-402653192")
  #expect(window.properties.pid == 1 && window.properties.output == "FAKE-1" && window.properties.inView == true)

  try adapter.call(Rows.close, window.id)
  try adapter.call(Rows.activate, window.id)
  try hyprland.tell("active = lambda: windows[0]", "event('activewindowv2', '8')")
  try adapter.wait("it has the focus") { adapter.window("fake")?.properties.focused == true }
  try adapter.call(Rows.moveToOutput, (window.id, "FAKE-2"))
  try adapter.call(Rows.hide, window.id)
  try hyprland.tell("windows[0]['workspace'] = special", "event('movewindowv2', '8,special:navd,special:navd')")
  try adapter.wait("it is hidden") { adapter.window("fake")?.properties.hidden == true }
  #expect(adapter.window("fake")?.properties.output == "")
  try adapter.call(Rows.show, window.id)
  // The first monitor has 1280×720 logical pixels, and a bar of 30.
  let options: Properties = ["place": "top-right".value, "size": "50% 50%".value, "margin": .uint32(20)]
  try adapter.call(Rows.place, (window.id, options))
  // The window of the script keeps its size, so that it is asked for the other one again.
  let commands = hyprlandCommands(inLua: lua)
  try session.wait("Hyprland was told all") { hyprland.program.lines.count > commands.count }
  #expect(hyprland.program.lines.dropFirst().prefix(commands.count).elementsEqual(commands))

  try hyprland.tell("dispatched = lambda command: 'not today'")
  #expect(try adapter.failure(Rows.close, window.id)?.contains("not today") == true)
  try hyprland.tell("dispatched = lambda command: ''")
  #expect(try adapter.failure(Rows.close, window.id)?.contains("does not answer") == true)
  try hyprland.tell("windows.clear()", "event('closewindow', '8')")
  try adapter.wait("it is closed") { adapter.windows.isEmpty }
  #expect(try adapter.refusal(Rows.close, window.id) == .unknownWindow)
  try adapter.expectEnd(with: hyprland)
}

@Test(
  "A compositor that has ended, but whose variable the user manager has kept, is passed over for another")
private func windows_compositorOfAFormerSession_isPassedOver() throws {
  let session = try Session(starting: false)
  let former = ["HYPRLAND_INSTANCE_SIGNATURE": "gone", "NIRI_SOCKET": session.path("gone")]
  let niri = try FakeNiri(session)
  let adapter = try RunningAdapter(session, variables: former.merging(niri.variables) { $1 })
  #expect(adapter.properties["Backend"] == "niri".value)
  adapter.program.send(SIGTERM)
  try session.wait("it ends") { adapter.program.hasEnded }
  let none = try session.run(
    program: "/usr/bin/env", former.map { "\($0.key)=\($0.value)" } + [session.executable("navd-windows")])
  #expect(none.exitCode == 1)
  for backend in ["hyprland", "niri"] {
    #expect(none.errorText.contains("\(backend): no compositor at the socket: connect "), "\(none.errorText)")
  }
}

@Test("An adapter whose niri tells no events, such as one of 2023, ends and says so")
private func windows_niriWithoutEvents_endsTheAdapter() throws {
  let session = try Session(starting: false)
  let niri = try FakeNiri(
    session, #"handle = lambda connection: connection.sendall(b'{"Err":"error parsing request"}\n')"#)
  let adapter = try session.run(
    program: "/usr/bin/env", ["NIRI_SOCKET=\(niri.socket)", session.executable("navd-windows"), "--backend", "niri"])
  #expect(adapter.exitCode == 1)
  #expect(adapter.errorText.contains("tells no events: “error parsing request”"), "\(adapter.errorText)")
}

@Test("An adapter whose Hyprland tells events, but answers nothing, ends, and its unit starts it again")
private func windows_hyprlandWithoutAnswers_endsTheAdapter() throws {
  let session = try Session(starting: false)
  let hyprland = try FakeHyprland(session, "answer = lambda request: ''")
  let adapter = try session.run(
    program: "/usr/bin/env",
    hyprland.variables.map { "\($0.key)=\($0.value)" } + [session.executable("navd-windows"), "--backend", "hyprland"])
  #expect(adapter.exitCode == 1)
  #expect(adapter.errorText.contains("the compositor does not answer at its socket"), "\(adapter.errorText)")
}

@Test("Nonsense of niri, in any pieces, neither ends the adapter nor makes it tell nonsense")
private func windows_badDataOfNiri_isLeftOut() throws {
  let session = try Session(starting: false)
  let niri = try FakeNiri(session)
  let adapter = try RunningAdapter(session, variables: niri.variables)
  let memory = Session.peakMemory(of: adapter.program.processID)
  try niri.tell(
    "for text in [b'', b'{', b'[]', b'null', b'\"x\"', b'\\xff' * 100, b'[' * 100000]: send(text + b'\\n')",
    "event('FromTheFuture', id=8); event('WindowClosed', id=99); event('WindowClosed', id='8')",
    "event('WindowOpenedOrChanged', window=dict(id=-1)); event('WindowsChanged', windows=None)",
    // The events come in pieces, and several at once.
    "for byte in json.dumps(dict(WindowOpenedOrChanged=dict(window=window(2**64 - 1, 'wrapped')))).encode(): send(bytes([byte]))",
    "send(b'\\n' + b''.join(b'{\"WindowUrgencyChanged\":{\"id\":8,\"urgent\":%s}}\\n' % u for u in [b'true', b'false', b'true']))",
    "for n in range(5000): event('WindowOpenedOrChanged', window=window(8, str(n)))",
    "for n in range(1000): event('WindowOpenedOrChanged', window=window(1000 + n, 'flood'))",
    "for n in range(1000): event('WindowClosed', id=1000 + n)",
    "event('WindowOpenedOrChanged', window=window(8, 'last' * 10000, is_urgent=True))")
  try adapter.wait("the last event is reported") {
    adapter.titles == [String(repeating: "last", count: 1024), "wrapped"]
  }
  #expect(adapter.window("fake")?.properties.urgent == true)
  #expect(adapter.isGapless)
  #expect(adapter.program.status == nil)

  // The event of 64 MiB is lost, so the adapter asks for its content again.
  try niri.tell("windows[0]['title'] = 'again'", "send(b' ' * (64 << 20) + b'\\n')")
  try adapter.wait("the windows are read again") { adapter.titles == ["again"] }
  #expect(Session.peakMemory(of: adapter.program.processID) - memory < 100 << 20)
  #expect(adapter.isGapless)
}

@Test("Nonsense of Hyprland, in any pieces, neither ends the adapter nor makes it tell nonsense")
private func windows_badDataOfHyprland_isLeftOut() throws {
  let session = try Session(starting: false)
  let hyprland = try FakeHyprland(session)
  let adapter = try RunningAdapter(session, variables: hyprland.variables)
  let memory = Session.peakMemory(of: adapter.program.processID)
  try hyprland.tell(
    "for text in [b'', b'>', b'>>', b'x', b'x>>', b'\\xff>>\\xff', b'closewindow>>99', b'closewindow>>z']: send(text + b'\\n')",
    "event('fromthefuture', '8'); event('windowtitlev2', '99,x'); send(b' ' * (1 << 20) + b'\\n')",
    "windows[0]['title'] = 'in, pieces'", "for byte in b'windowtitlev2>>8,in, pieces': send(bytes([byte]))",
    "send(b'\\nurgent>>8\\nurgent>>99\\n')")
  try adapter.wait("its title is reported") { adapter.titles == ["in, pieces"] }
  try adapter.wait("it is urgent") { adapter.window("fake")?.properties.urgent == true }
  try hyprland.tell(
    "for n in range(5000): event('windowtitlev2', f'8,{n}')",
    "windows[0]['title'] = 'last' * 10000", "windows += [window(1000 + n, 'flood') for n in range(4200)]",
    "for n in range(500): event('openwindow', f'{1000 + n:x},1,fake,flood')")
  try adapter.wait("as many as may be are there") { adapter.windows.count == 4096 }
  try hyprland.tell("del windows[1:]", "for n in range(500): event('closewindow', f'{1000 + n:x}')")
  try adapter.wait("they have closed") { adapter.titles == [String(repeating: "last", count: 1024)] }
  // The answers are malformed, and one is huge.
  try hyprland.tell(
    "good = clients", "clients = lambda: '[{'", "event('openwindow', '9,1,fake,x')",
    "clients = lambda: ' ' * (64 << 20)", "event('openwindow', '9,1,fake,x')")
  try session.poll("it complains") { adapter.program.errorText.contains("cannot be read") }
  try hyprland.tell("windows.append(window(9, 'next'))", "clients = good")
  try adapter.wait("it asks again by itself") { adapter.window("fake", "next") != nil }
  #expect(adapter.isGapless)
  #expect(Session.peakMemory(of: adapter.program.processID) - memory < 150 << 20)
  #expect(adapter.program.status == nil)
}

@Test(
  "Events of a compositor that answers no requests are told on, and the requests are carried out when it answers",
  arguments: ["niri", "hyprland"])
private func windows_compositorThatDoesNotAnswer_isWaitedFor(_ backend: String) throws {
  let session = try Session(starting: false)
  let compositor: any ScriptedCompositor = backend == "niri" ? try FakeNiri(session) : try FakeHyprland(session)
  let adapter = try RunningAdapter(session, variables: compositor.variables)
  let window = try #require(adapter.windows.first)
  try compositor.tell(
    "gate = threading.Event()",
    backend == "niri"
      ? "answer = lambda action: (gate.wait(), dict(Ok='Handled'))[1]"
      : "dispatched = lambda command: (gate.wait(), 'ok')[1]",
    "print('closed', flush=True)")
  try session.wait("it does not answer any more") { compositor.program.lines.contains("closed") }
  let requests = try adapter.makeRequestsUntilRefused(for: window)
  for title in ["one", "two", "three"] {
    try compositor.tell(
      backend == "niri"
        ? "event('WindowOpenedOrChanged', window=window(8, '\(title)'))" : "event('windowtitlev2', '8,\(title)')")
    try adapter.wait("the title is reported") { adapter.titles == [title] }
  }
  try compositor.tell("windows[0]['title'] = 'three'", "gate.set()")
  for request in requests { try session.answer(to: request) }
  #expect(adapter.titles == ["three"])
}

@Test(
  "With a compositor that never answers, the adapter gets no name, and a signal ends it",
  arguments: ["niri", "hyprland"])
private func windows_compositorThatNeverAnswers_adapterEndsAtSignal(_ backend: String) throws {
  let session = try Session(starting: false)
  let silence = "(print('asked', flush=True), threading.Event().wait())"
  let compositor: any ScriptedCompositor =
    backend == "niri"
    ? try FakeNiri(session, "handle = lambda connection: (connection.makefile().readline(), \(silence))")
    : try FakeHyprland(session, "answer = lambda request: \(silence)")
  let adapter = try session.start(
    program: "/usr/bin/env",
    compositor.variables.map { "\($0.key)=\($0.value)" } + [session.executable("navd-windows"), "--backend", backend])
  try session.wait("the adapter waits") { compositor.program.lines.contains("asked") || adapter.hasEnded }
  adapter.send(SIGTERM)
  try session.wait("the adapter ends") { adapter.hasEnded }
  #expect(adapter.exitCode == 0)
}

@Test(
  "After the compositor has dropped the adapter, which was stopped for a while, the adapter asks for the windows once more",
  arguments: ["niri", "hyprland"])
private func windows_compositorThatDropsTheAdapter_isConnectedAgain(_ backend: String) throws {
  let session = try Session(starting: false)
  let compositor: any ScriptedCompositor = backend == "niri" ? try FakeNiri(session) : try FakeHyprland(session)
  let adapter = try RunningAdapter(session, variables: compositor.variables)
  let first = try #require(adapter.windows.first)
  for title in ["one", "two"] {
    try compositor.tell(
      "windows[0]['title'] = '\(title)'",
      "windows.append(window(\(title.count + adapter.windows.count * 16), 'after \(title)'))",
      "dropped, streams[:] = streams[:], []", "for stream in dropped: stream.shutdown(socket.SHUT_RDWR)")
    try adapter.wait("its windows are read again") {
      adapter.titles.first == title && adapter.titles.last == "after \(title)"
    }
  }
  #expect(adapter.windows.count == 3 && adapter.windows.first?.id == first.id)
  #expect(adapter.isGapless && adapter.program.status == nil)
}

@Test("On niri, the process of a window of X11 is that of its program, and not that of xwayland-satellite")
private func windows_ofX11OnNiri_haveTheirOwnProcess() throws {
  let session = try Session(starting: false, desktop: .openbox)
  let niri = try FakeNiri(session)
  // The program has the same name, as far as the kernel keeps it.
  let made = try session.run(program: "/bin/cp", ["/bin/sleep", session.path("bin/xwayland-satellite")])
  #expect(made.exitCode == 0, "\(made.errorText)")
  let satellite = try session.start(program: session.path("bin/xwayland-satellite"), ["1000"])
  // This window manager would put frames around windows.
  for pid in session.managers() { kill(pid, SIGKILL) }
  try session.poll("the window manager has ended") { session.managers().isEmpty }
  let editors = try ["editor", "other"].map { name in
    let editor = try session.edit(name)
    try session.poll("\(name) is there") {
      try session.run(program: "/usr/bin/xdotool", ["search", "--onlyvisible", "--class", name]).exitCode == 0
    }
    return editor
  }
  func window(_ number: Int, _ name: String, _ title: String) -> String {
    "event('WindowOpenedOrChanged', window=window(\(number), '\(title)', app_id='\(name)', pid=\(satellite.processID)))"
  }
  let adapter = try RunningAdapter(session, "--backend", "niri", variables: niri.variables)
  try niri.tell(window(20, "editor", "one"), window(21, "other", "one"), window(22, "nobody", "one"))
  try adapter.wait("they are there") { adapter.windows.count == 4 }
  #expect(adapter.window("editor")?.properties.pid == UInt32(editors[0].processID))
  #expect(adapter.window("other")?.properties.pid == UInt32(editors[1].processID))
  #expect(adapter.window("nobody") != nil && adapter.window("nobody")?.properties.pid == nil)
}

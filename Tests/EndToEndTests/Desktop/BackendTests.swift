import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The adapter navd-windows on real window managers, whose own trees of windows are the judge.

private typealias Rows = WindowSystemInterface

extension Session {
  /// Starts a sway whose outputs are windows of this session, and waits until it runs.
  /// - Parameter outputs: the number of its outputs; nil for one that is no window of this session.
  /// - Returns: the program, the name of its Wayland display, and the variable with the path of its socket.
  func startInnerSway(
    outputs: Int?
  ) throws -> (sway: Program, display: String, variables: [String: String]) {
    let backend =
      outputs.map { ["WLR_BACKENDS=wayland", "WLR_WL_OUTPUTS=\($0)"] } ?? [
        "-u", "WAYLAND_DISPLAY", "WLR_BACKENDS=headless",
      ]

    let inner = path("bin/inner")
    try write("exec echo \"$WAYLAND_DISPLAY\" >\(inner).display\n", to: "bin/inner.conf")
    let sway = try start(
      program: "/usr/bin/env",
      backend + [
        "SWAYSOCK=\(inner).sock", "LIBSEAT_BACKEND=noop", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman",
        "/usr/bin/sway", "-c", "\(inner).conf",
      ])
    try poll("the inner sway runs") { Files.contents(of: "\(inner).display").last == UInt8(ascii: "\n") }
    let display = String(decoding: Files.contents(of: "\(inner).display").dropLast(), as: UTF8.self)
    return (sway, display, ["SWAYSOCK": "\(inner).sock"])
  }
}

@Test(
  "An adapter that is killed finds the same windows again, with their ids where the window system can tell",
  arguments: AdapterSetup.all)
private func windows_afterAKill_areTheSame(_ setup: AdapterSetup) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  let programs = try ["editor", "other"].map { try session.edit($0) }
  var adapter = try RunningAdapter(session, "--backend", setup.backend)
  let before = [try adapter.open("editor"), try adapter.open("other")]
  // The X server has stored the ids when it has answered this request.
  if setup.manager == .i3 { _ = try adapter.refusal(Rows.show, before[1].id) }
  try adapter.kill()
  let first = adapter
  adapter = try RunningAdapter(session, "--backend", setup.backend)
  let after = [try adapter.open("editor"), try adapter.open("other")]
  if setup.backend == "wlr" {
    #expect(Set(after.map(\.id)).isDisjoint(with: before.map(\.id)), "an id is never used twice")
  } else {
    #expect(after.map(\.id) == before.map(\.id))
    #expect(after.map(\.properties.pid) == programs.map { UInt32($0.processID) })
  }
  #expect(first.isGapless)
  guard setup.manager != .gnome else { return }

  // A second adapter does not disturb the first one.
  let second = try session.run(program: session.executable("navd-windows"), ["--backend", setup.backend])
  #expect(second.exitCode == 3, "\(second.errorText)")
  #expect(second.errorText.contains("navd-windows already runs (pid "))

  // The compositor is gone.
  if setup.backend != "x11" {
    for program in programs { program.mayFail = true }
    for pid in session.managers() { kill(pid, SIGKILL) }
    try session.wait("the adapter ends") { adapter.program.hasEnded }
    #expect(adapter.program.exitCode == 1)
    #expect(adapter.program.errorText.contains("connection"), "\(adapter.program.errorText)")
  }
}

@Test(
  "The adapter finds its backend by itself, and ends at a signal",
  arguments: [(Desktop.Manager.sway, "sway"), (.i3, "sway"), (.openbox, "x11"), (.kwin, "plasma")])
private func windows_adapterWithoutAChoice_findsItsBackend(_ manager: Desktop.Manager, backend: String) throws {
  let session = try Session(starting: false, desktop: manager)
  let adapter = try RunningAdapter(session)
  #expect(adapter.properties["Backend"] == .string(backend))
  adapter.program.send(SIGTERM)
  try session.wait("it ends") { adapter.program.hasEnded }
  #expect(adapter.program.exitCode == 0)
}

@Test("An i3 that ran before the window manager is not taken for the window manager")
private func windows_displayOfAFormerI3_isOfItsManager() throws {
  let session = try Session(starting: false, desktop: .openbox)
  let property = "I3_SOCKET_PATH"
  let set = try session.run(
    program: "/usr/bin/xprop", ["-root", "-f", property, "8u", "-set", property, session.path("gone")])
  #expect(set.exitCode == 0, "\(set.errorText)")
  #expect(try RunningAdapter(session).properties["Backend"] == .string("x11"))
}

@Test("i3 is found by its display alone, since it knows the windows better than X11")
private func windows_displayOfI3_isAskedByItsSocket() throws {
  let session = try Session(starting: false, desktop: .i3)
  #expect(try RunningAdapter(session, variables: ["I3SOCK": ""]).properties["Backend"] == .string("sway"))
}

@Test("Windows of an X window manager that is killed and replaced stay, with their ids")
private func windows_managerReplaced_stay() throws {
  let session = try Session(starting: false, desktop: .openbox)
  let editor = try session.edit("editor")
  let adapter = try RunningAdapter(session, "--backend", "x11")
  let window = try adapter.open("editor")
  for pid in session.managers() { kill(pid, SIGKILL) }
  try adapter.wait("nothing can be raised") {
    [String](value: adapter.properties["Capabilities"] ?? .string(""))?.contains("activate") == false
  }
  #expect(try adapter.refusal(Rows.activate, window.id) == .notSupported)
  let unmanaged = try session.edit("unmanaged")
  let next = try session.start(program: "/usr/bin/openbox", [])
  try adapter.wait("windows can be raised again") {
    [String](value: adapter.properties["Capabilities"] ?? .string(""))?.contains("activate") == true
  }
  _ = try adapter.open("unmanaged")
  #expect(adapter.window("editor")?.id == window.id)
  #expect(!adapter.log.contains("closed editor"))
  #expect([next, unmanaged, editor].allSatisfy { $0.status == nil })

  // A window that could only be killed is not asked to close.
  let search = try session.run(program: "/usr/bin/xdotool", ["search", "--onlyvisible", "--class", "editor"])
  let id = try #require(search.lines.last)
  #expect(try session.run(program: "/usr/bin/xprop", ["-id", id, "-remove", "WM_PROTOCOLS"]).exitCode == 0)
  #expect(try adapter.refusal(Rows.close, window.id) == .notSupported)
  #expect(adapter.window("editor") != nil)
}

@Test("dwm closes no window for others: the adapter asks a window that can be asked, and leaves others alone")
private func windows_ofDwm_areAskedThemselves() throws {
  let session = try Session(starting: false, desktop: .dwm)
  let programs = try ["editor", "other"].map { try session.edit($0) }
  let adapter = try RunningAdapter(session)
  let (window, other) = (try adapter.open("editor"), try adapter.open("other"))
  let number = try #require(try ManagersWindows(session: session).window("other")?.xWindow)
  try session.runTool("/usr/bin/xprop", ["-id", number, "-remove", "WM_PROTOCOLS"])
  #expect(try adapter.refusal(Rows.close, other.id) == .notSupported)
  try adapter.call(Rows.close, window.id)
  try session.wait("its program has ended") { programs[0].exitCode == 0 }
  try adapter.wait("it has closed") { adapter.windows.map(\.id) == [other.id] }
  #expect(programs[1].status == nil)
}

// The protocol of i3 does not tell the order of earlier windows, and awesome lists the last one first.
@Test(
  "The windows that were there before the adapter are in the order in which they were opened",
  arguments: AdapterSetup.all.filter { ($0.manager != .i3 || $0.backend != "sway") && $0.manager != .awesome })
private func windows_beforeTheAdapter_areInTheirOrder(_ setup: AdapterSetup) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  let reference = ManagersWindows(session: session)
  let names = ["first", "second", "third"]
  let programs = try names.map { name in
    let program = try session.edit(name)
    try reference.poll(name, "is there") { $0 != nil }
    return program
  }
  let adapter = try RunningAdapter(session, "--backend", setup.backend)
  #expect(adapter.windows.map(\.properties.appID) == names)
  #expect(programs.allSatisfy { $0.status == nil })
}

@Test("The windows of an output that is unplugged are reported where the compositor puts them")
private func windows_unpluggedOutput_areWhereTheyAre() throws {
  let session = try Session(starting: false, desktop: .sway)
  let (sway, display, variables) = try session.startInnerSway(outputs: 2)
  let adapter = try RunningAdapter(session, variables: variables)
  #expect(adapter.properties["Outputs"] == ["WL-1", "WL-2"].value)
  let terminal = try session.start(
    program: "/usr/bin/env", ["WAYLAND_DISPLAY=\(display)", "/usr/bin/foot", "--app-id=foot", "sleep", "1000"])
  let window = try adapter.open("foot")
  try adapter.call(Rows.moveToOutput, (window.id, "WL-2"))
  try adapter.wait("it is moved") { adapter.window("foot")?.properties.output == "WL-2" }

  let unplug = try session.run(program: "/usr/bin/swaymsg", ["[title=\"WL-2\"] kill"])
  #expect(unplug.exitCode == 0, "\(unplug.outputText)")
  try adapter.wait("it is on the other output") { adapter.window("foot")?.properties.output == "WL-1" }
  try adapter.wait("the output is gone") { adapter.properties["Outputs"] == ["WL-1"].value }
  #expect(adapter.window("foot")?.id == window.id)
  #expect(adapter.isGapless)
  #expect([sway, terminal].allSatisfy { $0.status == nil })
}

@Test("An output that comes when the adapter runs is reported, even if there was none before")
private func windows_outputThatComesLater_isKnown() throws {
  let session = try Session(starting: false, desktop: .sway)
  let (sway, display, variables) = try session.startInnerSway(outputs: 1)
  func request(_ text: String, _ variables: [String: String] = [:]) throws {
    let run = try session.run(
      program: "/usr/bin/env", variables.map { "\($0.key)=\($0.value)" } + ["/usr/bin/swaymsg", text])
    #expect(run.exitCode == 0, "\(run.outputText)")
  }
  // The window of the output has no title at first.
  try session.poll("its window is closed") {
    try session.run(program: "/usr/bin/swaymsg", ["[title=\"WL-1\"] kill"]).exitCode == 0
  }
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": display])
  try adapter.wait("the output is gone") { adapter.properties["Outputs"] == [String]().value }
  #expect(adapter.properties["Capabilities"] == ["close", "activate", "fullscreen", "focus"].value)
  try request("create_output", variables)
  try adapter.wait("the output is reported") { adapter.properties["Outputs"] == ["WL-2"].value }
  let terminal = try session.start(
    program: "/usr/bin/env", ["WAYLAND_DISPLAY=\(display)", "/usr/bin/foot", "--app-id=foot", "sleep", "1000"])
  try adapter.wait("a window is on it") { adapter.window("foot")?.properties.output == "WL-2" }
  try adapter.wait("outputs are known") {
    adapter.properties["Capabilities"] == ["close", "activate", "fullscreen", "output", "focus"].value
  }
  #expect([sway, terminal].allSatisfy { $0.status == nil })
}

@Test(
  "Nonsense of the window manager neither ends the adapter nor makes it tell nonsense; the end of the protocol ends it")
private func windows_badData_isLeftOut() throws {
  let session = try Session(starting: false)
  let manager = try FakeI3(session)
  let adapter = try RunningAdapter(session, variables: ["SWAYSOCK": manager.socket])
  #expect(adapter.windows.map(\.properties.title) == ["first"])
  let memory = Session.peakMemory(of: adapter.program.processID)
  try manager.tell(
    // The messages are not JSON, other JSON, of unknown types, or about windows that do not exist.
    "for type in range(8): raw(0x80000000 | type, b'{')",
    "for text in [b'', b'[]', b'null', b'{\"change\":[]}', b'\\xff' * 100, b'[' * 100000]: raw(0x80000003, text)",
    "window('close', node(99, 'x')); window('focus', node(-1, 'x')); window('title', dict(id='8'))",
    "window('new', node(2**63, 'x')); window('new', dict(id=7, pid=-1, type=3, nodes=5, window=2**40))",
    // The message of 64 MiB is passed over.
    "raw(0x80000003, b' ' * (64 << 20))",
    // Titles and windows come without end.
    "for n in range(20000): window('title', node(8, str(n)))",
    "for n in range(5000): window('new', node(1000 + n, 'flood'))",
    "windows.clear(); windows.append(node(8, 'last' * 10000)); window('move', windows[0])")
  try adapter.wait("the last event is reported") {
    adapter.window("fake")?.properties.title == String(repeating: "last", count: 1024) && adapter.windows.count == 1
  }
  #expect(adapter.isGapless)
  // Titles are sent once a turn, and the large message is not kept.
  #expect(adapter.serial < 20000)
  #expect(Session.peakMemory(of: adapter.program.processID) - memory < 48 << 20)
  #expect(adapter.program.status == nil)

  // The adapter may end before the words have been told.
  adapter.program.mayFail = true
  try manager.tell("connection.sendall(b'GET / HTTP/1.1' * 10)")
  try session.wait("the adapter ends") { adapter.program.hasEnded }
  #expect(adapter.program.exitCode == 1)
  #expect(adapter.program.errorText.contains("breaks its protocol"), "\(adapter.program.errorText)")
}

@Test("Events of a window manager that answers no requests are read when it answers again")
private func windows_managerThatDoesNotAnswer_isReadLater() throws {
  let session = try Session(starting: false)
  let manager = try FakeI3(session)
  let adapter = try RunningAdapter(session, variables: ["SWAYSOCK": manager.socket])
  let window = try #require(adapter.windows.first)
  try manager.tell(
    "gate = threading.Event()", "answers[0] = lambda: (gate.wait(), [dict(success=True)])[1]",
    "answers[3] = lambda: [dict(name=name, active=True) for name in ['FAKE-1', 'FAKE-2']]",
    "print('closed', flush=True)"
  )
  try session.wait("it does not answer any more") { manager.program.lines.contains("closed") }
  let requests = try adapter.makeRequestsUntilRefused(for: window)
  try manager.tell("raw(0x80000001, b'{\"change\": \"unspecified\"}')")
  // Meanwhile the adapter asks for the outputs.
  for title in ["one", "two", "three", "four"] {
    try manager.tell("window('title', node(8, '\(title)'))")
    try adapter.wait("the title is reported") { adapter.window("fake")?.properties.title == title }
  }
  try manager.tell("gate.set()")
  try session.wait("the others are answered") { requests.allSatisfy { $0.result != nil } }
  try adapter.wait("the outputs are reported") { adapter.properties["Outputs"] == ["FAKE-1", "FAKE-2"].value }
}

@Test("An answer with all windows contains everything that the signals before it have told")
private func windows_readWhileTheyChange_containTheSignalsBefore() throws {
  let session = try Session(starting: false)
  let manager = try FakeI3(session)
  let adapter = try RunningAdapter(session, variables: ["SWAYSOCK": manager.socket])
  try manager.tell(
    "titles = lambda: [window('title', node(8, str(n))) for n in [*range(20000), 'last']]",
    "threading.Thread(target=titles, daemon=True).start()")
  var reads = 0
  while adapter.window("fake")?.properties.title != "last" {
    var answered: UInt64?
    session.client.call(Rows.getWindows, on: Rows.bus, at: Rows.object, ()) { result in
      guard let serial = try? result.get().1 else { return }
      #expect(serial >= adapter.serial)
      answered = serial
    }
    try session.wait("GetWindows is answered") { answered != nil }
    reads += 1
  }
  #expect(reads > 10 && adapter.isGapless)
}

@Test("With wlr, a dialog whose parent has closed is not taken for the dialog of a later window")
private func windows_dialogOfWlrWithoutItsParent_isOfNone() throws {
  let session = try Session(starting: false)
  let compositor = try FakeWlr(session)
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": compositor.socket])
  // There are many windows, since libwayland may give the memory of a closed window to a later one.
  try compositor.tell(
    "parents = [opened(f'parent {n}') for n in range(100)]",
    "dialogs = [opened(f'dialog {n}', parents[n]) for n in range(100)]")
  try adapter.wait("all have opened") { adapter.windows.count == 200 }
  #expect(adapter.window("fake", "dialog 99")?.properties.parent == adapter.window("fake", "parent 99")?.id)
  try compositor.tell("for window in parents: closed(window)")
  try adapter.wait("the parents have closed") { adapter.windows.count == 100 }
  try compositor.tell(
    "others = [opened(f'other {n}') for n in range(100)]", "for n in range(100): title(dialogs[n], f'again {n}')")
  try adapter.wait("the dialogs are seen again") { adapter.window("fake", "again 99") != nil }
  #expect(adapter.windows.count == 200 && adapter.windows.allSatisfy { $0.properties.parent ?? "" == "" })
}

@Test("With wlr, windows past the limit are reported when others have closed")
private func windows_ofWlrThatWereTooMany_areReportedLater() throws {
  let session = try Session(starting: false)
  let compositor = try FakeWlr(session)
  let adapter = try RunningAdapter(session, "--backend", "wlr", variables: ["WAYLAND_DISPLAY": compositor.socket])
  try compositor.tell("windows = [opened(f'window {n}') for n in range(4096)]", "late = [opened('a'), opened('b')]")
  try adapter.wait("all have opened that may") { adapter.windows.count == 4096 }
  try compositor.tell("for window in windows: closed(window)")
  try adapter.wait("the others are there") { adapter.windows.map(\.properties.title) == ["a", "b"] }
  #expect(adapter.isGapless)
}

@Test("The unit is started again after the compositor has ended, and not where there is none, which is no failure")
private func windows_unit_isStartedAgain() throws {
  let session = try Session(starting: false, managed: true)
  try session.make("install", Session.noTexts)
  let unit = "navd-windows.service"
  func restarts() throws -> Int? {
    Int(try session.systemctl("show", "-p", "NRestarts", "--value", unit).lines.first ?? "")
  }
  _ = try session.systemctl("start", unit)
  try session.poll("it has ended") { try session.systemctl("is-active", unit).lines == ["inactive"] }
  #expect(try session.systemctl("list-units", "--failed", "--plain", "--no-legend", unit).lines == [])
  #expect(try restarts() == 0)
  try session.poll("the journal says what it looked for") {
    try session.journal(of: unit).contains { $0.contains("SWAYSOCK and I3SOCK not set") }
  }

  // The unit is ready when it owns its name.
  let manager = try FakeI3(session)
  let place = session.path("late")
  #expect(try session.systemctl("set-environment", "SWAYSOCK=\(place)").exitCode == 0)
  #expect(try session.systemctl("start", "--no-block", unit).exitCode == 0)
  try session.poll("it tries again later, as the same process") {
    try session.journal(of: unit).contains { $0.hasSuffix("; trying again in 1.0 seconds") }
  }
  #expect(try session.run(program: "/bin/ln", ["-s", manager.socket, place]).exitCode == 0)
  try session.poll("it is ready") { try session.isActive(unit) }
  var windows: Result<([Structure<String, Properties>], UInt64), DBusError>?
  session.client.call(Rows.getWindows, on: Rows.bus, at: Rows.object, ()) { windows = $0 }
  try session.wait("GetWindows is answered") { windows != nil }
  #expect(try windows?.get().0.count == 1)
  try manager.tell("os._exit(0)")
  try session.poll("it is started again") { (try restarts() ?? 0) > 0 }
  #expect(try session.systemctl("stop", unit).exitCode == 0)
  try session.make("uninstall")
}

@Test("Without a window system, the adapter says which ones it looked for")
func windows_withoutAWindowSystem_areRefused() throws {
  let session = try Session(starting: false)
  let none = try session.run(program: Session.program("navd-windows"), [])
  #expect(none.exitCode == 3)
  for variables in ["SWAYSOCK and I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET", "WAYLAND_DISPLAY", "DISPLAY"] {
    #expect(none.errorText.contains(": \(variables) not set"), "\(none.errorText)")
  }
  session.environment["SWAYSOCK"] = session.path("nothing")
  let gone = try session.run(program: Session.program("navd-windows"), [])
  #expect(gone.exitCode == 1)
  #expect(gone.errorText.contains("No such file or directory"), "\(gone.errorText)")
}

@Test("An adapter that waits for an answer of its window system ends at a signal all the same")
func windows_systemThatDoesNotAnswer_adapterEndsAtSignal() throws {
  let session = try Session(starting: false)
  // The first question is whether this is such a compositor.
  let compositor = try FakeWlr(session, answers: 1)
  let adapter = try session.start(
    program: "/usr/bin/env",
    ["WAYLAND_DISPLAY=\(compositor.socket)", session.executable("navd-windows"), "--backend", "wlr"])
  try session.wait("the adapter waits") { compositor.program.lines.contains("asked") || adapter.hasEnded }
  adapter.send(SIGTERM)
  try session.wait("the adapter ends") { adapter.hasEnded }
  #expect(adapter.exitCode == 0)
}

@Test("Clients on the bus see at once that signals of the adapter were dropped")
private func windows_moreChangesThanTheBusTakes_gapIsSeen() throws {
  let session = try Session(starting: false)
  let manager = try FakeI3(session)
  let adapter = try RunningAdapter(session, variables: ["SWAYSOCK": manager.socket])
  // With titles of 4 KiB, these are more than 16 MiB in one turn.
  try manager.tell(
    "windows[:] = [node(1000 + n, f'{n} ' + 'x' * 4096) for n in range(4096)]", "window('move', windows[0])")
  try adapter.wait("windows have opened") { adapter.windows.count > 1000 }
  let (windows, serial) = try adapter.call(Rows.getWindows, ())
  #expect(windows.count == 4096)
  try adapter.wait("the last event is known") { adapter.serial == serial }
  #expect(!adapter.isGapless)
}

@Test(
  "A window has its properties, even if the window manager still lists an earlier one with the same number")
func windows_numberUsedAgain_haveTheirProperties() throws {
  let session = try Session(starting: false, desktop: .i3)
  let first = try session.edit("first")
  let adapter = try RunningAdapter(session, "--backend", "x11")
  _ = try adapter.open("first")
  let screen = ManagersWindows(session: session)
  let number = try #require(try screen.window("first")?.xWindow)
  let stays = try session.edit("stays")
  _ = try adapter.open("stays")
  let other = try #require(try screen.window("stays")?.xWindow)
  try session.poll("i3 lists both") {
    try session.run(program: "/usr/bin/xprop", ["-root", "_NET_CLIENT_LIST"]).outputText.split(separator: ",").count
      == 2
  }

  let managers = session.managers()
  for pid in managers { kill(pid, SIGSTOP) }
  defer { for pid in managers { kill(pid, SIGCONT) } }
  kill(first.processID, SIGKILL)
  try adapter.wait("the first one is closed") { adapter.window("first") == nil }
  // The adapter reads the list, in which the window is still.
  try session.runTool("/usr/bin/xprop", ["-id", other, "-f", "WM_STATE", "32c", "-set", "WM_STATE", "1"])
  try session.tell("stays", "title two")
  try adapter.wait("the adapter has the new title") { adapter.window("stays", "two") != nil }

  // The X server gives the number of the window again.
  let next = try session.edit("next")
  kill(adapter.program.processID, SIGSTOP)
  defer { kill(adapter.program.processID, SIGCONT) }
  for pid in managers { kill(pid, SIGCONT) }
  try screen.poll("next", "has the same number") { $0?.xWindow == number }
  kill(adapter.program.processID, SIGCONT)
  _ = try adapter.open("next", "one")
  #expect(adapter.windows.map(\.properties.appID) == ["stays", "next"])
  #expect(stays.status == nil && next.status == nil)
}

import CoordinatorAPI
import Glibc
import PresentationModel
import TestSupport
import Testing

// The facts about a window that come after it has opened, and the request to which it belongs, as navd-windows tells them on real
// window managers.

private typealias Rows = WindowSystemInterface

/// The setups of X11, on whose windows properties can be changed from outside.
private let x11 = AdapterSetup.all.filter { ![.sway, .kwin].contains($0.manager) }

/// A program with a window that has no class until it reads a line, and another one after the next.
private let classless = """
  import ctypes, os, sys
  x = ctypes.CDLL("libX11.so.6")
  x.XOpenDisplay.restype = ctypes.c_void_p
  display = ctypes.c_void_p(x.XOpenDisplay(None))
  root = x.XDefaultRootWindow(display)
  window = x.XCreateSimpleWindow(display, root, 0, 0, 200, 100, 0, 0, 0)
  x.XStoreName(display, window, b"nameless")
  x.XMapWindow(display, window)
  x.XSync(display, 0)
  lines = open(os.open(sys.argv[1], os.O_RDWR))
  for name in [b"late\\0Late\\0", b"later\\0Later\\0"]:
      lines.readline()
      x.XChangeProperty(display, window, 67, 31, 8, 0, name, len(name))
      x.XSync(display, 0)
  lines.readline()
  """

@Test("A class that comes after the window has opened is read when it comes", arguments: x11)
private func windows_withALateClass_areToldAgain(_ setup: AdapterSetup) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  let adapter = try RunningAdapter(session, "--backend", setup.backend)
  let pipe = session.path("bin/class.pipe")
  try session.runTool("/usr/bin/mkfifo", [pipe])
  let program = try session.start(program: "/usr/bin/python3", ["-c", classless, pipe])
  func window() -> Window? { adapter.windows.first { $0.properties.title == "nameless" } }
  try adapter.wait("it is reported without a class") { window() != nil }
  let id = try #require(window()).id
  #expect(window()?.properties.appID == nil)
  try session.runTool("/bin/sh", ["-c", "echo >\(pipe)"])
  try adapter.wait("its class is reported") { window()?.properties.appID == "Late" }
  #expect(window()?.id == id && adapter.log == ["opened ? nameless"] && program.status == nil)

  // The class changes again, and stays as it is when the manager tells its windows anew.
  try session.runTool("/bin/sh", ["-c", "echo >\(pipe)"])
  try adapter.wait("its class is reported") { window()?.properties.appID == "Later" }
  let other = try session.edit("other")
  _ = try adapter.open("other")
  #expect(window()?.properties.appID == "Later" && other.status == nil)
}

@Test("A window tells the startup id with which it was opened, and later windows of its program do not", arguments: x11)
private func windows_startupID_isThatOfTheirRequest(_ setup: AdapterSetup) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  var adapter = try RunningAdapter(session, "--backend", setup.backend)
  let with = try session.edit("with", ["DESKTOP_STARTUP_ID": "navd-test-1_TIME0", "GDK_BACKEND": "x11"])
  let without = try session.edit("without", ["GDK_BACKEND": "x11"])
  _ = try adapter.open("without")
  let window = try adapter.open("with")
  try adapter.wait("its startup id is reported") {
    adapter.window("with")?.properties.startupID == "navd-test-1_TIME0"
  }
  #expect(adapter.window("without")?.properties.startupID == nil)

  // The user opens another window in the same program.
  try session.tell("with", "window second")
  let second = try adapter.open("with", "second")
  #expect(second.properties.startupID == nil)

  // An adapter that was started meanwhile tells the same.
  try adapter.kill()
  adapter = try RunningAdapter(session, "--backend", setup.backend)
  let ids = adapter.windows.map { ($0.id, $0.properties.startupID) }
  #expect(ids.first { $0.0 == window.id }?.1 == "navd-test-1_TIME0")
  #expect(ids.filter { $0.0 != window.id }.allSatisfy { $0.1 == nil } && ids.count == 3)
  #expect(with.status == nil && without.status == nil)
}

// GNOME Shell reads the startup id when a window opens, so it is not among the setups.
@Test(
  "A startup id that only the window's leader has counts for the first window with it",
  arguments: x11.filter { $0.manager != .gnome })
private func windows_startupIDOfALeader_isOfOneWindow(_ setup: AdapterSetup) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  let program = try session.edit("editor")
  let screen = ManagersWindows(session: session)
  try screen.poll("editor", "is there") { $0 != nil }
  let number = try #require(try screen.window("editor")?.xWindow)
  func xprop(_ arguments: String...) throws -> String {
    try session.run(program: "/usr/bin/xprop", arguments).outputText
  }
  // A toolkit does this for a window that another process has asked for.
  let leader = try #require(try xprop("-id", number, "WM_CLIENT_LEADER").split { " \n".contains($0) }.last)
  let name = "_NET_STARTUP_ID"
  try session.runTool("/usr/bin/xprop", ["-id", String(leader), "-f", name, "8u", "-set", name, "of-leader"])
  let adapter = try RunningAdapter(session, "--backend", setup.backend)
  #expect(adapter.window("editor")?.properties.startupID == "of-leader")
  try session.tell("editor", "window second")
  #expect(try adapter.open("editor", "second").properties.startupID == nil)
  // The window gets a startup id of its own.
  try session.runTool("/usr/bin/xprop", ["-id", number, "-f", name, "8u", "-set", name, "own"])
  try adapter.wait("that is reported") { adapter.window("editor", "one")?.properties.startupID == "own" }
  #expect(program.status == nil)
}

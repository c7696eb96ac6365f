import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

// The adapter on KWin: the tests for this desktop alone. All desktops share those in BackendTests.

private typealias Rows = WindowSystemInterface

@Test("KWin: windows are on their outputs, and are moved and summoned to others")
private func kwin_outputs_areThoseOfTheCompositor() throws {
  let session = try Session(starting: false, desktop: .kwin, configuration: "--output-count 2")
  let adapter = try RunningAdapter(session)
  let screen = ManagersWindows(session: session)
  #expect(adapter.properties["Outputs"] == ["Virtual-0", "Virtual-1"].value)
  let editor = try session.edit("editor")
  let window = try adapter.open("editor")
  let second = try session.edit("other")
  let other = try adapter.open("other")
  try adapter.call(Rows.moveToOutput, (other.id, "Virtual-0"))
  try adapter.call(Rows.activate, other.id)
  try adapter.wait("the last one has the focus there") {
    adapter.window("other")?.properties.focused == true && adapter.properties["FocusedOutput"] == .string("Virtual-0")
  }

  // The focus stays, and a window with the focus takes it along.
  try adapter.call(Rows.moveToOutput, (window.id, "Virtual-1"))
  try screen.poll("editor", "is there") { $0?.output == "Virtual-1" }
  try adapter.wait("that is reported") { adapter.window("editor")?.properties.output == "Virtual-1" }
  #expect(try screen.window("other")?.isFocused == true)
  #expect(adapter.properties["FocusedOutput"] == .string("Virtual-0"))
  try adapter.call(Rows.moveToOutput, (other.id, "Virtual-1"))
  try adapter.wait("the output with the focus is reported") {
    adapter.properties["FocusedOutput"] == .string("Virtual-1")
  }
  #expect(adapter.window("other")?.properties.focused == true)
  #expect(try adapter.refusal(Rows.moveToOutput, (window.id, "Virtual-9")) == .invalidArgument)

  // The window is moved to the output of its user.
  try adapter.call(Rows.moveToOutput, (window.id, "Virtual-0"))
  try adapter.wait("it is back") { adapter.window("editor")?.properties.output == "Virtual-0" }
  try adapter.call(Rows.summon, window.id)
  try screen.poll("editor", "has come") { $0?.output == "Virtual-1" && $0?.isFocused == true }
  #expect(adapter.isGapless && editor.status == nil && second.status == nil)
}

@Test("KWin: a window that is moved as soon as it is told is moved", arguments: ["wayland", "x11"])
private func kwin_movedAtOnce_isThere(_ toolkit: String) throws {
  let session = try Session(starting: false, desktop: .kwin, configuration: "--output-count 2")
  let adapter = try RunningAdapter(session)
  for round in 1...5 {
    let name = "editor\(round)"
    let program = try session.edit(name, ["GDK_BACKEND": toolkit])
    let output = round % 2 == 0 ? "Virtual-0" : "Virtual-1"
    try adapter.call(Rows.moveToOutput, (try adapter.open(name).id, output))
    try adapter.wait("it is there") { adapter.window(name)?.properties.output == output }
    #expect(try ManagersWindows(session: session).window(name)?.output == output)
    #expect(program.status == nil)
  }
}

@Test(
  "KWin: a window that demands attention on another desktop is urgent, and while the desktop is shown none is in view")
private func kwin_attentionAndShownDesktop_areTold() throws {
  let session = try Session(starting: false, desktop: .kwin)
  let adapter = try RunningAdapter(session)
  let screen = ManagersWindows(session: session)
  let program = try session.edit("editor")
  let window = try adapter.open("editor")
  try screen.show(workspace: 2)
  try screen.makeUrgent(try #require(try screen.window("editor")))
  try adapter.wait("that is reported") {
    adapter.window("editor")?.properties.urgent == true && adapter.window("editor")?.properties.inView == false
  }
  try adapter.call(Rows.summon, window.id)
  try adapter.wait("it is here") {
    adapter.window("editor")?.properties.urgent == false && adapter.window("editor")?.properties.inView == true
  }
  try session.askKWin("workspace.slotToggleShowDesktop()")
  try adapter.wait("its user does not see it") { adapter.window("editor")?.properties.inView == false }
  #expect(adapter.window("editor")?.properties.hidden == false)
  try adapter.call(Rows.activate, window.id)
  try adapter.wait("he sees it") { adapter.window("editor")?.properties.inView == true }
  #expect(program.status == nil)
}

@Test("KWin: without the desktop file that names it, the adapter ends and says which file is missing")
private func kwin_withoutTheDesktopFile_isToldWhy() throws {
  let session = try Session(starting: false, desktop: .kwin)
  try session.runTool("/bin/rm", [session.path(".local/share/applications/org.navd.navd-windows.desktop")])
  for arguments in [[], ["--backend", "plasma"]] {
    let run = try session.run(program: session.executable("navd-windows"), arguments)
    let file = "/usr/share/applications/org.navd.navd-windows.desktop"
    let saysWhich = run.errorText.contains("expected a file such as \(file) with Exec=/")
    let saysWhat = run.errorText.contains("X-KDE-Wayland-Interfaces=org_kde_plasma_window_management, found none")
    #expect(run.exitCode == 3 && saysWhich && saysWhat, "\(run.errorText)")
  }
}

@Test("KWin: a launcher is no window, and takes the focus; a window is told with its own title")
private func kwin_windows_areThoseOfTheTaskBar() throws {
  let session = try Session(starting: false, desktop: .kwin)
  let adapter = try RunningAdapter(session)
  let screen = ManagersWindows(session: session)
  var programs: [Program] = []
  // The second window is “one <2>” for KWin; the third one is an X window.
  for (name, toolkit) in [("editor", "wayland"), ("other", "wayland"), ("xeditor", "x11")] {
    programs.append(try session.edit(name, ["GDK_BACKEND": toolkit]))
    _ = try adapter.open(name, "one")
  }
  try screen.poll("other", "has a number") { $0?.title.hasPrefix("one <2>") == true }
  try adapter.wait("one has the focus") { adapter.windows.contains { $0.properties.focused == true } }
  let launcher = try session.start(program: "/usr/bin/python3", ["-c", launcherWithTheKeyboard])
  try adapter.wait("none has the focus") { adapter.windows.allSatisfy { $0.properties.focused == false } }
  #expect(Set(adapter.windows.compactMap(\.properties.appID)).isSubset(of: ["editor", "other", "xeditor"]))
  launcher.send(SIGTERM)
  try adapter.wait("one has the focus again") { adapter.windows.contains { $0.properties.focused == true } }
  #expect(adapter.windows.count == 3 && programs.allSatisfy { $0.status == nil })
}

@Test("KWin: a display that takes no focus is where its file says, though its program takes another size")
private func kwin_placedWithoutFocus_isAtItsPlace() throws {
  // A terminal takes whole rows and columns. foot crashes on this KWin (SIGFPE).
  func terminal(_ name: String, _ window: String) -> String {
    "command = ['xterm', '-class', '\(name)', '-e', 'sleep', '1000']\nwindow = { app-id = '\(name)', \(window) }\n"
  }
  let desktop = try WindowedDesktop(
    .kwin,
    destinations: [
      "editor": terminal("editor", "focus = true"),
      "osd": terminal("osd", "place = 'bottom', size = '240 80', margin = 40, focus = false"),
    ])
  _ = try desktop.session.open("editor")
  // A change of the focus undid a part of the placement in one of two runs.
  for _ in 1...5 {
    _ = try desktop.session.open("osd")
    try desktop.screen.pollStaying("osd", "is at the bottom") { frame in
      let isThere = abs(frame.y + frame.height - 680) <= 1 && abs(frame.x + frame.width / 2 - 640) <= 1
      return isThere && frame.width <= 240
    }
    #expect(try desktop.screen.window("editor")?.isFocused == true)
    try desktop.session.runNavctl("close", "osd")
    try desktop.screen.wait(for: ["editor"])
  }
}

@Test("KWin: the doctor names the desktop, and says what is missing")
private func kwin_doctor_saysWhatToInstall() throws {
  let session = try Session(destinations: ["files": "command = ['true']\nwindow = true"], desktop: .kwin)
  session.environment["XDG_CURRENT_DESKTOP"] = "KDE"
  let file = session.path(".local/share/applications/org.navd.navd-windows.desktop")
  let entry = String(decoding: Files.contents(of: file), as: UTF8.self)
  #expect(try session.navctl("doctor").outputText.contains("start navd-windows, e.g."))
  unlink(file)
  let expected =
    "this is KDE Plasma, where KWin tells the windows only to a program that a desktop file names: install "
    + "applications/org.navd.navd-windows.desktop (install.sh of the release, or package navd-windows) below a "
    + "directory of XDG_DATA_DIRS, then start navd-windows"
  let doctor = try session.navctl("doctor")
  #expect(doctor.exitCode == 1 && doctor.outputText.contains(expected), "\(doctor.outputText)")
  let windows = try session.navctl("windows")
  #expect(windows.errorText.contains(expected), "\(windows.errorText)")
  try session.write(entry, to: ".local/share/applications/org.navd.navd-windows.desktop")
  let adapter = try WindowedDesktop.startAdapter(session)
  #expect(try session.navctl("doctor").outputText.contains("known by the backend “plasma”"))
  #expect(adapter?.hasEnded == false)
}

@Test("The desktop file for KWin is a valid one")
private func kwin_desktopFile_isValid() throws {
  let session = try Session(starting: false)
  let text = try Files.text(inPackage: "packaging/org.navd.navd-windows.desktop")
  try session.runTool("/bin/mkdir", [session.path("bin")])
  let file = session.path("bin/org.navd.navd-windows.desktop")
  try Files.write(text.split(separator: "@BINDIR@").joined(separator: "/usr/bin"), to: file)
  let run = try session.run(program: "/usr/bin/desktop-file-validate", [file])
  #expect(run.exitCode == 0 && run.outputText == "", "\(run.outputText)")
}

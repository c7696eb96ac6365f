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

@Test("KWin: without the desktop file that names it, the adapter says what is missing, and a script tells the windows")
private func kwin_withoutTheDesktopFile_isToldWhy() throws {
  let session = try Session(starting: false, desktop: .kwin)
  try session.runTool("/bin/rm", [session.path(".local/share/applications/org.navd.navd-windows.desktop")])
  func saysWhy(_ text: String) -> Bool {
    text.contains("expected a file such as /usr/share/applications/org.navd.navd-windows.desktop with Exec=/")
      && text.contains("X-KDE-Wayland-Interfaces=org_kde_plasma_window_management, found none")
  }
  let run = try session.run(program: session.executable("navd-windows"), ["--backend", "plasma"])
  #expect(run.exitCode == 3 && saysWhy(run.errorText), "\(run.errorText)")

  let adapter = try RunningAdapter(session)
  #expect(adapter.properties["Backend"] == .string("kwin") && saysWhy(adapter.program.errorText))
  let screen = ManagersWindows(session: session)
  let program = try session.edit("editor")
  let window = try adapter.open("editor", "one")
  try adapter.call(Rows.hide, window.id)
  try adapter.wait("it is hidden") { adapter.window("editor")?.properties.hidden == true }
  #expect(try screen.window("editor")?.isHidden == true)
  // Each request waits for the one before.
  for request in [Rows.show, Rows.hide, Rows.activate] { try adapter.call(request, window.id) }
  try adapter.wait("it has the focus") {
    adapter.window("editor")?.properties.hidden == false && adapter.window("editor")?.properties.focused == true
  }
  try session.tell("editor", "title two")
  try adapter.wait("its title is told") { adapter.window("editor")?.properties.title == "two" }

  // An adapter that ends leaves nothing behind, even in KWin.
  adapter.program.send(SIGTERM)
  try session.wait("it has ended") { adapter.program.hasEnded }
  #expect(adapter.program.exitCode == 0, "\(adapter.program.errorText)")
  #expect(try Files.names(in: session.bus.directory).allSatisfy { !$0.hasSuffix(".js") })
  let loaded = try session.run(
    program: "/usr/bin/gdbus",
    [
      "call", "--session", "--dest", "org.kde.KWin", "--object-path", "/Scripting",
      "--method", "org.kde.kwin.Scripting.isScriptLoaded", "org.navd.navd-windows",
    ])
  #expect(loaded.outputText == "(false,)\n", "\(loaded.errorText)")
  let next = try RunningAdapter(session)
  #expect(next.windows.map(\.id) == [window.id])
  try next.call(Rows.close, window.id)
  try session.wait("its program ends") { program.hasEnded }
  try next.wait("it is closed") { next.windows.isEmpty }
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

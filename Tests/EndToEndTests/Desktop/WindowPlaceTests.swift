import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing

// The places of windows, whether their users see them, and the focus, as navd-windows tells and changes them on real window
// managers. Their own trees of windows are the judge.

private typealias Rows = WindowSystemInterface

/// The setups whose adapter can hide.
private let hiding = AdapterSetup.able("hide")
/// The same setups, each with tiled windows and with floating ones, if the window manager tiles.
private let hidingByLayout = hiding.flatMap { setup in (setup.tiles ? [true, false] : [true]).map { (setup, $0) } }

@Test(
  "Whether a window is in view is told as workspaces are shown, and a window that is summoned comes to its user",
  arguments: AdapterSetup.able("summon"))
private func windows_onAnotherWorkspace_areNotInViewUntilSummoned(_ setup: AdapterSetup) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  let adapter = try RunningAdapter(session, "--backend", setup.backend)
  let screen = ManagersWindows(session: session)
  try screen.show(workspace: 1)
  let programs = try ["editor", "other"].map { try session.edit($0) }
  let window = try adapter.open("editor")
  let other = try adapter.open("other")
  func waitInView(_ expected: Bool) throws {
    try adapter.wait("it is in view: \(expected)") {
      adapter.window("editor")?.properties.inView == expected && adapter.window("editor")?.properties.hidden != true
    }
  }
  try waitInView(true)
  let isTiled = try screen.known("editor").isTiled

  // The user goes to an empty workspace: no window has the focus.
  try screen.show(workspace: 3)
  try waitInView(false)
  try adapter.wait("no window has the focus") { adapter.windows.allSatisfy { $0.properties.focused == false } }
  #expect(try screen.all().allSatisfy { !$0.isFocused })

  try adapter.call(Rows.summon, window.id)
  try screen.poll("editor", "has come") { $0?.workspace == "3" && $0?.isFocused == true && $0?.isTiled == isTiled }
  try waitInView(true)
  try adapter.wait("it has the focus") { adapter.window("editor")?.properties.focused == true }
  #expect(try screen.workspace() == "3")
  #expect(try screen.window("other")?.workspace == "1")

  // The window is here already.
  try adapter.call(Rows.summon, window.id)
  try adapter.call(Rows.summon, other.id)
  try screen.poll("other", "has come, too") { $0?.workspace == "3" && $0?.isFocused == true }
  #expect(try screen.window("editor")?.workspace == "3")

  guard hiding.contains(where: { $0.testDescription == setup.testDescription }) else { return }
  // The window is hidden, and summoned to another workspace.
  try adapter.call(Rows.hide, window.id)
  try adapter.wait("it is hidden") {
    adapter.window("editor")?.properties.hidden == true && adapter.window("editor")?.properties.inView == false
  }
  try screen.show(workspace: 2)
  try adapter.call(Rows.summon, window.id)
  try screen.poll("editor", "is shown here") {
    $0?.workspace == "2" && $0?.isHidden == false && $0?.isFocused == true && $0?.isTiled == isTiled
  }
  try waitInView(true)
  #expect(programs.allSatisfy { $0.status == nil })
}

@Test(
  "A window that is summoned comes to the output with the focus; one that floats floats there",
  arguments: [true, false])
private func windows_summonedToAnotherOutput_areThere(floats: Bool) throws {
  let session = try Session(starting: false, desktop: .sway)
  let adapter = try RunningAdapter(session)
  let screen = ManagersWindows(session: session)
  let program = try session.edit("editor")
  let window = try adapter.open("editor")
  if floats { try screen.makeFloating(try #require(try screen.window("editor"))) }
  try session.runTool("/usr/bin/swaymsg", ["create_output"])
  try session.runTool("/usr/bin/swaymsg", ["focus output HEADLESS-2"])
  try adapter.wait("the other output has the focus") { adapter.properties["FocusedOutput"] == .string("HEADLESS-2") }
  try adapter.wait("it is in view, without the focus") {
    adapter.window("editor")?.properties.inView == true && adapter.window("editor")?.properties.focused == false
  }
  try adapter.call(Rows.summon, window.id)
  try screen.poll("editor", "has come") {
    $0?.output == "HEADLESS-2" && $0?.isFocused == true && $0?.isTiled == !floats
  }
  try adapter.wait("it is reported") {
    adapter.window("editor")?.properties.output == "HEADLESS-2" && adapter.window("editor")?.properties.focused == true
  }
  #expect(program.status == nil)
}

@Test(
  "Requests that are made twice, or in any order without a pause, end as the last one says", arguments: hidingByLayout)
private func windows_requestsInARow_endAsTheLastSays(_ setup: AdapterSetup, floats: Bool) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  let adapter = try RunningAdapter(session, "--backend", setup.backend)
  let screen = ManagersWindows(session: session)
  let programs = try ["editor", "anchor"].map { try session.edit($0) }
  let (window, anchor) = (try adapter.open("editor"), try adapter.open("anchor"))
  if floats, setup.tiles { try screen.makeFloating(try #require(try screen.window("editor"))) }
  try adapter.wait("the tree is known") { adapter.window("editor")?.properties.inView == true }
  let isTiled = try screen.known("editor").isTiled
  let (hide, show, activate, summon) = (Rows.hide, Rows.show, Rows.activate, Rows.summon)
  for requests in [
    [show, show], [activate, activate], [hide, hide], [hide], [show, activate], [show, show], [hide, show],
    [hide, activate],
    [hide, summon], [hide, show, hide], [activate, show], [hide, show, hide, hide], [summon, show], [show, hide],
    [summon, summon], [activate, hide, summon, activate],
  ] {
    // All requests are sent before the first is answered.
    var answers: [Result<Void, DBusError>] = []
    for request in requests {
      session.client.call(request, on: Rows.bus, at: Rows.object, window.id) { answers.append($0) }
    }
    try session.wait("they are answered") { answers.count == requests.count }
    for answer in answers { #expect(throws: Never.self) { try answer.get() } }
    let isHidden = requests.last?.name == hide.name
    // The effects of a later request come later. Openbox may move the focus once more for a window that it hides.
    try screen.poll("anchor", "has the focus") {
      if $0?.isFocused != true { try adapter.call(Rows.activate, anchor.id) }
      return $0?.isFocused == true
    }
    // mutter reports it a moment later.
    try screen.poll("editor", "ends as \(requests.map(\.name))") { $0?.isHidden == isHidden }
    let now = try screen.window("editor")
    if !isHidden { #expect(now?.isTiled == isTiled, "\(requests.map(\.name))") }
    try adapter.wait("it is reported") { adapter.window("editor")?.properties.hidden == isHidden }
  }
  #expect(programs.allSatisfy { $0.status == nil })
}

@Test(
  "Hiding a window of another workspace leaves the user on the workspace in view",
  arguments: hiding.filter { $0.backend == "sway" }
)
private func windows_hiddenOnAnotherWorkspace_leaveTheFocusWhereItIs(_ setup: AdapterSetup) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  let adapter = try RunningAdapter(session, "--backend", setup.backend)
  let screen = ManagersWindows(session: session)
  try screen.show(workspace: 1)
  let programs = try ["editor", "other"].map { try session.edit($0) }
  let window = try adapter.open("editor")
  _ = try adapter.open("other")
  try screen.show(workspace: 3)
  try adapter.wait("it is not in view") { adapter.window("editor")?.properties.inView == false }
  try adapter.call(Rows.hide, window.id)
  try screen.poll("editor", "is hidden") { $0?.isHidden == true }
  #expect(try screen.workspace() == "3")
  #expect(programs.allSatisfy { $0.status == nil })
}

@Test(
  "A window that was fullscreen when it was hidden is fullscreen when it is shown, even by the next adapter",
  arguments: hidingByLayout)
private func windows_hiddenFullscreen_areShownFullscreen(_ setup: AdapterSetup, floats: Bool) throws {
  let session = try Session(starting: false, desktop: setup.manager)
  var adapter = try RunningAdapter(session, "--backend", setup.backend)
  let screen = ManagersWindows(session: session)
  let program = try session.edit("editor")
  let window = try adapter.open("editor")
  if floats, setup.tiles { try screen.makeFloating(try #require(try screen.window("editor"))) }
  try screen.makeFullscreen(try #require(try screen.window("editor")))
  try adapter.wait("it is fullscreen") { adapter.window("editor")?.properties.fullscreen == true }
  for isKilled in [false, true] {
    try adapter.call(Rows.hide, window.id)
    try screen.poll("editor", "is hidden") { $0?.isHidden == true }
    if isKilled {
      try adapter.kill()
      adapter = try RunningAdapter(session, "--backend", setup.backend)
    }
    try adapter.call(Rows.show, window.id)
    try screen.poll("editor", "is fullscreen again") { $0?.isHidden == false && $0?.isFullscreen == true }
    try adapter.wait("it is reported") {
      adapter.window("editor")?.properties.fullscreen == true && adapter.window("editor")?.properties.hidden == false
    }
  }
  // The window is as it was before, even when it is no longer fullscreen.
  try adapter.call(Rows.hide, window.id)
  try adapter.call(Rows.activate, window.id)
  try screen.poll("editor", "is fullscreen again") { $0?.isHidden == false && $0?.isFullscreen == true }
  if setup.tiles {
    try session.runTool(
      setup.manager.messenger, ["[con_id=\(try #require(try screen.window("editor")).id)] fullscreen disable"])
    try adapter.wait("it is not fullscreen") { adapter.window("editor")?.properties.fullscreen == false }
    try screen.poll("editor", "floats as before") { $0?.isTiled == !floats }
    try adapter.call(Rows.hide, window.id)
    try adapter.call(Rows.show, window.id)
    try screen.poll("editor", "is shown as it was") {
      $0?.isHidden == false && $0?.isFullscreen == false && $0?.isTiled == !floats
    }
  }
  #expect(program.status == nil)
}

// Other window managers leave the focus where it is.
@Test(
  "After a click on the desktop, no window has the focus",
  arguments: AdapterSetup.all.filter { [.sway, .openbox].contains($0.manager) })
private func windows_afterAClickOnTheDesktop_haveNoFocus(_ setup: AdapterSetup) throws {
  let isSway = setup.manager == .sway
  let session = try Session(
    starting: false, desktop: setup.manager, configuration: isSway ? "seat seat0 fallback true\n" : "")
  let adapter = try RunningAdapter(session, "--backend", setup.backend)
  let screen = ManagersWindows(session: session)
  let program = try session.edit("editor")
  let window = try adapter.open("editor")
  if isSway {
    let shown = try #require(try screen.window("editor"))
    try screen.makeFloating(shown)
    try session.runTool(setup.manager.messenger, ["[con_id=\(shown.id)] move position 10 10"])
  }
  try adapter.wait("it has the focus") { adapter.window("editor")?.properties.focused == true }
  try session.clickOnTheDesktop()
  try screen.poll("editor", "has not the focus") { $0?.isFocused == false }
  try adapter.wait("that is reported") { adapter.window("editor")?.properties.focused == false }
  try adapter.call(Rows.activate, window.id)
  try adapter.wait("it has the focus again") { adapter.window("editor")?.properties.focused == true }
  #expect(program.status == nil)
}

/// A launcher: a layer surface that takes the keyboard.
let launcherWithTheKeyboard = """
  import gi
  gi.require_version("Gtk", "3.0")
  gi.require_version("GtkLayerShell", "0.1")
  from gi.repository import Gtk, GtkLayerShell
  window = Gtk.Window()
  window.add(Gtk.Entry())
  GtkLayerShell.init_for_window(window)
  GtkLayerShell.set_layer(window, GtkLayerShell.Layer.OVERLAY)
  GtkLayerShell.set_keyboard_mode(window, GtkLayerShell.KeyboardMode.EXCLUSIVE)
  window.show_all()
  Gtk.main()
  """

@Test("While a launcher has the keyboard, no window has the focus", arguments: ["sway", "wlr"])
private func windows_belowALauncher_haveNoFocus(_ backend: String) throws {
  let session = try Session(starting: false, desktop: .sway)
  let adapter = try RunningAdapter(session, "--backend", backend)
  let program = try session.edit("editor")
  _ = try adapter.open("editor")
  try adapter.wait("it has the focus") { adapter.window("editor")?.properties.focused == true }
  let above = try session.start(program: "/usr/bin/python3", ["-c", launcherWithTheKeyboard])
  try adapter.wait("no window has the focus") { adapter.window("editor")?.properties.focused == false }
  #expect(above.status == nil)
  #expect(try ManagersWindows(session: session).window("editor")?.isFocused == false)
  above.send(SIGTERM)
  try adapter.wait("it has the focus again") { adapter.window("editor")?.properties.focused == true }
  #expect(adapter.windows.count == 1 && program.status == nil)
}

@Test("Without the Wayland display of sway, the adapter says what it cannot see")
private func windows_ofSwayWithoutItsDisplay_areTold() throws {
  let session = try Session(starting: false, desktop: .sway)
  let adapter = try RunningAdapter(session, variables: ["WAYLAND_DISPLAY": "nothing"])
  #expect(adapter.properties["Backend"] == .string("sway"))
  #expect(adapter.program.errorText.contains("no Wayland connection"), "\(adapter.program.errorText)")
  let program = try session.edit("editor")
  _ = try adapter.open("editor")
  #expect(program.status == nil)
}

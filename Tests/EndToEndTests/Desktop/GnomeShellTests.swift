import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import PresentationModel
import TestSupport
import Testing
import TextFormats

// The adapter for GNOME Shell, an extension: the tests for this desktop alone. All desktops share those in BackendTests.

private typealias Rows = WindowSystemInterface

@Test("GNOME: a window keeps the focus while a menu of the shell has the keyboard")
private func gnome_menu_leavesTheFocus() throws {
  let session = try Session(starting: false, desktop: .gnome)
  let adapter = try RunningAdapter(session)
  let program = try session.edit("editor")
  _ = try adapter.open("editor")
  try adapter.wait("it has the focus") { adapter.window("editor")?.properties.focused == true }
  try session.evaluate("Main.panel.statusArea.dateMenu.menu.open()")
  #expect(try session.evaluate("Main.modalCount > 0") == true)
  // A later event contains everything that came before.
  try session.tell("editor", "title behind")
  try adapter.wait("its title is reported") { adapter.window("editor")?.properties.title == "behind" }
  #expect(adapter.window("editor")?.properties.focused == true)
  try session.evaluate("Main.panel.statusArea.dateMenu.menu.close()")
  try session.evaluate("Main.overview.show()")
  try adapter.wait("it has lost the focus") { adapter.window("editor")?.properties.focused == false }
  #expect(program.status == nil)
}

@Test("GNOME: in the overview of the shell, no window has the focus, and none is in view")
private func gnome_overview_takesTheFocus() throws {
  let session = try Session(starting: false, desktop: .gnome)
  let adapter = try RunningAdapter(session)
  let program = try session.edit("editor")
  let window = try adapter.open("editor")
  try adapter.wait("it has the focus") { adapter.window("editor")?.properties.focused == true }
  try session.evaluate("Main.overview.show()")
  try adapter.wait("it has not the focus") { adapter.window("editor")?.properties.focused == false }
  #expect(adapter.window("editor")?.properties.inView == false)
  try adapter.call(Rows.activate, window.id)
  try adapter.wait("it has the focus again") { adapter.window("editor")?.properties.focused == true }
  #expect(try session.evaluate("Main.overview.visible") == false)
  #expect(program.status == nil)
}

@Test("GNOME: a panel that opens in the overview is where its file says, though its program takes another size")
private func gnome_panelInOverview_isAtItsPlace() throws {
  // A terminal takes whole rows and columns.
  let panel = """
    command = ["foot", "--app-id=panel", "sleep", "1000"]
    window = { app-id = "panel", place = "top-right", size = "640 400", margin = 20 }
    """
  let desktop = try WindowedDesktop(.gnome, destinations: ["panel": panel])
  try desktop.session.evaluate("Main.overview.show()")
  _ = try desktop.session.open("panel")
  // Its program answers several requests for a size, of which the last one moved it.
  try desktop.screen.pollStaying("panel", "is at the top right") { abs($0.x + $0.width - 1260) <= 1 }
}

@Test("GNOME: the windows are followed while the screen is locked, and keep their ids")
private func gnome_locked_goesOn() throws {
  let session = try Session(starting: false, desktop: .gnome)
  let adapter = try RunningAdapter(session)
  let program = try session.edit("editor")
  let window = try adapter.open("editor")
  try session.evaluate("Main.sessionMode.pushMode('unlock-dialog')")
  // The shell keeps the order of calls, so a later event contains everything that came before.
  try session.evaluate("1")
  try session.tell("editor", "title locked")
  try adapter.wait("its title is reported") { adapter.window("editor")?.properties.title == "locked" }
  try session.evaluate("Main.sessionMode.popMode('unlock-dialog')")
  try adapter.call(Rows.close, window.id)
  try adapter.wait("it is closed") { adapter.window("editor") == nil }
  #expect(adapter.isGapless && adapter.log == ["opened editor one", "closed editor"])
  try session.wait("its program has ended") { program.status != nil }
}

/// Unplugs the second of two outputs.
private let unplugging = """
  const {Gio, GLib} = imports.gi;
  const call = (method, parameters, then) => Gio.DBus.session.call(
    'org.gnome.Mutter.DisplayConfig', '/org/gnome/Mutter/DisplayConfig', 'org.gnome.Mutter.DisplayConfig', method,
    parameters, null, 0, -1, null, (bus, result) => then(bus.call_finish(result)));
  call('GetCurrentState', null, state => {
    const [serial, monitors] = state.recursiveUnpack();
    const [[connector], [[mode]]] = monitors[0];
    call('ApplyMonitorsConfig', new GLib.Variant(
      '(uua(iiduba(ssa{sv}))a{sv})', [serial, 1, [[0, 0, 1, 0, true, [[connector, mode, {}]]]], {}]), () => {});
  });
  """

@Test("GNOME: windows are on their outputs, are moved and summoned to others, and stay when one is unplugged")
private func gnome_outputs_areThoseOfTheShell() throws {
  let session = try Session(starting: false, desktop: .gnome, configuration: "--virtual-monitor 1024x768")
  let adapter = try RunningAdapter(session)
  let screen = ManagersWindows(session: session)
  #expect(adapter.properties["Outputs"] == ["Meta-0", "Meta-1"].value)
  let editor = try session.edit("editor")
  let window = try adapter.open("editor").id
  let second = try session.edit("other")
  let other = try adapter.open("other").id
  try adapter.wait("the last one has the focus") { adapter.window("other")?.properties.focused == true }
  func waitForEditor(on output: String) throws {
    try adapter.wait("the editor is on “\(output)”") { adapter.window("editor")?.properties.output == output }
  }

  // The focus stays, and a window with the focus takes it along.
  try adapter.call(Rows.moveToOutput, (window, "Meta-1"))
  try screen.poll("editor", "is there") { $0?.output == "Meta-1" }
  try waitForEditor(on: "Meta-1")
  #expect(try screen.window("other")?.isFocused == true)
  #expect(adapter.properties["FocusedOutput"] == .string("Meta-0"))
  try adapter.call(Rows.moveToOutput, (other, "Meta-1"))
  try adapter.wait("the output with the focus is reported") { adapter.properties["FocusedOutput"] == .string("Meta-1") }
  #expect(adapter.window("other")?.properties.focused == true)
  #expect(try adapter.refusal(Rows.moveToOutput, (window, "Meta-9")) == .invalidArgument)

  // The window is moved to the output of its user.
  try adapter.call(Rows.moveToOutput, (window, "Meta-0"))
  try waitForEditor(on: "Meta-0")
  try adapter.call(Rows.summon, window)
  try screen.poll("editor", "has come") { $0?.output == "Meta-1" && $0?.isFocused == true }

  // A hidden window is on no output, and is moved all the same.
  try adapter.call(Rows.hide, window)
  try waitForEditor(on: "")
  try adapter.call(Rows.moveToOutput, (window, "Meta-0"))
  try adapter.call(Rows.show, window)
  try waitForEditor(on: "Meta-0")

  try session.evaluate(unplugging)
  try adapter.wait("the output is gone") { adapter.properties["Outputs"] == ["Meta-0"].value }
  try adapter.wait("both are on the other one") {
    adapter.windows.map(\.properties.output) == ["Meta-0", "Meta-0"]
      && adapter.properties["FocusedOutput"] == .string("Meta-0")
  }
  #expect(adapter.isGapless && adapter.windows.map(\.id) == [window, other])
  #expect(editor.status == nil && second.status == nil)
}

@Test("GNOME: a window that is moved as soon as it is told is moved", arguments: ["wayland", "x11"])
private func gnome_movedAtOnce_isThere(_ toolkit: String) throws {
  let session = try Session(starting: false, desktop: .gnome, configuration: "--virtual-monitor 1024x768")
  let adapter = try RunningAdapter(session)
  for round in 1...5 {
    let name = "editor\(round)"
    let program = try session.edit(name, ["GDK_BACKEND": toolkit])
    try adapter.call(Rows.moveToOutput, (try adapter.open(name).id, "Meta-1"))
    try adapter.wait("it is there") { adapter.window(name)?.properties.output == "Meta-1" }
    #expect(try ManagersWindows(session: session).window(name)?.output == "Meta-1")
    #expect(program.status == nil)
  }
}

/// A program that changes its title all the time.
private let restless = """
  import gi
  gi.require_version("GLib", "2.0")
  gi.require_version("Gdk", "3.0")
  gi.require_version("Gtk", "3.0")
  from gi.repository import Gdk, GLib, Gtk
  Gdk.set_program_class("restless")
  window = Gtk.Window(title="0")
  count = 0
  def change():
      global count
      count += 1
      window.set_title(str(count))
      window.get_display().sync()
      return count < 5000
  window.connect("map-event", lambda *_: GLib.idle_add(change) and None)
  window.show_all()
  Gtk.main()
  """

@Test("GNOME: a program that changes its title all the time causes fewer signals")
private func gnome_restlessTitle_isToldNowAndThen() throws {
  let session = try Session(starting: false, desktop: .gnome)
  let adapter = try RunningAdapter(session)
  let program = try session.start(
    program: "/usr/bin/env", ["GDK_BACKEND=x11", "/usr/bin/python3", "-c", restless])
  try adapter.wait("the last title is reported") { adapter.window("restless", "5000") != nil }
  #expect(adapter.isGapless && adapter.serial < 2500, "\(adapter.serial) signals")
  #expect(program.status == nil)
}

/// A program with 45 windows.
private let crowd = """
  import gi
  gi.require_version("Gdk", "3.0")
  gi.require_version("Gtk", "3.0")
  from gi.repository import Gdk, Gtk
  Gdk.set_program_class("crowd")
  for number in range(45):
      Gtk.Window(title=str(number)).show_all()
  Gtk.main()
  """

@Test("GNOME: when another workspace is in view, its windows are told in portions, so that the shell goes on drawing")
private func gnome_manyWindows_areToldInPortions() throws {
  let session = try Session(starting: false, desktop: .gnome)
  let adapter = try RunningAdapter(session)
  let program = try session.start(program: "/usr/bin/env", ["GDK_BACKEND=x11", "/usr/bin/python3", "-c", crowd])
  try adapter.wait("all windows are reported") { adapter.windows.count == 45 }
  try session.evaluate(
    """
    const service = Main.extensionManager.lookup('\(GnomeShell.extensionID)').stateObj._adapter._parts[0];
    const [windows, read, tell] = [service._windows, service._windows._see, service._tell];
    let count = 0;
    global.mostAtOnce = 0;
    windows._see = window => {
      count++;
      read.call(windows, window);
    };
    service._tell = limit => {
      count = 0;
      tell.call(service, limit);
      global.mostAtOnce = Math.max(global.mostAtOnce, count);
    };
    """)
  try ManagersWindows(session: session).show(workspace: 2)
  try adapter.wait("none is in view") { adapter.windows.allSatisfy { $0.properties.inView == false } }
  #expect(try session.evaluate("global.mostAtOnce") == 20)
  #expect(adapter.isGapless && program.status == nil)
}

@Test("GNOME: a window that asks for its user's attention on another workspace is urgent, and not in view")
private func gnome_demandsAttention_isUrgent() throws {
  let session = try Session(starting: false, desktop: .gnome)
  let adapter = try RunningAdapter(session)
  let program = try session.edit("editor")
  _ = try adapter.open("editor")
  try ManagersWindows(session: session).show(workspace: 2)
  try session.evaluate("global.get_window_actors().forEach(actor => actor.meta_window.set_demands_attention())")
  try adapter.wait("that is reported") {
    adapter.window("editor")?.properties.urgent == true && adapter.window("editor")?.properties.inView == false
  }
  try adapter.call(Rows.summon, try adapter.open("editor").id)
  try adapter.wait("it is here") {
    adapter.window("editor")?.properties.urgent == false && adapter.window("editor")?.properties.inView == true
  }
  #expect(program.status == nil)
}

@Test("GNOME: the extension serves when another adapter leaves the bus")
private func gnome_otherAdapter_isFollowed() throws {
  let session = try Session(starting: false, desktop: .gnome)
  let other = try ScriptedWindowSystem(session)
  let program = try session.edit("editor")
  try ManagersWindows(session: session).poll("editor", "is there") { $0 != nil }
  try session.enableExtension()
  other.connection.close()
  let adapter = try RunningAdapter(session)
  #expect(adapter.properties["Backend"] == .string("gnome"))
  _ = try adapter.open("editor")
  #expect(program.status == nil)
}

@Test("GNOME: the doctor names the desktop, and says how to enable the extension")
private func gnome_doctor_saysWhatToDo() throws {
  let session = try Session(destinations: ["files": "command = ['true']\nwindow = true"], desktop: .gnome)
  let enable = "this is GNOME Shell: run gnome-extensions enable navd-windows@navd.org"
  let doctor = try session.navctl("doctor")
  #expect(doctor.exitCode == 1)
  #expect(doctor.outputText.contains("while its program runs; \(enable)\n"), "\(doctor.outputText)")
  let windows = try session.navctl("windows")
  #expect(windows.errorText == "navctl: windows: nothing on the bus knows the windows; \(enable)\n")
  try session.enableExtension()
  #expect(try session.navctl("doctor").outputText.contains("known by the backend “gnome”"))
}

@Test("GNOME: more windows than the limit are left out until others close, and long texts are cut off")
private func gnome_table_hasLimits() throws {
  let session = try Session(starting: false)
  let test = """
    const table = new WindowTable();
    const open = number => table.see(`id-${number}`, {title: limitedText('ä'.repeat(number))});
    for (let number = 0; number <= LIMITS.windows; number++)
        open(number);
    const all = table.takeEvents();
    print(all.length, all[all.length - 1].serial, table.has(`id-${LIMITS.windows}`));
    table.close('id-1');
    table.close('unknown');
    open(LIMITS.windows);
    for (const {name, id, serial, properties} of table.takeEvents())
        print(name, id, serial, properties ? new TextEncoder().encode(properties.title).length : '');
    open(2);
    print(table.takeEvents().length, limitedText('x' + 'ä'.repeat(2048)).endsWith('ä\\ufffd'));
    """
  try session.write(try Files.text(inPackage: "gnome-shell/windowTable.js") + test, to: "table.js")
  let run = try session.run(program: "/usr/bin/gjs", [session.path("table.js")])
  #expect(run.exitCode == 0, "\(run.errorText)")
  #expect(run.lines == ["4096 4096 false", "Closed id-1 4097 ", "Opened id-4096 4098 4096", "0 true"])
}

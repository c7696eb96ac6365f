import Glibc
import TestSupport
import TextFormats

/// The windows of GNOME Shell, as its compositor knows them.
struct GnomeWindows {
  let session: Session

  /// The script that names a window's output. Connectors of virtual monitors have numbers of their own.
  private static let output = """
    (window => {
      const monitors = global.backend.get_monitor_manager?.() ?? imports.gi.Meta.MonitorManager.get();
      const names = [...Array(8).keys()].map(number => `Meta-${number}`);
      return names.find(name => monitors.get_monitor_for_connector(name) === window.get_monitor()) ?? '';
    })
    """

  func all() throws -> [ManagersWindows.Window] {
    let windows = try session.evaluate(
      """
      const output = \(Self.output);
      global.get_window_actors().map(actor => actor.meta_window).filter(window => !window.is_override_redirect())
        .sort((a, b) => a.get_stable_sequence() - b.get_stable_sequence())
        .map(window => ({
          id: String(window.get_stable_sequence()), name: window.get_wm_class() ?? '', title: window.title ?? '',
          output: output(window), workspace: window.minimized ? '' : String(window.get_workspace().index() + 1),
          fullscreen: window.fullscreen, hidden: window.minimized, urgent: window.urgent || window.demands_attention,
          focused: Main.modalCount === 0 && global.display.focus_window === window, pid: window.get_pid(),
          frame: (({x, y, width, height}) => ({x, y, width, height}))(window.get_frame_rect()),
          xWindow: window.get_description().match(/^0x[0-9a-f]+$/)?.[0] ?? null,
        }))
      """)
    return (windows.array ?? []).map { window in
      var pid: pid_t?
      if case .integer(let number)? = window["pid"] { pid = pid_t(number) }
      return ManagersWindows.Window(
        id: window["id"]?.string ?? "", name: window["name"]?.string ?? "", title: window["title"]?.string ?? "",
        output: window["output"]?.string ?? "", workspace: window["workspace"]?.string ?? "",
        isFullscreen: window["fullscreen"] == true, isHidden: window["hidden"] == true,
        isFocused: window["focused"] == true, isUrgent: window["urgent"] == true,
        xWindow: window["xWindow"]?.string, frame: window["frame"].flatMap(ManagersWindows.Frame.init), pid: pid)
    }
  }

  func close(_ window: ManagersWindows.Window) throws { try run("delete(global.get_current_time())", on: window) }

  func focus(_ window: ManagersWindows.Window) throws { try run("activate(global.get_current_time())", on: window) }

  func makeFullscreen(_ window: ManagersWindows.Window) throws { try run("make_fullscreen()", on: window) }

  private func run(_ call: String, on window: ManagersWindows.Window) throws {
    try session.evaluate(
      """
      global.get_window_actors().map(actor => actor.meta_window)
        .filter(window => String(window.get_stable_sequence()) === '\(window.id)').forEach(window => window.\(call))
      """)
  }

  func workspace() throws -> String {
    try session.evaluate("String(global.workspace_manager.get_active_workspace_index() + 1)").string ?? ""
  }

  func show(workspace: Int) throws {
    try session.evaluate(
      "global.workspace_manager.get_workspace_by_index(\(workspace - 1)).activate(global.get_current_time())")
  }

  /// Presses a key, given by its X name, together with modifiers. The compositor's own devices do this, because no protocol does.
  func press(_ keys: [String]) throws {
    let names = ["alt": "Alt_L", "super": "Super_L"]
    let values = keys.map { "Clutter.KEY_\(names[$0] ?? $0)" }.joined(separator: ", ")
    try session.evaluate(
      """
      const {Clutter} = imports.gi;
      const device = Symbol.for('keyboard of the tests');
      global[device] ??= Clutter.get_default_backend().get_default_seat()
        .create_virtual_device(Clutter.InputDeviceType.KEYBOARD_DEVICE);
      const keys = [\(values)];
      const press = (key, state) => global[device].notify_keyval(global.get_current_time() * 1000, key, state);
      keys.forEach(key => press(key, Clutter.KeyState.PRESSED));
      keys.reverse().forEach(key => press(key, Clutter.KeyState.RELEASED));
      """)
  }
}

import CWayland
import EventLoops
import Glibc

/// The windows, virtual desktops and outputs that KWin reports by `org_kde_plasma_window_management` and its companions.
package final class PlasmaConnection: ToplevelConnection<PlasmaWindow> {
  private var manager: OpaquePointer?
  private var desktopManager: OpaquePointer?
  private var outputManager: OpaquePointer?
  private var isKWin = false
  /// The outputs in the compositor's order.
  private(set) var outputs: [PlasmaOutput] = []
  /// The ids of the virtual desktops.
  private var desktops: [OpaquePointer: String] = [:]
  /// The id of the virtual desktop in view; nil if it is not known.
  private(set) var currentDesktop: String?
  /// Whether the user sees the desktop instead of the windows, which are then not minimized.
  private(set) var isDesktopShown = false
  private var lastKey: WindowTable.Key = 0
  /// The names of the windows, from the bottom to the top; empty until KWin has told it.
  private(set) var stacking: [String] = []
  /// Whether windows may cover others than before.
  var isRestacked = true

  /// The interface that KWin offers to programs whose desktop files name it.
  private static let interface = "org_kde_plasma_window_management"
  /// The first version, of Plasma 5.23, in which windows have names that are never used twice.
  private static let oldest: UInt32 = 13
  /// The first version, of Plasma 5.26, in which a window can be sent to an output.
  private static let sending: UInt32 = 15

  /// Connects to the compositor of the environment.
  package override init() throws(BackendFailure) {
    try super.init()
    try connection.readGlobals()
    guard manager != nil else { throw BackendFailure(description: reasonOfAbsence, isFinal: true) }
  }

  private var reasonOfAbsence: String {
    guard isKWin else { return "the compositor does not offer \(Self.interface), which KWin has" }
    let path = realpath("/proc/self/exe", nil)
    defer { free(path) }
    let program = path.map { String(cString: $0) } ?? "/usr/bin/navd-windows"
    return
      "KWin offers \(Self.interface) only to a program that a desktop file names: expected a file such as "
      + "/usr/share/applications/org.navd.navd-windows.desktop with Exec=\(program) and "
      + "X-KDE-Wayland-Interfaces=\(Self.interface), found none"
  }

  override func readAll() -> Bool {
    for output in outputs { ask(output) }
    return super.readAll()
  }

  var canSendToOutputs: Bool { manager.map { wl_proxy_get_version($0) >= Self.sending } ?? false }
  var knowsOutputs: Bool { outputManager != nil }
  var knowsDesktops: Bool { desktopManager != nil }

  // MARK: Objects of the compositor

  override func found(_ global: WaylandConnection.Global) {
    let (registry, number) = (connection.registry, global.number)
    let this = Unmanaged.passUnretained(self).toOpaque()
    switch global.interface {
    case Self.interface where manager == nil && global.version >= Self.oldest:
      manager = plasma_bind_manager(registry, number, min(global.version, UInt32(PLASMA_WINDOW_MANAGEMENT_VERSION)))
      plasma_listen_to_manager(manager, Listeners.manager, this)
    case "org_kde_plasma_virtual_desktop_management" where desktopManager == nil:
      isKWin = true
      desktopManager = plasma_bind_desktops(
        registry, number, min(global.version, UInt32(PLASMA_VIRTUAL_DESKTOPS_VERSION)))
      plasma_listen_to_desktops(desktopManager, Listeners.desktops, this)
    case "zxdg_output_manager_v1" where outputManager == nil && global.version >= 2:
      outputManager = xdg_bind_outputs(registry, number, min(global.version, UInt32(XDG_OUTPUT_VERSION)))
      for output in outputs { ask(output) }
    case "wl_output":
      guard let proxy = wlr_bind_output(registry, number, 1) else { return }
      let output = PlasmaOutput(number, proxy, self)
      outputs.append(output)
      ask(output)
    default: break
    }
  }

  override func lost(_ number: UInt32) {
    guard let index = outputs.firstIndex(where: { $0.number == number }) else { return }
    let output = outputs.remove(at: index)
    if let details = output.details { wl_proxy_destroy(details) }
    reader?.placesChanged()
  }

  /// Requests the name and the area of an output, once.
  private func ask(_ output: PlasmaOutput) {
    guard output.details == nil, let outputManager else { return }
    output.details = xdg_output_of(outputManager, output.proxy)
    xdg_listen_to_output(output.details, Listeners.output, Unmanaged.passUnretained(output).toOpaque())
  }

  fileprivate func changed(_ output: PlasmaOutput) {
    output.area = output.pendingArea
    output.isKnown = !output.name.isEmpty
    reader?.placesChanged()
  }

  fileprivate func named(_ uuid: String) {
    guard let manager, !toplevels.values.contains(where: { $0.uuid == uuid }),
      let proxy = plasma_window_by_uuid(manager, uuid)
    else { return }
    lastKey += 1
    let window = PlasmaWindow(lastKey, uuid, proxy, self)
    toplevels[proxy] = window
    plasma_listen_to_window(proxy, Listeners.window, Unmanaged.passUnretained(window).toOpaque())
  }

  fileprivate func changed(stacking names: String) {
    stacking = names.split(separator: ";").map(String.init)
    isRestacked = true
    reader?.placesChanged()
  }

  fileprivate func changed(_ window: PlasmaWindow) { if window.isKnown { reader?.changed(window) } }

  fileprivate func closed(_ window: PlasmaWindow) {
    guard toplevels.removeValue(forKey: window.proxy) != nil else { return }
    // Another window may get the same pointer.
    for child in toplevels.values where child.parent == window.proxy { child.parent = nil }
    isRestacked = true
    reader?.closed(window)
    plasma_window_destroy(window.proxy)
  }

  fileprivate func foundDesktop(_ id: String) {
    guard let desktopManager, !desktops.values.contains(id), let proxy = plasma_desktop_by_id(desktopManager, id)
    else { return }
    desktops[proxy] = id
    plasma_listen_to_desktop(proxy, Listeners.desktop, Unmanaged.passUnretained(self).toOpaque())
  }

  fileprivate func lostDesktop(_ id: String) {
    guard let proxy = desktops.first(where: { $0.value == id })?.key else { return }
    desktops[proxy] = nil
    if currentDesktop == id { currentDesktop = nil }
    wl_proxy_destroy(proxy)
    reader?.placesChanged()
  }

  fileprivate func changed(desktop: OpaquePointer?, isActive: Bool) {
    guard let desktop, let id = desktops[desktop], isActive || id == currentDesktop else { return }
    currentDesktop = isActive ? id : nil
    isRestacked = true
    reader?.placesChanged()
  }

  fileprivate func changed(isDesktopShown: Bool) {
    self.isDesktopShown = isDesktopShown
    isRestacked = true
    reader?.placesChanged()
  }
}

/// A window as reported by KWin.
package final class PlasmaWindow: Toplevel {
  package let key: WindowTable.Key
  /// The window's name, which KWin never uses for another one.
  package let uuid: String
  let proxy: OpaquePointer
  fileprivate unowned let connection: PlasmaConnection
  package fileprivate(set) var title = ""
  package fileprivate(set) var appID = ""
  fileprivate(set) var pid: UInt32?
  /// Bits of `plasma_window_state`, and of later versions of the protocol.
  fileprivate(set) var bits: UInt32 = 0
  fileprivate(set) var parent: OpaquePointer?
  /// The ids of the window's virtual desktops; an empty set means all desktops.
  fileprivate(set) var desktops: Set<String> = []
  /// The place of the window, frame included; nil until KWin has placed it.
  fileprivate(set) var area: ScreenArea?
  /// Whether KWin has described the window completely once.
  package fileprivate(set) var isKnown = false
  /// The requests that move the window, until KWin has placed it: that would undo them.
  var pending: [WindowRequest] = []

  fileprivate init(_ key: WindowTable.Key, _ uuid: String, _ proxy: OpaquePointer, _ connection: PlasmaConnection) {
    (self.key, self.uuid, self.proxy, self.connection) = (key, uuid, proxy, connection)
  }

  func has(_ bit: plasma_window_state) -> Bool { bits & bit.rawValue != 0 }

  /// Whether the window is part of the desktop, such as a panel or the background: neither the task bar nor the switcher lists it.
  package var isPartOfTheDesktop: Bool {
    has(PLASMA_WINDOW_SKIPS_TASKBAR) && (has(PLASMA_WINDOW_SKIPS_SWITCHER) || !has(PLASMA_WINDOW_CLOSEABLE))
  }

  var isOnAllDesktops: Bool { has(PLASMA_WINDOW_ON_ALL_DESKTOPS) || desktops.isEmpty }
}

/// An output as reported by KWin.
final class PlasmaOutput {
  fileprivate let number: UInt32
  let proxy: OpaquePointer
  fileprivate unowned let connection: PlasmaConnection
  fileprivate var details: OpaquePointer?
  fileprivate(set) var name = ""
  /// The area in the coordinates of windows.
  fileprivate(set) var area = ScreenArea(x: 0, y: 0, width: 0, height: 0)
  /// The area since the last `done`.
  fileprivate var pendingArea = ScreenArea(x: 0, y: 0, width: 0, height: 0)
  fileprivate(set) var isKnown = false

  fileprivate init(_ number: UInt32, _ proxy: OpaquePointer, _ connection: PlasmaConnection) {
    (self.number, self.proxy, self.connection) = (number, proxy, connection)
  }
}

/// The tables of handlers, which libwayland reads as long as the connection exists.
private enum Listeners {
  private static func connection(_ data: UnsafeMutableRawPointer?) -> PlasmaConnection {
    WaylandConnection.object(data)
  }
  private static func window(_ data: UnsafeMutableRawPointer?) -> PlasmaWindow { WaylandConnection.object(data) }
  private static func output(_ data: UnsafeMutableRawPointer?) -> PlasmaOutput { WaylandConnection.object(data) }

  /// Changes the place of a window, and reports it.
  private static func place(_ data: UnsafeMutableRawPointer?, _ change: (PlasmaWindow) -> Void) {
    window(data) {
      change($0)
      $0.connection.isRestacked = true
    }
  }

  /// Changes a window, and reports it.
  private static func window(_ data: UnsafeMutableRawPointer?, _ change: (PlasmaWindow) -> Void) {
    let window = window(data)
    change(window)
    window.connection.changed(window)
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

  nonisolated(unsafe) static let manager = WaylandConnection.table(
    plasma_manager_listener(
      show_desktop_changed: { data, _, state in connection(data).changed(isDesktopShown: state != 0) },
      window: { _, _, _ in }, stacking_order_changed: { _, _, _ in },
      stacking_order_uuid_changed: { data, _, names in connection(data).changed(stacking: text(names)) },
      window_with_uuid: { data, _, _, uuid in connection(data).named(text(uuid)) }))

  nonisolated(unsafe) static let window = WaylandConnection.table(
    plasma_window_listener(
      title_changed: { data, _, title in window(data) { $0.title = text(title) } },
      app_id_changed: { data, _, id in window(data) { $0.appID = text(id) } },
      state_changed: { data, _, bits in place(data) { $0.bits = bits } },
      virtual_desktop_changed: { _, _, _ in }, themed_icon_name_changed: { _, _, _ in },
      unmapped: { data, _ in
        let window = window(data)
        window.connection.closed(window)
      },
      initial_state: { data, _ in window(data) { $0.isKnown = true } },
      parent_window: { data, _, parent in window(data) { $0.parent = parent } },
      geometry: { data, _, x, y, width, height in
        place(data) {
          // A window has no size before it is placed.
          guard width > 0, height > 0 else { return }
          $0.area = ScreenArea(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
        }
      },
      icon_changed: { _, _ in },
      pid_changed: { data, _, pid in window(data) { $0.pid = pid } },
      virtual_desktop_entered: { data, _, id in place(data) { $0.desktops.insert(text(id)) } },
      virtual_desktop_left: { data, _, id in place(data) { $0.desktops.remove(text(id)) } },
      application_menu: { _, _, _, _ in }, activity_entered: { _, _, _ in }, activity_left: { _, _, _ in },
      resource_name_changed: { _, _, _ in }))

  nonisolated(unsafe) static let desktops = WaylandConnection.table(
    plasma_desktops_listener(
      desktop_created: { data, _, id, _ in connection(data).foundDesktop(text(id)) },
      desktop_removed: { data, _, id in connection(data).lostDesktop(text(id)) },
      done: { _, _ in }, rows: { _, _, _ in }))

  nonisolated(unsafe) static let desktop = WaylandConnection.table(
    plasma_desktop_listener(
      desktop_id: { _, _, _ in }, name: { _, _, _ in },
      activated: { data, desktop in connection(data).changed(desktop: desktop, isActive: true) },
      deactivated: { data, desktop in connection(data).changed(desktop: desktop, isActive: false) },
      done: { _, _ in }, removed: { _, _ in }))

  nonisolated(unsafe) static let output = WaylandConnection.table(
    xdg_output_listener(
      logical_position: { data, _, x, y in
        let output = output(data)
        (output.pendingArea.x, output.pendingArea.y) = (Int(x), Int(y))
      },
      logical_size: { data, _, width, height in
        let output = output(data)
        (output.pendingArea.width, output.pendingArea.height) = (Int(width), Int(height))
      },
      done: { data, _ in
        let output = output(data)
        output.connection.changed(output)
      },
      name: { data, _, name in output(data).name = text(name) }, description: { _, _, _ in }))
}

import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel

/// The directory, display and session in which navctl was called. Programs that navd starts get them, since navd may have
/// started before the display.
enum ClientContext {
  /// Variables by which a program finds the display, its session and its compositor.
  private static let variables = [
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID", "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_DESKTOP", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "DESKTOP_SESSION", "SWAYSOCK", "I3SOCK",
    "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET", "WAYFIRE_SOCKET", "LABWC_PID",
  ]

  /// Rule L3: a sandboxed client may not set how commands are started.
  private static var isSandboxed: Bool { getenv("SNAP") != nil || access("/.flatpak-info", F_OK) == 0 }

  /// - Parameters:
  ///   - output: the screen to show the item on.
  ///   - isRemote: whether navd is on another machine, where displays and directories of this one do not exist.
  static func write(to options: inout Properties, output: String?, isRemote: Bool) {
    var platformData: Properties = [:]
    if !isRemote { platformData["activation-token"] = variable("XDG_ACTIVATION_TOKEN").map { .string($0) } }
    platformData["output"] = output.map { .string($0) }
    if !platformData.isEmpty { options[Options.platformData] = platformData }
    guard !isRemote, !isSandboxed else { return }
    options[Options.directory] = directory
    let environment = variables.reduce(into: [:]) { $0[$1] = variable($1) }
    if !environment.isEmpty { options[Options.environment] = environment }
  }

  /// nil if it is unset, empty, or not UTF-8.
  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(validatingCString: value)
  }

  /// nil if it has been removed or its name is not UTF-8.
  private static var directory: String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(validatingCString: path)
  }
}

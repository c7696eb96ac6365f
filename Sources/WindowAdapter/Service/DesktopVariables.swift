import CoordinatorAPI
import DBus
import Glibc
import Logging

/// Gives navd the variables of the adapter's desktop, because navd may have started before the desktop (K6).
enum DesktopVariables {
  /// The variables that programs need to find the desktop and its session, and to know which one it is.
  private static let names = [
    "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY", "SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET",
    "WAYFIRE_SOCKET", "LABWC_PID", "XDG_CURRENT_DESKTOP", "XDG_SESSION_DESKTOP", "XDG_SESSION_TYPE", "DESKTOP_SESSION",
  ]

  /// Gives the variables to the running navd, and to each later one. Starts none.
  static func give(by connection: Connection, _ log: Logger) {
    let variables = Dictionary(
      uniqueKeysWithValues: names.compactMap { name in Environment[name].map { (name, $0) } })
    _ = connection.watchName(CoordinatorNames.bus) { [unowned connection] owner in
      guard let owner else { return }
      connection.call(CoordinatorInterface.importEnvironment, on: owner, at: CoordinatorNames.object, variables) {
        result in
        if case .failure(let error) = result, error.name != .nameHasNoOwner {
          log.warning("navd does not take the variables of the desktop: \(error.message)")
        }
      }
    }
  }
}

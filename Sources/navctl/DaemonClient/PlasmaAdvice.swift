import Glibc

/// Advice for KDE Plasma on Wayland, whose KWin reports the windows only to a program that a desktop file names.
enum PlasmaAdvice {
  private static let entry = "applications/org.navd.navd-windows.desktop"

  /// - Returns: nil if this is not Plasma on Wayland, or if the file exists.
  static func here() -> String? {
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    guard let display = variable("WAYLAND_DISPLAY"), !display.isEmpty, let desktop = variable("XDG_CURRENT_DESKTOP")
    else {
      return nil
    }
    return of(desktop, isInstalled: DaemonClient.isInstalled(entry))
  }

  /// - Parameters:
  ///   - desktop: the names of the desktop, separated by colons.
  ///   - isInstalled: whether the file exists.
  static func of(_ desktop: String, isInstalled: Bool) -> String? {
    guard desktop.split(separator: ":").contains("KDE"), !isInstalled else { return nil }
    return "this is KDE Plasma, where KWin tells the windows only to a program that a desktop file names: install "
      + "\(entry) (install.sh of the release, or package navd-windows) below a directory of XDG_DATA_DIRS, then start navd-windows"
  }
}

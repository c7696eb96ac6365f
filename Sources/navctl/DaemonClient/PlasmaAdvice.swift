import Glibc

/// Advice for KDE Plasma on Wayland, whose KWin reports the windows only to a program that a desktop file names.
enum PlasmaAdvice {
  private static let entry = "applications/org.navd.navd-windows.desktop"

  /// - Returns: nil if this is not Plasma on Wayland, or if the file exists.
  static func here() -> String? {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    guard variable("WAYLAND_DISPLAY") != nil, let desktop = variable("XDG_CURRENT_DESKTOP") else { return nil }
    let own = variable("XDG_DATA_HOME") ?? variable("HOME").map { "\($0)/.local/share" }
    let others = (variable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
    return of(desktop, (own.map { [$0] } ?? []) + others) { access($0, F_OK) == 0 }
  }

  /// - Parameters:
  ///   - desktop: the names of the desktop, separated by colons.
  ///   - directories: the data directories.
  ///   - isThere: whether a file exists at a path.
  static func of(_ desktop: String, _ directories: [String], isThere: (String) -> Bool) -> String? {
    guard desktop.split(separator: ":").contains("KDE"), !directories.contains(where: { isThere("\($0)/\(entry)") })
    else { return nil }
    return "this is KDE Plasma, where KWin tells the windows only to a program that a desktop file names: install "
      + "\(entry) (package navd-windows, or make install) below a directory of XDG_DATA_DIRS, then start navd-windows"
  }
}

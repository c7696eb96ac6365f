/// A compositor whose own configuration can say where windows are.
package enum Compositor: String, CaseIterable, Sendable {
  case sway, i3, hyprland, niri, labwc, openbox, kwin

  /// The file or the part of it to which the rules are to be copied.
  package var place: String {
    switch self {
    case .sway: "~/.config/sway/config"
    case .i3: "~/.config/i3/config"
    case .hyprland: "~/.config/hypr/hyprland.lua"
    case .niri: "~/.config/niri/config.kdl"
    case .labwc: "the section windowRules of ~/.config/labwc/rc.xml"
    case .openbox: "the section applications of ~/.config/openbox/rc.xml"
    case .kwin:
      "a file of their own, such as navd.kwinrule, which System Settings imports: Window Management, Window Rules"
    }
  }

  /// The name of the compositor or desktop of a session; nil if it is not known.
  /// - Parameter variable: the variables of a program in the session.
  package static func name(_ variable: (String) -> String?) -> String? {
    // In a compositor within a desktop, those of the desktop are set, too.
    let own = [
      ("LABWC_PID", "labwc"), ("WAYFIRE_SOCKET", "wayfire"), ("HYPRLAND_INSTANCE_SIGNATURE", "Hyprland"),
      ("NIRI_SOCKET", "niri"), ("SWAYSOCK", "sway"), ("I3SOCK", "i3"),
    ]
    return own.first { variable($0.0)?.isEmpty == false }?.1
      ?? variable("XDG_CURRENT_DESKTOP")?.split(separator: ":").first.map(String.init)
  }
}

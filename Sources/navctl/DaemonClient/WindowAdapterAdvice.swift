import DBus
import DBusValues
import Glibc
import PresentationModel
import SessionFiles

/// Advice for a desktop on which no adapter is on the bus.
extension DaemonClient {
  func windowAdapterAdvice() -> String {
    let call = try? connection.callAndWait(
      GnomeShell.getExtensionInfo, on: GnomeShell.bus, at: GnomeShell.object, GnomeShell.extensionID,
      timeout: timeLeft ?? .seconds(3), autoStart: false)
    guard let info = call else {
      func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
      return PlasmaAdvice.here()
        ?? Self.named(
          variable("XDG_CURRENT_DESKTOP") ?? "", Compositor.name(variable), isUnitEnabled: isAdapterUnitEnabled)
    }
    return GnomeShell.advice(info, isInstalled: Self.isInstalled(GnomeShell.metadata))
  }

  /// Whether a file of navd is in one of the data directories of this session.
  static func isInstalled(_ path: String) -> Bool {
    BaseDirectories.data().contains { access("\(String(decoding: $0, as: UTF8.self))/\(path)", F_OK) == 0 }
  }

  /// Whether the user manager starts the adapter with the session.
  private var isAdapterUnitEnabled: Bool {
    let state = try? connection.callAndWait(
      Method(
        "org.freedesktop.systemd1.Manager", "GetUnitFileState", in: Arg<String>("file"), out: Arg<String>("state")),
      on: "org.freedesktop.systemd1", at: "/org/freedesktop/systemd1", "navd-windows.service",
      timeout: timeLeft ?? .seconds(3), autoStart: false)
    return state == "enabled"
  }

  /// The advice for a desktop whose adapter is missing, or for which there is none.
  /// - Parameters:
  ///   - desktop: the names of the desktop, separated by colons.
  ///   - compositor: the name of the compositor; nil if it is not known.
  ///   - isUnitEnabled: whether the user manager starts the adapter with the session.
  static func named(_ desktop: String, _ compositor: String? = nil, isUnitEnabled: Bool = false) -> String {
    if isUnitEnabled {
      return
        "its unit navd-windows.service is enabled, but does not run: “systemctl --user status navd-windows” says why"
    }
    let start = "start navd-windows, e.g. systemctl --user enable --now navd-windows"
    switch compositor {
    case "sway":
      return
        "this is sway: write “exec navd-windows” into ~/.config/sway/config, and type “swaymsg exec navd-windows” now"
    case "i3":
      return "this is i3: write “exec_always --no-startup-id navd-windows” into ~/.config/i3/config, and type "
        + "“i3-msg restart” now"
    case let name? where ["labwc", "wayfire", "Hyprland", "niri"].contains(name):
      return "this is \(name): have its configuration start navd-windows, and start it now"
    default: break
    }
    let names = desktop.split(separator: ":")
    if names.contains("KDE") { return "this is KDE Plasma: \(start) (package navd-windows)" }
    if names.contains("COSMIC") { return "this is COSMIC, for which there is no adapter yet; see docs/windows.md" }
    return start
  }
}

/// GNOME Shell, whose windows are known only to its extensions.
enum GnomeShell {
  fileprivate static let bus: BusName = "org.gnome.Shell"
  fileprivate static let object: ObjectPath = "/org/gnome/Shell"
  fileprivate static let extensionID = "navd-windows@navd.org"
  /// A file of the extension, below a data directory.
  fileprivate static let metadata = "gnome-shell/extensions/\(extensionID)/metadata.json"
  private static let package = "gnome-shell-extension-navd-windows"
  fileprivate static let getExtensionInfo = Method(
    "org.gnome.Shell.Extensions", "GetExtensionInfo", in: Arg<String>("uuid"), out: Arg<Properties>("info"))

  /// The states of an extension as reported by GNOME Shell.
  private enum State: Double {
    case enabled = 1
    case disabled = 2
    case failed = 3
    case outOfDate = 4
    case initialized = 6
  }

  /// - Parameters:
  ///   - info: the facts that GNOME Shell reports about the extension; empty if it does not have the extension.
  ///   - isInstalled: whether the files of the extension are there. The shell looks for them when it starts.
  static func advice(_ info: Properties, isInstalled: Bool) -> String {
    let enable = "gnome-extensions enable \(extensionID)"
    let error = info["error"].flatMap { String(value: $0) } ?? ""
    switch info["state"].flatMap({ Double(value: $0) }).flatMap(State.init) {
    case .disabled?, .initialized?: return "this is GNOME Shell: run \(enable)"
    case .outOfDate?:
      return "this is GNOME Shell, and its extension \(extensionID) is for other versions: install that of this "
        + "version, then log out and in"
    case .enabled? where error.isEmpty:
      return "this is GNOME Shell, and its extension \(extensionID) is enabled, but does not answer yet: ask again in "
        + "some seconds; if it stays so, see journalctl --user -b"
    case .enabled?, .failed?:
      return "this is GNOME Shell, and its extension \(extensionID) does not work\(error.isEmpty ? "" : ": \(error)"); "
        + "see journalctl --user -b"
    case nil where isInstalled:
      return "this is GNOME Shell, which finds its extension when it starts: log out and in, then run \(enable)"
    case nil:
      return "this is GNOME Shell: install its extension (install.sh of the release, or package \(package)), log out "
        + "and in, then run \(enable)"
    }
  }
}

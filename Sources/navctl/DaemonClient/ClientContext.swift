import CLinux
import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel

/// The directory and the session's variables with which navctl was called. Programs that navd starts get them, because navd may have
/// started before the display, or with fewer variables (`docs/processes.md`).
enum ClientContext {
  /// The variables by which a program finds other programs, the display and its session, and which control its appearance.
  private static let variables: [StaticString] = [
    "PATH", "LANG", "LANGUAGE", "TZ", "SHELL", "EDITOR", "VISUAL", "PAGER", "BROWSER", "TERMINAL", "SSH_AUTH_SOCK",
    "SSH_AGENT_PID", "SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XMODIFIERS", "DESKTOP_SESSION",
    "DESKTOP_STARTUP_ID", "SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET", "WAYFIRE_SOCKET",
    "LABWC_PID",
  ]
  /// The beginnings of the names of more such variables.
  private static let families: [StaticString] = [
    "LC_", "XDG_", "GTK_", "GDK_", "QT_", "KDE_", "MOZ_", "SDL_", "ELECTRON_", "XCURSOR_", "_JAVA_",
  ]

  /// Whether navctl runs in a sandbox: a sandboxed client may not set how commands are started (L3).
  static var isSandboxed: Bool { getenv("SNAP") != nil || access("/.flatpak-info", F_OK) == 0 }

  /// - Parameter isRemote: whether navd is on another machine, where this machine's displays and directories do not exist.
  static func write(to options: inout Properties, isRemote: Bool) {
    var platformData: Properties = [:]
    if !isRemote { platformData["activation-token"] = variable("XDG_ACTIVATION_TOKEN").map { .string($0) } }
    if !platformData.isEmpty { options[Options.platformData] = platformData }
    guard !isRemote, !isSandboxed else { return }
    options[Options.directory] = directory
    let environment = sessionEnvironment
    if !environment.isEmpty { options[Options.environment] = environment }
  }

  /// The variables of the session that are not empty and have UTF-8 values. Names are compared as
  /// bytes: a string of each variable took a quarter of navctl's instructions.
  static var sessionEnvironment: [String: String] {
    var found: [String: String] = [:]
    guard var entry = linux_environment() else { return found }
    while let text = entry.pointee {
      entry += 1
      guard let equals = strchr(text, CInt(UInt8(ascii: "="))), equals[1] != 0 else { continue }
      let bytes = UnsafeRawBufferPointer(start: text, count: equals - text)
      guard
        variables.contains(where: { bytes.count == $0.utf8CodeUnitCount && begin(bytes, with: $0) })
          || families.contains(where: { begin(bytes, with: $0) })
      else { continue }
      guard let name = String(validating: bytes, as: UTF8.self), let value = String(validatingCString: equals + 1)
      else { continue }
      if found[name] == nil { found[name] = value }
    }
    return found
  }

  private static func begin(_ bytes: UnsafeRawBufferPointer, with text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    return bytes.count >= count && memcmp(bytes.baseAddress!, text.utf8Start, count) == 0
  }

  /// The value of a variable; nil if it is unset, empty, or not UTF-8.
  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(validatingCString: value)
  }

  /// The working directory; nil if it was removed or its name is not UTF-8.
  private static var directory: String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(validatingCString: path)
  }
}

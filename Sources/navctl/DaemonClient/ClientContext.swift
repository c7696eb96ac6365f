// Why this file exists: navd may have started before the display did, so what it starts for us gets our surroundings.

import CoordinatorAPI
import DBusValues
import Glibc
import PresentationModel

/// Where and in which session navctl was called.
enum ClientContext {
  /// What a program needs in order to find the display, its session and its compositor.
  private static let variables = [
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID", "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_DESKTOP", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "DESKTOP_SESSION", "SWAYSOCK", "I3SOCK",
    "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET", "WAYFIRE_SOCKET", "LABWC_PID",
  ]

  /// A sandboxed client may not say how commands are started, so it does not (rule L3).
  private static var isSandboxed: Bool { getenv("SNAP") != nil || access("/.flatpak-info", F_OK) == 0 }

  /// - Parameters:
  ///   - output: the screen that was asked for.
  ///   - isRemote: whether navd is on another machine: its displays and directories are not ours.
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

  /// The bytes of the last arguments of the command line; Swift's own strings of them have been repaired.
  static func lastArguments(_ count: Int) -> [[UInt8]] {
    let all = Int(CommandLine.argc)
    return (max(0, all - count)..<all).compactMap { index in
      CommandLine.unsafeArgv[index].map { argument in
        Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
      }
    }
  }

  /// nil where it is not set, empty, or no text.
  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(validatingCString: value)
  }

  /// nil where it is gone or its name is no text.
  private static var directory: String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(validatingCString: path)
  }
}

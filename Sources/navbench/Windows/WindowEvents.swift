import DBus
import EventLoops
import WindowAdapter

/// The window events, received from the compositor at the least cost for any program.
protocol WindowEvents: AnyObject {
  /// Called when a window has another title, or has become known; an empty title means that there is none yet. The instant is the
  /// time at which the compositor's event was received.
  var onTitle: ((_ window: String, _ appID: String, _ title: String, _ at: MonotonicInstant) -> Void)? { get set }
  var onClosed: ((_ window: String) -> Void)? { get set }
  /// The adapter's backend with the same source.
  var backend: String { get }
  /// Whether navd knows the processes of windows on this desktop.
  var knowsProcesses: Bool { get }
  /// The command of a terminal with an application id.
  func command(_ appID: String) -> [String]
}

extension WindowEvents {
  var knowsProcesses: Bool { true }
  func command(_ appID: String) -> [String] { Terminal.foot(appID) }
}

/// The commands of terminals, whose windows are measured.
enum Terminal {
  static func foot(_ appID: String) -> [String] { ["foot", "--app-id=\(appID)", "-e", "sleep", "1000"] }
  static func xterm(_ appID: String) -> [String] { ["xterm", "-class", appID, "-e", "sleep", "1000"] }
}

/// The sources of events, in the order in which the adapter tries them.
enum WindowEventSource {
  /// Whether there is a desktop.
  static var exists: Bool { ["SWAYSOCK", "I3SOCK", "WAYLAND_DISPLAY", "DISPLAY"].contains { Environment[$0] != nil } }

  /// The events of the desktop in the environment.
  /// - Throws: `BenchmarkError` if there is no desktop, or another error if its events cannot be received.
  static func open(_ loop: EventLoop, _ connection: Connection) throws -> any WindowEvents {
    if let path = Environment["SWAYSOCK"] { return try SwayEvents(path, isSway: true, loop) }
    if let path = Environment["I3SOCK"] { return try SwayEvents(path, isSway: false, loop) }
    if let instance = Environment["HYPRLAND_INSTANCE_SIGNATURE"], let runtime = Environment["XDG_RUNTIME_DIR"] {
      return try HyprlandEvents("\(runtime)/hypr/\(instance)", loop)
    }
    if Environment["XDG_CURRENT_DESKTOP"] == "GNOME" { return try GnomeEvents(connection) }
    if Environment["WAYLAND_DISPLAY"] != nil {
      if Environment["XDG_CURRENT_DESKTOP"] == "KDE" { return try PlasmaEvents(loop) }
      return try WlrEvents(loop)
    }
    if Environment["DISPLAY"] != nil { return try XEvents(loop) }
    throw BenchmarkError(
      description: "no desktop: expected SWAYSOCK, I3SOCK, WAYLAND_DISPLAY or DISPLAY in the environment, found none")
  }
}

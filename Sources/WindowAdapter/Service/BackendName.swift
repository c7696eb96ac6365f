import EventLoops
import Logging

/// The backends, in the order in which they are tried.
package enum BackendName: String, CaseIterable, Sendable {
  case sway, hyprland, niri, plasma, wlr, x11

  /// Finds a backend that works here.
  /// - Parameter chosen: the only one to try; nil for all.
  static func open(_ chosen: BackendName?, _ loop: EventLoop, _ log: Logger) throws(BackendFailure) -> any Backend {
    var reasons: [String] = []
    var isFinal = true
    for name in chosen.map({ [$0] }) ?? allCases {
      do throws(BackendFailure) {
        if let backend = try name.open(loop, log) {
          // i3's socket reports more; a service knows the display, but not the path of the socket.
          if chosen == nil, let path = (backend as? X11Backend)?.i3Socket { return try I3Backend(path, loop, log) }
          return backend
        }
        reasons.append("\(name): \(name.variables.joined(separator: " and ")) not set")
      } catch {
        reasons.append("\(name): \(error)")
        if !error.isFinal { isFinal = false }
        // X11 has only some of the windows of such a compositor.
        if name == .wlr, error.isFinal { break }
      }
    }
    throw BackendFailure(
      description: "expected a compositor or an X server, found none: \(reasons.joined(separator: "; "))",
      isFinal: isFinal)
  }

  /// The variables that say where the window system is.
  private var variables: [String] {
    switch self {
    case .sway: ["SWAYSOCK", "I3SOCK"]
    case .hyprland: ["HYPRLAND_INSTANCE_SIGNATURE"]
    case .niri: ["NIRI_SOCKET"]
    case .plasma, .wlr: ["WAYLAND_DISPLAY"]
    case .x11: ["DISPLAY"]
    }
  }

  /// - Returns: nil if no variable says where the window system is.
  private func open(_ loop: EventLoop, _ log: Logger) throws(BackendFailure) -> (any Backend)? {
    guard let place = variables.lazy.compactMap({ Environment[$0] }).first else { return nil }
    switch self {
    case .sway: return try I3Backend(place, loop, log)
    case .hyprland: return try HyprlandBackend(instance: place, loop, log)
    case .niri: return try NiriBackend(place, loop, log)
    case .plasma: return try PlasmaBackend(loop, log)
    case .wlr: return try WlrBackend(loop, log)
    case .x11: return try X11Backend(loop, log)
    }
  }
}

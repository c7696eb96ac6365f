import CWayland
import EventLoops
import Logging
import PresentationModel

/// Windows of a Wayland compositor with `wlr-foreign-toplevel-management-unstable-v1`.
///
/// The protocol reports no process, and no parent on wlroots 0.15; it cannot move a window. It can minimize a window and report
/// outputs, but some compositors accept this and ignore it. So each of these capabilities is offered once a compositor was seen to
/// have it. That it makes a window fullscreen is offered until a compositor was seen to ignore it, since a try does no harm.
final class WlrBackend: ToplevelBackend<WlrToplevel, WlrConnection>, Backend {
  let name = "wlr"

  private let ids = WindowIDs()
  private let log: Logger
  /// Whether the compositor has reported a fullscreen window.
  private var hasSeenFullscreen = false
  /// The time in which a compositor makes a window fullscreen.
  private static let timeToFill = Duration.seconds(2)

  /// Connects to the compositor of the environment.
  init(_ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    self.log = log
    super.init(loop, try WlrConnection())
  }

  override var capabilitiesAtStart: [WindowCapability] {
    WindowCapability.allCases.filter { capability in
      switch capability {
      case .close, .focus: true
      case .activate: connection.seat != nil
      case .fullscreen: connection.canFill
      default: false
      }
    }
  }

  override var outputNames: [String] { connection.outputs.map(\.name).filter { !$0.isEmpty } }

  /// Adds a capability that was found after the start.
  private func offer(_ capability: WindowCapability) {
    guard !state.capabilities.contains(capability) else { return }
    state.capabilities = WindowCapability.allCases.filter { state.capabilities.contains($0) || $0 == capability }
  }

  override func see(_ toplevel: WlrToplevel) {
    var sighting = WindowTable.Sighting(properties: toplevel.properties)
    // The user or a task bar has minimized the window: the adapter minimizes no window as a test.
    if toplevel.properties.minimized == true { offer(.hide) }
    if toplevel.properties.fullscreen == true {
      hasSeenFullscreen = true
      // The compositor may have been slow before.
      if connection.canFill { offer(.fullscreen) }
    }
    if state.capabilities.contains(.hide) { sighting.properties.hidden = toplevel.properties.minimized == true }
    let named = toplevel.outputs.compactMap { proxy in connection.outputs.first { $0.proxy == proxy }?.name }
      .filter { !$0.isEmpty }
    if !named.isEmpty { offer(.output) }
    if let output = named.last, sighting.properties.hidden != true {
      sighting.properties.output = output
    } else if state.windows.properties(of: toplevel.key)?.output != nil {
      // The window was on an output, and has left it or is hidden.
      sighting.properties.output = ""
    }
    if let parent = toplevel.parent {
      sighting.parent = connection.toplevels[parent].map { .window($0.key) } ?? WindowTable.Sighting.Parent.none
      // Some compositors send “no parent” for every window; the first parent shows that this one knows parents.
      offer(.parent)
    }
    state.windows.see(toplevel.key, sighting, now: loop.now, id: ids.next())
  }

  override func carryOut(_ request: WindowRequest, _ toplevel: WlrToplevel) {
    switch request {
    case .close: wlr_toplevel_close(toplevel.proxy)
    case .activate:
      // The window may also have been asked to hide just now.
      if state.capabilities.contains(.hide) { wlr_toplevel_minimize(toplevel.proxy, 0) }
      wlr_toplevel_activate(toplevel.proxy, connection.seat)
    case .hide: wlr_toplevel_minimize(toplevel.proxy, 1)
    case .show: wlr_toplevel_minimize(toplevel.proxy, 0)
    case .place(let placement):
      if placement.isFullscreen == true { fill(toplevel) }
      if placement.isFullscreen == false { wlr_toplevel_unset_fullscreen(toplevel.proxy) }
    case .move, .summon: preconditionFailure("the capability is not offered")
    }
  }

  /// Makes a window fullscreen.
  private func fill(_ toplevel: WlrToplevel) {
    wlr_toplevel_fullscreen(toplevel.proxy)
    guard !hasSeenFullscreen else { return }
    _ = loop.timer(after: Self.timeToFill, of: self) { backend in
      guard !backend.hasSeenFullscreen, backend.state.capabilities.contains(.fullscreen),
        backend.state.windows.contains(toplevel.key)
      else { return }
      backend.log.warning("the compositor ignores that a window is to be fullscreen")
      backend.state.capabilities.removeAll { $0 == .fullscreen }
    }
  }
}

import CWayland
import DBus
import EventLoops
import Logging
import PresentationModel

/// Windows of KWin on Wayland, by the protocol of Plasma's task bar.
final class PlasmaBackend: ToplevelBackend<PlasmaWindow, PlasmaConnection>, Backend {
  let name = "plasma"
  /// The windows that others cover.
  private var covered: Set<WindowTable.Key> = []
  private let log: Logger
  private var scripts: KWinScripts?
  /// The name of the window that had the focus last.
  private var lastFocused: String?
  /// The windows that had the focus when others opened, by the names of both.
  private var formerFocus: [String: String] = [:]

  /// Connects to the compositor of the environment.
  init(_ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    self.log = log
    super.init(loop, try PlasmaConnection())
  }

  func take(bus: Connection) { scripts = KWinScripts(bus, log) }

  override var capabilitiesAtStart: [WindowCapability] {
    WindowCapability.allCases.filter { capability in
      switch capability {
      case .close, .activate, .hide, .pid, .parent, .focus: true
      case .place, .fullscreen, .expect: scripts != nil
      case .move: connection.canSendToOutputs && connection.knowsOutputs
      case .output: connection.knowsOutputs
      case .summon, .inView: connection.knowsDesktops
      case .behind, .startupID: false
      }
    }
  }

  override var outputNames: [String] { connection.outputs.filter(\.isKnown).map(\.name) }

  // MARK: Windows

  override func see(_ window: PlasmaWindow) {
    if !state.windows.contains(window.key), window.isPartOfTheDesktop { return }
    let isMinimized = window.has(PLASMA_WINDOW_MINIMIZED)
    var sighting = WindowTable.Sighting()
    sighting.properties.appID = window.appID
    sighting.properties.title = Self.ownTitle(window.title)
    sighting.properties.pid = window.pid
    sighting.properties.focused = window.has(PLASMA_WINDOW_ACTIVE)
    sighting.properties.urgent = window.has(PLASMA_WINDOW_DEMANDS_ATTENTION)
    sighting.properties.fullscreen = window.has(PLASMA_WINDOW_FULLSCREEN)
    sighting.properties.minimized = isMinimized
    sighting.properties.hidden = isMinimized
    if connection.knowsDesktops {
      sighting.properties.inView = isShown(window) && !covered.contains(window.key)
    }
    if connection.knowsOutputs { sighting.properties.output = isMinimized ? "" : output(of: window) }
    sighting.parent =
      window.parent.flatMap { connection.toplevels[$0] }.map { .window($0.key) } ?? WindowTable.Sighting.Parent.none
    if !state.windows.contains(window.key) {
      let open = Set(known.map(\.uuid))
      formerFocus = formerFocus.filter { open.contains($0.key) }
      formerFocus[window.uuid] = lastFocused
    }
    if window.has(PLASMA_WINDOW_ACTIVE) { lastFocused = window.uuid }
    state.windows.see(window.key, sighting, now: loop.now, id: window.uuid)
    if window.area != nil {
      let requests = window.pending
      window.pending = []
      for request in requests { carryOut(request, window) }
    }
  }

  /// Whether a window is on the desktop in view, even if other windows cover it.
  private func isShown(_ window: PlasmaWindow) -> Bool {
    let isHere = window.isOnAllDesktops || connection.currentDesktop.map(window.desktops.contains) == true
    return isHere && !window.has(PLASMA_WINDOW_MINIMIZED) && !connection.isDesktopShown
  }

  override func isCoveringChanged() -> Bool {
    guard connection.isRestacked else { return false }
    connection.isRestacked = false
    let shown = known.filter { isShown($0) && !$0.isPartOfTheDesktop }
    let byName = Dictionary(shown.map { ($0.uuid, $0) }) { first, _ in first }
    let layers = connection.stacking.compactMap { name -> WindowStack<WindowTable.Key>.Layer? in
      guard let window = byName[name], let area = window.area else { return nil }
      return WindowStack.Layer(key: window.key, area: area, isFocused: window.has(PLASMA_WINDOW_ACTIVE))
    }
    let before = covered
    covered = WindowStack.covered(layers)
    return covered != before
  }

  /// The title as the program set it: KWin adds “ <2>” if another window has the same title, and a mark of direction to X windows.
  static func ownTitle(_ caption: String) -> String {
    var rest = caption.unicodeScalars[...]
    if rest.last == "\u{200E}" { rest.removeLast() }
    guard rest.popLast() == ">", let start = rest.lastIndex(of: "<"), rest[..<start].last == " ",
      let number = Int(String(rest[start...].dropFirst())), number > 1
    else { return caption }
    return String(rest[..<start].dropLast())
  }

  private func output(of window: PlasmaWindow) -> String {
    guard let area = window.area else { return "" }
    return connection.outputs.filter(\.isKnown).map { Monitor(name: $0.name, area: $0.area) }.holding(area)
  }

  // MARK: Requests

  override func carryOut(_ request: WindowRequest, _ window: PlasmaWindow) {
    switch request {
    case .close: plasma_window_close(window.proxy)
    case .activate: activate(window)
    case .hide: set(PLASMA_WINDOW_MINIMIZED, true, window)
    case .show: set(PLASMA_WINDOW_MINIMIZED, false, window)
    case .move(let name): send(window, to: name)
    case .summon:
      // Its user may have gone to another desktop just now: the bus can be faster than that event.
      guard connection.readAll(), known.contains(where: { $0 === window }) else { return }
      if let current = connection.currentDesktop, !window.isOnAllDesktops {
        plasma_window_enter_desktop(window.proxy, current)
        for desktop in window.desktops where desktop != current { plasma_window_leave_desktop(window.proxy, desktop) }
      }
      if !state.focusedOutput.isEmpty, output(of: window) != state.focusedOutput {
        send(window, to: state.focusedOutput)
      }
      activate(window)
    case .place(let placement):
      // KWin undoes what comes before it has placed the window. The focus is given back once, with the placement.
      guard window.area != nil else { return window.pending.append(request) }
      if let former = known.first(where: { $0.uuid == formerFocus[window.uuid] }),
        state.windows.returnsFocus(of: window.key, to: former.key, placement)
      {
        set(PLASMA_WINDOW_ACTIVE, true, former)
      }
      scripts?.place(window.uuid, placement)
    }
  }

  private func activate(_ window: PlasmaWindow) {
    set(PLASMA_WINDOW_MINIMIZED, false, window)
    set(PLASMA_WINDOW_ACTIVE, true, window)
  }

  private func set(_ bit: plasma_window_state, _ isSet: Bool, _ window: PlasmaWindow) {
    plasma_window_set_state(window.proxy, bit.rawValue, isSet ? bit.rawValue : 0)
  }

  private func send(_ window: PlasmaWindow, to name: String) {
    guard window.area != nil else { return window.pending.append(.move(output: name)) }
    // The output may have been unplugged meanwhile.
    guard connection.canSendToOutputs, let output = connection.outputs.first(where: { $0.name == name }) else { return }
    plasma_window_send_to_output(window.proxy, output.proxy)
  }
}

import CXCB
import EventLoops
import Glibc
import Logging
import PresentationModel

/// Windows of an X window manager that follows EWMH.
final class X11Backend: Backend, XEventReader {
  let name = "x11"
  var onEnd: ((String) -> Void)?
  private(set) var state = WindowSystemState()

  private typealias Window = XConnection.Window

  private let loop: EventLoop
  private let facts: XWindowFacts
  private let connection: XConnection
  private let userTimes: XUserTimes
  private var monitors: [Monitor] = []
  private var firstRandREvent: UInt8?
  /// The event mask of windows and of the root.
  private static let mask = XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue

  /// The parts to read again after the events that have arrived.
  private struct Stale {
    var manager = true
    var monitors = true
    var list = true
    var focus = true
    var desktop = true
    var stacking = true
    var windows: Set<Window> = []
    /// Windows of which only the place has changed.
    var places: Set<Window> = []
  }
  private var stale = Stale()
  /// The windows whose desktops are shown, with their areas, frames included.
  private var shown: [Window: ScreenArea] = [:]
  /// The shown windows that others cover.
  private var covered: Set<Window> = []
  /// The window that shows that the window manager runs; nil while none runs.
  private var managerWindow: Window?
  /// Whether the window manager closes windows for other programs.
  private var managerCloses = false
  /// The number of the desktop that is shown; nil if the window manager has none.
  private var desktop: UInt32?
  /// Whether the desktop is shown instead of the windows, as after Super+D.
  private var isShowingDesktop = false
  /// The windows that are being placed.
  private var placements = Placements<Window>(attempts: 0, hasManagersPlace: true)
  /// The windows that had the focus when others opened or were shown again.
  private var formerFocus: [Window: Window] = [:]
  /// The source of requests: they come from the user by way of a pager (EWMH, source indication).
  private static let pager: UInt32 = 2
  /// The desktop number of a window that is on all desktops.
  private static let everyDesktop = UInt32.max
  /// Windows that were asked to hide, until their state changes. They are still mapped, so mapping them would not show them.
  private var hiding: Set<Window> = []

  /// Connects to the display of the environment.
  init(_ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    self.loop = loop
    facts = try XWindowFacts(WindowIDs())
    connection = facts.connection
    userTimes = XUserTimes(connection)
    try connection.follow(loop)
    for name in Self.told + Self.ofRoot { _ = connection.atom(name) }
    guard Self.managerWindow(connection) != nil else {
      throw BackendFailure(
        description: "no window manager that follows EWMH: the root window has no valid _NET_SUPPORTING_WM_CHECK")
    }
  }

  /// The path of i3's socket, if i3 manages the windows. The property of the root outlives an i3 that was killed.
  var i3Socket: String? {
    Self.managerWindow(connection).flatMap(name(of:)) == "i3"
      ? connection.text(connection.root, "I3_SOCKET_PATH") : nil
  }

  func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }
  func announceDue(now: MonotonicInstant) { state.windows.announceDue(now: now) }

  func start(ready: @escaping () -> Void) {
    selectEventsOfRoot()
    let randr = xcb_randr_events(connection.raw)
    if randr != 0 {
      firstRandREvent = randr
      xcb_randr_select_input(
        connection.raw, connection.root,
        UInt16(
          XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue | XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE.rawValue
            | XCB_RANDR_NOTIFY_MASK_OUTPUT_CHANGE.rawValue))
    }
    connection.reader = self
    readStale()
    facts.hasReadFormerWindows()
    state.windows.announceAll()
    ready()
  }

  // MARK: Events

  func eventsTaken() { readStale() }

  func connectionEnded(_ reason: String) { onEnd?(reason) }

  func expectWithoutFocus(_ windows: [UnfocusedWindow]) {
    userTimes.expect(windows)
    selectEventsOfRoot()
    connection.flush()
  }

  /// Follows the children of the root only while that is needed: they change whenever a window moves.
  private func selectEventsOfRoot() {
    let ofChildren = userTimes.isExpecting ? XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue : 0
    xcb_select_events(connection.raw, connection.root, Self.mask | ofChildren)
  }

  func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
    userTimes.take(event)
    let type = event.pointee.response_type & 0x7F
    if let firstRandREvent, type == firstRandREvent || type == firstRandREvent + 1 {
      stale.monitors = true
      return
    }
    switch Int32(type) {
    case XCB_PROPERTY_NOTIFY:
      event.withMemoryRebound(to: xcb_property_notify_event_t.self, capacity: 1) { event in
        propertyChanged(event.pointee.window, connection.knownName(of: event.pointee.atom) ?? "")
      }
    case XCB_CONFIGURE_NOTIFY:
      event.withMemoryRebound(to: xcb_configure_notify_event_t.self, capacity: 1) { event in
        if event.pointee.window == connection.root {
          stale.monitors = true
        } else {
          stale.places.insert(event.pointee.window)
          stale.stacking = true
        }
      }
    case XCB_DESTROY_NOTIFY:
      event.withMemoryRebound(to: xcb_destroy_notify_event_t.self, capacity: 1) { event in
        if event.pointee.window == managerWindow {
          stale.manager = true
        } else {
          close(event.pointee.window)
        }
      }
    default: break
    }
  }

  private func propertyChanged(_ window: Window, _ name: String) {
    guard window == connection.root else {
      if Self.told.contains(name) { stale.windows.insert(window) }
      if name == "_NET_WM_STATE" { hiding.remove(window) }
      if Self.ofPlaces.contains(name) { stale.stacking = true }
      if name == "WM_STATE" { stale.list = true }
      return
    }
    switch name {
    case "_NET_CLIENT_LIST": stale.list = true
    case "_NET_CLIENT_LIST_STACKING": stale.stacking = true
    case "_NET_ACTIVE_WINDOW": stale.focus = true
    case "_NET_CURRENT_DESKTOP", "_NET_SHOWING_DESKTOP": stale.desktop = true
    case "_NET_SUPPORTED", "_NET_SUPPORTING_WM_CHECK": (stale.manager, stale.list) = (true, true)
    default: break
    }
  }

  /// The properties of windows that matter to clients.
  private static let told = [
    "_NET_WM_NAME", "WM_NAME", "WM_CLASS", "WM_TRANSIENT_FOR", "_NET_WM_STATE", "_NET_WM_DESKTOP", "_NET_STARTUP_ID",
    "_NET_FRAME_EXTENTS",
  ]
  /// The properties of windows that say where they are.
  private static let ofPlaces: Set<String> = ["_NET_WM_STATE", "_NET_WM_DESKTOP", "_NET_FRAME_EXTENTS"]
  /// The properties of the root that list the windows, or describe what the window manager does with them.
  private static let ofRoot = [
    "_NET_CLIENT_LIST", "_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW", "_NET_CURRENT_DESKTOP",
    "_NET_SHOWING_DESKTOP", "_NET_SUPPORTED", "_NET_SUPPORTING_WM_CHECK", "WM_STATE",
  ]

  private func readStale() {
    let stale = self.stale
    self.stale = Stale(manager: false, monitors: false, list: false, focus: false, desktop: false, stacking: false)
    if stale.manager { readManager() }
    if stale.monitors { readMonitors() }
    if stale.list { readList() }
    if stale.desktop {
      desktop = connection.numbers(connection.root, "_NET_CURRENT_DESKTOP").first
      isShowingDesktop = connection.numbers(connection.root, "_NET_SHOWING_DESKTOP").first == 1
    }
    for window in stale.windows where isKnown(window) { see(window) }
    let isElsewhere = stale.monitors || stale.manager || stale.desktop
    let moved = isElsewhere ? Set(state.windows.allKeys.map { Window($0) }) : stale.places
    for window in moved.subtracting(stale.windows) where isKnown(window) { see(window) }
    if !placements.isEmpty {
      for window in moved.union(stale.windows) { goOnPlacing(window) }
      connection.flush()
    }
    if stale.focus || stale.list { readFocus() }
    if stale.stacking || stale.focus || stale.list || isElsewhere { readStacking() }
    state.inferFocusedOutput()
  }

  // MARK: The window manager

  /// The window that shows that a window manager runs; nil if none runs.
  private static func managerWindow(_ connection: XConnection) -> Window? {
    guard let window = connection.numbers(connection.root, "_NET_SUPPORTING_WM_CHECK").first,
      connection.numbers(window, "_NET_SUPPORTING_WM_CHECK").first == window
    else { return nil }
    return window
  }

  private func name(of manager: Window) -> String? { connection.text(manager, "_NET_WM_NAME") }

  private func readManager() {
    managerWindow = Self.managerWindow(connection)
    if let managerWindow {
      xcb_select_events(connection.raw, managerWindow, XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue)
    }
    let supported = managerWindow == nil ? [] : Set(connection.numbers(connection.root, "_NET_SUPPORTED"))
    func supports(_ name: String) -> Bool { supported.contains(connection.atom(name)) }
    managerCloses = supports("_NET_CLOSE_WINDOW")
    // dwm claims that it activates windows, but only marks them.
    let activates = supports("_NET_ACTIVE_WINDOW") && managerWindow.flatMap(name(of:)) != "dwm"
    // These have the request, but place no tile.
    let places =
      supports("_NET_MOVERESIZE_WINDOW") && !["i3", "herbstluftwm"].contains(managerWindow.flatMap(name(of:)))
    state.capabilities = WindowCapability.allCases.filter { capability in
      switch capability {
      case .close: true
      case .activate: activates
      case .focus: supports("_NET_ACTIVE_WINDOW")
      // i3 has the state, but ignores the request.
      case .hide: supports("_NET_WM_ACTION_MINIMIZE") && supports("_NET_WM_STATE_HIDDEN")
      case .move, .behind: false
      case .place: places
      case .fullscreen: supports("_NET_WM_STATE") && supports("_NET_WM_STATE_FULLSCREEN")
      case .expect: places && connection.knowsProcesses
      case .summon: activates && supports("_NET_WM_DESKTOP") && supports("_NET_CURRENT_DESKTOP")
      case .pid: connection.knowsProcesses
      case .parent: true
      case .output: firstRandREvent != nil
      case .inView: supports("_NET_WM_DESKTOP") && supports("_NET_CURRENT_DESKTOP")
      case .startupID: true
      }
    }
  }

  private func readMonitors() {
    guard firstRandREvent != nil,
      let reply = xcb_randr_get_monitors_reply(
        connection.raw, xcb_randr_get_monitors(connection.raw, connection.root, 1), nil)
    else { return }
    defer { free(reply) }
    monitors = []
    var iterator = xcb_randr_get_monitors_monitors_iterator(reply)
    while iterator.rem > 0, let info = iterator.data?.pointee {
      monitors.append(
        Monitor(
          name: connection.name(of: info.name),
          area: ScreenArea(x: Int(info.x), y: Int(info.y), width: Int(info.width), height: Int(info.height))))
      xcb_randr_monitor_info_next(&iterator)
    }
    state.outputs = monitors.map(\.name)
  }

  private func readFocus() {
    let window = connection.numbers(connection.root, "_NET_ACTIVE_WINDOW").first ?? 0
    state.windows.setFocus(isKnown(window) ? WindowTable.Key(window) : nil)
  }

  /// Notes which windows others cover.
  private func readStacking() {
    guard state.capabilities.contains(.inView) else { return }
    let stacking = connection.numbers(connection.root, "_NET_CLIENT_LIST_STACKING")
    let focused = state.windows.focused.map { Window($0) }
    let covered = WindowStack.covered(
      stacking.compactMap { window in
        shown[window].map { WindowStack.Layer(key: window, area: $0, isFocused: window == focused) }
      })
    let differing = covered.symmetricDifference(self.covered)
    self.covered = covered
    for window in differing where isKnown(window) {
      var sighting = WindowTable.Sighting()
      sighting.properties.inView = isInView(window)
      state.windows.see(WindowTable.Key(window), sighting, now: loop.now, id: "")
    }
  }

  private func isInView(_ window: Window) -> Bool { shown[window] != nil && !covered.contains(window) }

  // MARK: Windows

  private func isKnown(_ window: Window) -> Bool { state.windows.contains(WindowTable.Key(window)) }

  private func readList() {
    let list = connection.numbers(connection.root, "_NET_CLIENT_LIST")
    let present = Set(list.map { WindowTable.Key($0) })
    for key in state.windows.allKeys where !present.contains(key) && isWithdrawn(Window(key)) {
      close(Window(key))
    }
    for window in list where !isKnown(window) {
      // The events are selected before the properties are read, so that no change is missed.
      xcb_select_events(connection.raw, window, Self.mask)
      see(window)
    }
  }

  /// Whether the client has withdrawn the window, or the window is gone (ICCCM 4.1.4). Otherwise the list lacks the window because
  /// the window manager has ended or is being replaced.
  private func isWithdrawn(_ window: Window) -> Bool { (connection.numbers(window, "WM_STATE").first ?? 0) == 0 }

  /// Whether the window is a bar or the background.
  private func isPartOfTheDesktop(_ window: Window) -> Bool {
    let types = connection.numbers(window, "_NET_WM_WINDOW_TYPE")
    return types.contains(connection.atom("_NET_WM_WINDOW_TYPE_DOCK"))
      || types.contains(connection.atom("_NET_WM_WINDOW_TYPE_DESKTOP"))
  }

  private func close(_ window: Window) {
    hiding.remove(window)
    shown[window] = nil
    covered.remove(window)
    placements.forget(window)
    formerFocus[window] = nil
    stale.stacking = true
    state.windows.close(WindowTable.Key(window))
  }

  /// The properties of a window that are read at once.
  private static let read =
    XWindowFacts.read + [
      "_NET_WM_NAME", "WM_NAME", "_NET_WM_STATE", "_NET_WM_DESKTOP", "WM_TRANSIENT_FOR", "_NET_WM_WINDOW_TYPE",
      "_NET_FRAME_EXTENTS",
    ]

  private func see(_ window: Window) { connection.asking(for: Self.read, of: window) { readAll(of: window) } }

  private func readAll(of window: Window) {
    let key = WindowTable.Key(window)
    // The window manager may still list a window that is gone, and that has no properties any more. In the table, it
    // would count as the next window with its number, whose properties would then never be read.
    guard let area = area(of: window) else { return }
    if !isKnown(window), isPartOfTheDesktop(window) { return }
    var sighting = WindowTable.Sighting()
    sighting.properties.appID = facts.appID(of: window)
    sighting.properties.title = connection.text(window, "_NET_WM_NAME") ?? connection.text(window, "WM_NAME") ?? ""
    let states = Set(connection.numbers(window, "_NET_WM_STATE"))
    sighting.properties.urgent = states.contains(connection.atom("_NET_WM_STATE_DEMANDS_ATTENTION"))
    sighting.properties.fullscreen = states.contains(connection.atom("_NET_WM_STATE_FULLSCREEN"))
    // i3 also marks the tabs in the back.
    let isIconified = states.contains(connection.atom("_NET_WM_STATE_HIDDEN"))
    if state.capabilities.contains(.hide) {
      sighting.properties.minimized = isIconified
      sighting.properties.hidden = isIconified
    }
    if state.capabilities.contains(.inView), let desktop {
      let own = connection.numbers(window, "_NET_WM_DESKTOP").first ?? Self.everyDesktop
      let isShown = !isIconified && !isShowingDesktop && [desktop, Self.everyDesktop].contains(own)
      shown[window] = isShown ? framed(area, window) : nil
      sighting.properties.inView = isShown && !covered.contains(window)
    }
    let leader = connection.numbers(window, "WM_TRANSIENT_FOR").first ?? 0
    sighting.parent =
      leader == 0 || leader == connection.root ? WindowTable.Sighting.Parent.none : .window(.init(leader))
    if !monitors.isEmpty {
      sighting.properties.output =
        sighting.properties.hidden == true ? "" : monitors.holding(area)
    }
    var id = ""
    if !state.windows.contains(key) {
      sighting.properties.pid = facts.pid(of: window) ?? 0
      sighting.properties.startupID = facts.startupID(of: window)
      // The value holds until the focus is read.
      if state.capabilities.contains(.focus) { sighting.properties.focused = false }
      noteFormerFocus(of: window)
      id = facts.id(of: window) { state.windows.key(of: $0) != nil }
    } else if let own = facts.ownStartupID(of: window) {
      sighting.properties.startupID = own
    }
    state.windows.see(key, sighting, now: loop.now, id: id)
  }

  private func noteFormerFocus(of window: Window) { formerFocus[window] = state.windows.focused.map { Window($0) } }

  private func area(of window: Window) -> ScreenArea? {
    let geometry = xcb_get_geometry(connection.raw, window)
    let place = xcb_translate_coordinates(connection.raw, window, connection.root, 0, 0)
    let size = xcb_get_geometry_reply(connection.raw, geometry, nil)
    let origin = xcb_translate_coordinates_reply(connection.raw, place, nil)
    defer {
      free(size)
      free(origin)
    }
    guard let size = size?.pointee, let origin = origin?.pointee else { return nil }
    return ScreenArea(x: Int(origin.dst_x), y: Int(origin.dst_y), width: Int(size.width), height: Int(size.height))
  }

  /// The area of a window with its frame.
  private func framed(_ area: ScreenArea, _ window: Window) -> ScreenArea {
    let extents = connection.numbers(window, "_NET_FRAME_EXTENTS").map { Int(min($0, UInt32(Int16.max))) }
    guard extents.count >= 4 else { return area }
    return ScreenArea(
      x: area.x - extents[0], y: area.y - extents[2], width: area.width + extents[0] + extents[1],
      height: area.height + extents[2] + extents[3])
  }

  // MARK: Requests

  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void
  ) {
    let window = Window(key)
    guard facts.isStill(window, state.windows.id(of: key)) else { return completion(.failure(.isGone)) }
    let pager = Self.pager
    switch request {
    case .close:
      guard facts.canBeAsked(window) || facts.isGone(window) else { return completion(.failure(.cannotBeAsked)) }
      if managerCloses {
        tell(window, "_NET_CLOSE_WINDOW", 0, pager)
      } else {
        xcb_ask_to_close(
          connection.raw, window, connection.atom("WM_PROTOCOLS"), connection.atom("WM_DELETE_WINDOW"))
      }
    case .activate:
      showDesktop(of: window)
      tell(window, "_NET_ACTIVE_WINDOW", pager, 0)
    // The window becomes iconic (ICCCM 4.1.4). An unmapped window would count as withdrawn.
    case .hide:
      if state.windows.properties(of: key)?.hidden != true { hiding.insert(window) }
      tell(window, "WM_CHANGE_STATE", 3, 0)
    // Mapping a mapped window does not show it. mutter keeps iconified windows mapped.
    case .show where hiding.remove(window) != nil,
      .show where state.windows.properties(of: key)?.hidden == true && connection.isMapped(window):
      tell(window, "_NET_ACTIVE_WINDOW", pager, 0)
    case .show:
      noteFormerFocus(of: window)
      xcb_map_window(connection.raw, window)
    case .summon:
      if let current = connection.numbers(connection.root, "_NET_CURRENT_DESKTOP").first {
        tell(window, "_NET_WM_DESKTOP", current, pager)
      }
      tell(window, "_NET_ACTIVE_WINDOW", pager, 0)
    case .place(let placement): place(window, placement)
    case .move: preconditionFailure("the capability is not offered")
    }
    connection.flush()
    completion(.success(()))
  }

  /// Shows the desktop of a window first, as pagers do: openbox only marks a window of another desktop.
  private func showDesktop(of window: Window) {
    guard let own = connection.numbers(window, "_NET_WM_DESKTOP").first, own != Self.everyDesktop,
      let current = connection.numbers(connection.root, "_NET_CURRENT_DESKTOP").first, own != current
    else { return }
    tell(connection.root, "_NET_CURRENT_DESKTOP", own, 0)
  }

  /// - Parameter data: at most five numbers.
  private func tell(_ window: Window, _ type: String, _ data: UInt32...) {
    let padded = data + Array(repeating: 0, count: 5 - data.count)
    xcb_tell_manager(connection.raw, connection.root, window, connection.atom(type), padded)
  }

  // MARK: Placing

  private func place(_ window: Window, _ placement: WindowPlacement) {
    placements.begin(window, placement, now: loop.now)
    goOnPlacing(window)
    if let isSticky = placement.isSticky, let desktop = isSticky ? Self.everyDesktop : desktop {
      tell(window, "_NET_WM_DESKTOP", desktop, Self.pager)
    }
    for (state, isSet) in [("ABOVE", placement.isAbove), ("FULLSCREEN", placement.isFullscreen)] {
      guard let isSet else { continue }
      tell(window, "_NET_WM_STATE", isSet ? 1 : 0, connection.atom("_NET_WM_STATE_\(state)"), 0, Self.pager)
    }
    let former = formerFocus[window].map { WindowTable.Key($0) }
    if let former = state.windows.focusReturned(by: .init(window), to: former, placement) {
      tell(Window(former), "_NET_ACTIVE_WINDOW", Self.pager, 0)
    }
    // Window managers put a window without the focus below the one that has it, or raise that one with its focus.
    if placement.takesFocus == false {
      tell(window, "_NET_RESTACK_WINDOW", Self.pager, 0, XCB_STACK_MODE_ABOVE.rawValue)
    }
  }

  /// Asks for the size and the place of a window that is being placed, as far as they are not those that it has.
  private func goOnPlacing(_ window: Window) {
    guard let placement = placements.placement(of: window), let area = area(of: window) else { return }
    let frame = framed(area, window)
    placements.noteBorder(window, ScreenSize(width: frame.width - area.width, height: frame.height - area.height))
    let pointer = placement.place == .pointer ? pointer : nil
    guard let step = placements.next(window, frame, in: usableArea(around: frame), pointer: pointer, now: loop.now),
      step.origin != nil || step.size != nil
    else { return }
    // The upper left corner is that of the frame (gravity NorthWest), the size that of the window in it. It is always written: without
    // one, fluxbox makes the window larger by its title bar.
    var flags: UInt32 = 1 | Self.pager << 12 | 0xC00
    if step.origin != nil { flags |= 0x300 }
    let width = step.size.map { max(1, $0.width - (frame.width - area.width)) } ?? area.width
    let height = step.size.map { max(1, $0.height - (frame.height - area.height)) } ?? area.height
    tell(
      window, "_NET_MOVERESIZE_WINDOW", flags, UInt32(bitPattern: Int32(clamping: step.origin?.x ?? 0)),
      UInt32(bitPattern: Int32(clamping: step.origin?.y ?? 0)), UInt32(width), UInt32(height))
  }

  /// The area without bars of the output that shows most of a window.
  private func usableArea(around frame: ScreenArea) -> ScreenArea {
    let areas = connection.numbers(connection.root, "_NET_WORKAREA").map { Int(Int32(bitPattern: $0)) }
    let start = Int(desktop ?? 0) * 4
    let work =
      areas.count >= start + 4
      ? ScreenArea(x: areas[start], y: areas[start + 1], width: areas[start + 2], height: areas[start + 3]) : nil
    let monitor = monitors.first { $0.name == monitors.holding(frame) } ?? monitors.first
    guard let monitor else { return work ?? frame }
    return work.flatMap { monitor.area.intersection($0) } ?? monitor.area
  }

  private var pointer: ScreenPoint? {
    let reply = xcb_query_pointer_reply(connection.raw, xcb_query_pointer(connection.raw, connection.root), nil)
    defer { free(reply) }
    return reply.map { ScreenPoint(x: Int($0.pointee.root_x), y: Int($0.pointee.root_y)) }
  }
}

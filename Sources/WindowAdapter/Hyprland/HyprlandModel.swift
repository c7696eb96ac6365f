import EventLoops
import PresentationModel
import TextFormats

/// The windows according to the events and answers of Hyprland, and the commands that carry out a request. No I/O.
///
/// Events say that something has happened, and seldom give the new state. The state that they give is used at once; the rest is read again.
struct HyprlandModel {
  typealias Key = WindowTable.Key
  typealias Instant = MonotonicInstant
  typealias Client = HyprlandAnswer.Client

  private(set) var state = WindowSystemState()
  /// Whether everything has to be read again.
  private(set) var wantsAnswer = true
  /// Whether a window has opened that the next answer will report.
  private(set) var hasNewWindow = false
  private var ids: NumberedIDs
  private let makeID: () -> String
  private var clients: [Key: Client] = [:]
  private var monitors: [HyprlandAnswer.Monitor] = []
  private var hasAnswer = false
  /// Whether this version reports the new title with its event.
  private var tellsTitles = false
  /// The events since the pending answer was requested; the answer may be older than the events.
  private var meanwhile = Meanwhile()
  /// The effects of requests that no answer reports yet. One request may follow another before the answer.
  private var foreseen = Foresight()
  private var placements = Placements<Key>()
  /// The windows that had the focus when others opened.
  private var formerFocus: [Key: Key] = [:]

  private struct Meanwhile {
    var closed: Set<Key> = []
    var titled: Set<Key> = []
    var hasFocusMoved = false
    var hasRequests = false
  }

  private struct Foresight {
    var hidden: [Key: Bool] = [:]
    var pinned: [Key: Bool] = [:]
    var focused: Key?
  }

  /// - Parameter makeID: makes an id for a window, for versions that do not report one.
  init(_ ids: NumberedIDs, makeID: @escaping () -> String) {
    state.capabilities = [
      .close, .activate, .hide, .move, .summon, .place, .fullscreen, .expect, .pid, .output, .focus, .inView,
    ]
    self.ids = ids
    self.makeID = makeID
  }

  mutating func announceDue(now: Instant) { state.windows.announceDue(now: now) }
  mutating func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }

  // MARK: Input

  /// Notes that lines were missed.
  mutating func takeGap() { wantsAnswer = true }

  /// - Parameter line: `EVENT>>DATA`, of at most 1024 bytes of data.
  mutating func take(_ line: [UInt8], now: Instant) {
    guard let end = line.indices.dropLast().first(where: { line[$0] == Self.arrow && line[$0 + 1] == Self.arrow })
    else { return }
    let event = String(decoding: line[..<end], as: UTF8.self)
    let data = line[(end + 2)...]
    let fields = data.split(separator: UInt8(ascii: ","), maxSplits: 1, omittingEmptySubsequences: false)
    let first = String(decoding: fields.first ?? [], as: UTF8.self)
    switch event {
    case "closewindow":
      guard let key = HyprlandAnswer.address(first) else { return }
      close(key)
      meanwhile.closed.insert(key)
      wantsAnswer = true
    case "openwindow": (wantsAnswer, hasNewWindow) = (true, true)
    case "windowtitle": if !tellsTitles { wantsAnswer = true }
    case "windowtitlev2":
      tellsTitles = true
      guard let key = HyprlandAnswer.address(first), state.windows.contains(key), fields.count == 2 else { return }
      // Longer data are cut off.
      guard data.count < Self.maxData else { return wantsAnswer = true }
      var properties = WindowProperties()
      properties.title = String(decoding: fields[1], as: UTF8.self)
      meanwhile.titled.insert(key)
      state.windows.see(key, WindowTable.Sighting(properties: properties), now: now, id: "")
    case "activewindow":
      // This event also reports a new class of the focused window. A new title changes no unknown property.
      let appID = state.windows.focused.flatMap { state.windows.properties(of: $0)?.appID } ?? ""
      if !data.starts(with: Array("\(appID),".utf8)) { wantsAnswer = true }
    case "activewindowv2":
      let key = HyprlandAnswer.address(first)
      guard key != state.windows.focused else { return }
      // A window that has just opened becomes known, with the focus, by the next answer.
      if key.map(state.windows.contains) != false { focus(key, now: now) }
      meanwhile.hasFocusMoved = true
      wantsAnswer = true
    case "urgent":
      if let key = HyprlandAnswer.address(first), state.windows.contains(key), state.windows.focused != key {
        set(urgent: true, key, now: now)
      }
    default: if Self.changes.contains(event.hasSuffix("v2") ? String(event.dropLast(2)) : event) { wantsAnswer = true }
    }
  }

  private static let arrow = UInt8(ascii: ">")
  /// The limit in bytes of an event's data.
  private static let maxData = 1024

  /// Events after which windows or their places may have changed. Some have a second version, which comes with the first.
  private static let changes: Set<String> = [
    "movewindow", "changefloatingmode", "fullscreen", "pin", "minimized", "togglegroup", "moveintogroup",
    "moveoutofgroup", "workspace", "activespecial", "moveworkspace", "renameworkspace", "changeworkspaceid",
    "focusedmon",
    "monitoradded", "monitorremoved", "configreloaded",
  ]

  /// Notes that a request for an answer is sent now.
  mutating func takeWant() {
    (wantsAnswer, hasNewWindow) = (false, false)
    placements.beginWithReading()
    meanwhile = Meanwhile()
  }

  mutating func take(_ answer: HyprlandAnswer, now: Instant) {
    monitors = answer.monitors
    state.outputs = monitors.map(\.name)
    state.focusedOutput = monitors.first(where: \.isFocused)?.name ?? ""
    let isFirst = !hasAnswer
    hasAnswer = true
    if !meanwhile.hasRequests { foreseen = Foresight() }
    let present = answer.clients.filter { !meanwhile.closed.contains($0.address) }
    let addresses = Set(present.map(\.address))
    for key in state.windows.allKeys.filter({ !addresses.contains($0) }) { close(key) }
    // Windows are seen in the order in which they opened, where the version reports it.
    let covers = present.filter(\.isCovering).reduce(into: [:]) { $0[$1.workspace?.identity ?? ""] = $1.address }
    for client in present.sorted(by: { ($0.stableID ?? 0) < ($1.stableID ?? 0) }) {
      let cover = client.workspace.flatMap { covers[$0.identity] } ?? client.address
      // Hyprland does not tell what floats above a fullscreen window, but what has the focus does.
      let isCovered = cover != client.address && !client.isPinned && answer.focused != client.address
      see(client, isCovered: isCovered || client.isBehindOthers, now: now)
    }
    if !meanwhile.hasFocusMoved { focus(answer.focused.flatMap { addresses.contains($0) ? $0 : nil }, now: now) }
    meanwhile = Meanwhile()
    if isFirst { state.windows.announceAll() }
  }

  private mutating func see(_ client: Client, isCovered: Bool, now: Instant) {
    let key = client.address
    // The address of a closed window may belong to another one.
    if let former = clients[key], former.stableID != client.stableID { close(key) }
    if clients[key] == nil { formerFocus[key] = state.windows.focused }
    clients[key] = client
    var sighting = WindowTable.Sighting(properties: client.properties)
    // The event of a title is newer than the answer.
    if meanwhile.titled.contains(key) { sighting.properties.title = nil }
    let isHidden = client.workspace?.name == HyprlandCommand.hiding
    let monitor = monitors.first { $0.number == client.monitor }
    sighting.properties.hidden = isHidden
    sighting.properties.output = isHidden ? "" : monitor?.name ?? ""
    sighting.properties.inView = client.workspace.map { workspace in
      !isHidden && !isCovered
        && monitors.contains {
          $0.workspace?.identity == workspace.identity || $0.special?.identity == workspace.identity
        }
    }
    let id = state.windows.contains(key) ? "" : client.stableID.map(ids.id) ?? makeID()
    state.windows.see(key, sighting, now: now, id: id)
  }

  private mutating func close(_ key: Key) {
    if let stableID = clients.removeValue(forKey: key)?.stableID { ids.close(stableID) }
    state.windows.close(key)
    placements.forget(key)
    formerFocus[key] = nil
    foreseen.hidden[key] = nil
    foreseen.pinned[key] = nil
    if foreseen.focused == key { foreseen.focused = nil }
  }

  private mutating func focus(_ key: Key?, now: Instant) {
    state.windows.setFocus(key)
    // Nothing else reports the end of the urgency.
    if let key, state.windows.properties(of: key)?.urgent == true { set(urgent: false, key, now: now) }
  }

  private mutating func set(urgent: Bool, _ key: Key, now: Instant) {
    var properties = WindowProperties()
    properties.urgent = urgent
    state.windows.see(key, WindowTable.Sighting(properties: properties), now: now, id: "")
  }

  // MARK: Requests

  /// The commands that carry out a request for a window.
  mutating func commands(
    _ request: WindowRequest, _ key: Key, now: Instant
  ) throws(Refusal) -> [HyprlandCommand] {
    let isHidden = foreseen.hidden[key] ?? (state.windows.properties(of: key)?.hidden == true)
    var commands: [HyprlandCommand] = []
    switch request {
    case .close: return [.close(key)]
    case .show where !isHidden: return []
    case .hide where isHidden: return []
    case .activate, .show:
      if isHidden { commands = show(key, on: try focusedMonitor(request)) }
      commands.append(.focus(key))
      foreseen.focused = key
    case .summon:
      let monitor = try focusedMonitor(request)
      commands = isHidden ? show(key, on: monitor) : bring(key, to: monitor)
      commands.append(.focus(key))
      foreseen.focused = key
    case .hide: commands = hide(key)
    case .place(let placement): commands = place(key, placement, now: now)
    case .move(let output):
      guard let monitor = monitors.first(where: { $0.name == output }) else {
        throw Refusal(.notSupported, "\(request.noun): the output is gone")
      }
      let hasFocus = (foreseen.focused ?? state.windows.focused) == key
      switch (isHidden, hasFocus) {
      case (true, _): commands = show(key, on: monitor)
      case (false, true): commands = bring(key, to: monitor) + [.focus(key)]
      case (false, false): commands = [.move(key, to: monitor, withFocus: false)]
      }
    }
    meanwhile.hasRequests = true
    // The request may change nothing, and so cause no event.
    wantsAnswer = true
    return commands
  }

  private func focusedMonitor(_ request: WindowRequest) throws(Refusal) -> HyprlandAnswer.Monitor {
    guard let monitor = monitors.first(where: \.isFocused) ?? monitors.first else {
      throw Refusal(.notSupported, "\(request.noun): there is no output")
    }
    return monitor
  }

  private mutating func hide(_ key: Key) -> [HyprlandCommand] {
    foreseen.hidden[key] = true
    if foreseen.focused == key { foreseen.focused = nil }
    var commands: [HyprlandCommand] = []
    // A grouped window leaves its group first; otherwise the whole group moves.
    if clients[key]?.isGrouped == true { commands.append(.leaveGroup(key)) }
    // A pinned window cannot go to a special workspace.
    if foreseen.pinned[key] ?? (clients[key]?.isPinned == true) {
      foreseen.pinned[key] = false
      commands += [.tag(key, HyprlandCommand.wasPinned), .togglePin(key)]
    }
    return commands + [.hide(key)]
  }

  /// Shows a hidden window on an output.
  private mutating func show(_ key: Key, on monitor: HyprlandAnswer.Monitor) -> [HyprlandCommand] {
    foreseen.hidden[key] = false
    let move = HyprlandCommand.move(key, to: monitor, withFocus: false)
    let wasPinned = foreseen.pinned[key].map { !$0 } ?? (clients[key]?.tags.contains(HyprlandCommand.wasPinned) == true)
    guard wasPinned else { return [move] }
    foreseen.pinned[key] = true
    return [move, .togglePin(key), .untag(key, HyprlandCommand.wasPinned)]
  }

  /// Moves a window that is to get the focus, so that no other window gets it in between.
  private func bring(_ key: Key, to monitor: HyprlandAnswer.Monitor) -> [HyprlandCommand] {
    let workspace = clients[key]?.workspace
    // Some versions refuse a move to the same workspace.
    if let workspace, workspace.identity == monitor.workspace?.identity { return [] }
    // A move with the focus would close the special workspace in view, whether or not it is the window's.
    return [.move(key, to: monitor, withFocus: workspace?.name.hasPrefix("special") != true)]
  }
}

// MARK: Placing

extension HyprlandModel {
  /// Whether windows are being placed, so that they are to be read until they are: no event tells that one has adopted a size.
  var isPlacing: Bool { !placements.isEmpty }

  /// The time until the areas are to be read again while windows are being placed.
  func pauseOfPlacing(now: Instant) -> Duration { placements.pause(now: now) }

  private mutating func place(_ key: Key, _ placement: WindowPlacement, now: Instant) -> [HyprlandCommand] {
    placements.beginLater(key, placement, now: now)
    var commands: [HyprlandCommand] = placement.isFullscreen == false ? [.focus(key), .endFullscreen(key)] : []
    if placement.makesFloating { commands.append(.float(key)) }
    let isPinned = foreseen.pinned[key] ?? (clients[key]?.isPinned == true)
    if let isSticky = placement.isSticky, isSticky != isPinned {
      foreseen.pinned[key] = isSticky
      commands.append(.togglePin(key))
    }
    if placement.isAbove == true { commands.append(.raise(key)) }
    if placement.isFullscreen == true { commands += [.focus(key), .makeFullscreen(key)] }
    if let former = state.windows.focusReturned(by: key, to: formerFocus[key], placement) {
      commands.append(.focus(former))
    }
    return commands
  }

  /// The commands that go on with the placing of windows.
  mutating func placing(now: Instant) -> [HyprlandCommand] {
    placements.keepInView(among: state.outputs, now: now) { [self] key in
      guard let frame = clients[key]?.area, let monitor = monitor(of: key), let area = monitor.usableArea
      else { return nil }
      return PlacedWindow.Spot(
        state.windows.properties(of: key), output: monitor.name, area: area, frame: frame)
    }
    return placements.keys.sorted().flatMap { nextStep($0, now: now) }
  }

  private func monitor(of key: Key) -> HyprlandAnswer.Monitor? {
    monitors.first { $0.number == clients[key]?.monitor }
  }

  private mutating func nextStep(_ key: Key, now: Instant) -> [HyprlandCommand] {
    guard let frame = clients[key]?.area, let area = monitor(of: key)?.usableArea else {
      placements.forgetIfOverdue(key, now: now)
      return []
    }
    let step = placements.next(key, frame, in: area, now: now)
    return [step?.size.map { .resize(key, $0) }, step?.origin.map { .moveTo(key, $0) }].compactMap(\.self)
  }
}

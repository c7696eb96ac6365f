import EventLoops
import PresentationModel
import TextFormats

/// The windows according to the events and trees of i3 and sway, and the commands that carry out a request. No I/O.
struct I3Model {
  typealias Key = WindowTable.Key
  typealias Instant = MonotonicInstant

  /// The facts about a new window that the tree does not contain.
  struct Identity {
    /// The id, which is never used for another window.
    let id: String
    /// The process, if the tree does not contain it.
    var pid: UInt32?
    var startupID: String?
  }

  private(set) var state = WindowSystemState()
  /// The parts to read again: the tree, the outputs.
  private var wants: Set<I3Message.Kind> = [.tree, .outputs]
  /// Names a new window; `isTaken` tells whether a window has an id already.
  typealias Identifying = (_ node: I3Tree.Node, _ isTaken: (String) -> Bool) -> Identity
  private let identify: Identifying
  private let programsResize: Bool
  /// The containers of X windows, which may have dialogs.
  private var containers: [UInt32: Int64] = [:]
  private var nodes: [Int64: I3Tree.Node] = [:]
  private var hasTree = false
  private var focusedWorkspace = ""
  /// The windows that are being placed.
  private var placements: Placements<Key>
  /// The container that had the focus when a window opened or was shown again; nil for an empty workspace.
  private var formerFocus: [Int64: Int64?] = [:]
  private var focusRules = SwayFocusRules()
  /// The windows that have opened, and may not have the focus because of a rule that is about others, with the patterns of those that were
  /// expected then. Their titles come later.
  private var opened: [Int64: [WindowPattern]] = [:]
  /// The effects of requests that the tree does not show yet: requests before the pending request for the tree, and later ones.
  private var (asked, unasked) = (Foresight(), Foresight())

  /// - Parameters:
  ///   - capabilities: the capabilities with this window manager.
  ///   - programsResize: whether a window that floats gets each size in which its program draws, as on sway.
  init(capabilities: [WindowCapability], programsResize: Bool, identify: @escaping Identifying) {
    state.capabilities = capabilities
    placements = programsResize ? Placements(patience: 3) : Placements(attempts: 0)
    self.programsResize = programsResize
    self.identify = identify
  }

  static func key(_ container: Int64) -> Key { Key(bitPattern: container) }
  static func container(_ key: Key) -> Int64 { Int64(bitPattern: key) }

  func node(_ key: Key) -> I3Tree.Node? { nodes[Self.container(key)] }

  /// The effects of requests. One request may follow another before the tree shows the effect of the first.
  private struct Foresight {
    var hidden: [Int64: Bool] = [:]
    /// The states that windows had before they were hidden, and get again when they are shown.
    var memories: [Int64: Set<Memory>] = [:]
    var focused: Int64?

    func followed(by later: Foresight) -> Foresight {
      Foresight(
        hidden: hidden.merging(later.hidden) { $1 }, memories: memories.merging(later.memories) { $1 },
        focused: later.focused ?? focused)
    }
  }

  // MARK: Input

  /// - Parameter event: nil for an event that was too large to be read, or of another kind.
  mutating func take(_ event: I3Message.Event?, _ json: JSON?, now: Instant) {
    let change = json?["change"]?.string
    if event == .workspace, change == "reload" { focusRules.forget() }
    if event == .window, hasTree, change == "close", case .integer(let container)? = json?["container"]?["id"] {
      close(Self.key(container))
      wants.insert(.tree)
      return
    }
    guard event == .window, hasTree, let change, let node = json?["container"].flatMap(I3Tree.node) else {
      // An unplugged output, an empty workspace that gets the focus, and another layout cause no event of a window.
      wants.formUnion(event == .window || event == .binding ? [.tree] : [.tree, .outputs])
      return
    }
    let key = Self.key(node.container)
    switch change {
    case "focus":
      see(node, now: now)
      state.windows.setFocus(key)
    case "mark": return
    case "title", "urgent":
      see(node, now: now)
      return
    default: see(node, now: now)
    }
    // Only the tree contains the window's place and the focus.
    wants.insert(.tree)
  }

  mutating func take(tree json: JSON, now: Instant) {
    // The tree and the outputs are read again: a lost output must be known before the windows that
    // moved.
    if hasTree, wants.contains(.outputs) { return }
    let tree = I3Tree(json)
    let isFirst = !hasTree
    hasTree = true
    let present = Set(tree.nodes.map { Self.key($0.container) })
    for key in state.windows.allKeys.filter({ !present.contains($0) }) { close(key) }
    // sway's numbers ascend, so windows are seen in the order in which they opened.
    for node in tree.nodes.sorted(by: { $0.container < $1.container }) { see(node, now: now) }
    state.windows.setFocus(tree.focused.map(Self.key))
    state.focusedOutput = tree.focusedOutput
    focusedWorkspace = tree.focusedWorkspace
    asked = Foresight()
    if isFirst { state.windows.announceAll() }
  }

  /// - Parameter json: the answer of GET_OUTPUTS.
  mutating func take(outputs json: JSON) {
    state.outputs = (json.array ?? []).filter { $0["active"] == true }.compactMap { $0["name"]?.string }
  }

  /// The parts to request now; the model regards them as requested.
  mutating func takeWants() -> Set<I3Message.Kind> {
    defer { wants = [] }
    if wants.contains(.tree) {
      (asked, unasked) = (asked.followed(by: unasked), Foresight())
      placements.beginWithReading()
    }
    return wants
  }

  /// Handles facts about sway's windows that only the Wayland protocol reports: all windows lost the focus, for example to a launcher
  /// or after a click on the desktop, or a window got another app-id.
  mutating func takeToplevel(_ changes: WindowProperties) {
    let isUnknown = changes.focused == false || changes.focused == true && state.windows.focused == nil
    if isUnknown || changes.appID != nil { wants.insert(.tree) }
  }

  /// Handles properties that the tree does not contain, or contains later.
  /// - Parameter window: an X window.
  mutating func take(_ properties: WindowProperties, of window: UInt32, now: Instant) {
    guard let container = containers[window] else { return }
    if let appID = properties.appID { nodes[container]?.properties.appID = appID }
    state.windows.see(Self.key(container), WindowTable.Sighting(properties: properties), now: now, id: "")
    wants.insert(.tree)
  }

  mutating func announceDue(now: Instant) { state.windows.announceDue(now: now) }
  mutating func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }

  private mutating func close(_ key: Key) {
    let container = Self.container(key)
    if let window = nodes.removeValue(forKey: container)?.xWindow, containers[window] == container {
      containers[window] = nil
    }
    placements.forget(key)
    formerFocus.removeValue(forKey: container)
    opened[container] = nil
    state.windows.close(key)
  }

  private mutating func see(_ node: I3Tree.Node, now: Instant) {
    let key = Self.key(node.container)
    var sighting = WindowTable.Sighting(properties: node.properties)
    var identity: Identity?
    if !state.windows.contains(key) {
      let windows = state.windows
      identity = identify(node) { windows.key(of: $0) != nil }
      if node.properties.pid == nil, let identity { sighting.properties.pid = identity.pid ?? 0 }
      sighting.properties.startupID = identity?.startupID
      if hasTree {
        formerFocus.updateValue(state.windows.focused.map(Self.container), forKey: node.container)
        if !focusRules.isEmpty { opened[node.container] = focusRules.expected }
      }
    }
    let former = nodes.updateValue(node, forKey: node.container)
    if node.floatsWithOthers == nil { nodes[node.container]!.floatsWithOthers = former?.floatsWithOthers }
    if let window = node.xWindow {
      containers[window] = node.container
      // An unmanaged window of a client has no container, and is not a parent.
      sighting.parent =
        node.transientFor.map { containers[$0].map { .window(Self.key($0)) } ?? .none }
        ?? WindowTable.Sighting.Parent.none
    }
    state.windows.see(key, sighting, now: now, id: identity?.id ?? "")
  }

  // MARK: Requests

  /// The properties that a window loses in the scratchpad, and gets back when it is shown. They are kept in marks: marks that begin
  /// with `_` are not shown, and outlive the adapter.
  private enum Memory: String, CaseIterable {
    case tiled
    case fullscreen
    /// Fullscreen over all outputs.
    case global

    func mark(_ container: Int64) -> String { "_navd_\(rawValue)_\(container)" }

    var restoring: String {
      switch self {
      case .tiled: "floating disable"
      case .fullscreen: "fullscreen enable"
      case .global: "fullscreen enable global"
      }
    }

    func holds(for node: I3Tree.Node) -> Bool {
      switch self {
      case .tiled: node.properties.floating == false
      case .fullscreen: node.properties.fullscreen == true && !node.isGloballyFullscreen
      case .global: node.isGloballyFullscreen
      }
    }
  }

  /// The commands that carry out a request for a window, and the commands that follow and may fail.
  mutating func commands(_ request: WindowRequest, _ key: Key) -> (doing: [String], after: [String]) {
    let container = Self.container(key)
    let window = "[con_id=\(container)]"
    let foreseen = asked.followed(by: unasked)
    let isHidden = foreseen.hidden[container] ?? (state.windows.properties(of: key)?.hidden == true)
    let focused = foreseen.focused ?? state.windows.focused.map(Self.container)
    switch request {
    case .close: return (["\(window) kill"], [])
    case .show where !isHidden: return (["nop"], [])
    // “scratchpad show” would hide a shown window again.
    case .activate, .show:
      foreseeShown(container, wasHidden: isHidden, foreseen)
      return (["\(window) focus"], isHidden ? restoring(container) : [])
    case .summon:
      foreseeShown(container, wasHidden: isHidden, foreseen)
      return (
        ["\(window) move container to workspace current", "\(window) focus"], isHidden ? restoring(container) : []
      )
    case .hide where isHidden: return (["nop"], [])
    case .hide:
      let node = nodes[container]
      let held = foreseen.memories[container] ?? Set(Memory.allCases.filter { node.map($0.holds) ?? false })
      unasked.hidden[container] = true
      unasked.memories[container] = held
      wants.insert(.tree)
      let marking = Memory.allCases.compactMap { memory -> String? in
        let mark = memory.mark(container)
        if held.contains(memory) { return "\(window) mark --add \(mark)" }
        return node?.marks.contains(mark) == true ? "\(window) unmark \(mark)" : nil
      }
      // The compositor moves the focus to the former place of the window.
      return (marking + ["\(window) move scratchpad"], focused == container ? [] : returning(to: focused))
    case .place: preconditionFailure("a window is placed by several commands")
    case .move(let output):
      return (["\(window) move container to output \(Self.literal(output))"], returning(to: focused))
    }
  }

  /// Tells which windows are expected that are to open without the focus; ``takeRules()`` has the commands that follow.
  mutating func expectWithoutFocus(_ patterns: [WindowPattern]) { focusRules.expect(patterns) }

  /// The rules that sway is to be told.
  mutating func takeRules() -> [String] { focusRules.takeDue() }

  /// The commands that give the focus to windows that would have got it without a rule.
  mutating func givingFocus() -> [String] {
    opened.sorted { $0.key < $1.key }.compactMap { container, expected in
      // Before the tree tells it, a window's output is not known.
      guard let window = state.windows.properties(of: Self.key(container)), let output = window.output
      else { return nil }
      opened[container] = nil
      let isAsItWas = formerFocus[container] == .some(state.windows.focused.map(Self.container))
      guard isAsItWas, window.inView == true, output == state.focusedOutput,
        focusRules.deprives(window, besides: expected)
      else { return nil }
      return "[con_id=\(container)] focus"
    }
  }

  /// Begins to place a window; ``placing(now:)`` has the commands that follow.
  /// - Returns: the commands that give the focus back to the window that had it, if the placement says so, and that make the
  ///   window fullscreen.
  mutating func place(_ key: Key, _ placement: WindowPlacement, now: Instant) -> [String] {
    placements.beginLater(key, placement, now: now)
    // Only the tree contains the areas.
    wants.insert(.tree)
    // The window may be raised before the tree is there. The window manager would end the fullscreen of a window that covers it,
    // and both would be tiles until then. A window that is fullscreen cannot be moved, so one that floats waits.
    let isFullscreenNow = placement.isFullscreen == true && !placement.makesFloating
    let fullscreen = isFullscreenNow ? ["[con_id=\(Self.container(key))] \(Memory.fullscreen.restoring)"] : []
    guard let former = formerFocus[Self.container(key)],
      state.windows.returnsFocus(of: key, to: former.map(Self.key), placement)
    else { return fullscreen }
    return returning(to: former) + fullscreen
  }

  /// Whether windows are being placed, so that the tree is to be read until they are.
  var isPlacing: Bool { !placements.isEmpty }

  /// The time until the areas are to be read again while windows are being placed.
  func pauseOfPlacing(now: Instant) -> Duration { placements.pause(now: now) }

  /// Asks for the tree, since no event tells that a window has adopted its size.
  mutating func readTree() { wants.insert(.tree) }

  /// Handles a change of outputs. sway tells nobody at its socket that one has another scale or resolution.
  mutating func takeOutputsChange() { wants.formUnion([.tree, .outputs]) }

  /// The commands that place windows, as far as their areas are known.
  mutating func placing(now: Instant) -> [String] {
    placements.keepInView(among: state.outputs, now: now) { [nodes] key in
      guard let node = nodes[Self.container(key)], let frame = node.frame, let area = node.usableArea
      else { return nil }
      return PlacedWindow.Spot(node.properties, output: node.properties.output ?? "", area: area, frame: frame)
    }
    return placements.keys.sorted().flatMap { key -> [String] in
      guard let node = nodes[Self.container(key)], let frame = node.frame, let area = node.usableArea else {
        placements.forgetIfOverdue(key, now: now)
        return []
      }
      let window = "[con_id=\(node.container)]"
      guard let placement = placements.placement(of: key) else { return [] }
      if node.properties.fullscreen == true {
        if placements.hasBegun(key) {
          placements.forgetIfOverdue(key, now: now)
          // sway gives it the size of a late frame.
          let fills = node.outputArea.map { frame.contains($0) } ?? true
          return fills ? [] : ["\(window) fullscreen disable, \(Memory.fullscreen.restoring)"]
        }
        if placement.isFullscreen == nil {
          // Its user has made it fullscreen.
          placements.forget(key)
          return []
        }
      }
      let natural =
        programsResize && placement.makesFloating && node.properties.floating == false ? node.naturalSize : nil
      guard let step = placements.next(key, frame, in: area, natural: natural, now: now) else { return [] }
      var words: [String] = []
      if step.isFirst {
        if placement.isFullscreen == false { words.append("fullscreen disable") }
        if placement.makesFloating { words.append("floating enable") }
        if let isSticky = placement.isSticky { words.append("sticky \(isSticky ? "enable" : "disable")") }
        if placement.floats == false, !placement.makesFloating { words.append("floating disable") }
      }
      if let size = step.size { words.append("resize set \(size.width) px \(size.height) px") }
      if placement.place == .pointer {
        words.append("move position mouse")
      } else if let origin = step.origin {
        words.append("move absolute position \(origin.x) px \(origin.y) px")
      }
      // One that does not float is fullscreen already.
      if step.isFirst, placement.isFullscreen == true, placement.makesFloating { words.append("fullscreen enable") }
      return words.isEmpty ? [] : ["\(window) \(words.joined(separator: ", "))"]
    }
  }

  private mutating func foreseeShown(_ container: Int64, wasHidden: Bool, _ foreseen: Foresight) {
    if wasHidden {
      formerFocus.updateValue(foreseen.focused ?? state.windows.focused.map(Self.container), forKey: container)
    }
    unasked.focused = container
    unasked.hidden[container] = false
    // The request may change nothing, and so cause no event.
    wants.insert(.tree)
    guard wasHidden else { return }
    let marks = nodes[container]?.marks ?? []
    unasked.memories[container] =
      foreseen.memories[container] ?? Set(Memory.allCases.filter { marks.contains($0.mark(container)) })
  }

  /// Restores the properties that a hidden window has lost, as its marks say.
  private func restoring(_ container: Int64) -> [String] {
    Memory.allCases.flatMap { memory in
      let window = "[con_mark=\"^\(memory.mark(container))$\"]"
      return ["\(window) \(memory.restoring)", "\(window) unmark \(memory.mark(container))"]
    }
  }

  /// Returns the focus to its present window, workspace or output.
  private func returning(to focused: Int64?) -> [String] {
    if let focused { return ["[con_id=\(focused)] focus"] }
    if state.focusedOutput.isEmpty { return [] }
    let output = "focus output \(Self.literal(state.focusedOutput))"
    // An empty workspace may be gone, and is created again on that output.
    return focusedWorkspace.isEmpty
      ? [output] : [output, "workspace --no-auto-back-and-forth \(Self.literal(focusedWorkspace))"]
  }

  /// A text as a literal in a command. The window manager names outputs and workspaces, and understands an escaped quotation mark.
  private static func literal(_ text: String) -> String {
    "\"" + text.replacingAll("\\", with: "\\\\").replacingAll("\"", with: "\\\"") + "\""
  }
}

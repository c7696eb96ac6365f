import EventLoops
import PresentationModel
import TextFormats

/// The windows according to the events of niri, and the actions that carry out a request. No I/O.
///
/// The first events of a connection report all workspaces and all windows, and later ones report changes. So nothing has to be asked.
struct NiriModel {
  typealias Key = WindowTable.Key
  typealias Instant = MonotonicInstant

  /// A window in an event.
  struct Node {
    let number: UInt64
    var properties: WindowProperties
    /// The process that has opened the window's connection; nil if niri does not know it.
    let client: UInt32?
    /// The workspace; nil if the window is on none, as while its user moves it.
    let workspace: UInt64?
    /// The size with its decorations, in logical pixels; nil if this version does not tell it.
    var size: (width: Double, height: Double)?
  }

  /// A window that is being placed. Its place follows from its size, which its program decides later.
  private struct Placing {
    let placement: WindowPlacement
    let end: Instant
    /// The size from which the last place was computed.
    var size: (width: Double, height: Double)?
  }

  /// Finds the process of a window, which is its client unless the client shows windows of others; nil if it is not known.
  typealias FindingProcess = (_ node: Node) -> UInt32?

  private struct Workspace {
    let number: UInt64
    let output: String
    var isActive: Bool
    var isFocused: Bool
  }

  private(set) var state = WindowSystemState()
  private var workspaces: [UInt64: Workspace] = [:]
  private var nodes: [Key: Node] = [:]
  /// The number of failed searches for the process of a window.
  private var searches: [Key: Int] = [:]
  /// The limit of searches, each of which asks the X server about all windows. If the first searches for a window with a class and a
  /// title fail, later ones fail, too, however often its client changes the title.
  private static let maxSearches = 3
  /// Windows for which the table has no room.
  private var leftOut: Set<Key> = []
  private var placing: [Key: Placing] = [:]
  /// The windows that had the focus when others opened.
  private var formerFocus: [Key: Key] = [:]
  private var hasWorkspaces = false
  private var hasWindows = false
  private var ids: NumberedIDs
  private let findProcess: FindingProcess

  init(_ ids: NumberedIDs, findProcess: @escaping FindingProcess) {
    state.capabilities = [.close, .activate, .move, .summon, .place, .expect, .pid, .output, .focus, .inView]
    self.ids = ids
    self.findProcess = findProcess
  }

  /// Whether all windows and workspaces from before the connection are known.
  var isComplete: Bool { hasWorkspaces && hasWindows }

  // MARK: Events

  /// - Parameter event: an event; an unknown one is ignored.
  mutating func take(_ event: JSON, now: Instant) {
    if let content = event["WorkspacesChanged"] {
      guard let all = content["workspaces"]?.array else { return }
      take(workspaces: all.compactMap(Self.workspace), now: now)
    } else if let content = event["WorkspaceActivated"] {
      guard let number = content["id"]?.unsigned, let workspace = workspaces[number] else { return }
      for other in workspaces.keys {
        if workspaces[other]?.output == workspace.output { workspaces[other]?.isActive = other == number }
        if content["focused"] == true { workspaces[other]?.isFocused = other == number }
      }
      place(now: now)
    } else if let content = event["WindowsChanged"] {
      guard let all = content["windows"]?.array else { return }
      take(windows: all.compactMap(Self.node), now: now)
    } else if let content = event["WindowOpenedOrChanged"] {
      guard hasWindows, let node = content["window"].flatMap(Self.node) else { return }
      see(node, now: now)
      setFocus(node)
    } else if let content = event["WindowClosed"] {
      guard let key = content["id"]?.unsigned else { return }
      close(key)
      seeLeftOut(now: now)
    } else if let content = event["WindowFocusChanged"] {
      guard let id = content["id"] else { return }
      // No window has the focus while a launcher or a bar has it.
      state.windows.setFocus(id.unsigned.flatMap { state.windows.contains($0) ? $0 : nil })
    } else if let content = event["WindowUrgencyChanged"] {
      guard let key = content["id"]?.unsigned, var node = nodes[key],
        case .boolean(let urgent)? = content["urgent"]
      else { return }
      node.properties.urgent = urgent
      see(node, now: now)
    } else if let content = event["WindowLayoutsChanged"] {
      for change in content["changes"]?.array ?? [] {
        guard let pair = change.array, pair.count == 2, let key = pair[0].unsigned else { continue }
        if let size = Self.size(pair[1]) { nodes[key]?.size = size }
      }
    }
  }

  private mutating func take(workspaces all: [Workspace], now: Instant) {
    workspaces = Dictionary(all.map { ($0.number, $0) }) { $1 }
    // An active output has a workspace. niri reports them in no order.
    state.outputs = Set(all.map(\.output)).subtracting([""]).sorted()
    hasWorkspaces = true
    place(now: now)
    announceIfComplete()
  }

  private mutating func take(windows all: [Node], now: Instant) {
    let present = Dictionary(all.map { ($0.number, $0) }) { $1 }
    for key in state.windows.allKeys.filter({ present[$0] == nil }) { close(key) }
    hasWindows = true
    // Numbers ascend in the order in which windows open.
    for node in present.values.sorted(by: { $0.number < $1.number }) { see(node, now: now) }
    state.windows.setFocus(all.first { $0.properties.focused == true }?.number)
    announceIfComplete()
  }

  private mutating func announceIfComplete() {
    if isComplete { state.windows.announceAll() }
  }

  mutating func announceDue(now: Instant) { state.windows.announceDue(now: now) }
  mutating func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }

  private mutating func close(_ key: Key) {
    if nodes.removeValue(forKey: key) != nil { ids.close(key) }
    searches[key] = nil
    placing[key] = nil
    formerFocus[key] = nil
    leftOut.remove(key)
    state.windows.close(key)
  }

  private mutating func see(_ node: Node, now: Instant) {
    let key = node.number
    // Another program has got the number, and the end of the first window was not reported.
    if let former = nodes[key]?.client, let client = node.client, former != client { close(key) }
    var sighting = WindowTable.Sighting(properties: node.properties)
    sighting.properties.focused = nil
    sighting.properties.merge(place(of: node))
    if state.windows.properties(of: key)?.pid == nil { sighting.properties.pid = process(of: node) }
    if nodes[key] == nil { formerFocus[key] = state.windows.focused }
    nodes[key] = node
    let id = state.windows.contains(key) ? "" : ids.id(of: key)
    state.windows.see(key, sighting, now: now, id: id)
    if state.windows.contains(key) { leftOut.remove(key) } else { leftOut.insert(key) }
  }

  private mutating func process(of node: Node) -> UInt32? {
    guard searches[node.number, default: 0] < Self.maxSearches else { return 0 }
    let process = findProcess(node)
    // A search counts only with the class and the title, which may come later.
    if process == nil, node.properties.appID != nil, node.properties.title != nil {
      searches[node.number, default: 0] += 1
    }
    return process
  }

  /// Makes the table see the oldest window that was left out, if there is one, because niri does not report it again.
  private mutating func seeLeftOut(now: Instant) {
    if let node = leftOut.min().flatMap({ nodes[$0] }) { see(node, now: now) }
  }

  private mutating func setFocus(_ node: Node) {
    switch node.properties.focused {
    case true?: state.windows.setFocus(node.number)
    case false? where state.windows.focused == node.number: state.windows.setFocus(nil)
    default: break
    }
  }

  /// The place of a window, as far as it is known.
  private func place(of node: Node) -> WindowProperties {
    var properties = WindowProperties()
    guard let workspace = node.workspace.flatMap({ workspaces[$0] }) else { return properties }
    properties.output = workspace.output
    properties.inView = workspace.isActive
    return properties
  }

  /// Updates the places of all windows, and the output with the focus.
  private mutating func place(now: Instant) {
    for (key, node) in nodes where state.windows.contains(key) {
      state.windows.see(key, WindowTable.Sighting(properties: place(of: node)), now: now, id: "")
    }
    state.focusedOutput = workspaces.values.first(where: \.isFocused)?.output ?? ""
  }

  private static func workspace(_ json: JSON) -> Workspace? {
    guard let number = json["id"]?.unsigned else { return nil }
    return Workspace(
      number: number, output: json["output"]?.string ?? "", isActive: json["is_active"] == true,
      isFocused: json["is_focused"] == true)
  }

  private static func node(_ json: JSON) -> Node? {
    guard let number = json["id"]?.unsigned else { return nil }
    var properties = WindowProperties()
    properties.appID = json["app_id"]?.string
    properties.title = json["title"]?.string
    properties.focused = json["is_focused"].map { $0 == true }
    properties.floating = json["is_floating"].map { $0 == true }
    properties.urgent = json["is_urgent"].map { $0 == true }
    let client = json["pid"]?.unsigned.flatMap(UInt32.init(exactly:)).flatMap { $0 == 0 ? nil : $0 }
    return Node(
      number: number, properties: properties, client: client, workspace: json["workspace_id"]?.unsigned,
      size: json["layout"].flatMap(size))
  }

  private static func size(_ layout: JSON) -> (width: Double, height: Double)? {
    let numbers = (layout["tile_size"]?.array ?? []).compactMap { number -> Double? in
      switch number {
      case .integer(let number): Double(number)
      case .real(let number): number
      default: nil
      }
    }
    return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
  }

  // MARK: Requests

  /// The actions that carry out a request for a window.
  mutating func actions(_ request: WindowRequest, _ key: Key, now: Instant) throws(Refusal) -> [String] {
    let focus = Self.action("FocusWindow", "\"id\":\(key)")
    switch request {
    case .close: return [Self.action("CloseWindow", "\"id\":\(key)")]
    case .activate: return [focus]
    case .move(let output):
      guard let workspace = workspaces.values.first(where: { $0.isActive && $0.output == output }) else {
        throw Refusal(.notSupported, "\(request.noun): the output shows no workspace")
      }
      return [Self.moving(key, to: workspace)]
    case .summon:
      guard let workspace = workspaces.values.first(where: \.isFocused) else {
        throw Refusal(.notSupported, "\(request.noun): no workspace has the focus")
      }
      return [Self.moving(key, to: workspace), focus]
    case .place(let placement): return place(key, placement, now: now)
    case .hide, .show: preconditionFailure("the capability is not offered")
    }
  }

  /// Moves a window; a focused one keeps the focus, and another one does not get it. (A version of 2024 knows this action, and none
  /// that moves a window to an output.)
  private static func moving(_ key: Key, to workspace: Workspace) -> String {
    action("MoveWindowToWorkspace", "\"window_id\":\(key),\"reference\":{\"Id\":\(workspace.number)},\"focus\":true")
  }

  private static func action(_ name: String, _ arguments: String) -> String {
    "{\"Action\":{\"\(name)\":{\(arguments)}}}\n"
  }
}

// MARK: Placing

extension NiriModel {
  private mutating func place(_ key: Key, _ placement: WindowPlacement, now: Instant) -> [String] {
    placing[key] = Placing(
      placement: placement, end: now + Placements<Key>.timeToResize, size: nodes[key]?.size)
    var actions = placement.makesFloating ? [Self.action("MoveWindowToFloating", "\"id\":\(key)")] : []
    for (name, length) in [("SetWindowWidth", placement.size?.width), ("SetWindowHeight", placement.size?.height)] {
      guard let length else { continue }
      let change =
        switch length {
        case .pixels(let number): "\"SetFixed\":\(number)"
        case .percent(let number): "\"SetProportion\":\(number)"
        }
      actions.append(Self.action(name, "\"id\":\(key),\"change\":{\(change)}"))
    }
    actions += moves(key)
    if let former = state.windows.focusReturned(by: key, to: formerFocus[key], placement) {
      actions.append(Self.action("FocusWindow", "\"id\":\(former)"))
    }
    return actions
  }

  /// The actions that place windows anew whose programs have adopted another size.
  mutating func goOnPlacing(now: Instant) -> [String] {
    placing = placing.filter { now < $0.value.end }
    return placing.keys.sorted().flatMap { key -> [String] in
      guard let size = nodes[key]?.size, placing[key]!.size.map({ $0 == size }) != true else { return [] }
      placing[key]!.size = size
      return moves(key)
    }
  }

  /// The moves that bring a window to its place. niri does not tell the usable area, but moves windows by shares of it.
  private func moves(_ key: Key) -> [String] {
    guard let placing = placing[key], let size = placing.size, let place = placing.placement.place else { return [] }
    let margin = Double(placing.placement.margin ?? 0)
    func steps(_ side: WindowPlacement.Side, _ length: Double) -> [String] {
      switch side {
      case .start: ["\"SetFixed\":\(margin)"]
      case .middle: ["\"SetProportion\":50", "\"AdjustFixed\":\(-length / 2)"]
      // niri keeps a part of a window in view, so that no step may go beyond an edge.
      case .end: ["\"SetProportion\":50", "\"AdjustFixed\":\(-length - margin)", "\"AdjustProportion\":50"]
      }
    }
    var (x, y) = (steps(.middle, size.width), steps(.middle, size.height))
    switch place {
    case .point(let left, let top): (x, y) = (["\"SetFixed\":\(left)"], ["\"SetFixed\":\(top)"])
    // niri does not tell where the pointer is.
    case .pointer: break
    case .anchor(let anchor): (x, y) = (steps(anchor.sides.x, size.width), steps(anchor.sides.y, size.height))
    }
    let stay = "\"AdjustFixed\":0"
    return (0..<max(x.count, y.count)).map { step in
      let (x, y) = (step < x.count ? x[step] : stay, step < y.count ? y[step] : stay)
      return Self.action("MoveFloatingWindow", "\"id\":\(key),\"x\":{\(x)},\"y\":{\(y)}")
    }
  }
}

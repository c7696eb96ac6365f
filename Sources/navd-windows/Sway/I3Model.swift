import EventLoops
import PresentationModel
import TextFormats

/// What the events and the trees of i3 and sway say of the windows, and which commands carry out a request. No I/O.
struct I3Model {
  typealias Key = WindowTable.Key
  typealias Instant = MonotonicInstant

  /// What a new window gets that the tree does not tell.
  struct Identity {
    /// Never used for another window.
    let id: String
    /// The process, where the tree has none.
    var pid: UInt32?
  }

  private(set) var state = WindowSystemState()
  /// The parts to read again: the tree, the outputs.
  private var wants: Set<I3Message.Kind> = [.tree, .outputs]
  /// Names a window that is new; it is handed whether a window has an id already.
  typealias Identifying = (_ node: I3Tree.Node, _ isTaken: (String) -> Bool) -> Identity
  private let identify: Identifying
  /// The containers of X windows, to which others may be dialogs.
  private var containers: [UInt32: Int64] = [:]
  private var nodes: [Int64: I3Tree.Node] = [:]
  private var hasTree = false

  /// - Parameter capabilities: what works with this window manager.
  init(capabilities: [WindowCapability], identify: @escaping Identifying) {
    state.capabilities = capabilities
    self.identify = identify
  }

  static func key(_ container: Int64) -> Key { Key(bitPattern: container) }
  static func container(_ key: Key) -> Int64 { Int64(bitPattern: key) }

  func node(_ key: Key) -> I3Tree.Node? { nodes[Self.container(key)] }

  // MARK: Input

  /// - Parameter event: nil for one that was too large to be read, or of another kind.
  mutating func take(_ event: I3Message.Event?, _ json: JSON?, now: Instant) {
    let change = json?[.change]?.string
    if event == .window, hasTree, change == "close", case .integer(let container)? = json?[.container]?[.id] {
      close(Self.key(container))
      wants.insert(.tree)
      return
    }
    guard event == .window, hasTree, let change, let node = json?[.container].flatMap(I3Tree.node) else {
      // An output that is unplugged, or an empty workspace that gets the focus, has no event of a window.
      wants.formUnion(event == .window ? [.tree] : [.tree, .outputs])
      return
    }
    let key = Self.key(node.container)
    switch change {
    case "focus":
      see(node, now: now)
      state.windows.setFocus(key)
    case "mark": return
    case "title", "fullscreen_mode", "urgent":
      see(node, now: now)
      return
    default: see(node, now: now)
    }
    // Only the tree has the window's place and the focus.
    wants.insert(.tree)
  }

  mutating func take(tree json: JSON, now: Instant) {
    // An output may be gone since, which has to be known before the windows that moved: both are read again.
    if hasTree, wants.contains(.outputs) { return }
    let tree = I3Tree(json)
    let isFirst = !hasTree
    hasTree = true
    let present = Set(tree.nodes.map { Self.key($0.container) })
    for key in state.windows.allKeys.filter({ !present.contains($0) }) { close(key) }
    // sway's numbers ascend, so that windows come in the order in which they opened.
    for node in tree.nodes.sorted(by: { $0.container < $1.container }) { see(node, now: now) }
    state.windows.setFocus(tree.focused.map(Self.key))
    state.focusedOutput = tree.focusedOutput
    if isFirst { state.windows.announceAll() }
  }

  /// - Parameter json: the answer of GET_OUTPUTS.
  mutating func take(outputs json: JSON) {
    state.outputs = (json.array ?? []).filter { $0[.active] == true }.compactMap { $0[.name]?.string }
  }

  /// The parts to ask for now; they count as asked for.
  mutating func takeWants() -> Set<I3Message.Kind> {
    defer { wants = [] }
    return wants
  }

  mutating func announceDue(now: Instant) { state.windows.announceDue(now: now) }
  mutating func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }

  private mutating func close(_ key: Key) {
    let container = Self.container(key)
    if let window = nodes.removeValue(forKey: container)?.xWindow, containers[window] == container {
      containers[window] = nil
    }
    state.windows.close(key)
  }

  private mutating func see(_ node: I3Tree.Node, now: Instant) {
    let key = Self.key(node.container)
    var sighting = WindowTable.Sighting(properties: node.properties)
    var identity: Identity?
    if !state.windows.contains(key) {
      let windows = state.windows
      identity = identify(node) { windows.key(of: $0) != nil }
      if node.properties.pid == nil { sighting.properties.pid = identity?.pid }
    }
    nodes[node.container] = node
    if let window = node.xWindow {
      containers[window] = node.container
      // A window of a client that is not managed has no container, and is no parent.
      sighting.parent =
        node.transientFor.map { containers[$0].map { .window(Self.key($0)) } ?? .none }
        ?? WindowTable.Sighting.Parent.none
    }
    state.windows.see(key, sighting, now: now, id: identity?.id ?? "")
  }

  // MARK: Requests

  /// Marks a tiled window while it is hidden: the scratchpad makes it floating. A mark that begins with `_` is not shown, and
  /// outlives the adapter.
  private static func tiled(_ container: Int64) -> String { "_navd_tiled_\(container)" }

  /// The commands that carry out a request for a window, and those that follow it, and may fail.
  func commands(_ request: WindowRequest, _ key: Key) -> (doing: [String], after: [String]) {
    let container = Self.container(key)
    let window = "[con_id=\(container)]"
    let isHidden = state.windows.properties(of: key)?.hidden == true
    switch request {
    case .close: return (["\(window) kill"], [])
    case .activate: return (isHidden ? showing(container) : ["\(window) focus"], [])
    case .summon:
      if isHidden { return (showing(container), []) }
      return (["\(window) move container to workspace current", "\(window) focus"], [])
    case .show: return (isHidden ? showing(container) : ["nop"], [])
    case .hide:
      if isHidden { return (["nop"], []) }
      let isTiled = state.windows.properties(of: key)?.floating == false
      return (
        (isTiled ? ["\(window) mark --add \(Self.tiled(container))"] : []) + ["\(window) move scratchpad"],
        // The compositor moves the focus to where the window was.
        state.windows.focused == key ? [] : returning
      )
    case .move(let output):
      return (["\(window) move container to output \(Self.literal(output))"], returning)
    }
  }

  private func showing(_ container: Int64) -> [String] {
    let window = "[con_id=\(container)]"
    let isTiled = nodes[container]?.marks.contains(Self.tiled(container)) == true
    // In the scratchpad, every window floats.
    let tiling = ["\(window) floating disable", "\(window) unmark \(Self.tiled(container))"]
    return ["\(window) scratchpad show"] + (isTiled ? tiling : [])
  }

  /// Gives the focus to what has it now.
  private var returning: [String] {
    if let focused = state.windows.focused { return ["[con_id=\(Self.container(focused))] focus"] }
    return state.focusedOutput.isEmpty ? [] : ["focus output \(Self.literal(state.focusedOutput))"]
  }

  /// A text in a command; the window manager names outputs, and it reads an escaped quotation mark.
  private static func literal(_ text: String) -> String {
    "\"" + text.replacingAll("\\", with: "\\\\").replacingAll("\"", with: "\\\"") + "\""
  }
}

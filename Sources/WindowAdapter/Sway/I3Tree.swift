import PresentationModel
import TextFormats

/// The windows in the layout tree of i3 or sway (GET_TREE), or in an event.
struct I3Tree {
  /// A window in the tree.
  struct Node {
    let container: Int64
    /// The X window; nil for a Wayland window.
    let xWindow: UInt32?
    /// The X window whose dialog this window is; nil if it is no dialog.
    let transientFor: UInt32?
    /// The app-id, title, pid, urgent, floating, fullscreen; from a whole tree also output, hidden, in-view and focused.
    var properties: WindowProperties
    /// Whether the window fills all outputs, and not only its own.
    let isGloballyFullscreen: Bool
    let marks: [String]
    /// The area with the frame; nil if it is not told.
    var frame: ScreenArea?
    /// The size of the window when it floats, with the frame, as its program would have it; nil if it is not told.
    var naturalSize: ScreenSize?
    /// The area of the workspace, without bars, and that of the output; nil in an event.
    var usableArea: ScreenArea?
    var outputArea: ScreenArea?
    /// The workspace, and the fullscreen container that the window is or is in; nil if there is none.
    var workspace: Int64?
    var fullscreen: Int64?
    /// Whether the window is in a floating container with others, which the scratchpad takes as a whole; nil in an event.
    var floatsWithOthers: Bool?
  }

  /// The windows in the tree's order.
  private(set) var nodes: [Node] = []
  private(set) var focused: Int64?
  /// The output with the focus; empty if the tree does not show it.
  private(set) var focusedOutput = ""
  /// The workspace in view on the output with the focus; empty if the tree does not show it.
  private(set) var focusedWorkspace = ""
  /// The workspaces in view, by their outputs.
  private var workspaces: [String: String] = [:]
  /// The fullscreen containers, by their workspaces, and the one that fills all outputs.
  private var fullscreen: (ofWorkspaces: [Int64: Int64], global: Int64?) = ([:], nil)

  /// - Parameter root: the answer of GET_TREE.
  init(_ root: JSON) {
    visit(root, Place())
    noteCovered()
    noteUnderFloating()
    // Containers are listed with the most recently focused one first.
    if let first = root["focus"]?.array?.first,
      let output = root["nodes"]?.array?.first(where: { $0["id"] == first })?["name"]?.string
    {
      focusedOutput = Self.output(output)
      focusedWorkspace = workspaces[focusedOutput] ?? ""
    }
  }

  private struct Place {
    var output = ""
    /// The sibling container that had the focus last.
    var front: JSON?
    var isHidden = false
    var isInView = false
    var isFloating = false
    var floatsWithOthers = false
    var workspace: Int64?
    var usableArea: ScreenArea?
    var outputArea: ScreenArea?
    var fullscreen: Int64?
  }

  private mutating func visit(_ json: JSON, _ place: Place) {
    var place = place
    let name = json["name"]?.string
    switch json["type"]?.string {
    // The container of i3's bars.
    case "dockarea"?: return
    case "output"?: (place.output, place.outputArea) = (Self.output(name ?? ""), Self.area(json["rect"]))
    case "workspace"?:
      place.isHidden = name == "__i3_scratch"
      // An output shows its most recently focused workspace.
      place.isInView = !place.isHidden && place.front != nil && place.front == json["id"]
      if place.isInView { workspaces[place.output] = name }
      place.workspace = Self.id(json)
      place.usableArea = Self.area(json["rect"])
    case "floating_con"?:
      place.isFloating = true
      place.floatsWithOthers = Self.countWindows(json) > 1
    default: break
    }
    noteFullscreen(json, &place)
    if var node = Self.node(json) {
      node.properties.output = place.output
      node.properties.hidden = place.isHidden
      // sway tells it. i3 does not.
      node.properties.inView = json["visible"].map { !place.isHidden && $0 == true } ?? place.isInView
      (node.workspace, node.fullscreen) = (place.workspace, place.fullscreen)
      node.floatsWithOthers = place.floatsWithOthers
      (node.usableArea, node.outputArea) = (place.usableArea, place.outputArea)
      if place.isFloating { node.properties.floating = true }
      node.properties.focused = json["focused"] == true
      if node.properties.focused == true { focused = node.container }
      nodes.append(node)
    }
    place.front = json["focus"]?.array?.first
    let tiled = json["nodes"]?.array ?? []
    let isInView = place.isInView
    let tab = Self.tab(json, among: tiled)
    for inner in tiled {
      place.isInView = isInView && (tab == nil || tab == inner["id"])
      visit(inner, place)
    }
    place.isInView = isInView
    for inner in json["floating_nodes"]?.array ?? [] { visit(inner, place) }
  }

  /// The one container in view of those in a tabbed or stacked container; nil for another layout.
  private static func tab(_ json: JSON, among inner: [JSON]) -> JSON? {
    guard json["layout"] == "tabbed" || json["layout"] == "stacked" else { return nil }
    let ids = inner.compactMap { $0["id"] }
    // Floating windows of a workspace are in the same list.
    return json["focus"]?.array?.first { ids.contains($0) }
  }

  private static func countWindows(_ json: JSON) -> Int {
    node(json) == nil ? (json["nodes"]?.array ?? []).reduce(0) { $0 + countWindows($1) } : 1
  }

  private static func id(_ json: JSON) -> Int64? { if case .integer(let id)? = json["id"] { id } else { nil } }

  /// Notes a fullscreen container. Workspaces of i3 count themselves as fullscreen.
  private mutating func noteFullscreen(_ json: JSON, _ place: inout Place) {
    guard let mode = json["fullscreen_mode"]?.unsigned, mode > 0, let workspace = place.workspace,
      let id = Self.id(json), id != workspace, !place.isHidden
    else { return }
    place.fullscreen = id
    fullscreen.ofWorkspaces[workspace] = id
    if mode == 2 { fullscreen.global = id }
  }

  /// Notes that windows under a fullscreen container are not in view, except its dialogs, which i3 shows above it.
  private mutating func noteCovered() {
    guard !fullscreen.ofWorkspaces.isEmpty else { return }
    let byWindow = Dictionary(nodes.compactMap { node in node.xWindow.map { ($0, node) } }) { first, _ in first }
    func isIn(_ cover: Int64, _ node: Node, depth: Int = 0) -> Bool {
      if node.fullscreen == cover { return true }
      guard depth < 16, let leader = node.transientFor.flatMap({ byWindow[$0] }) else { return false }
      return isIn(cover, leader, depth: depth + 1)
    }
    for index in nodes.indices where nodes[index].properties.inView == true {
      let cover = fullscreen.global ?? nodes[index].workspace.flatMap { fullscreen.ofWorkspaces[$0] }
      if let cover, !isIn(cover, nodes[index]) { nodes[index].properties.inView = false }
    }
  }

  /// Notes that windows under a floating one are not in view. Floating windows are listed from the
  /// bottom to the top, and lie above all others.
  private mutating func noteUnderFloating() {
    let shown = nodes.indices.filter { nodes[$0].properties.inView == true && nodes[$0].frame != nil }
    let floating = shown.filter { nodes[$0].properties.floating == true }
    guard !floating.isEmpty else { return }
    let tiled = shown.filter { nodes[$0].properties.floating != true }
    let covered = WindowStack.covered(
      (tiled + floating).map {
        WindowStack.Layer(key: $0, area: nodes[$0].frame!, isFocused: nodes[$0].properties.focused == true)
      })
    for index in covered { nodes[index].properties.inView = false }
  }

  private static func area(_ json: JSON?) -> ScreenArea? {
    func number(_ name: String) -> Int? {
      if case .integer(let number)? = json?[name] { Int(exactly: number) } else { nil }
    }
    guard let x = number("x"), let y = number("y"), let width = number("width"), let height = number("height"),
      [x, y, width, height].allSatisfy({ abs($0) < 1 << 24 }), width > 0, height > 0
    else { return nil }
    return ScreenArea(x: x, y: y, width: width, height: height)
  }

  /// The area of a window with its frame. sway tells the title bar apart, i3 does not.
  private static func frame(_ json: JSON) -> ScreenArea? {
    guard var area = Self.area(json["rect"]) else { return nil }
    if json["visible"] != nil, let bar = Self.area(json["deco_rect"]) {
      area.y -= bar.height
      area.height += bar.height
    }
    return area
  }

  /// The natural size of the content, and the frame around it.
  private static func naturalSize(_ json: JSON) -> ScreenSize? {
    guard let content = Self.area(json["geometry"])?.size, let now = Self.area(json["window_rect"])?.size,
      let frame = Self.frame(json)?.size
    else { return nil }
    return ScreenSize(
      width: content.width + frame.width - now.width, height: content.height + frame.height - now.height)
  }

  /// The name of an output; empty for the pseudo output of the scratchpad.
  private static func output(_ name: String) -> String { name == "__i3" ? "" : name }

  /// The window in a container; nil for a workspace, an output, or a container of others.
  static func node(_ json: JSON) -> Node? {
    guard case .integer(let id)? = json["id"], json["nodes"]?.array?.isEmpty != false else { return nil }
    let xWindow = json["window"]?.unsigned.flatMap(UInt32.init(exactly:))
    // i3 reports the X window, sway the process.
    let pid = json["pid"]?.unsigned.flatMap(UInt32.init(exactly:)).flatMap { $0 == 0 ? nil : $0 }
    guard xWindow != nil || pid != nil, json["type"] != "workspace", json["type"] != "output" else { return nil }
    let window = json["window_properties"]
    var properties = WindowProperties()
    properties.appID = json["app_id"]?.string ?? window?["class"]?.string
    properties.title = json["name"]?.string
    properties.pid = pid
    // i3 reports this in words, and wraps the container in one that floats.
    properties.floating = json["floating"]?.string.map { $0.hasSuffix("_on") } ?? (json["type"] == "floating_con")
    properties.urgent = json["urgent"].map { $0 == true }
    let mode = json["fullscreen_mode"]?.unsigned
    properties.fullscreen = mode.map { $0 > 0 }
    return Node(
      container: id, xWindow: xWindow,
      transientFor: window?["transient_for"]?.unsigned.flatMap(UInt32.init(exactly:)), properties: properties,
      isGloballyFullscreen: mode == 2, marks: json["marks"]?.array?.compactMap(\.string) ?? [], frame: frame(json),
      naturalSize: naturalSize(json))
  }
}

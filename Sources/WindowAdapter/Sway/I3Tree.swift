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

  /// - Parameter root: the answer of GET_TREE.
  init(_ root: JSON) {
    visit(root, Place())
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
  }

  private mutating func visit(_ json: JSON, _ place: Place) {
    var place = place
    let name = json["name"]?.string
    switch json["type"]?.string {
    // The container of i3's bars.
    case "dockarea"?: return
    case "output"?: place.output = Self.output(name ?? "")
    case "workspace"?:
      place.isHidden = name == "__i3_scratch"
      // An output shows its most recently focused workspace.
      place.isInView = !place.isHidden && place.front != nil && place.front == json["id"]
      if place.isInView { workspaces[place.output] = name }
    case "floating_con"?: place.isFloating = true
    default: break
    }
    if var node = Self.node(json) {
      node.properties.output = place.output
      node.properties.hidden = place.isHidden
      node.properties.inView = place.isInView
      if place.isFloating { node.properties.floating = true }
      node.properties.focused = json["focused"] == true
      if node.properties.focused == true { focused = node.container }
      nodes.append(node)
    }
    place.front = json["focus"]?.array?.first
    for inner in json["nodes"]?.array ?? [] { visit(inner, place) }
    for inner in json["floating_nodes"]?.array ?? [] { visit(inner, place) }
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
      isGloballyFullscreen: mode == 2, marks: json["marks"]?.array?.compactMap(\.string) ?? [])
  }
}

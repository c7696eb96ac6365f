import TextFormats

/// A request to Hyprland about the window with an address.
enum HyprlandCommand: Hashable {
  case close(UInt64)
  case focus(UInt64)
  /// Moves the window to the workspace that a monitor shows.
  /// - Parameter withFocus: whether the window gets the focus. If not, the focus stays.
  case move(UInt64, to: HyprlandAnswer.Monitor, withFocus: Bool)
  /// Moves the window to a special workspace, which is not shown. The focus stays.
  case hide(UInt64)
  case leaveGroup(UInt64)
  case togglePin(UInt64)
  /// Tags the window. Tags outlive the adapter.
  case tag(UInt64, String)
  case untag(UInt64, String)

  /// The special workspace of hidden windows.
  static let hiding = "special:navd"
  /// The tag of a window that was pinned when it was hidden.
  static let wasPinned = "navd-pinned"

  /// The language of the configuration, which is also the language of commands.
  enum Language: Hashable {
    /// Lua, since 0.55.
    case lua
    /// The language of hyprland.conf, up to 0.55.
    case words
  }

  /// Whether a request fails if this command fails.
  var isEssential: Bool {
    switch self {
    case .close, .focus, .move, .hide: true
    case .leaveGroup, .togglePin, .tag, .untag: false
    }
  }

  /// The request to a socket. The part before its first slash contains options: none here.
  func text(_ language: Language) -> String {
    switch language {
    case .lua: "/dispatch hl.dsp.\(lua)"
    case .words: "/dispatch \(words)"
    }
  }

  private var lua: String {
    switch self {
    case .close(let window): "window.close({ \(Self.named(window)) })"
    case .focus(let window): "focus({ \(Self.named(window)) })"
    case .move(let window, let monitor, let withFocus):
      "window.move({ \(Self.named(window)), monitor = \(Self.literal(monitor.name)), follow = \(withFocus) })"
    case .hide(let window):
      "window.move({ \(Self.named(window)), workspace = \(Self.literal(Self.hiding)), follow = false })"
    case .leaveGroup(let window): "window.move({ \(Self.named(window)), out_of_group = true })"
    case .togglePin(let window): "window.pin({ \(Self.named(window)), action = \"toggle\" })"
    case .tag(let window, let tag): "window.tag({ \(Self.named(window)), tag = \"+\(tag)\" })"
    case .untag(let window, let tag): "window.tag({ \(Self.named(window)), tag = \"-\(tag)\" })"
    }
  }

  private var words: String {
    switch self {
    case .close(let window): "closewindow \(Self.selector(window))"
    case .focus(let window): "focuswindow \(Self.selector(window))"
    // “movewindow mon:” can move only the focused window.
    case .move(let window, let monitor, let withFocus):
      "movetoworkspace\(withFocus ? "" : "silent") \(Self.selector(monitor.workspace)),\(Self.selector(window))"
    case .hide(let window): "movetoworkspacesilent \(Self.hiding),\(Self.selector(window))"
    case .leaveGroup(let window): "moveoutofgroup \(Self.selector(window))"
    case .togglePin(let window): "pin \(Self.selector(window))"
    case .tag(let window, let tag): "tagwindow +\(tag) \(Self.selector(window))"
    case .untag(let window, let tag): "tagwindow -\(tag) \(Self.selector(window))"
    }
  }

  private static func selector(_ window: UInt64) -> String { "address:0x\(String(window, radix: 16))" }

  private static func named(_ window: UInt64) -> String { "window = \"\(selector(window))\"" }

  private static func selector(_ workspace: HyprlandAnswer.Workspace?) -> String {
    if let number = workspace?.number, number > 0 { return "\(number)" }
    return "name:\(workspace?.name ?? "")"
  }

  /// A text as a string literal of Lua.
  private static func literal(_ text: String) -> String {
    "\"" + text.replacingAll("\\", with: "\\\\").replacingAll("\"", with: "\\\"").replacingAll("\n", with: "\\n") + "\""
  }
}

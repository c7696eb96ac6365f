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
  case float(UInt64)
  case resize(UInt64, ScreenSize)
  /// Moves the upper left corner of the window.
  case moveTo(UInt64, ScreenPoint)
  case raise(UInt64)
  /// Makes the window, which has the focus, fullscreen.
  case makeFullscreen(UInt64)
  /// The opposite, of the window that has the focus.
  case endFullscreen(UInt64)
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
    case .close, .focus, .move, .hide, .float, .resize, .moveTo: true
    case .leaveGroup, .togglePin, .tag, .untag, .raise, .makeFullscreen, .endFullscreen: false
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
    case .float(let window): "window.float({ \(Self.named(window)), action = \"enable\" })"
    case .resize(let window, let size):
      "window.resize({ \(Self.named(window)), x = \(size.width), y = \(size.height) })"
    case .moveTo(let window, let point): "window.move({ \(Self.named(window)), x = \(point.x), y = \(point.y) })"
    case .raise(let window): "window.alter_zorder({ \(Self.named(window)), mode = \"top\" })"
    case .makeFullscreen(let window): "window.fullscreen({ \(Self.named(window)), action = \"set\" })"
    case .endFullscreen(let window): "window.fullscreen({ \(Self.named(window)), action = \"unset\" })"
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
    case .float(let window): "setfloating \(Self.selector(window))"
    case .resize(let window, let size):
      "resizewindowpixel exact \(size.width) \(size.height),\(Self.selector(window))"
    case .moveTo(let window, let point): "movewindowpixel exact \(point.x) \(point.y),\(Self.selector(window))"
    case .raise(let window): "alterzorder top,\(Self.selector(window))"
    case .makeFullscreen: "fullscreenstate 2 -1"
    case .endFullscreen: "fullscreenstate 0 -1"
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

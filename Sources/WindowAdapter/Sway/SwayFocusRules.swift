import PresentationModel

/// The rules of sway by which expected windows open without the focus (N15). sway keeps a rule until it reads its configuration again, so
/// it keeps the focus from other windows that fit, too.
struct SwayFocusRules {
  /// Cap of the rules: sway compares each with each window that opens. Further windows give the focus back.
  private static let limit = 64

  /// The patterns of the windows that sway gives no focus.
  private var told: [WindowPattern] = []
  /// The patterns of the windows that are expected now, and are to open without the focus.
  private(set) var expected: [WindowPattern] = []
  private var due: [WindowPattern] = []

  mutating func expect(_ patterns: [WindowPattern]) {
    expected = patterns
    for pattern in patterns where !pattern.isEmpty && !told.contains(pattern) && told.count < Self.limit {
      told.append(pattern)
      due.append(pattern)
    }
  }

  /// Notes that sway has read its configuration again.
  mutating func forget() {
    (told, due) = ([], [])
    expect(expected)
  }

  /// The commands for rules that sway has not been told.
  mutating func takeDue() -> [String] {
    defer { due = [] }
    return due.flatMap { pattern in
      // A Wayland window has no class, and a window of Xwayland has no application id.
      let names = pattern.appID == nil ? ["app_id"] : ["app_id", "class"]
      return names.map { "no_focus \(pattern.i3Criteria(appID: $0))" }
    }
  }

  var isEmpty: Bool { told.isEmpty }

  /// Whether sway keeps the focus from a window that is none of those that were expected when it opened.
  func deprives(_ window: WindowProperties, besides expected: [WindowPattern]) -> Bool {
    !expected.contains { $0.matches(window) } && told.contains { $0.matches(window) }
  }
}

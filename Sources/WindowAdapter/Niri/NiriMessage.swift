import TextFormats

/// The members of JSON objects of niri that the adapter reads: its events, and their content.
enum NiriMember: String, CaseIterable {
  // Answers.
  case ok = "Ok"
  case error = "Err"
  // Events.
  case workspacesChanged = "WorkspacesChanged"
  case workspaceActivated = "WorkspaceActivated"
  case windowsChanged = "WindowsChanged"
  case windowOpenedOrChanged = "WindowOpenedOrChanged"
  case windowClosed = "WindowClosed"
  case windowFocusChanged = "WindowFocusChanged"
  case windowUrgencyChanged = "WindowUrgencyChanged"
  // Their content.
  case workspaces, windows, window, id, focused, urgent
  // A workspace.
  case output
  case isActive = "is_active"
  // A window.
  case title, pid
  case appID = "app_id"
  case workspaceID = "workspace_id"
  case isFocused = "is_focused"
  case isFloating = "is_floating"
  case isUrgent = "is_urgent"

  /// The names by which messages are read; the others, such as layouts, are left out.
  static let names = JSON.MemberNames(allCases.map(\.rawValue))
}

extension JSON {
  /// A member of a message of niri; nil if this is not an object, or has no such member.
  subscript(niri member: NiriMember) -> JSON? { self[member.rawValue] }
}

import TextFormats

/// The members of niri's JSON objects that the adapter reads: its events, and their content.
enum NiriMember: String, CaseIterable {
  // The answers.
  case ok = "Ok"
  case error = "Err"
  // The events.
  case workspacesChanged = "WorkspacesChanged"
  case workspaceActivated = "WorkspaceActivated"
  case windowsChanged = "WindowsChanged"
  case windowOpenedOrChanged = "WindowOpenedOrChanged"
  case windowClosed = "WindowClosed"
  case windowFocusChanged = "WindowFocusChanged"
  case windowUrgencyChanged = "WindowUrgencyChanged"
  // The content of events.
  case workspaces, windows, window, id, focused, urgent
  // The members of a workspace.
  case output
  case isActive = "is_active"
  // The members of a window.
  case title, pid
  case appID = "app_id"
  case workspaceID = "workspace_id"
  case isFocused = "is_focused"
  case isFloating = "is_floating"
  case isUrgent = "is_urgent"

  /// The names of the members that are read from messages; others, such as layouts, are left out.
  static let names = JSON.MemberNames(allCases.map(\.rawValue))
}

extension JSON {
  /// A member of a message of niri; nil if the value is not an object, or has no such member.
  subscript(niri member: NiriMember) -> JSON? { self[member.rawValue] }
}

import Glibc
import TestSupport
import TextFormats

/// The windows of KWin 5 and 6, as its scripts see them.
struct KWinWindows {
  let session: Session

  private static let windows = "(workspace.windowList ? workspace.windowList() : workspace.clientList())"

  func all() throws -> [ManagersWindows.Window] {
    let windows = try session.askKWin(
      """
      \(Self.windows).filter(window => !window.specialWindow && !window.popupWindow).map(window => ({
        id: String(window.internalId), name: String(window.resourceClass), title: String(window.caption),
        output: window.output ? window.output.name : "Virtual-" + window.screen, pid: window.pid,
        workspace: window.minimized ? "" : String(window.desktop || window.desktops[0].x11DesktopNumber),
        fullscreen: window.fullScreen, hidden: window.minimized, focused: window.active, urgent: window.demandsAttention,
        frame: (({x, y, width, height}) => ({x, y, width, height}))(window.frameGeometry),
      }))
      """)
    return (windows.array ?? []).map { window in
      func number(_ key: String) -> Int? { if case .integer(let number)? = window[key] { Int(number) } else { nil } }
      return ManagersWindows.Window(
        id: window["id"]?.string ?? "", name: window["name"]?.string ?? "", title: window["title"]?.string ?? "",
        output: window["output"]?.string ?? "", workspace: window["workspace"]?.string ?? "",
        isFullscreen: window["fullscreen"] == true, isHidden: window["hidden"] == true,
        isFocused: window["focused"] == true, isUrgent: window["urgent"] == true,
        frame: window["frame"].flatMap(ManagersWindows.Frame.init), pid: number("pid").map { pid_t($0) })
    }
  }

  func close(_ window: ManagersWindows.Window) throws { try change(window, "window.closeWindow()") }

  func focus(_ window: ManagersWindows.Window) throws {
    try change(window, "workspace[workspace.windowList ? 'activeWindow' : 'activeClient'] = window")
  }

  func makeFullscreen(_ window: ManagersWindows.Window) throws { try change(window, "window.fullScreen = true") }

  func makeUrgent(_ window: ManagersWindows.Window) throws { try change(window, "window.demandsAttention = true") }

  private func change(_ window: ManagersWindows.Window, _ change: String) throws {
    try session.askKWin(
      """
      \(Self.windows).filter(window => String(window.internalId) === "\(window.id)")
        .forEach(window => { \(change); })
      """)
  }

  func workspace() throws -> String {
    try session.askKWin("String(workspace.currentDesktop.x11DesktopNumber || workspace.currentDesktop)").string ?? ""
  }

  func show(workspace: Int) throws {
    try session.askKWin(
      "(workspace.currentDesktop = workspace.windowList ? workspace.desktops[\(workspace - 1)] : \(workspace)) && null")
  }
}

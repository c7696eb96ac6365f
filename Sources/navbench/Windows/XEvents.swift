import CXCB
import EventLoops
import WindowAdapter

/// The window events of an X window manager, by the property of the root that lists the windows.
final class XEvents: WindowEvents {
  var onTitle: ((String, String, String, MonotonicInstant) -> Void)?
  var onClosed: ((String) -> Void)?
  private let connection: XConnection
  private var known: Set<XConnection.Window> = []

  let backend = "x11"
  func command(_ appID: String) -> [String] { Terminal.xterm(appID) }

  init(_ loop: EventLoop) throws {
    connection = try XConnection()
    try connection.follow(loop)
    xcb_select_events(connection.raw, connection.root, XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)
    connection.onEvent = { [unowned self] event in
      guard Int32(event.pointee.response_type & 0x7F) == XCB_PROPERTY_NOTIFY else { return }
      let atom = event.withMemoryRebound(to: xcb_property_notify_event_t.self, capacity: 1) { $0.pointee.atom }
      if connection.knownName(of: atom) == "_NET_CLIENT_LIST" { readList() }
    }
    readList()
  }

  private func readList() {
    let now = MonotonicInstant.now
    let windows = Set(connection.numbers(connection.root, "_NET_CLIENT_LIST"))
    for window in known.subtracting(windows) { onClosed?("\(window)") }
    for window in windows.subtracting(known) {
      let names = connection.texts(window, "WM_CLASS")
      let title = connection.text(window, "_NET_WM_NAME") ?? connection.text(window, "WM_NAME") ?? ""
      onTitle?("\(window)", names.count > 1 ? names[1] : "", title, now)
    }
    known = windows
  }
}

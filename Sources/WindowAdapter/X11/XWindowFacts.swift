import CXCB
import PresentationModel

/// The facts of an X window that only the X server knows: its process, its startup id, whether it can be asked to close, and the name
/// that the adapter gave it.
final class XWindowFacts {
  let connection: XConnection
  private let ids: WindowIDs

  /// - Parameter display: the display; nil for the one in the environment.
  init(_ ids: WindowIDs, display: String? = nil) throws(BackendFailure) {
    connection = try XConnection(display: display)
    self.ids = ids
    for name in Self.read { _ = connection.atom(name) }
  }

  /// The property that holds the id, which ends with the window and outlives the adapter.
  private static let property = "_NAVD_WINDOW_ID"

  /// Whether a window may have an id already, from an earlier run of the adapter.
  private var acceptsFormerIDs = true

  /// Gives each window a new id from now on. A later window that has an id got it from its client, which may have read it from a
  /// window that is closed by now.
  func hasReadFormerWindows() { acceptsFormerIDs = false }

  /// The id of an unknown window; a new one if the window has none, or has the id of another window.
  func id(of window: UInt32, isTaken: (String) -> Bool) -> String {
    if acceptsFormerIDs, let id = connection.text(window, Self.property), id.utf8.count <= 64,
      id.utf8.allSatisfy({ UInt8(ascii: "!")...UInt8(ascii: "~") ~= $0 }), !isTaken(id)
    {
      return id
    }
    var id: String
    // The id must be checked, because a client can put any id on its window.
    repeat { id = ids.next() } while isTaken(id)
    connection.setText(window, Self.property, id)
    return id
  }

  /// The properties that are read from a new window.
  static let read = [
    "WM_CLASS", "_NET_STARTUP_ID", startupProperty, property, "WM_HINTS", "WM_CLIENT_LEADER",
  ]

  /// The properties of a window whose changes matter, and which the window manager may not report.
  private static let followed = ["WM_CLASS", "_NET_STARTUP_ID"]

  /// Reads the facts of windows from their creation, before the window manager reports them: it then keeps the server busy for a
  /// millisecond, and an answer would come after that.
  func followNew() {
    xcb_select_events(connection.raw, connection.root, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue)
    connection.flush()
  }

  /// Reads facts of a window that the window manager has reported, and follows their changes from now on.
  func reading<Result>(_ window: UInt32, _ body: () -> Result) -> Result {
    // Events are selected before the properties are read, so that no change is missed.
    if !connection.isAskedInAdvance(window) { followProperties(of: window) }
    return connection.asking(for: Self.read, of: window, body)
  }

  private func followProperties(of window: UInt32) {
    xcb_select_events(connection.raw, window, XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)
  }

  /// A property of a window that has changed.
  struct Change: Hashable {
    let window: UInt32
    let name: String
  }

  /// Handles an event of the server.
  /// - Returns: the property that has changed, if it matters and the window was read.
  func changedProperty(_ event: UnsafeMutablePointer<xcb_generic_event_t>) -> Change? {
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_CREATE_NOTIFY:
      let (window, isMenu) = event.withMemoryRebound(to: xcb_create_notify_event_t.self, capacity: 1) {
        ($0.pointee.window, $0.pointee.override_redirect != 0)
      }
      // A window manager does not report menus.
      guard !isMenu else { return nil }
      followProperties(of: window)
      connection.askInAdvance(for: Self.read, of: window)
    case XCB_DESTROY_NOTIFY:
      event.withMemoryRebound(to: xcb_destroy_notify_event_t.self, capacity: 1) {
        connection.forget($0.pointee.window)
      }
    case XCB_PROPERTY_NOTIFY:
      let (window, atom) = event.withMemoryRebound(to: xcb_property_notify_event_t.self, capacity: 1) {
        ($0.pointee.window, $0.pointee.atom)
      }
      if let name = connection.knownName(of: atom), Self.followed.contains(name), !connection.isAskedInAdvance(window) {
        return Change(window: window, name: name)
      }
    default: break
    }
    return nil
  }

  /// The class; nil if the window has none yet.
  func appID(of window: UInt32) -> String? {
    // The property contains the instance and the class, each with a zero byte at its end.
    let names = connection.texts(window, "WM_CLASS")
    return names.count > 1 ? names[1] : nil
  }

  /// The startup id that the window itself has.
  func ownStartupID(of window: UInt32) -> String? {
    connection.text(window, "_NET_STARTUP_ID").flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The leader of a window, or of its group, that has the startup id with which the client opened a window that has none itself.
  private func leader(of window: UInt32) -> (window: UInt32, startupID: String)? {
    let hints = connection.numbers(window, "WM_HINTS")
    // The ninth number is the group, if the flag says so (ICCCM 4.1.2.4).
    let group = hints.count > 8 && hints[0] & 64 != 0 ? hints[8] : 0
    let own = connection.numbers(window, "WM_CLIENT_LEADER").first ?? 0
    for leader in [own, group] where leader != 0 && leader != window {
      if let id = ownStartupID(of: leader) { return (leader, id) }
    }
    return nil
  }

  /// The property that holds the startup id of a leader for the first window that was opened with it.
  private static let startupProperty = "_NAVD_STARTUP_ID"
  /// The property of a leader that holds the last of its startup ids that was given to a window.
  private static let givenProperty = "_NAVD_GIVEN_STARTUP_ID"

  /// The startup id with which a window was opened; nil if it is not known. Ask before the window is given an id.
  ///
  /// A leader keeps the last id that its program got. So the id counts for the first window that is seen with it: the user may have
  /// opened a later window in the same program.
  func startupID(of window: UInt32) -> String? {
    if let own = ownStartupID(of: window) { return own }
    if let kept = connection.text(window, Self.startupProperty), !kept.isEmpty { return kept }
    guard connection.text(window, Self.property) == nil, let leader = leader(of: window),
      connection.text(leader.window, Self.givenProperty) != leader.startupID
    else { return nil }
    connection.setText(leader.window, Self.givenProperty, leader.startupID)
    connection.setText(window, Self.startupProperty, leader.startupID)
    return leader.startupID
  }

  func pid(of window: UInt32) -> UInt32? { connection.process(of: window) }

  /// The process of the windows with a class and title; nil if there is none, or if several processes have such windows.
  func pid(appID: String, title: String) -> UInt32? {
    let windows = connection.children(of: connection.root).filter { window in
      self.appID(of: window) == appID
        && (connection.text(window, "_NET_WM_NAME") ?? connection.text(window, "WM_NAME") ?? "") == title
    }
    let processes = Set(windows.compactMap { pid(of: $0) })
    return processes.count == 1 ? processes.first : nil
  }

  /// Whether the window takes part in WM_DELETE_WINDOW (ICCCM 4.2.8.1). If not, a request to close it kills its client.
  func canBeAsked(_ window: UInt32) -> Bool {
    connection.numbers(window, "WM_PROTOCOLS").contains(connection.atom("WM_DELETE_WINDOW"))
  }

  /// Whether the window is still the one that was given an id: its number may belong to another window by now. The property with the
  /// id ends with the window.
  func isStill(_ window: UInt32, _ id: String?) -> Bool { id != nil && connection.text(window, Self.property) == id }

  /// Whether the window has closed. Its end is reported soon, so no other request is needed.
  func isGone(_ window: UInt32) -> Bool { !connection.has(window) }
}

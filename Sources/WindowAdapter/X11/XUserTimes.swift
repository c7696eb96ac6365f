import CXCB
import Processes

/// Keeps X window managers from giving the focus to windows that are expected without it (N15): a window whose `_NET_WM_USER_TIME` is 0
/// does not get the focus when it is mapped (EWMH).
///
/// The property must be there before the window manager asks for it, so it is set as soon as the window is created. That is a race with
/// the program, which usually has more to do before it shows its window. If it is lost, the window gives the focus back.
final class XUserTimes {
  private typealias Window = XConnection.Window

  private static let property = "_NET_WM_USER_TIME"

  private let connection: XConnection
  private let presentation: (_ process: UInt32) -> ByteString?
  /// The presentations whose first windows are to open without the focus.
  private var expected: Set<ByteString> = []

  /// A client of the X server.
  private struct Client {
    /// The presentation that has started its process; nil if there is none.
    let presentation: ByteString?
    /// Its windows that are children of the root. The server gives its number to another client only after they are destroyed.
    var windows: Set<Window> = []
  }

  /// The clients that have created windows lately. Asking for a process takes a round trip, in which the window may be shown. Toolkits
  /// create other windows first, so that the client is known when the window comes that counts.
  private var clients: [UInt32: Client] = [:]
  /// The limit of windows noted of a client, which may create any number.
  private static let maxWindows = 16

  /// The windows that were given the property, with the presentations that have started their processes.
  private var kept: [Window: ByteString] = [:]
  /// The limit of windows that are given the property.
  private static let maxKept = 256

  /// - Parameter presentation: tells the presentation that has started a process; nil if there is none.
  init(
    _ connection: XConnection,
    presentation: @escaping (_ process: UInt32) -> ByteString? = ExpectedWindows.presentation(of:)
  ) {
    self.connection = connection
    self.presentation = presentation
    _ = connection.atom(Self.property)
  }

  /// Whether windows are expected, so that the children of the root are to be followed.
  var isExpecting: Bool { !expected.isEmpty }

  /// Notes which windows are expected now. Those that have opened meanwhile, and others of their programs, are as their programs have made
  /// them: their users may open them later.
  func expect(_ windows: [UnfocusedWindow]) {
    expected = Set(windows.map(\.presentation))
    for (window, presentation) in kept where !expected.contains(presentation) {
      kept[window] = nil
      // The program may have set it, too.
      if connection.numbers(window, Self.property) == [0] { connection.delete(window, Self.property) }
    }
    if expected.isEmpty { clients = [:] }
    connection.flush()
  }

  /// Handles an event of the root window, of which substructures are selected.
  func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
    guard isExpecting else { return }
    switch Int32(event.pointee.response_type & 0x7F) {
    case XCB_CREATE_NOTIFY:
      let created = event.withMemoryRebound(to: xcb_create_notify_event_t.self, capacity: 1) { $0.pointee }
      // A window manager gives menus no focus.
      if created.parent == connection.root, created.override_redirect == 0 { keepUnfocused(created.window) }
    case XCB_DESTROY_NOTIFY:
      let window = event.withMemoryRebound(to: xcb_destroy_notify_event_t.self, capacity: 1) { $0.pointee.window }
      leaveRoot(window)
      kept[window] = nil
    case XCB_REPARENT_NOTIFY:
      let moved = event.withMemoryRebound(to: xcb_reparent_notify_event_t.self, capacity: 1) { $0.pointee }
      if moved.parent != connection.root { leaveRoot(moved.window) }
    default: break
    }
  }

  private func keepUnfocused(_ window: Window) {
    let number = connection.client(of: window)
    var client = clients[number] ?? Client(presentation: connection.process(of: window).flatMap(presentation))
    if client.windows.count < Self.maxWindows { client.windows.insert(window) }
    clients[number] = client
    guard let presentation = client.presentation, expected.contains(presentation), kept.count < Self.maxKept
    else { return }
    kept[window] = presentation
    connection.setNumber(window, Self.property, 0)
  }

  /// Notes that a window is destroyed, or has got a frame: its end is not told any more.
  private func leaveRoot(_ window: Window) {
    let number = connection.client(of: window)
    guard clients[number]?.windows.remove(window) != nil, clients[number]?.windows.isEmpty == true else { return }
    clients[number] = nil
  }
}

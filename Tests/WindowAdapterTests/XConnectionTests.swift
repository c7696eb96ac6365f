import CXCB
import EventLoops
import Glibc
import PresentationModel
import Processes
import TestSupport
import Testing

@testable import WindowAdapter

// The connection to an X server, and the facts about windows that it reads.

/// An X server without a screen.
private struct XServer {
  let display: String
  private let program: Program

  init(_ loop: EventLoop) throws {
    let program = try Program(
      loop, ["/usr/bin/Xvfb", "-displayfd", "1", "-nolisten", "tcp"], environment: ["PATH": "/usr/bin:/bin"])
    self.program = program
    try #require(loop.turn(until: { !program.lines.isEmpty || program.hasEnded }))
    display = ":\(try #require(program.lines.first, "\(program.errorText)"))"
  }
}

@Test("N1: events that reach libxcb together with an answer are handled, even when nothing else follows")
func xConnection_eventsBesideAnswers_areHandled() throws {
  let loop = try EventLoop()
  let server = try XServer(loop)
  let connection = try XConnection(display: server.display)
  try connection.follow(loop)
  xcb_select_events(connection.raw, connection.root, XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)

  var heard = 0
  /// Makes an event that libxcb has read when the function returns.
  func change() {
    connection.setText(connection.root, "_NAVD_TEST", "\(heard)")
    _ = connection.text(connection.root, "_NAVD_TEST")
  }
  let reader = EventCounter {
    heard += 1
    if heard < 5 { change() }
  }
  connection.reader = reader
  change()
  withExtendedLifetime(reader) { #expect(loop.turn { heard == 5 }, "heard \(heard) of 5") }
}

/// Does something whenever the arrived events were taken.
private final class EventCounter: XEventReader {
  private let onTaken: () -> Void
  init(_ onTaken: @escaping () -> Void) { self.onTaken = onTaken }
  func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {}
  func eventsTaken() { onTaken() }
  func connectionEnded(_ reason: String) {}
}

@Test("The type of a text says whether an older program has written it in Latin-1; other texts are UTF-8")
func xConnection_textInLatin1_isReadAsThat() throws {
  let loop = try EventLoop()
  let server = try XServer(loop)
  let connection = try XConnection(display: server.display)
  for (type, bytes, text) in [
    ("STRING", Array("caf\u{e9}".unicodeScalars.map { UInt8($0.value) }), "caf\u{e9}"),
    ("UTF8_STRING", Array("caf\u{e9}".utf8), "caf\u{e9}"), ("UTF8_STRING", [0xE9], "\u{FFFD}"),
    // Some programs say STRING, and write UTF-8.
    ("STRING", Array("caf\u{e9}".utf8), "caf\u{e9}"),
  ] {
    xcb_change_property(
      connection.raw, UInt8(XCB_PROP_MODE_REPLACE.rawValue), connection.root, connection.atom("WM_NAME"),
      connection.atom(type), 8, UInt32(bytes.count), bytes)
    #expect(connection.text(connection.root, "WM_NAME") == text)
  }
}

@Test("A window that has just closed is known as closed, and not as one that cannot be asked to close")
func xWindowFacts_windowThatIsGone_isKnownAsThat() throws {
  let loop = try EventLoop()
  let server = try XServer(loop)
  let facts = try XWindowFacts(WindowIDs(), display: server.display)
  let connection = facts.connection
  let window = xcb_generate_id(connection.raw)
  xcb_create_window(connection.raw, 0, window, connection.root, 0, 0, 1, 1, 0, 0, 0, 0, nil)
  #expect(!facts.canBeAsked(window) && !facts.isGone(window))
  xcb_destroy_window(connection.raw, window)
  #expect(!facts.canBeAsked(window) && facts.isGone(window))
}

@Test("A window gets no id that a client has put on its own window before")
func xWindowFacts_idThatIsTaken_isPassedOver() throws {
  let loop = try EventLoop()
  let server = try XServer(loop)
  let ids = WindowIDs()
  let facts = try XWindowFacts(ids, display: server.display)
  let taken: Set = ["\(ids.token)-1", "\(ids.token)-2"]
  let id = facts.id(of: facts.connection.root) { taken.contains($0) }
  #expect(id == "\(ids.token)-3")
  #expect(facts.id(of: facts.connection.root) { taken.contains($0) } == id)
}

@Test("A new window to which a client copies the id of a closed window gets another id")
func xWindowFacts_idOfAClosedWindow_isNotGivenAgain() throws {
  let loop = try EventLoop()
  let server = try XServer(loop)
  let facts = try XWindowFacts(WindowIDs(), display: server.display)
  let connection = facts.connection
  func create() -> UInt32 {
    let window = xcb_generate_id(connection.raw)
    xcb_create_window(connection.raw, 0, window, connection.root, 0, 0, 1, 1, 0, 0, 0, 0, nil)
    return window
  }
  let (former, first) = (create(), create())
  connection.setText(former, "_NAVD_WINDOW_ID", "former-1")
  #expect(facts.id(of: former) { _ in false } == "former-1", "it was there before the adapter")
  let id = facts.id(of: first) { _ in false }
  facts.hasReadFormerWindows()
  for stolen in [id, "former-1"] {
    let second = create()
    connection.setText(second, "_NAVD_WINDOW_ID", stolen)
    let other = facts.id(of: second) { _ in false }
    #expect(other != stolen && facts.isStill(second, other))
  }
}

@Test("A window with the number of one that has closed is another one")
func xWindowFacts_numberUsedAgain_isAnotherWindow() throws {
  let loop = try EventLoop()
  let server = try XServer(loop)
  let facts = try XWindowFacts(WindowIDs(), display: server.display)
  let connection = facts.connection
  let window = xcb_generate_id(connection.raw)
  func create() { xcb_create_window(connection.raw, 0, window, connection.root, 0, 0, 1, 1, 0, 0, 0, 0, nil) }
  create()
  let id = facts.id(of: window) { _ in false }
  #expect(facts.isStill(window, id))
  xcb_destroy_window(connection.raw, window)
  #expect(!facts.isStill(window, id))
  create()
  #expect(!facts.isStill(window, id) && !facts.isStill(window, nil))
}

/// A display with a client that makes windows, whose facts are read in advance.
private final class FollowedDisplay: XEventReader {
  let loop: EventLoop
  private let server: XServer
  let client: XConnection
  let facts: XWindowFacts
  var connection: XConnection { facts.connection }
  /// The properties that have changed.
  var changed: [String] = []

  init() throws {
    loop = try EventLoop()
    server = try XServer(loop)
    client = try XConnection(display: server.display)
    facts = try XWindowFacts(WindowIDs(), display: server.display)
    try connection.follow(loop)
    connection.reader = self
    facts.followNew()
    // The answer shows that the server has handled the request, before the client makes a window.
    #expect(connection.has(connection.root))
  }

  func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
    if let change = facts.changedProperty(event) { changed.append(change.name) }
  }

  func eventsTaken() {}
  func connectionEnded(_ reason: String) {}
}

@Test("A window that is followed from its creation is read as it is when the window manager tells of it")
func xWindowFacts_windowReadInAdvance_isUpToDate() throws {
  let display = try FollowedDisplay()
  let (loop, client, facts, connection) = (display.loop, display.client, display.facts, display.connection)
  func create(isMenu: Bool = false) -> UInt32 {
    let window = xcb_generate_id(client.raw)
    var values = [isMenu ? 1 : 0 as UInt32]
    xcb_create_window(
      client.raw, 0, window, client.root, 0, 0, 1, 1, 0, 0, 0, XCB_CW_OVERRIDE_REDIRECT.rawValue, &values)
    return window
  }
  /// Sets a property, and returns when the server has sent what other clients hear of the change.
  func set(_ name: String, of window: UInt32, _ text: String) {
    client.setText(window, name, text)
    _ = client.has(window)
  }
  let (window, other, menu) = (create(), create(), create(isMenu: true))
  set("WM_CLASS", of: window, "a\0first\0")
  #expect(loop.turn { connection.isAskedInAdvance(window) && connection.isAskedInAdvance(other) })
  set("WM_CLASS", of: window, "a\0second\0")
  set("_NET_STARTUP_ID", of: window, "id")
  let read = facts.reading(window) { (facts.appID(of: window), facts.startupID(of: window), facts.pid(of: window)) }
  #expect(read.0 == "second" && read.1 == "id" && read.2 == UInt32(getpid()))
  // The changes of the window are told from now on.
  display.changed = []
  set("WM_CLASS", of: window, "a\0third\0")
  #expect(loop.turn { display.changed.contains("WM_CLASS") })
  #expect(facts.reading(window) { facts.appID(of: window) } == "third")
  #expect(!connection.isAskedInAdvance(menu))
  xcb_destroy_window(client.raw, other)
  xcb_flush(client.raw)
  #expect(loop.turn { !connection.isAskedInAdvance(other) })
}

@Test("Of many windows that are not shown, the latest are asked in advance")
func xWindowFacts_manyHiddenWindows_latestAreReadInAdvance() throws {
  let display = try FollowedDisplay()
  let (loop, client, connection) = (display.loop, display.client, display.connection)
  let windows = (0..<65).map { _ in
    let window = xcb_generate_id(client.raw)
    xcb_create_window(client.raw, 0, window, client.root, 0, 0, 1, 1, 0, 0, 0, 0, nil)
    return window
  }
  xcb_flush(client.raw)
  #expect(loop.turn { connection.isAskedInAdvance(windows[64]) })
  #expect(!connection.isAskedInAdvance(windows[0]) && connection.isAskedInAdvance(windows[1]))
}

@Test("N1: the startup id of a leader counts for one window, also for the next adapter")
func xWindowFacts_startupIDOfALeader_isGivenOnce() throws {
  let loop = try EventLoop()
  let server = try XServer(loop)
  let client = try XConnection(display: server.display)
  func create(leader: UInt32? = nil) -> UInt32 {
    let window = xcb_generate_id(client.raw)
    xcb_create_window(client.raw, 0, window, client.root, 0, 0, 1, 1, 0, 0, 0, 0, nil)
    if var leader {
      xcb_change_property(
        client.raw, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, client.atom("WM_CLIENT_LEADER"),
        client.atom("WINDOW"), 32, 1, &leader)
    }
    xcb_flush(client.raw)
    return window
  }
  let leader = create()
  client.setText(leader, "_NET_STARTUP_ID", "first")
  let windows = (0..<4).map { _ in create(leader: leader) }
  #expect(client.has(leader))

  let facts = try XWindowFacts(WindowIDs(), display: server.display)
  #expect(facts.startupID(of: windows[0]) == "first")
  #expect(facts.startupID(of: windows[1]) == nil)
  let next = try XWindowFacts(WindowIDs(), display: server.display)
  #expect(next.startupID(of: windows[2]) == nil)
  #expect(next.startupID(of: windows[0]) == "first")
  client.setText(leader, "_NET_STARTUP_ID", "second")
  #expect(client.has(leader))
  #expect(next.startupID(of: windows[3]) == "second")
}

/// A display whose new windows are kept from the focus if their program is expected.
private final class UnfocusedDisplay: XEventReader {
  let loop: EventLoop
  private let server: XServer
  private let connection: XConnection
  /// The presentation that has started the process of the clients.
  var presentation: ByteString? = "7"
  private var userTimes: XUserTimes!

  init() throws {
    loop = try EventLoop()
    server = try XServer(loop)
    connection = try XConnection(display: server.display)
    userTimes = XUserTimes(connection) { [unowned self] process in process == UInt32(getpid()) ? presentation : nil }
    try connection.follow(loop)
    connection.reader = self
    xcb_select_events(connection.raw, connection.root, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue)
    #expect(connection.has(connection.root))
  }

  func expect(_ presentations: [ByteString]) {
    userTimes.expect(presentations.map { UnfocusedWindow(presentation: $0, pattern: WindowPattern()) })
  }

  func connect() throws -> XConnection { try XConnection(display: server.display) }

  /// Makes a window, and waits until the event of that was taken.
  /// - Returns: the window, and its user time; nil if it has none.
  func create(_ client: XConnection, isMenu: Bool = false) throws -> (window: UInt32, userTime: UInt32?) {
    let window = xcb_generate_id(client.raw)
    var values = [isMenu ? 1 : 0 as UInt32]
    xcb_create_window(
      client.raw, 0, window, client.root, 0, 0, 1, 1, 0, 0, 0, XCB_CW_OVERRIDE_REDIRECT.rawValue, &values)
    try wait(for: client)
    return (window, userTime(of: window))
  }

  func userTime(of window: UInt32) -> UInt32? { connection.numbers(window, "_NET_WM_USER_TIME").first }

  private var heard = 0

  /// Waits until the events of what a client has done were taken.
  func wait(for client: XConnection) throws {
    let before = heard
    xcb_destroy_window(client.raw, mark)
    mark = xcb_generate_id(client.raw)
    xcb_create_window(
      client.raw, 0, mark, client.root, 0, 0, 1, 1, 0, 0, 0, XCB_CW_OVERRIDE_REDIRECT.rawValue,
      [1 as UInt32])
    xcb_flush(client.raw)
    try #require(loop.turn { heard > before })
  }

  /// A menu whose creation ends what is waited for.
  private var mark: UInt32 = 0

  func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
    userTimes.take(event)
    guard Int32(event.pointee.response_type & 0x7F) == XCB_CREATE_NOTIFY else { return }
    event.withMemoryRebound(to: xcb_create_notify_event_t.self, capacity: 1) {
      if $0.pointee.window == mark { heard += 1 }
    }
  }

  func eventsTaken() {}
  func connectionEnded(_ reason: String) {}
}

@Test("N15: windows of a program that is expected without the focus have the user time 0 until one has opened")
func xUserTimes_windowsOfAnExpectedProgram_areZero() throws {
  let display = try UnfocusedDisplay()
  let (client, other) = (try display.connect(), try display.connect())
  #expect(try display.create(client).userTime == nil, "nothing is expected")
  display.expect(["7", "8"])
  let (first, second) = (try display.create(client), try display.create(client))
  #expect(first.userTime == 0 && second.userTime == 0)
  #expect(try display.create(client, isMenu: true).userTime == nil)
  display.presentation = nil
  #expect(try display.create(other).userTime == nil, "its user has opened it")
  display.presentation = "9"
  #expect(try display.create(try display.connect()).userTime == nil)

  // The program may set it, too.
  client.setNumber(second.window, "_NET_WM_USER_TIME", 5)
  try display.wait(for: client)
  display.expect(["8"])
  #expect(display.userTime(of: first.window) == nil && display.userTime(of: second.window) == 5)
  #expect(try display.create(client).userTime == nil)
}

@Test("A client of the X server is known while it has windows: later, another program may have its number")
func xUserTimes_numberOfAFormerClient_isThatOfAnother() throws {
  let display = try UnfocusedDisplay()
  let client = try display.connect()
  display.expect(["7"])
  let windows = try (0..<2).map { _ in try display.create(client) }
  display.presentation = nil
  xcb_destroy_window(client.raw, windows[0].window)
  let third = try display.create(client)
  #expect(third.userTime == 0, "the client still has a window")
  // A window manager gives a window a frame.
  xcb_reparent_window(client.raw, windows[1].window, third.window, 0, 0)
  xcb_destroy_window(client.raw, third.window)
  #expect(try display.create(client).userTime == nil)
}

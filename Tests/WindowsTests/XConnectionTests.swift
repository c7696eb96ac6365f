import CXCB
import EventLoops
import TestSupport
import Testing

@testable import WindowAdapter

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

@Test("N1: events that reach libxcb together with an answer are handled, also when nothing else follows")
func xConnection_eventsBesideAnswers_areHandled() throws {
  let loop = try EventLoop()
  let server = try XServer(loop)
  let connection = try XConnection(display: server.display)
  try connection.follow(loop)
  xcb_select_events(connection.raw, connection.root, XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)

  var heard = 0
  /// Makes an event that libxcb has read when this returns.
  func change() {
    connection.setText(connection.root, "_NAVD_TEST", "\(heard)")
    _ = connection.text(connection.root, "_NAVD_TEST")
  }
  connection.onEvents = {
    heard += 1
    if heard < 5 { change() }
  }
  change()
  #expect(loop.turn { heard == 5 }, "heard \(heard) of 5")
}

@Test("A text of an older program is in Latin-1 if its type says so, and others are UTF-8")
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

@Test("A window that has just closed is not reported as one that cannot be asked to close")
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

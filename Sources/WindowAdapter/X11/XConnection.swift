import CXCB
import EventLoops
import Glibc

/// Takes the events of an X server.
package protocol XEventReader: AnyObject {
  func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>)
  /// Called when all arrived events were taken, or a part of many.
  func eventsTaken()
  /// Called once, when the server has ended the connection.
  func connectionEnded(_ reason: String)
}

/// A connection to an X server. Calls wait for answers: the server is local, and each answer takes a few dozen microseconds.
package final class XConnection {
  package typealias Window = xcb_window_t
  package typealias Atom = xcb_atom_t

  package let raw: OpaquePointer
  package let root: Window
  private var watch: Watch?
  private var atoms: [String: Atom] = [:]
  private var names: [Atom: String] = [:]
  let knowsProcesses: Bool
  package weak var reader: (any XEventReader)?

  /// Connects to a display.
  /// - Parameter display: the display; nil for the one in the environment.
  package init(display: String? = nil) throws(BackendFailure) {
    var number: Int32 = 0
    guard let raw = xcb_connect(display, &number) else { throw BackendFailure(description: "out of memory") }
    let error = xcb_connection_has_error(raw)
    var screens = xcb_setup_roots_iterator(xcb_get_setup(raw))
    guard error == 0, let first = screens.data else {
      xcb_disconnect(raw)
      let name = display ?? Environment["DISPLAY"] ?? "“”"
      throw BackendFailure(description: "no X server at the display \(name) (error \(error))")
    }
    for _ in 0..<max(0, number) where screens.rem > 1 { xcb_screen_next(&screens) }
    self.raw = raw
    root = (screens.data ?? first).pointee.root
    let version = xcb_res_query_version_reply(raw, xcb_res_query_version(raw, 1, 2), nil)
    // The extension knows processes since version 1.2.
    knowsProcesses = version.map { ($0.pointee.server_major, $0.pointee.server_minor) >= (1, 2) } ?? false
    free(version)
  }

  /// Follows events from now on.
  package func follow(_ loop: EventLoop) throws(BackendFailure) {
    do throws(SystemError) {
      watch = try loop.watch(xcb_get_file_descriptor(raw), .read, of: self) { connection, _ in connection.readEvents() }
    } catch {
      throw BackendFailure(description: "\(error)")
    }
    // During the wait for an answer, events are read into libxcb's queue, and the descriptor does not show them. Their handlers may
    // ask again, so the turn after one with events does not wait.
    loop.atEndOfTurn(of: self) { [unowned loop] connection in
      if !connection.isEnded, connection.readEvents() { loop.soon {} }
    }
  }

  deinit {
    watch?.cancel()
    for event in waiting { free(event) }
    xcb_disconnect(raw)
  }

  /// The time for handling events in a turn, after which other work is done: a client may change its windows without end.
  private static let timeOfTurn = Duration.milliseconds(2)
  /// The longest time for which ``XEventReader/eventsTaken()`` waits until all events are handled:
  /// its questions bring further events into libxcb's queue.
  private static let maxDelay = Duration.milliseconds(50)
  private static let eventsBetweenLooks = 64
  private var lastCall = ContinuousClock.now
  private var isCallDue = false
  /// The limit of events that wait; others stay with libxcb.
  private static let maxWaiting = 4096

  private var isEnded: Bool { watch?.isCancelled != false }

  /// - Returns: whether there were events.
  @discardableResult
  private func readEvents() -> Bool {
    let begin = ContinuousClock.now
    var count = 0
    var areAllTaken = false
    while count % Self.eventsBetweenLooks != 0 || ContinuousClock.now - begin < Self.timeOfTurn {
      guard let event = takeWaiting() ?? nextEvent() else {
        areAllTaken = true
        break
      }
      count += 1
      reader?.take(event)
      free(event)
    }
    let found = count > 0
    if found { isCallDue = true }
    if isCallDue, areAllTaken || begin - lastCall > Self.maxDelay {
      (isCallDue, lastCall) = (false, begin)
      reader?.eventsTaken()
    }
    xcb_flush(raw)
    let error = xcb_connection_has_error(raw)
    guard error != 0, !isEnded else { return found }
    watch?.cancel()
    reader?.connectionEnded("the X server has closed its connection (error \(error))")
    return found
  }

  private typealias Event = UnsafeMutablePointer<xcb_generic_event_t>

  /// Events that were read during the wait for an answer, and are handled in the next turn.
  private var waiting: ArraySlice<Event> = []

  private func takeWaiting() -> Event? { waiting.popFirst() }

  private func nextEvent() -> Event? {
    guard let event = xcb_poll_for_event(raw) else { return nil }
    if Int32(event.pointee.response_type & 0x7F) == XCB_PROPERTY_NOTIFY {
      event.withMemoryRebound(to: xcb_property_notify_event_t.self, capacity: 1) {
        if let name = knownName(of: $0.pointee.atom) { askAgain(for: name, of: $0.pointee.window) }
      }
    }
    return event
  }

  func flush() { xcb_flush(raw) }

  func has(_ window: Window) -> Bool { mapState(of: window) != nil }

  func isMapped(_ window: Window) -> Bool { (mapState(of: window) ?? 0) != XCB_MAP_STATE_UNMAPPED.rawValue }

  /// The map state; nil if the window is gone.
  private func mapState(of window: Window) -> UInt32? {
    let reply = xcb_get_window_attributes_reply(raw, xcb_get_window_attributes(raw, window), nil)
    defer { free(reply) }
    return reply.map { UInt32($0.pointee.map_state) }
  }

  // MARK: Questions

  /// The child windows of a window; none if it is gone.
  func children(of window: Window) -> [Window] {
    guard let reply = xcb_query_tree_reply(raw, xcb_query_tree(raw, window), nil) else { return [] }
    defer { free(reply) }
    return Array(
      UnsafeBufferPointer(start: xcb_query_tree_children(reply), count: Int(xcb_query_tree_children_length(reply))))
  }

  package func atom(_ name: String) -> Atom {
    if let known = atoms[name] { return known }
    let reply = xcb_intern_atom_reply(raw, xcb_intern_atom(raw, 0, UInt16(name.utf8.count), name), nil)
    defer { free(reply) }
    guard let atom = reply?.pointee.atom else { return Atom(XCB_ATOM_NONE.rawValue) }
    atoms[name] = atom
    names[atom] = name
    return atom
  }

  /// The name of an atom that was requested by its name; nil for others. The server is not asked: a client may change its properties
  /// all the time.
  package func knownName(of atom: Atom) -> String? { names[atom] }

  func name(of atom: Atom) -> String {
    guard let reply = xcb_get_atom_name_reply(raw, xcb_get_atom_name(raw, atom), nil) else { return "" }
    defer { free(reply) }
    let bytes = UnsafeRawBufferPointer(
      start: xcb_get_atom_name_name(reply), count: Int(xcb_get_atom_name_name_length(reply)))
    return String(decoding: bytes, as: UTF8.self)
  }

  private typealias Content = (bytes: [UInt8], type: Atom)

  /// Questions about one window, some of them answered.
  private struct Questions {
    let window: Window
    var properties: [String: xcb_get_property_cookie_t] = [:]
    var process: xcb_res_query_client_ids_cookie_t?
    var answers: [String: Content] = [:]
  }

  /// The questions of the body of ``asking(for:of:_:)``, while it runs.
  private var questions: Questions?
  /// The questions about windows that are followed from their creation.
  private var early: [Window: Questions] = [:]
  /// The windows of these questions, in the order of their creation.
  private var earlyWindows: [Window] = []
  /// The limit of windows that are followed from their creation, because a client may create any number and show none, or show them
  /// inside another one. The oldest is asked later.
  private static let maxEarly = 64

  /// Asks for properties of a window and for its process at once, so that all questions in the body take one round trip together, or
  /// none if they were asked in advance. During the body, the value of a property does not change.
  func asking<Result>(for names: [String], of window: Window, _ body: () -> Result) -> Result {
    if isAskedInAdvance(window) {
      // Some of these events may say that the window has changed since the question.
      while waiting.count < Self.maxWaiting, let event = nextEvent() { waiting.append(event) }
    }
    questions = takeEarly(window) ?? ask(for: names, of: window)
    defer {
      if let questions { discard(questions) }
      questions = nil
    }
    return body()
  }

  /// Asks for properties of a window and for its process, but leaves the answers to the next ``asking(for:of:_:)``.
  func askInAdvance(for names: [String], of window: Window) {
    forget(window)
    if earlyWindows.count == Self.maxEarly { forget(earlyWindows[0]) }
    earlyWindows.append(window)
    early[window] = ask(for: names, of: window)
  }

  private func takeEarly(_ window: Window) -> Questions? {
    guard let questions = early.removeValue(forKey: window) else { return nil }
    earlyWindows.removeAll { $0 == window }
    return questions
  }

  /// Whether answers about a window wait for ``asking(for:of:_:)``.
  func isAskedInAdvance(_ window: Window) -> Bool { early[window] != nil }

  /// Asks again for a property that was asked in advance and has changed.
  private func askAgain(for name: String, of window: Window) {
    guard let former = early[window]?.properties[name] else { return }
    xcb_discard_reply(raw, former.sequence)
    early[window]?.properties[name] = ask(window, name)
  }

  /// Discards the answers to questions about a window that were asked in advance.
  func forget(_ window: Window) {
    if let questions = takeEarly(window) { discard(questions) }
  }

  private func ask(for names: [String], of window: Window) -> Questions {
    var questions = Questions(window: window)
    for name in names { questions.properties[name] = ask(window, name) }
    if knowsProcesses { questions.process = askForProcess(of: window) }
    return questions
  }

  private func discard(_ questions: Questions) {
    for cookie in questions.properties.values { xcb_discard_reply(raw, cookie.sequence) }
    if let process = questions.process { xcb_discard_reply(raw, process.sequence) }
  }

  private func ask(_ window: Window, _ name: String) -> xcb_get_property_cookie_t {
    xcb_get_property(raw, 0, window, atom(name), Atom(XCB_GET_PROPERTY_TYPE_ANY.rawValue), 0, 16 << 10)
  }

  /// The content of a property, at most 64 KiB, and its type; empty if the window does not have the property.
  private func property(_ window: Window, _ name: String) -> Content {
    guard questions?.window == window else { return content(ask(window, name)) }
    if let answer = questions?.answers[name] { return answer }
    guard let cookie = questions?.properties.removeValue(forKey: name) else { return content(ask(window, name)) }
    let answer = content(cookie)
    questions?.answers[name] = answer
    return answer
  }

  private func content(_ cookie: xcb_get_property_cookie_t) -> Content {
    guard let reply = xcb_get_property_reply(raw, cookie, nil) else { return ([], 0) }
    defer { free(reply) }
    let bytes = UnsafeRawBufferPointer(
      start: xcb_get_property_value(reply), count: Int(xcb_get_property_value_length(reply)))
    return (Array(bytes), reply.pointee.type)
  }

  /// A property of 32-bit numbers: windows, atoms, or cardinals.
  package func numbers(_ window: Window, _ name: String) -> [UInt32] {
    property(window, name).bytes.withUnsafeBytes { bytes in
      (0..<(bytes.count / 4)).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
    }
  }

  /// A property of texts separated by zero bytes; no texts if it is empty.
  package func texts(_ window: Window, _ name: String) -> [String] {
    let (bytes, type) = property(window, name)
    if bytes.isEmpty { return [] }
    return bytes.split(separator: 0, omittingEmptySubsequences: false).map { part in
      // A text of the type STRING is Latin-1 (ICCCM 2.7.1), though some programs give that type to UTF-8.
      if type == XCB_ATOM_STRING.rawValue, String(validating: part, as: UTF8.self) == nil {
        return String(String.UnicodeScalarView(part.map { Unicode.Scalar($0) }))
      }
      return String(decoding: part, as: UTF8.self)
    }
  }

  package func text(_ window: Window, _ name: String) -> String? { texts(window, name).first }

  func setText(_ window: Window, _ name: String, _ text: String) {
    xcb_change_property(
      raw, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atom(name), atom("UTF8_STRING"), 8, UInt32(text.utf8.count),
      text)
    flush()
  }

  /// Sets a property that is one number.
  func setNumber(_ window: Window, _ name: String, _ number: UInt32) {
    var number = number
    xcb_change_property(
      raw, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atom(name), Atom(XCB_ATOM_CARDINAL.rawValue), 32, 1, &number)
    flush()
  }

  func delete(_ window: Window, _ name: String) { xcb_delete_property(raw, window, atom(name)) }

  /// The server's number of the client that has created a window. A later client may get it once all windows of this one are gone.
  func client(of window: Window) -> UInt32 { window & ~xcb_get_setup(raw).pointee.resource_id_mask }

  private static let localProcess = UInt32(XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID.rawValue)

  private func askForProcess(of window: Window) -> xcb_res_query_client_ids_cookie_t {
    var spec = xcb_res_client_id_spec_t(client: window, mask: Self.localProcess)
    return xcb_res_query_client_ids(raw, 1, &spec)
  }

  /// The process of a window's client, which the server knows from the client's socket; nil for a client on another machine.
  /// (`_NET_WM_PID` is the client's own claim, and wrong in a process namespace.)
  func process(of window: Window) -> UInt32? {
    guard knowsProcesses else { return nil }
    let asked = questions?.window == window ? questions?.process : nil
    if asked != nil { questions?.process = nil }
    guard let reply = xcb_res_query_client_ids_reply(raw, asked ?? askForProcess(of: window), nil) else { return nil }
    defer { free(reply) }
    var ids = xcb_res_query_client_ids_ids_iterator(reply)
    while ids.rem > 0, let id = ids.data {
      if id.pointee.spec.mask & Self.localProcess != 0, xcb_res_client_id_value_value_length(id) > 0,
        let value = xcb_res_client_id_value_value(id), value.pointee != 0
      {
        return value.pointee
      }
      xcb_res_client_id_value_next(&ids)
    }
    return nil
  }
}

import CXCB
import EventLoops
import Glibc
import Logging
import PresentationModel
import Processes
import TextFormats

/// Windows of sway and of i3, by their socket.
final class I3Backend: Backend, I3EventReader, XEventReader, ToplevelReader {
  let name = "sway"
  var onEnd: ((String) -> Void)?

  private let loop: EventLoop
  private let log: Logger
  private let socket: I3Socket
  private let ids = WindowIDs()
  /// The source of facts about windows that i3 does not report; nil for sway.
  private var display: XWindowFacts?
  /// User times of expected windows, by which i3 does not give them the focus; nil on sway, and without an X server.
  private var userTimes: XUserTimes?
  /// The properties of X windows that have changed since they were read.
  private var changed: Set<XWindowFacts.Change> = []
  /// The source of facts about windows that sway's socket does not report; nil for i3, or if sway has no such protocol.
  private var toplevels: WlrConnection?
  private var isSway = false
  private var model = I3Model(capabilities: [], programsResize: false) { _, _ in I3Model.Identity(id: "") }
  private var isReading: Set<I3Message.Kind> = []
  private var reading: Timer?
  private var placing: Timer?
  private var ready: (() -> Void)?

  /// - Parameter path: the path of the socket.
  init(_ path: String, _ loop: EventLoop, _ log: Logger) throws(BackendFailure) {
    self.loop = loop
    self.log = log
    do throws(SystemError) {
      socket = try I3Socket(path, loop)
    } catch {
      throw BackendFailure(description: "no window manager at the socket: \(error)")
    }
  }

  var state: WindowSystemState { model.state }
  func takeEvents() -> [WindowEvent] { model.takeEvents() }
  func announceDue(now: MonotonicInstant) { model.announceDue(now: now) }

  func start(ready: @escaping () -> Void) {
    self.ready = ready
    socket.eventReader = self
    send(.version) { [self] version in
      begin(isSway: version?["variant"] == "sway")
    }
  }

  private func begin(isSway: Bool) {
    var capabilities: [WindowCapability] = [
      .close, .activate, .hide, .move, .summon, .place, .fullscreen, .expect, .behind, .pid, .parent, .output, .focus,
      .inView, .startupID,
    ]
    self.isSway = isSway
    if isSway {
      // sway reports no parents of Wayland windows, and no startup ids.
      capabilities.removeAll { $0 == .parent || $0 == .startupID }
      followToplevels()
      // sway never uses a container id twice.
      let token = socket.peer.flatMap(ProcessIdentity.init(of:)).map { "\($0.pid)-\($0.startTime)" } ?? ids.token
      model = I3Model(capabilities: capabilities, programsResize: true) { node, _ in
        I3Model.Identity(id: "\(token)-\(node.container)")
      }
    } else {
      do throws(BackendFailure) {
        let facts = try XWindowFacts(ids)
        try facts.connection.follow(loop)
        facts.connection.reader = self
        facts.followNew()
        display = facts
        userTimes = XUserTimes(facts.connection)
      } catch {
        log.warning("no X display, so that the processes of windows are not known: \(error)")
        capabilities.removeAll { [.expect, .pid, .startupID].contains($0) }
      }
      // i3's container ids are addresses, which later windows may get again.
      model = I3Model(capabilities: capabilities, programsResize: false) { [display, ids] node, isTaken in
        guard let window = node.xWindow, let display else { return I3Model.Identity(id: ids.next()) }
        return display.reading(window) {
          let startupID = display.startupID(of: window)
          return I3Model.Identity(
            id: display.id(of: window, isTaken: isTaken), pid: display.pid(of: window), startupID: startupID)
        }
      }
    }
    // Each event is requested alone: sway 1.7 refuses a list with an unknown event.
    for event in ["window", "workspace", "output", "binding"] { send(.subscribe, "[\"\(event)\"]") { _ in } }
    readWanted()
  }

  func take(_ event: I3Message.Event?, _ content: JSON?) {
    model.take(event, content, now: loop.now)
    tellRules()
    readSoon()
  }

  /// i3 takes such rules from its configuration alone, but asks the X server whether a window is to have the focus.
  func expectWithoutFocus(_ windows: [UnfocusedWindow]) {
    userTimes?.expect(windows)
    guard isSway else { return }
    model.expectWithoutFocus(windows.map(\.pattern).filter { !$0.isEmpty })
    tellRules()
  }

  private func tellRules() {
    for rule in model.takeRules() {
      send(.command, rule) { [log] answer in
        guard let failed = answer?.array?.first(where: { $0["success"] == false }) else { return }
        log.warning("sway refuses the rule “\(rule)”: \(failed["error"]?.string ?? "it does not say why")")
      }
    }
  }

  func windowManagerEnded(_ reason: String) { onEnd?(reason) }

  /// Does nothing: the end of the X server or of the Wayland connection is not that of the window manager.
  func connectionEnded(_ reason: String) {}

  /// Follows sway's windows by its Wayland protocol, too.
  private func followToplevels() {
    do {
      let toplevels = try WlrConnection()
      guard toplevels.peer == socket.peer else {
        return log.warning("$WAYLAND_DISPLAY and $SWAYSOCK are of two compositors, so that \(Self.unseen)")
      }
      toplevels.reader = self
      try toplevels.follow(loop)
      self.toplevels = toplevels
    } catch {
      log.warning("no Wayland connection, so that \(Self.unseen): \(error)")
    }
  }

  func changed(_ toplevel: WlrToplevel) {
    model.takeToplevel(toplevel.changes)
    readSoon()
  }

  /// Does nothing, since sway's socket reports it.
  func closed(_ toplevel: WlrToplevel) {}

  func placesChanged() {
    model.takeOutputsChange()
    readSoon()
  }

  private static let unseen = "a launcher or a click on the desktop that takes the focus is not seen"

  /// Handles an event of the X server: i3 reports no changed property except the title.
  func take(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
    // This comes first, since each question delays it.
    userTimes?.take(event)
    if let change = display?.changedProperty(event) { changed.insert(change) }
  }

  /// The limit of properties read in a turn, after which other work is done. Each takes a round trip.
  private static let maxChanges = 64

  /// Reads each property that has changed, but only once in a turn: a client may change one all the time.
  func eventsTaken() {
    guard let display else { return }
    for _ in 0..<Self.maxChanges {
      guard let change = changed.popFirst() else { return }
      var properties = WindowProperties()
      switch change.name {
      case "WM_CLASS": properties.appID = display.appID(of: change.window)
      case "_NET_STARTUP_ID": properties.startupID = display.ownStartupID(of: change.window)
      default: continue
      }
      model.take(properties, of: change.window, now: loop.now)
      readSoon()
    }
    if !changed.isEmpty { loop.soon { [weak self] in self?.eventsTaken() } }
  }

  /// Reads once for all events of a change, which come within a millisecond. After this pause navd has told its clients about the
  /// events, and the window manager, which builds the tree, takes no processor from that work.
  private func readSoon() {
    guard reading?.isPending != true else { return }
    reading = loop.timer(after: .milliseconds(3), of: self) { $0.readWanted() }
  }

  /// Reads the parts that the model wants to be read again, with one request for each at a time.
  private func readWanted() {
    guard isReading.isEmpty else { return }
    for kind in model.takeWants().sorted(by: { $0.rawValue < $1.rawValue }) {
      isReading.insert(kind)
      send(kind) { [self] json in
        isReading.remove(kind)
        guard let json else {
          log.error("an answer of the window manager cannot be read, and is passed over")
          return readWanted()
        }
        if kind == .outputs { model.take(outputs: json) } else { model.take(tree: json, now: loop.now) }
        if isReading.isEmpty { becomeReady() }
        if kind == .tree {
          command(model.givingFocus())
          goOnPlacing()
        }
        readWanted()
      }
    }
  }

  private func goOnPlacing() {
    command(model.placing(now: loop.now))
    guard model.isPlacing, placing?.isPending != true else { return }
    placing = loop.timer(after: model.pauseOfPlacing(now: loop.now), of: self) { backend in
      backend.model.readTree()
      backend.readWanted()
    }
  }

  private func command(_ commands: [String]) {
    if !commands.isEmpty { send(.command, commands.joined(separator: "; ")) { _ in } }
  }

  private func becomeReady() {
    display?.hasReadFormerWindows()
    ready?()
    ready = nil
  }

  private func send(_ kind: I3Message.Kind, _ payload: String = "", _ completion: @escaping (JSON?) -> Void) {
    do throws(Refusal) {
      try socket.send(kind, payload, completion)
    } catch {
      log.error("\(error.message)")
      isReading.remove(kind)
    }
  }

  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void
  ) {
    if let display, let window = model.node(key)?.xWindow, !display.isStill(window, model.state.windows.id(of: key)) {
      return completion(.failure(.isGone))
    }
    if request == .close, let window = model.node(key)?.xWindow {
      // The window manager would destroy the window. On sway, no connection is kept, because Xwayland ends when it has no clients.
      let facts = display ?? (try? XWindowFacts(ids))
      // On sway, the window may belong to another X server than `DISPLAY`.
      guard facts?.canBeAsked(window) != false || display?.isGone(window) == true else {
        return completion(.failure(.cannotBeAsked))
      }
    }
    if request == .hide, model.node(key)?.floatsWithOthers == true {
      let reason = "it is in a floating container with other windows, which would be hidden, too"
      return completion(.failure(Refusal(.notSupported, reason)))
    }
    if case .place(let placement) = request {
      command(model.place(key, placement, now: loop.now))
      goOnPlacing()
      readWanted()
      return completion(.success(()))
    }
    do throws(Refusal) {
      let (doing, after) = model.commands(request, key)
      readSoon()
      try socket.send(.command, (doing + after).joined(separator: "; ")) { [self] json in
        guard let failed = (json?.array ?? []).prefix(doing.count).first(where: { $0["success"] == false }) else {
          return completion(.success(()))
        }
        // Events that preceded the reply were handled.
        completion(
          .failure(
            model.state.windows.contains(key)
              ? Refusal(.notSupported, "\(request.noun): \(failed["error"]?.string ?? "the window manager refuses it")")
              : .isGone))
      }
    } catch {
      completion(.failure(error))
    }
  }
}

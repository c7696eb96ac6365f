import EventLoops
import PresentationModel

/// A window as a Wayland protocol tells it: an object of the compositor.
protocol Toplevel: AnyObject {
  /// Larger than that of a window that was opened before it.
  var key: WindowTable.Key { get }
  /// Whether the compositor has told all of it once.
  var isKnown: Bool { get }
  /// Whether it is part of the desktop, such as a panel or the background.
  var isPartOfTheDesktop: Bool { get }
}

/// A connection to a compositor that tells each window as an object.
protocol ToplevelConnection: AnyObject {
  associatedtype Window: Toplevel
  var toplevels: [OpaquePointer: Window] { get }
  /// Called when the outputs are other ones, or what is in view.
  var onPlaces: (() -> Void)? { get set }
  /// Called for each window that is known and has changed.
  var onChange: ((Window) -> Void)? { get set }
  /// Called for each window that has closed.
  var onClosed: ((Window) -> Void)? { get set }
  /// Called once, with the reason.
  var onEnd: ((String) -> Void)? { get set }

  /// Waits until the compositor has told all that there is.
  /// - Returns: false if the connection has ended; that was reported.
  func readAll() -> Bool
  /// Reads changes from now on.
  func follow(_ loop: EventLoop) throws(SystemError)
}

/// The part that backends share whose compositor tells each window as an object.
class ToplevelBackend<Connection: ToplevelConnection> {
  final var onEnd: ((String) -> Void)?
  final var state = WindowSystemState()
  final let loop: EventLoop
  final let connection: Connection
  /// Whether all windows are known that were there before.
  private var isStarted = false

  init(_ loop: EventLoop, _ connection: Connection) { (self.loop, self.connection) = (loop, connection) }

  final func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }
  final func announceDue(now: MonotonicInstant) { state.windows.announceDue(now: now) }

  final func start(ready: @escaping () -> Void) {
    connection.onEnd = { [unowned self] in onEnd?($0) }
    connection.onPlaces = { [unowned self] in placesChanged() }
    connection.onChange = { [unowned self] in changed($0) }
    connection.onClosed = { [unowned self] in closed($0) }
    guard connection.readAll() else { return }
    state.capabilities = capabilitiesAtStart
    isStarted = true
    placesChanged()
    state.windows.announceAll()
    do throws(SystemError) {
      try connection.follow(loop)
    } catch {
      return onEnd?("\(error)") ?? ()
    }
    ready()
  }

  private func placesChanged() {
    guard isStarted else { return }
    state.outputs = outputNames
    for window in known { see(window) }
    state.inferFocusedOutput()
  }

  private func changed(_ window: Connection.Window) {
    guard isStarted else { return }
    let capabilities = state.capabilities
    see(window)
    // A capability that was found tells more of all windows.
    if state.capabilities != capabilities { for window in known { see(window) } }
    state.inferFocusedOutput()
  }

  /// In the order in which they were opened.
  private var known: [Connection.Window] {
    connection.toplevels.values.filter(\.isKnown).sorted { $0.key < $1.key }
  }

  private func closed(_ window: Connection.Window) {
    state.windows.close(window.key)
    seeLeftOut()
    state.inferFocusedOutput()
  }

  /// Has the table take the oldest window that was left out, if there is one: a window that does not change is not seen again.
  private func seeLeftOut() {
    guard connection.toplevels.count > state.windows.allKeys.count else { return }
    if let oldest = known.first(where: { !$0.isPartOfTheDesktop && !state.windows.contains($0.key) }) { see(oldest) }
  }

  final func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void
  ) {
    guard let window = connection.toplevels.values.first(where: { $0.key == key }) else {
      return completion(.failure(.isGone))
    }
    carryOut(request, window)
    completion(.success(()))
  }

  // MARK: What a backend adds

  var capabilitiesAtStart: [WindowCapability] { [] }
  var outputNames: [String] { [] }
  /// Takes in what is known of a window.
  func see(_ window: Connection.Window) {}
  func carryOut(_ request: WindowRequest, _ window: Connection.Window) {}
}

import EventLoops
import PresentationModel

/// A window as reported by a Wayland protocol: an object of the compositor.
package protocol Toplevel: AnyObject {
  /// The key, which is larger than the key of any window opened before.
  var key: WindowTable.Key { get }
  /// Whether the compositor has described the window completely once.
  var isKnown: Bool { get }
  /// Whether the window is part of the desktop, such as a panel or the background.
  var isPartOfTheDesktop: Bool { get }
}

/// Takes what a compositor reports of its windows.
package protocol ToplevelReader<Window>: AnyObject {
  associatedtype Window: Toplevel
  /// Called when the outputs, or what is in view, have changed.
  func placesChanged()
  /// Called for each window that is known and has changed.
  func changed(_ window: Window)
  func closed(_ window: Window)
  /// Called once, with the reason of the end.
  func connectionEnded(_ reason: String)
}

/// A connection to a compositor that reports each window as an object.
package class ToplevelConnection<Window: Toplevel>: WaylandReader {
  final let connection: WaylandConnection
  final var toplevels: [OpaquePointer: Window] = [:]
  package final weak var reader: (any ToplevelReader<Window>)?

  /// Connects to the compositor of the environment.
  init() throws(BackendFailure) {
    connection = try WaylandConnection()
    connection.reader = self
  }

  func found(_ global: WaylandConnection.Global) {}
  func lost(_ number: UInt32) {}
  final func compositorEnded(_ reason: String) { reader?.connectionEnded(reason) }

  /// Waits until the compositor has reported everything.
  /// - Returns: false if the connection has ended; the end was reported.
  func readAll() -> Bool {
    // The first answer names the windows, and the second one describes them.
    guard connection.finishRequests(), connection.finishRequests() else {
      connection.fail()
      return false
    }
    return true
  }

  /// Follows changes from now on.
  package final func follow(_ loop: EventLoop) throws(SystemError) { try connection.follow(loop) }
}

/// The common part of backends whose compositor reports each window as an object.
class ToplevelBackend<Window: Toplevel, Connection: ToplevelConnection<Window>>: ToplevelReader {
  final var onEnd: ((String) -> Void)?
  final var state = WindowSystemState()
  final let loop: EventLoop
  final let connection: Connection
  /// Whether all windows from before the start are known.
  private var isStarted = false

  init(_ loop: EventLoop, _ connection: Connection) { (self.loop, self.connection) = (loop, connection) }

  final func takeEvents() -> [WindowEvent] { state.windows.takeEvents() }
  final func announceDue(now: MonotonicInstant) { state.windows.announceDue(now: now) }

  final func start(ready: @escaping () -> Void) {
    connection.reader = self
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

  package final func placesChanged() {
    guard isStarted else { return }
    state.outputs = outputNames
    _ = isCoveringChanged()
    for window in known { see(window) }
    state.inferFocusedOutput()
  }

  package final func changed(_ window: Window) {
    guard isStarted else { return }
    let capabilities = state.capabilities
    // One window may cover others now, or no longer.
    let isCoveringChanged = isCoveringChanged()
    see(window)
    // A new capability adds properties to all windows.
    if isCoveringChanged || state.capabilities != capabilities { for window in known { see(window) } }
    state.inferFocusedOutput()
  }

  /// The known windows, in the order in which they were opened.
  final var known: [Window] {
    connection.toplevels.values.filter(\.isKnown).sorted { $0.key < $1.key }
  }

  package final func closed(_ window: Window) {
    state.windows.close(window.key)
    if isCoveringChanged() { for window in known { see(window) } }
    seeLeftOut()
    state.inferFocusedOutput()
  }

  package final func connectionEnded(_ reason: String) { onEnd?(reason) }

  /// Makes the table see the oldest window that was left out, if there is one, because an unchanged window is not seen again.
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

  // MARK: Additions of a backend

  var capabilitiesAtStart: [WindowCapability] { [] }
  var outputNames: [String] { [] }
  /// Looks again which windows others cover.
  /// - Returns: whether they are others than before.
  func isCoveringChanged() -> Bool { false }
  /// Passes the known facts about a window on to the table.
  func see(_ window: Window) {}
  func carryOut(_ request: WindowRequest, _ window: Window) {}
}

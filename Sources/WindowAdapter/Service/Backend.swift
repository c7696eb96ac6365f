import DBus
import EventLoops
import PresentationModel

/// Access to the windows: the protocol of a window system. The state changes while the loop turns; at the end of each turn the
/// service reports the changes to clients.
protocol Backend: AnyObject {
  /// The word for `--backend`.
  var name: String { get }
  var state: WindowSystemState { get }
  /// The events of ``state`` since the last call.
  func takeEvents() -> [WindowEvent]
  /// Announces the windows that have waited long enough for a title.
  func announceDue(now: MonotonicInstant)
  /// Called once, with the reason, when the backend has ended; nothing follows.
  var onEnd: ((String) -> Void)? { get set }

  /// Gives the backend the session bus, where some compositors do what their protocols cannot. It comes before ``start(ready:)``.
  func take(bus: Connection)

  /// Begins to follow the windows.
  /// - Parameter ready: called when the state contains the windows that existed before.
  func start(ready: @escaping () -> Void)

  /// Carries out a request for a window in the state. The capability was checked, and the output exists.
  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void)

  /// Tells the window system which windows are to open without the focus, if it can know them before they open. Otherwise they give the
  /// focus back.
  /// - Parameter windows: all such windows that are expected now.
  func expectWithoutFocus(_ windows: [UnfocusedWindow])

  /// Removes everything of the adapter from the window system when the adapter ends.
  func end()
}

extension Backend {
  func take(bus: Connection) {}
  func expectWithoutFocus(_ windows: [UnfocusedWindow]) {}
  func end() {}
}

/// The reason why a backend cannot work here, for the user who started the adapter.
package struct BackendFailure: Error, CustomStringConvertible {
  package let description: String
  /// Whether a restart cannot help: the backend does not work with this compositor or X server.
  package var isFinal = false
  /// Whether another adapter serves the same windows.
  package var isRunning = false

  /// The exit status. The manager does not treat 3 as a failure, and does not start the adapter again.
  package var status: Int32 { isFinal ? 3 : 1 }
}

import EventLoops
import PresentationModel

/// A way to know and to change windows: the protocol of a window system. Its state changes while the loop turns; at the end of
/// each turn the service tells clients of it.
protocol Backend: AnyObject {
  /// The word for `--backend`.
  var name: String { get }
  var state: WindowSystemState { get }
  /// The events of ``state`` since the last call.
  func takeEvents() -> [WindowEvent]
  /// Announces the windows that have waited long enough for a title.
  func announceDue(now: MonotonicInstant)
  /// Why the backend has ended; nil while it works. It is called once, and nothing follows.
  var onEnd: ((String) -> Void)? { get set }

  /// Begins to follow the windows.
  /// - Parameter ready: is called when the windows that were there before are in the state.
  func start(ready: @escaping () -> Void)

  /// Carries out a request for a window in the state. The capability was checked, and the output exists.
  func perform(
    _ request: WindowRequest, _ key: WindowTable.Key, _ completion: @escaping (Result<Void, Refusal>) -> Void)

  /// Leaves nothing behind in the window system when the adapter ends.
  func end()
}

extension Backend {
  func end() {}
}

/// Why a backend cannot work here, for the user who started the adapter.
package struct BackendFailure: Error, CustomStringConvertible {
  package let description: String
  /// True if a restart cannot help: the compositor or X server is not one that the backend works with.
  package var isFinal = false

  /// The status to exit with. The manager takes 3 for no failure, and does not start the adapter again.
  package var status: Int32 { isFinal ? 3 : 1 }
}

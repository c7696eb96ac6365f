// Why this file exists: who follows the state is to know that nothing is missing, however slowly it reads and whatever
// becomes of the coordinator (rules W1, W2).

import CoordinatorAPI
import DBusValues
import PresentationModel

/// The state of a session and what changes, from now on: the whole state first; then every event, its serial one more than
/// the last; and the whole state again wherever events are missing, since the coordinator was restarted or the reader was
/// slow. Ends with `unreachable` when the bus is gone. While no coordinator runs it waits, and starts none.
public struct Following: AsyncSequence {
  /// The whole state, or the next difference.
  public enum Element: Hashable, Sendable {
    /// The whole state: at first, and wherever events are missing.
    case state(NavigationState)
    /// What has changed since the element before.
    case event(NavigationEvent)
  }
  /// `unreachable` is the only one.
  public typealias Failure = NavigationError

  let backend: any CoordinatorBackend

  /// Follows from its first element on.
  public func makeAsyncIterator() -> Iterator { Iterator(backend: backend) }

  /// Follows from when it is first asked.
  public struct Iterator: AsyncIteratorProtocol {
    let backend: any CoordinatorBackend
    private var notices: AsyncStream<Notice>.Iterator?
    /// Of the last element; nil where no state is known.
    private var serial: UInt64?

    init(backend: any CoordinatorBackend) { self.backend = backend }

    /// The next element; waits for it. nil where the task is cancelled.
    /// - Throws: `unreachable` when the bus is gone, `closed` when the coordinator was closed.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(NavigationError) -> Element? {
      if notices == nil { notices = await backend.notices().makeAsyncIterator() }
      while let notice = await notices?.next(isolation: actor) {
        switch notice {
        case .failed(let error): throw error
        case .state(let state, let serial):
          self.serial = serial
          return .state(NavigationState(state, serial: serial))
        case .event(let event):
          guard let last = serial, event.serial > last else { continue }
          guard event.serial == last + 1 else {
            if let state = try await missing() { return .state(state) }
            continue
          }
          serial = event.serial
          return .event(event)
        }
      }
      return nil
    }

    /// The state, where events were dropped before they were read.
    private mutating func missing(isolation: isolated (any Actor)? = #isolation) async throws(NavigationError)
      -> NavigationState?
    {
      do throws(NavigationError) {
        let (state, serial) = try await backend.call(CoordinatorInterface.getState, (), starts: false)
        self.serial = serial
        return NavigationState(StateSnapshot(state), serial: serial)
      } catch .unreachable {
        // A coordinator that comes tells its state; without a bus there is a notice of that.
        serial = nil
        return nil
      }
    }
  }
}

import CoordinatorAPI
import DBusValues
import PresentationModel

/// The state of a session and its events, without a gap (W1, W2). The whole state comes first, and then every event, with serials
/// that increase by one. The whole state comes again if the coordinator was restarted or the reader was too slow. The sequence throws
/// `unreachable` when the bus is gone. While no coordinator runs, it waits; it never starts one.
///
///     func log(_ element: Following.Element) {
///       switch element {
///       case .state(let state): print("\(state.presentations.count) are presented")
///       case .event(let event): print(event)
///       }
///     }
///     do throws(Following.Failure) {
///       for try await element in coordinator.following { log(element) }
///     } catch {
///       print("the bus is gone: \(error)")
///     }
public struct Following: AsyncSequence {
  /// The whole state, or the next difference.
  public enum Element: Hashable, Sendable {
    /// The whole state, as the first element and after missed events.
    case state(NavigationState)
    /// The next difference.
    case event(NavigationEvent)
  }
  /// The errors of ``Iterator/next(isolation:)``.
  public typealias Failure = NavigationError

  let backend: any CoordinatorBackend

  /// Returns an iterator that starts at its first element.
  public func makeAsyncIterator() -> Iterator { Iterator(backend: backend) }

  /// An iterator that begins to follow at the first call of `next`.
  ///
  ///     var iterator: Following.Iterator = coordinator.following.makeAsyncIterator()
  ///     let state = try await iterator.next()
  public struct Iterator: AsyncIteratorProtocol {
    let backend: any CoordinatorBackend
    private var notices: AsyncStream<Notice>.Iterator?
    /// The moment of the last element.
    private(set) var moment = Moment()
    /// Whether the state at that moment is known, so that the next event follows it.
    private var isKnown = false

    init(backend: any CoordinatorBackend) { self.backend = backend }

    /// Waits for the next element.
    /// - Returns: nil if the task is cancelled.
    /// - Throws: `unreachable` if the bus is gone, `closed` if the coordinator was closed.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(NavigationError) -> Element? {
      if notices == nil { notices = await backend.notices().makeAsyncIterator() }
      while let notice = await notices?.next(isolation: actor) {
        switch notice {
        case .failed(let error): throw error
        case .state(let state, let moment):
          // A later state was read already.
          if isKnown, moment < self.moment { continue }
          (self.moment, isKnown) = (moment, true)
          return .state(NavigationState(state, serial: moment.serial))
        case .missed:
          if let state = try await newest() { return .state(state) }
        case .event(let event):
          guard isKnown, event.serial > moment.serial else { continue }
          guard event.serial == moment.serial + 1 else {
            if let state = try await newest() { return .state(state) }
            continue
          }
          moment.serial = event.serial
          return .event(event)
        }
      }
      return nil
    }

    /// Reads the state, after which the next event follows; nil if no coordinator runs.
    mutating func newest(isolation: isolated (any Actor)? = #isolation) async throws(NavigationError)
      -> NavigationState?
    {
      do throws(NavigationError) {
        let ((state, serial), coordinator) = try await backend.ask(CoordinatorInterface.getState, (), starts: false)
        (moment, isKnown) = (Moment(coordinator: coordinator, serial: serial), true)
        return NavigationState(StateSnapshot(state), serial: serial)
      } catch .unreachable {
        // The next coordinator sends its state; the end of the bus is a notice.
        isKnown = false
        return nil
      }
    }
  }
}

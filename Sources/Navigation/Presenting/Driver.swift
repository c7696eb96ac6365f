import CoordinatorAPI
import DBusValues
import Synchronization

/// Keeps a piece of state and its presentations in agreement, in both directions.
@MainActor
protocol Driver: AnyObject, Sendable {
  /// The destination that this program registers for its own screens; nil if another destination presents.
  var ownDestination: String? { get }

  /// The root of the state, which has the position in the program for reports.
  var root: BindingRoot { get }

  /// The transaction of the changes since the state was last read.
  var noted: NotedTransaction { get }

  /// The slot or the stack that it drives on the bus. It never changes.
  var subject: DrivenSubject { get }

  /// Reads the state, and returns the requests that make the presentations follow it. Not called again before they are
  /// answered.
  /// - Parameter onChange: is called within the next change of the state.
  func changes(_ transaction: Transaction, onChange: @escaping @Sendable (Transaction) -> Void)
    -> [Coordinator.Request]

  /// Reads the state, and does nothing else.
  func watch(onChange: @escaping @Sendable (Transaction) -> Void)

  /// The transaction in which the state requested a presentation, or its end; nil if the state did not.
  func transaction(of presentation: PresentationHandle, isEnding: Bool) -> Transaction?

  /// The requests were accepted, with one reply for each.
  /// - Parameter serial: the serial of the state after them.
  func accepted(_ replies: [[Value]], serial: UInt64)

  /// Requests that dismiss presentations that are no longer wanted, each of them independent. Returned once.
  func leftovers() -> [Coordinator.Request]

  /// The requests were refused and none was executed. The driver changes its state to agree.
  /// - Returns: whether to report the refusal. A refusal because a presentation has just ended is not reported.
  func refused(_ name: CoordinatorError.Name) -> Bool

  /// The requests were lost, or their outcome is unknown. They are repeated.
  func postponed()

  /// A presentation was announced at one of its bindings, whoever requested it.
  /// - Parameter destination: the destination that presents it.
  func appeared(_ presentation: PresentationHandle, id: String, destination: String?)

  func ended(_ presentation: PresentationHandle, _ end: Dismissal)

  /// A presenter has reported an action of its user (P8).
  func acted(_ presentation: PresentationHandle, _ action: String, _ parameters: Properties)

  /// Whether the driver has requested the end of a presentation, or something else in its place, and it has not ended.
  func hasGivenUp(_ presentation: PresentationHandle) -> Bool

  /// The slot holds a presentation again that was being dismissed, because a presenter declined that (P15). The state gets its item
  /// back, instead of what the driver has requested since.
  func declined(_ presentation: PresentationHandle)

  /// The item of a presentation at one of its bindings was changed, whoever requested it.
  /// - Parameter serial: the serial of the state after the change.
  func updated(_ presentation: PresentationHandle, value: Properties, serial: UInt64)

  /// Another coordinator was connected, whose serials are unrelated to the previous ones.
  func forgetSerials()

  /// The whole state, because events are missing.
  /// - Parameters:
  ///   - client: the unique name of this program in that state.
  ///   - givenUp: presentations of drivers that have ended, which no other driver takes over: they are dismissed.
  /// - Returns: presentations that have ended in the meantime.
  func reconcile(
    _ state: StateIndex, client: String, givenUp: Set<PresentationHandle>
  ) -> [PresentationHandle]

  /// Makes the screen of a presentation that the coordinator asks for. Returns nil if this cannot be decided yet,
  /// because the state has changed and may change back before the presentation is dismissed.
  /// - Throws: if no state of the program presents it.
  func screen(
    for presentation: PresentationHandle, binding: String, id: String
  ) throws(ShowingError) -> (any Screen)?

  /// Stops driving and writing the state.
  /// - Returns: requests that dismiss everything it presents.
  func retire() -> [Coordinator.Request]

  /// Whether it has ended and needs no further events.
  var isOver: Bool { get }
}

/// Drivers whose state has changed, until they are read.
final class ChangedDrivers: Sendable {
  private let drivers = Mutex<[any Driver]>([])

  /// - Returns: whether it is the first one.
  func add(_ driver: any Driver) -> Bool {
    drivers.withLock { drivers in
      drivers.append(driver)
      return drivers.count == 1
    }
  }

  /// Returns all, and forgets them.
  func take() -> [any Driver] {
    drivers.withLock { drivers in
      defer { drivers = [] }
      return drivers
    }
  }
}

/// The transaction of the changes of a state since it was last read. A change is noted while it is made: the state may be read
/// for another reason before the change is reported, and that reading uses the same transaction.
final class NotedTransaction: Sendable {
  private struct Content {
    var transaction = Transaction()
    /// The number of the last tracking; only that one notes changes.
    var tracking = 0

    mutating func note(_ change: Transaction) { transaction = transaction.merging(change) }
  }

  private let content = Mutex(Content())

  func note(_ change: Transaction) { content.withLock { $0.note(change) } }

  /// Begins a tracking, and returns a function that notes a change of it. The function returns false, and notes nothing, if
  /// another tracking has begun since.
  func noting() -> @Sendable (Transaction) -> Bool {
    let tracking = content.withLock { content in
      content.tracking += 1
      return content.tracking
    }
    return { change in
      self.content.withLock { content in
        guard content.tracking == tracking else { return false }
        content.note(change)
        return true
      }
    }
  }

  /// Returns the transaction when the state is read, and begins an empty one.
  func take() -> Transaction {
    content.withLock { content in
      defer { content.transaction = Transaction() }
      return content.transaction
    }
  }
}

/// The requests that drivers make; the answers of a whole transaction reach them as they are.
extension Coordinator.Request {
  static func present(
    _ binding: String, id: String, _ options: PresentationOptions, expecting expectation: Expectation = Expectation()
  ) -> Self {
    Coordinator.Changes().present(binding, id: id, options, expecting: expectation).requests[0]
  }

  static func dismiss(
    _ binding: String, animated: Bool? = nil, force: Bool = false, expecting expectation: Expectation = Expectation()
  ) -> Self {
    Coordinator.Changes().dismiss(binding, animated: animated, force: force, expecting: expectation).requests[0]
  }

  static func deselect(_ group: String, _ tag: String, animated: Bool?, force: Bool) -> Self {
    Coordinator.Changes().deselect(group, tag, animated: animated, force: force).requests[0]
  }
}

extension PresentationOptions {
  /// Defaults for state that only this program changes.
  func owned(in transaction: Transaction) -> PresentationOptions {
    var options = self
    options.isOwned = true
    options.animated = options.animated ?? transaction.animated
    options.isForced = options.isForced || transaction.isForced
    return options
  }
}

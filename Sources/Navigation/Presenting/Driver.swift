import CoordinatorAPI
import DBusValues
import PresentationModel
import Synchronization

/// Asks the screen of a presentation whether another client may change its value, and calls a function with the answer.
typealias AskChange = (PresentationHandle, Properties, @escaping @MainActor (Bool) -> Void) -> Void

/// Keeps a piece of state and its presentations in agreement, in both directions.
@MainActor
protocol Driver: AnyObject, Sendable {
  /// The destination that this program registers for its own screens; nil if another destination presents the state.
  var ownDestination: String? { get }

  /// The root of the state, with the position in the program for reports.
  var root: BindingRoot { get }

  /// The transaction of the changes since the state was last read.
  var noted: NotedTransaction { get }

  /// The slot or the stack that the driver controls on the bus, which never changes.
  var subject: DrivenSubject { get }

  /// Called when the coordinator differs from the state, which is kept, so that the state is read
  /// again.
  var onDifference: (() -> Void)? { get set }

  /// The binding that other clients can present, and what they may present there; nil if this program does not show it.
  var served: (binding: String, accepts: ServedEntry)? { get }

  /// Reads the state, and returns the requests that make the presentations follow it. It is not called again before they are answered.
  func changes(_ transaction: Transaction, _ tracking: Tracking) -> [Coordinator.Request]

  /// Reads the state only to observe it.
  /// - Returns: whether the state asks for another presentation than the last request.
  @discardableResult
  func watch(_ tracking: Tracking) -> Bool

  /// The transaction in which the state requested a presentation or its end; nil if the state requested neither.
  func transaction(of presentation: PresentationHandle, isEnding: Bool) -> Transaction?

  /// Handles the acceptance of the requests, with one reply for each.
  /// - Parameter moment: the moment of the state after the requests.
  func accepted(_ replies: [[Value]], at moment: Moment)

  /// The moment of the state after the last answer.
  var acceptance: Moment { get }

  /// Returns, once, the requests that dismiss presentations that are no longer wanted. Each is independent of the others.
  func leftovers() -> [Coordinator.Request]

  /// Handles the refusal of the requests, none of which was executed. The driver changes its state to agree.
  /// - Returns: whether to report the refusal. A refusal because a presentation has just ended is not reported.
  func refused(_ error: CoordinatorError) -> Bool

  /// Notes that the requests were lost, or that their outcome is unknown. They are repeated.
  func postponed()

  /// Handles the announcement of a presentation at one of the driver's bindings, whoever requested it.
  /// - Parameters:
  ///   - value: the item's value.
  ///   - destination: the destination that presents it.
  func appeared(_ presentation: PresentationHandle, id: String, value: Properties, destination: String?)

  /// Writes into the state what other clients have presented.
  /// - Parameter entries: the presentations of the subject that are not being dismissed.
  func adopt(_ entries: [PresentationState])

  /// Writes into the state what other clients have requested while its parent was out of view (D20).
  /// - Parameter items: the items at bindings of the subject, in the order of the requests.
  func request(_ items: [RequestedEntry])

  /// Whether another client may have requested a presentation of which the driver does not know.
  func isUnknown(_ presentation: PresentationHandle) -> Bool

  /// The binding of the parent of a presentation; nil if it has none.
  func parent(of presentation: PresentationHandle) -> String?

  /// Handles the end of a presentation.
  /// - Returns: a function that presents the item again, for a parent that is kept although it was being dismissed (P15); nil if the state
  ///   has asked for the end, or the item has ended for a reason of its own.
  @discardableResult
  func ended(_ presentation: PresentationHandle, _ end: Dismissal) -> (@MainActor () -> Void)?

  /// Handles an action that a presenter has reported for its user (P8).
  func acted(_ presentation: PresentationHandle, _ action: String, _ parameters: Properties)

  /// Whether the driver has requested the end or the replacement of a presentation that has not ended.
  func hasGivenUp(_ presentation: PresentationHandle) -> Bool

  /// Whether a presentation ends only because it is out of view, and what is presented from it comes back with it.
  func isHidden(_ presentation: PresentationHandle) -> Bool

  /// Handles a declined dismissal, after which the slot holds the presentation again (P15). The state gets its item back, instead
  /// of the item that the driver has requested since.
  func declined(_ presentation: PresentationHandle)

  /// Handles a change of the item of a presentation at one of the driver's bindings, whoever requested it.
  /// - Parameter moment: the moment of the state after the change.
  func updated(_ presentation: PresentationHandle, value: Properties, at moment: Moment)

  /// Forgets the refusal of a request, because another coordinator was connected, which may accept it.
  func forgetRefusal()

  /// Handles the whole state, because events are missing. It is not older than the last answer.
  /// - Parameters:
  ///   - client: this program's unique name in that state.
  ///   - givenUp: presentations of ended drivers that no other driver takes over: they are dismissed.
  /// - Returns: the presentations that have ended in the meantime.
  func reconcile(
    _ state: StateIndex, client: String, givenUp: Set<PresentationHandle>
  ) -> [PresentationHandle]

  /// Makes the screen of a presentation that the coordinator asks for. Returns nil if the driver cannot decide yet, because the state
  /// has changed and may change back before the presentation is dismissed.
  /// - Parameter isGivenUp: whether an ended driver has requested its end, which a request of this driver may prevent.
  /// - Throws: an error if no state of the program presents it.
  func screen(
    for presentation: PresentationHandle, binding: String, id: String, value: Properties, isGivenUp: Bool
  ) throws(ShowingError) -> (any Screen)?

  /// Stops controlling the presentations and writing the state.
  /// - Returns: the requests that dismiss all presentations of the driver.
  func retire() -> [Coordinator.Request]

  /// Whether the driver presents nothing, and its state asks for nothing that was not refused.
  var isIdle: Bool { get }

  /// Whether the driver has ended and needs no further events.
  var isOver: Bool { get }
}

/// The drivers whose state has changed and was not read yet.
final class ChangedDrivers: Sendable {
  private let drivers = Mutex<[any Driver]>([])

  /// - Returns: whether the driver is the first one.
  func add(_ driver: any Driver) -> Bool {
    drivers.withLock { drivers in
      drivers.append(driver)
      return drivers.count == 1
    }
  }

  /// Returns all drivers, and forgets them.
  func take() -> [any Driver] {
    drivers.withLock { drivers in
      defer { drivers = [] }
      return drivers
    }
  }
}

/// An observation of a state, from a reading of it to the next change.
struct Tracking: Sendable {
  fileprivate let end = ObservationEnd()
  fileprivate let onChange: @Sendable (Transaction) -> Void

  /// Evaluates `read`, and notes the first change of a property read.
  @MainActor
  func begin<Result>(_ read: () -> Result) -> Result {
    end.observing(read) { [onChange] in onChange(Transaction.current) }
  }
}

/// The transaction of the changes of a state since it was last read. A change is noted while it is made: the state may be read for
/// another reason before the change is reported, and that reading uses the same transaction.
final class NotedTransaction: Sendable {
  private struct Content {
    var transaction = Transaction()
    /// The last tracking, which alone notes changes, and its number.
    var tracking: Tracking?
    var number = 0

    mutating func note(_ change: Transaction) { transaction = transaction.merging(change) }
  }

  private let content = Mutex(Content())

  func note(_ change: Transaction) { content.withLock { $0.note(change) } }

  /// Ends the last tracking, and makes the next one, which notes the next change.
  /// - Parameter onNoted: called when a change was noted.
  func tracking(_ onNoted: @escaping @Sendable () -> Void) -> Tracking {
    let number = content.withLock { content in
      content.number += 1
      return content.number
    }
    let tracking = Tracking { [weak self] change in
      if self?.note(change, in: number) == true { onNoted() }
    }
    let former = content.withLock { content in
      defer { content.tracking = tracking }
      return content.tracking
    }
    former?.end.reach()
    return tracking
  }

  /// - Returns: false if another tracking was made since then.
  private func note(_ change: Transaction, in tracking: Int) -> Bool {
    content.withLock { content in
      guard content.number == tracking else { return false }
      content.note(change)
      return true
    }
  }

  deinit { content.withLock { $0.tracking }?.end.reach() }

  /// Returns the transaction when the state is read, and begins an empty one.
  func take() -> Transaction {
    content.withLock { content in
      defer { content.transaction = Transaction() }
      return content.transaction
    }
  }
}

/// The requests that drivers make. Drivers receive the answers of a whole transaction unconverted.
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
    Coordinator.Changes().deselect(tag, in: group, animated: animated, force: force).requests[0]
  }
}

extension PresentationOptions {
  /// The options for state that only this program changes.
  func owned(in transaction: Transaction) -> PresentationOptions {
    var options = self
    options.lifetime.isOwned = true
    options.request.animated = options.request.animated ?? transaction.animated
    options.request.isForced = options.request.isForced || transaction.isForced
    return options
  }
}

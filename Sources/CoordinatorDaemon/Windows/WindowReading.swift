import CoordinatorAPI
import DBusValues
import PresentationModel

/// The reading of all windows from the adapter. It keeps the events and properties that come before
/// an answer.
struct WindowReading {
  private enum State {
    case none
    case pending
    /// The pending reading has to be repeated: something has changed since it began.
    case outdated
  }

  /// Cap of the outdated answers that are dropped in a row, because an adapter may change without
  /// end.
  private static let maxDroppedAnswers = 3
  /// Cap of the exponential backoff: 3 s × 2¹⁶ ≈ 2 days. A silent adapter may stay on the bus.
  private static let maxDoublings = 16

  private var state = State.none
  /// Counts readings and their ends before an answer, so that an answer to an earlier reading is ignored.
  private var number = 0
  private var events = EventSequence<WindowEvent>(maxEarly: 1024)
  /// Properties that changed before the answer with all windows was received.
  private var earlyProperties: Properties = [:]
  /// The number of readings in a row that an absent adapter has not answered.
  private var silentReadings = 0
  /// The number of outdated answers that were dropped in a row.
  private var droppedAnswers = 0

  var isPending: Bool { state != .none }

  /// Whether the last reading has this number, and was not forgotten.
  func isCurrent(_ number: Int) -> Bool { self.number == number }

  /// The factor of the time to wait for the answer. It doubles with each silent reading, so that
  /// few calls wait in the bus, however long the silence lasts.
  var patience: Int { 1 << min(silentReadings, Self.maxDoublings) }

  /// Begins a reading. A pending reading is repeated after its answer instead, because an adapter
  /// may give reasons to read without end.
  /// - Returns: the number of the new reading; nil if one is pending.
  mutating func begin() -> Int? {
    guard !isPending else {
      state = .outdated
      return nil
    }
    forget()
    state = .pending
    return number
  }

  /// Forgets the windows; a pending answer is ignored.
  mutating func forget() {
    events.forget()
    state = .none
    earlyProperties = [:]
    number += 1
  }

  /// Forgets the properties that changed before the answer with all properties, which has them.
  mutating func forgetEarlyProperties() { earlyProperties = [:] }

  /// Ends the reading with its answer.
  /// - Returns: whether it has to be repeated.
  mutating func end() -> Bool {
    defer { state = .none }
    return state == .outdated
  }

  /// Drops an outdated answer.
  /// - Returns: whether it may be dropped.
  mutating func drop() -> Bool {
    guard droppedAnswers < Self.maxDroppedAnswers else { return false }
    droppedAnswers += 1
    return true
  }

  /// Takes the answer with all windows.
  /// - Returns: the events and the properties that came before it. The events are to be placed now.
  mutating func take(at serial: UInt64) -> (events: [WindowEvent], properties: Properties) {
    defer { earlyProperties = [:] }
    (silentReadings, droppedAnswers) = (0, 0)
    return (events.begin(at: serial), earlyProperties)
  }

  mutating func wasSilent() { silentReadings += 1 }

  /// Keeps changed properties that came before the answer.
  /// - Returns: whether they are kept.
  mutating func keep(_ properties: Properties) -> Bool {
    guard !events.isBegun else { return false }
    earlyProperties.merge(properties) { $1 }
    return true
  }

  mutating func place(_ event: WindowEvent) -> EventSequence<WindowEvent>.Place { events.place(event, event.serial) }
}

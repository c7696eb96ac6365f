/// The events after a state of another program, in the order of their serials. Each counts once, and a missing one is noticed (W1, W2).
///
/// Events may arrive before the answer that has the state. The state contains some of them, and the others follow it.
package struct EventSequence<Event> {
  package enum Place {
    /// The next event.
    case next
    /// An event before the state is known; it is kept.
    case early
    /// An event that the state contains, or that was seen before.
    case past
    /// An event after missing ones: the state must be read again.
    case afterGap
  }

  /// The serial of the state or of the last event; nil while the state is not known.
  private var serial: UInt64?
  private var early: [Event] = []
  private let maxEarly: Int

  /// - Parameter maxEarly: the number of early events that are kept. Later ones are dropped and leave a gap.
  package init(maxEarly: Int) { self.maxEarly = maxEarly }

  /// Whether the state is known.
  package var isBegun: Bool { serial != nil }

  /// Forgets the state, which will be read again.
  package mutating func forget() {
    serial = nil
    early = []
  }

  /// Begins with a state.
  /// - Returns: the early events, to be placed now.
  package mutating func begin(at serial: UInt64) -> [Event] {
    self.serial = serial
    defer { early = [] }
    return early
  }

  package mutating func place(_ event: Event, _ serial: UInt64) -> Place {
    guard let last = self.serial else {
      if early.count < maxEarly { early.append(event) }
      return .early
    }
    guard serial == last &+ 1 else { return serial > last || serial == 0 ? .afterGap : .past }
    self.serial = serial
    return .next
  }
}

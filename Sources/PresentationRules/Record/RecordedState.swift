import DBusValues
import PresentationModel

/// The recorded state: the data that are needed to continue after a restart, as rows that change
/// independently (R1–R3).
///
/// Slots, selections, queues, paths, children, deadlines and counts are derived from the rows. They are not recorded, so they cannot
/// contradict the rows.
public struct RecordedState: Hashable, Sendable {
  public struct Numbers: Hashable, Sendable {
    public var serial: Serial
    public var lastHandle = Handle(0)
    public var lastQueueAge: UInt64 = 0
  }

  /// A presentation that has not ended.
  public struct PresentationRow: Hashable, Sendable {
    /// The presentation without the parts that are derived from other rows.
    public var presentation: Presentation
    /// Whether the presentation has ended, and its program is parked (N8).
    public var isParked = false
    /// The reason why a parked program stays; see ``StateMachine/reasonToStay(of:)``.
    public var stays: String?

    public init(_ presentation: Presentation) { self.presentation = presentation }

    /// Makes the row of a parked program, which is in no slot.
    init(parked presentation: Presentation, stays: String?) {
      self.init(presentation)
      isParked = true
      self.stays = stays
    }
  }

  /// The last request for a tag, as its group remembers it (G7).
  public struct Tag: Hashable, Sendable {
    public var binding: BindingID
    public var id: String
    public var options: ItemOptions
    /// Whether no part of the request is from a client that may be in a sandbox (L3).
    public var isTrusted: Bool
    /// The age; the lowest stamp is the oldest.
    public var stamp: UInt64

    public init(binding: BindingID, id: String, options: ItemOptions, isTrusted: Bool = false, stamp: UInt64) {
      (self.binding, self.id, self.options, self.isTrusted, self.stamp) = (binding, id, options, isTrusted, stamp)
    }
  }

  public var numbers: Numbers
  public var presentations: [Handle: PresentationRow] = [:]
  public var tags: [GroupTag: Tag] = [:]
  public var endings: [Handle: Ending] = [:]
  /// The declared keys and their defaults (V1).
  public var containerValues: [String: Value] = [:]
  /// The registrations of clients, by name; the last one of a name counts (D1).
  public var registrations: [String: [Destination]] = [:]

  /// The holders of holds (H1).
  public var holders: [Holder.Key: Holder] = [:]
  /// The variables for commands (K6).
  public var environment: [String: String] = [:]
  /// The items that are kept for the next login, by their slots (K4). They have a file of their own, which outlives the session.
  public var loginItems: [BindingID: LoginItem] = [:]
  /// The holds that are kept for the next login, by their names (K4), in the same file.
  public var loginHolds: [String: LoginHold] = [:]

  public init(numbers: Numbers = Numbers()) { self.numbers = numbers }
}

/// Differences from the record: new rows; nil for rows to remove.
public struct RecordChanges: Sendable {
  public typealias Rows<Key, Row> = [(key: Key, row: Row?)]

  public var numbers: RecordedState.Numbers?
  public var presentations: Rows<Handle, RecordedState.PresentationRow> = []
  public var tags: Rows<GroupTag, RecordedState.Tag> = []
  public var endings: Rows<Handle, Shared<Ending>> = []
  public var containerValues: Rows<String, Value> = []
  public var registrations: Rows<String, [Destination]> = []
  public var holders: Rows<Holder.Key, Holder> = []
  public var environment: Rows<String, String> = []
  public var loginItems: Rows<BindingID, LoginItem> = []
  public var loginHolds: Rows<String, LoginHold> = []

  public init() {}

  public var isEmpty: Bool {
    numbers == nil && presentations.isEmpty && tags.isEmpty && endings.isEmpty
      && containerValues.isEmpty && registrations.isEmpty && holders.isEmpty && environment.isEmpty
      && loginItems.isEmpty && loginHolds.isEmpty
  }
}

extension RecordedState {
  /// The state with all instants moved, since the monotonic clock begins anew with each start of the computer.
  /// - Parameters: the nanoseconds by which the wall clock was ahead of the monotonic clock before, and is now.
  public func moved(from before: Int64, to now: Int64) -> RecordedState {
    let span = Int64(clamping: Int128(before) - Int128(now))
    func moved(_ instant: Instant?) -> Instant? { instant.map { $0.nanoseconds == .max ? $0 : $0.moved(by: span) } }
    var copy = self
    copy.presentations = presentations.mapValues { row in
      var row = row
      row.presentation.presentedAt = moved(row.presentation.presentedAt)
      row.presentation.expires = moved(row.presentation.expires)
      row.presentation.answerDue = moved(row.presentation.answerDue)
      row.presentation.startsBy = moved(row.presentation.startsBy)
      let due = moved(row.presentation.continuation?.due)
      row.presentation.continuation?.due = due
      return row
    }
    copy.endings = endings.mapValues { ending in
      var ending = ending
      ending.presentedAt = moved(ending.presentedAt)
      ending.endedAt = moved(ending.endedAt) ?? ending.endedAt
      return ending
    }
    copy.holders = holders.mapValues { holder in
      var holder = holder
      holder.expires = moved(holder.expires)
      return holder
    }
    return copy
  }
}

extension RecordedState.Numbers {
  public init() { self.init(serial: Serial(0)) }
}

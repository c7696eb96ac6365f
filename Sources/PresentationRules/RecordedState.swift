import DBusValues
import PresentationModel

/// The recorded state: what has to be known to continue after a restart (R1–R3), as rows that change independently.
///
/// Slots, selections, queues, paths, children, deadlines and counts follow from the rows and are not recorded, so they
/// cannot contradict them.
public struct RecordedState: Hashable, Sendable {
  public struct Numbers: Hashable, Sendable {
    public var serial: Serial
    public var lastHandle = Handle(0)
    public var lastQueueAge: UInt64 = 0
    /// The serial of the newest change whose subject has been forgotten.
    public var changesForgotten = Serial(0)
  }

  /// A presentation that has not ended.
  public struct PresentationRow: Hashable, Sendable {
    /// Without what follows from other rows.
    public var presentation: Presentation
    /// When its slot last changed (P10); of two presentations in one slot, the later counts.
    public var slotChanged: Serial
    /// Whether the presentation has ended, and its program is parked (N8).
    public var isParked = false

    public init(_ presentation: Presentation, slotChanged: Serial) {
      (self.presentation, self.slotChanged) = (presentation, slotChanged)
    }

    /// A parked program is in no slot.
    init(parked presentation: Presentation) {
      self.init(presentation, slotChanged: Serial(0))
      isParked = true
    }
  }

  /// When a slot, group or stack last changed (P10).
  public struct Changed: Hashable, Sendable {
    /// For a group or stack that exists; for a slot it is in the row of its presentation.
    public var present: Serial?
    /// For a subject that does not exist, or did not for a while.
    public var absent: Serial?
    /// The age of `absent`; the lowest is the oldest.
    public var stamp: UInt64

    public init(present: Serial? = nil, absent: Serial? = nil, stamp: UInt64 = 0) {
      (self.present, self.absent, self.stamp) = (present, absent, stamp)
    }
  }

  /// The last request for a tag, as its group remembers it (G7).
  public struct Tag: Hashable, Sendable {
    public var binding: BindingID
    public var id: String
    public var options: ItemOptions
    /// Whether nothing of it is from a client that may be in a sandbox (L3).
    public var isTrusted: Bool
    /// The lowest is the oldest.
    public var stamp: UInt64

    public init(binding: BindingID, id: String, options: ItemOptions, isTrusted: Bool = false, stamp: UInt64) {
      (self.binding, self.id, self.options, self.isTrusted, self.stamp) = (binding, id, options, isTrusted, stamp)
    }
  }

  public var numbers: Numbers
  public var presentations: [Handle: PresentationRow] = [:]
  public var changed: [Subject: Changed] = [:]
  public var tags: [GroupTag: Tag] = [:]
  public var endings: [Handle: Ending] = [:]
  /// The declared keys and their defaults (V1).
  public var containerValues: [String: Value] = [:]
  /// Registrations of clients by name, the one that counts last (D1).
  public var registrations: [String: [Destination]] = [:]

  /// Those for whom holds are in force (H1).
  public var holders: [Holder.Key: Holder] = [:]
  /// Variables for commands (K6).
  public var environment: [String: String] = [:]
  /// Items that are kept for the next login, by their slots (K4). They have a file of their own, which outlives the session.
  public var kept: [BindingID: KeptItem] = [:]

  /// Presentations of which a text is bad, and why: it may be part of what would be started or told. They end, and nothing else does.
  public var unreadable: [Handle: String] = [:]

  public init(numbers: Numbers = Numbers()) { self.numbers = numbers }
}

/// Differences from the record: new rows, or nil for rows to remove.
public struct RecordChanges: Sendable {
  public typealias Rows<Key, Row> = [(key: Key, row: Row?)]

  public var numbers: RecordedState.Numbers?
  public var presentations: Rows<Handle, RecordedState.PresentationRow> = []
  public var changed: Rows<Subject, RecordedState.Changed> = []
  public var tags: Rows<GroupTag, RecordedState.Tag> = []
  public var endings: Rows<Handle, Shared<Ending>> = []
  public var containerValues: Rows<String, Value> = []
  public var registrations: Rows<String, [Destination]> = []
  public var holders: Rows<Holder.Key, Holder> = []
  public var environment: Rows<String, String> = []
  public var kept: Rows<BindingID, KeptItem> = []

  public init() {}

  public var isEmpty: Bool {
    numbers == nil && presentations.isEmpty && changed.isEmpty && tags.isEmpty && endings.isEmpty
      && containerValues.isEmpty && registrations.isEmpty && holders.isEmpty && environment.isEmpty
      && kept.isEmpty
  }
}

extension RecordedState {
  /// The state with all instants moved: the monotonic clock starts again with each start of the computer.
  /// - Parameters: by how many nanoseconds the wall clock was ahead of it, and is.
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

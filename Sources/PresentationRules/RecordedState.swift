import DBusValues
import PresentationModel

/// The recorded state: what has to be known to continue after a restart (R1–R3), as rows that change independently.
///
/// Slots, selections, queues, paths, children, deadlines and counts follow from the rows and are not recorded, so they
/// cannot contradict them.
public struct RecordedState: Hashable, Sendable {
  /// Counters.
  public struct Numbers: Hashable, Sendable {
    public var serial: Serial
    public var lastHandle: Handle
    public var lastQueueAge: UInt64
    /// The serial of the newest change whose subject has been forgotten.
    public var changesForgotten: Serial

    public init(
      serial: Serial = Serial(0), lastHandle: Handle = Handle(0), lastQueueAge: UInt64 = 0,
      changesForgotten: Serial = Serial(0)
    ) {
      self.serial = serial
      self.lastHandle = lastHandle
      self.lastQueueAge = lastQueueAge
      self.changesForgotten = changesForgotten
    }
  }

  /// A presentation that has not ended.
  public struct Presentation: Hashable, Sendable {
    /// An update that its presenter has not answered, and whether another one follows (D8).
    public enum Update: Hashable, Sendable {
      case underWay
      case underWayAndPending(author: Client?)
    }

    public let handle: Handle
    public let binding: BindingID
    public var item: Shared<Item>
    public var phase: Lifecycle
    public var parent: Handle?
    public var creator: Client?
    public var presentedAt: Instant?
    /// In milliseconds since 1970.
    public var since: UInt64?
    public var expires: Instant?
    public var answerDue: Instant?
    /// nil if none is under way.
    public var update: Update?
    public var result: Properties = [:]
    public var hasDeparted = false
    public var endedBy: Requester?
    /// When its slot last changed (P10); of two presentations in one slot, the later counts.
    public var slotChanged = Serial(0)
    /// Its age in its group's queue, among items of the same priority (G9); nil if it is not queued.
    public var queueAge: UInt64?

    public init(handle: Handle, binding: BindingID, item: Shared<Item>, phase: Lifecycle) {
      self.handle = handle
      self.binding = binding
      self.item = item
      self.phase = phase
    }
  }

  /// When a slot, group or stack last changed (P10).
  public struct Changed: Hashable, Sendable {
    /// For a group or stack that exists; for a slot it is in the row of its presentation.
    public var present: Serial?
    /// For a subject that does not exist, or did not for a while; the lowest stamp is the oldest.
    public var absent: (serial: Serial, stamp: UInt64)? {
      get { absentSerial.map { ($0, stamp) } }
      set { (absentSerial, stamp) = (newValue?.serial, newValue?.stamp ?? 0) }
    }
    private var absentSerial: Serial?
    private var stamp: UInt64 = 0

    public init(present: Serial?, absent: (serial: Serial, stamp: UInt64)?) {
      self.present = present
      self.absent = absent
    }
  }

  /// The last request for a tag, as its group remembers it (G7).
  public struct Tag: Hashable, Sendable {
    public var binding: BindingID
    public var id: String
    public var options: ItemOptions
    /// The lowest is the oldest.
    public var stamp: UInt64

    public init(binding: BindingID, id: String, options: ItemOptions, stamp: UInt64) {
      self.binding = binding
      self.id = id
      self.options = options
      self.stamp = stamp
    }
  }

  public var numbers: Numbers
  public var presentations: [Handle: Presentation] = [:]
  public var changed: [Subject: Changed] = [:]
  public var tags: [GroupTag: Tag] = [:]
  public var endings: [Handle: Ending] = [:]
  /// The declared keys and their defaults (V1).
  public var containerValues: [String: Value] = [:]
  /// Registrations of clients by name, the one that counts last (D1).
  public var registrations: [String: [Destination]] = [:]

  public init(numbers: Numbers = Numbers()) { self.numbers = numbers }
}

/// Differences from the record: new rows, or nil for rows to remove.
public struct RecordChanges: Sendable {
  public typealias Rows<Key, Row> = [(key: Key, row: Row?)]

  public var numbers: RecordedState.Numbers?
  public var presentations: Rows<Handle, RecordedState.Presentation> = []
  public var changed: Rows<Subject, RecordedState.Changed> = []
  public var tags: Rows<GroupTag, RecordedState.Tag> = []
  public var endings: Rows<Handle, Ending> = []
  public var containerValues: Rows<String, Value> = []
  public var registrations: Rows<String, [Destination]> = []

  public init() {}

  public var isEmpty: Bool {
    numbers == nil && presentations.isEmpty && changed.isEmpty && tags.isEmpty && endings.isEmpty
      && containerValues.isEmpty && registrations.isEmpty
  }

  /// Adds later changes.
  public mutating func append(_ later: RecordChanges) {
    if isEmpty {
      self = later
      return
    }
    numbers = later.numbers ?? numbers
    presentations += later.presentations
    changed += later.changed
    tags += later.tags
    endings += later.endings
    containerValues += later.containerValues
    registrations += later.registrations
  }
}

extension RecordedState {
  /// Applies changes.
  public mutating func apply(_ changes: RecordChanges) {
    if let numbers = changes.numbers { self.numbers = numbers }
    for (key, row) in changes.presentations { presentations[key] = row }
    for (key, row) in changes.changed { changed[key] = row }
    for (key, row) in changes.tags { tags[key] = row }
    for (key, row) in changes.endings { endings[key] = row }
    for (key, row) in changes.containerValues { containerValues[key] = row }
    for (key, row) in changes.registrations { registrations[key] = row }
  }

  /// The state with all instants moved: the monotonic clock starts again with each start of the computer.
  public func moved(by nanoseconds: Int64) -> RecordedState {
    func moved(_ instant: Instant?) -> Instant? {
      guard let instant, instant.nanoseconds != .max else { return instant }
      let (sum, isPastEnd) = instant.nanoseconds.addingReportingOverflow(UInt64(bitPattern: nanoseconds))
      // In unsigned arithmetic, adding a negative number overflows unless the sum is negative.
      if nanoseconds < 0 { return Instant(nanoseconds: isPastEnd ? sum : 0) }
      return Instant(nanoseconds: isPastEnd ? .max : sum)
    }
    var copy = self
    copy.presentations = presentations.mapValues { row in
      var row = row
      row.presentedAt = moved(row.presentedAt)
      row.expires = moved(row.expires)
      row.answerDue = moved(row.answerDue)
      return row
    }
    copy.endings = endings.mapValues { ending in
      var ending = ending
      ending.presentedAt = moved(ending.presentedAt)
      ending.endedAt = moved(ending.endedAt) ?? ending.endedAt
      return ending
    }
    return copy
  }
}

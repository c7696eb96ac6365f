import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TextFormats

/// Writes a line for each ending once, the oldest first: the endings that navd remembers, and then each that follows, and if asked for a
/// line for each start (K5).
final class EndingLines: WatchOutput {
  /// The place of a line among all lines: serials begin again with another record.
  struct Position: Equatable {
    /// The id of the record; nil if it is not known, for any.
    var record: String?
    var serial: UInt64

    init(record: String? = nil, serial: UInt64) { (self.record, self.serial) = (record, serial) }

    /// - Parameter text: as `record:serial`, or a serial.
    init?(_ text: String) {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2, let last = parts.last, let serial = UInt64(last), parts[0] != "" else { return nil }
      self.init(record: parts.count == 2 ? String(parts[0]) : nil, serial: serial)
    }
  }

  /// The limit in bytes. Above it, nothing is read from navd until the reader has caught up.
  private static let maxPending = 1 << 20
  /// The number of endings requested at first; all are requested if these do not reach back to the last one written.
  private static let few: UInt32 = 16
  /// The number of endings that navd remembers. While it has fewer, it has forgotten none.
  private static let remembered = 1024
  /// The pause after an ending: the name of the process that asked for it is known a moment later.
  private static let pause = Duration.milliseconds(50)
  private static let maxPauses = 20

  private let daemon: DaemonClient
  private let hasStarts: Bool
  /// The serial of the last line written; 0 for none.
  private var last: UInt64
  /// Whether the reader has had an ending of this record: then navd has forgotten some if it knows none up to the last line.
  private var hasHadEnding = false
  /// The record to which the serials belong; nil if it is not known yet.
  private var record: String?
  /// The starts that are to be written after the endings before them.
  private var starts: [StateEntry] = []
  private var isReading = false
  /// Whether some endings may be unread.
  private var isBehind = false
  private var pauses = 0

  /// - Parameters:
  ///   - position: the last line that the reader has; nil for all that navd remembers.
  ///   - hasStarts: whether there is a line also for each start.
  init(since position: Position?, withStarts hasStarts: Bool = false, _ daemon: DaemonClient) {
    last = position?.serial ?? 0
    record = position?.record
    self.hasStarts = hasStarts
    self.daemon = daemon
  }

  func state(_ state: StateSnapshot, _ writer: LineWriter, _ follower: StateFollower) {
    // An earlier navd may have been asked, and may not have answered.
    isReading = false
    let isOther = record.map { $0 != state.record } ?? false
    if let serial = state.serial, isOther || serial < last {
      // A lower serial belongs to a new record, too.
      if last > 0 { writeGap(until: nil, writer) }
      last = 0
      hasHadEnding = false
      starts = []
    }
    record = state.record
    if hasStarts {
      let known = starts.compactMap(\.presentedSerial)
      starts += state.entries.filter { entry in
        entry.presentedSerial.map { $0 > last && !known.contains($0) } ?? false
      }
    }
    read(Self.few, writer)
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) {
    switch event.kind {
    case .dismissed: read(Self.few, writer)
    case .presented(let subject, let item) where hasStarts:
      var entry = StateEntry(item)
      (entry.binding, entry.id, entry.presentation) = (subject.binding, subject.id, subject.presentation.number)
      (entry.presentedSerial, entry.since) = (event.serial, Timestamp.now)
      starts.append(entry)
      read(Self.few, writer)
    default: break
    }
  }

  func drained(_ writer: LineWriter, _ follower: StateFollower) { if isBehind { read(Self.few, writer) } }

  /// Reads the latest endings.
  /// - Parameter count: the number of endings; 0 for all.
  private func read(_ count: UInt32, _ writer: LineWriter) {
    isBehind = true
    guard !isReading, writer.pendingCount < Self.maxPending else { return }
    (isReading, isBehind) = (true, false)
    daemon.connection.call(
      CoordinatorInterface.history, on: CoordinatorNames.bus, at: CoordinatorNames.object, (count, [:]),
      autoStart: false
    ) { [weak self] result in
      guard let self, isReading else { return }
      isReading = false
      // The successor of a navd that has ended sends its state, and is asked then.
      if case .success(let entries) = result { take(entries.map(EndingEntry.init), of: count, writer) }
    }
  }

  /// - Parameter entries: the endings, the latest first.
  private func take(_ entries: [EndingEntry], of count: UInt32, _ writer: LineWriter) {
    let new = Array(entries.prefix { $0.serial ?? 0 > last })
    let reachesBack = new.count < entries.count
    if !reachesBack, count > 0, entries.count >= count { return read(0, writer) }
    if pauses < Self.maxPauses, Self.mayGetProcess(new) {
      pauses += 1
      daemon.loop.timer(after: Self.pause) { [weak self] in self?.read(count, writer) }
      return
    }
    pauses = 0
    // navd drops the oldest endings, so its memory begins after the last ending written.
    let hasForgotten = hasHadEnding || entries.count >= Self.remembered
    if last > 0, !reachesBack, hasForgotten, let first = new.last?.serial { writeGap(until: first, writer) }
    if !new.isEmpty { hasHadEnding = true }
    let started = starts
    starts = []
    last = max(last, new.first?.serial ?? 0, started.compactMap(\.presentedSerial).max() ?? 0)
    let failed = new.indices.filter { new[$0].hasFailed }
    guard !failed.isEmpty else { return write(new, started, writer) }
    isReading = true
    daemon.errors(of: failed.map { new[$0] }) { [weak self] errors in
      guard let self else { return }
      isReading = false
      var complete = new
      for (index, error) in zip(failed, errors) { complete[index].error = error }
      write(complete, started, writer)
    }
  }

  /// Whether navd may still find the process that caused one of these endings. It cannot if the client has left the bus.
  static func mayGetProcess(_ entries: [EndingEntry]) -> Bool {
    let left = Set(entries.filter { $0.reason == Reason.owner.rawValue }.compactMap(\.requester?.client))
    return entries.contains { entry in
      guard let requester = entry.requester, requester.pid == nil else { return false }
      return !left.contains(requester.client ?? "")
    }
  }

  private func write(_ endings: [EndingEntry], _ starts: [StateEntry], _ writer: LineWriter) {
    let lines =
      endings.map { (serial: $0.serial ?? 0, line: line("dismissed", $0.properties)) }
      + starts.map { (serial: $0.presentedSerial ?? 0, line: line("presented", Self.start($0))) }
    for (_, line) in lines.sorted(by: { $0.serial < $1.serial }) { writer.write(line) }
    if isBehind { read(Self.few, writer) }
  }

  private func line(_ event: String, _ properties: Properties) -> String {
    var members = properties
    members["event"] = event.value
    members[StateSnapshot.keys.record] = record
    return JSON(members).text
  }

  /// The members of the line for a start: the names of the item, its title and its value.
  private static func start(_ entry: StateEntry) -> Properties {
    let keys = StateEntry.keys
    var properties: Properties = [:]
    (properties[keys.binding], properties[keys.id]) = (entry.binding, entry.id)
    (properties[keys.presentation], properties[keys.destination]) = (entry.presentation, entry.destination)
    (properties[keys.group], properties[keys.title]) = (entry.group, entry.title)
    properties[keys.value] = entry.value
    properties[EndingEntry.keys.time] = entry.since
    properties[EndingEntry.keys.serial] = entry.presentedSerial
    return properties
  }

  private func writeGap(until serial: UInt64?, _ writer: LineWriter) {
    var gap: [String: JSON] = ["after": JSON(last)]
    gap["before"] = serial.map { JSON($0) }
    gap["record"] = record.map { .string($0) }
    writer.write(JSON.object(["gap": .object(gap)]).text)
  }
}

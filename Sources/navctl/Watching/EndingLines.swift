import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TextFormats

/// Writes a line for each ending once, the oldest first: the endings that navd remembers, and then
/// each that follows (K5).
final class EndingLines: WatchOutput {
  /// The limit in bytes. Above it, nothing is read from navd until the reader has caught up.
  private static let maxPending = 1 << 20
  /// The number of endings requested at first; all are requested if these do not reach back to the last one written.
  private static let few: UInt32 = 16
  /// The pause after an ending: the name of the process that asked for it is known a moment later.
  private static let pause = Duration.milliseconds(50)
  private static let maxPauses = 20

  private let daemon: DaemonClient
  /// The serial of the last ending written; 0 for none.
  private var last: UInt64
  private var isReading = false
  /// Whether some endings may be unread.
  private var isBehind = false
  private var pauses = 0

  /// - Parameter serial: the serial of the last ending that the reader has; nil for all that navd remembers.
  init(since serial: UInt64?, _ daemon: DaemonClient) {
    last = serial ?? 0
    self.daemon = daemon
  }

  func state(_ state: StateSnapshot, _ writer: LineWriter, _ follower: StateFollower) {
    // An earlier navd may have been asked, and may not have answered.
    isReading = false
    if let serial = state.serial, serial < last {
      // A lower serial belongs to a new record.
      writeGap(until: nil, writer)
      last = 0
    }
    read(Self.few, writer)
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) {
    if case .dismissed = event.kind { read(Self.few, writer) }
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
    if last > 0, !reachesBack, let first = new.last?.serial { writeGap(until: first, writer) }
    last = new.first?.serial ?? last
    let failed = new.indices.filter { new[$0].hasFailed }
    guard !failed.isEmpty else { return write(new, writer) }
    isReading = true
    daemon.errors(of: failed.map { new[$0] }) { [weak self] errors in
      guard let self else { return }
      isReading = false
      var complete = new
      for (index, error) in zip(failed, errors) { complete[index].error = error }
      write(complete, writer)
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

  private func write(_ entries: [EndingEntry], _ writer: LineWriter) {
    for entry in entries.reversed() { writer.write(entry.json.text) }
    if isBehind { read(Self.few, writer) }
  }

  private func writeGap(until serial: UInt64?, _ writer: LineWriter) {
    var gap: [String: JSON] = ["after": JSON(last)]
    gap["before"] = serial.map { JSON($0) }
    writer.write(JSON.object(["gap": .object(gap)]).text)
  }
}

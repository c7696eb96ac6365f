/// How far a navigator has received the announcements of its coordinator, and the tasks that wait for more.
@MainActor
final class ReceivedEvents {
  /// The serial of the last state or event received.
  private(set) var lastSerial: UInt64 = 0
  /// Whether nothing more comes, because the bus has ended or the coordinator was closed.
  private(set) var isOver = false
  /// The tasks that wait for an event, by its serial.
  private var waitingForEvents: [UInt64: [CheckedContinuation<Void, Never>]] = [:]
  /// The tasks that wait for any change.
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Notes a whole state, which is newer than all that came before.
  func receivedState(_ serial: UInt64) {
    lastSerial = serial
    resumeAllWaitingForEvents()
  }

  func receivedEvent(_ serial: UInt64) {
    lastSerial = serial
    for continuation in waitingForEvents.removeValue(forKey: serial) ?? [] { continuation.resume() }
  }

  func end() {
    isOver = true
    resumeAllWaitingForEvents()
  }

  private func resumeAllWaitingForEvents() {
    let waiting = waitingForEvents.values.joined()
    waitingForEvents = [:]
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when an event or a later state has come, or nothing more comes.
  func wait(for serial: UInt64) async {
    while lastSerial < serial, !isOver {
      await withCheckedContinuation { waitingForEvents[serial, default: []].append($0) }
    }
  }

  /// Returns at the next change.
  func change() async { await withCheckedContinuation { waiting.append($0) } }

  /// Returns at the first change after a serial, at once if that has come.
  func change(after serial: UInt64) async {
    if lastSerial <= serial, !isOver { await change() }
  }

  /// Resumes the tasks that wait for a change.
  func changed() {
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume() }
  }
}

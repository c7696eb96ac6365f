/// A navigator's progress through the announcements of its coordinator, and the tasks that wait for
/// more.
@MainActor
final class ReceivedEvents {
  /// The moment of the last state or event received.
  private(set) var moment = Moment()
  /// Whether nothing more comes, because the bus has ended or the coordinator was closed.
  private(set) var isOver = false
  /// The tasks that wait for an event, by its moment.
  private var waitingForEvents: [Moment: [CheckedContinuation<Void, Never>]] = [:]
  /// The tasks that wait for any change.
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Notes a whole state, which is newer than all that came before.
  func receivedState(at moment: Moment) {
    self.moment = moment
    resumeAllWaitingForEvents()
  }

  func receivedEvent(at moment: Moment) {
    self.moment = moment
    for continuation in waitingForEvents.removeValue(forKey: moment) ?? [] { continuation.resume() }
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

  /// Returns when an event or a later state has been received, or nothing more comes.
  func wait(for moment: Moment) async {
    while self.moment < moment, !isOver {
      await withCheckedContinuation { waitingForEvents[moment, default: []].append($0) }
    }
  }

  /// Returns at the next change.
  func change() async { await withCheckedContinuation { waiting.append($0) } }

  /// Returns at the first change after a moment, at once if that has come.
  func change(after moment: Moment) async {
    if self.moment <= moment, !isOver { await change() }
  }

  /// Resumes the tasks that wait for a change.
  func changed() {
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume() }
  }
}

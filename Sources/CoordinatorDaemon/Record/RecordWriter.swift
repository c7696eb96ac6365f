import DBusValues
import Logging
import PresentationModel
import PresentationRecord
import PresentationRules

/// Writes the changes of each turn to the record, and kept items to the record of the login (R1, K4).
final class RecordWriter {
  private let record: Record
  private let login: LoginRecord
  private let log: Logger
  /// The session of this navd; nil while the record is still the previous navd's.
  private var session: Record.Session?
  private var hadAdapter = false
  /// The least difference to record, in nanoseconds. Time servers change the clock by less all the time.
  private static let minClockDifference: UInt128 = 1_000_000_000
  /// The reason why requests are refused: the last changes are not on record, or there is no room
  /// for others. nil if requests are accepted.
  private(set) var error: String?
  /// True if changes are not on record for lack of room.
  var isFull: Bool { record.isFull }

  init(_ record: Record, login: LoginRecord, log: Logger) {
    self.record = record
    self.login = login
    self.log = log
  }

  /// Notes the session that uses the record from now on.
  func note(_ session: Record.Session) {
    var session = session
    session.hadAdapter = session.hadAdapter || hadAdapter
    self.session = session
    record.note(session)
  }

  /// Notes the lead of the wall clock if the clock was set or the computer was suspended. After a reboot, deadlines continue by this lead.
  private func note(clock: Int64) {
    guard var session, (Int128(clock) - Int128(session.clock)).magnitude >= Self.minClockDifference else { return }
    session.clock = clock
    note(session)
  }

  /// Notes that the session has had an adapter for the window system (N13).
  func noteAdapter() {
    hadAdapter = true
    if let session, !session.hadAdapter { note(session) }
  }

  /// Notes the windows that the next adapters show again (N8).
  /// - Parameter windows: see ``Record/Session/windowsToShow``.
  func note(windowsToShow windows: [String: [String: Properties]]) {
    guard var session, session.windowsToShow != windows else { return }
    session.windowsToShow = windows
    note(session)
  }

  /// Notes the data by which a presenter finds a presentation again.
  func note(memory: Properties, of handle: Handle) { record.note(memory: memory, of: handle) }

  /// Writes the changes of a turn, and the noted data. Data that cannot be written stay noted.
  /// - Parameter clock: the lead of the wall clock over the monotonic clock, in nanoseconds; nil if it was not read.
  /// - Throws: `Refusal` with the code `notRecorded` if there are changes that could not be recorded.
  func write(_ changes: RecordChanges, clock: Int64?) throws(Refusal) {
    if !changes.isEmpty {
      if let clock { note(clock: clock) }
      record.note(changes)
      login.note(changes.loginItems, changes.loginHolds)
    }
    login.commit()
    do throws(Record.Failure) { try commit() } catch {
      guard !changes.isEmpty else { return }
      throw Refusal(
        .notRecorded, "the request was carried out, but not recorded, and is lost if navd is killed: \(error)")
    }
  }

  /// Refuses changes while earlier ones cannot be recorded, after another attempt to record those, and while there is no room for
  /// changes that no request asks for.
  /// - Throws: `Refusal` with the code `notRecorded`.
  func requireComplete() throws(Refusal) {
    do throws(Record.Failure) {
      if record.isBehind { try commit() }
      try record.reserve()
    } catch {
      note(error)
      throw Refusal(.notRecorded, "nothing was changed, since the change cannot be recorded: \(error)")
    }
    if error != nil { noteSuccess() }
  }

  /// Makes the last attempt to write earlier changes.
  func finish() {
    note(clock: StartupContext.wallClockLead)
    try? commit()
    login.commit()
  }

  private func commit() throws(Record.Failure) {
    let wasBehind = record.isBehind
    do throws(Record.Failure) {
      if try record.commit() { log.warning("another program had removed or changed the record; it is made again") }
    } catch {
      note(error)
      throw error
    }
    if wasBehind { noteSuccess() }
  }

  private func note(_ failure: Record.Failure) {
    if error == nil {
      log.critical(
        """
        \(failure); presentations stay, and requests are refused until the record can be written; changes until then are lost if \
        navd is killed
        """)
    }
    error = failure.description
  }

  private func noteSuccess() {
    error = nil
    log.notice("the record is complete again")
  }
}

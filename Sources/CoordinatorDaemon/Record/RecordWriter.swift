import DBusValues
import Logging
import PresentationModel
import PresentationRecord
import PresentationRules

/// Writes the changes of each turn to the record, and kept items to that of the login (R1, K4).
final class RecordWriter {
  private let record: Record
  private let login: LoginRecord
  private let log: Logger
  /// nil: the record is still the previous navd's.
  private var session: Record.Session?
  /// Nanoseconds. Time servers change the clock by less all the time.
  private static let minClockDifference: UInt128 = 1_000_000_000
  /// Why the last changes are not on record; nil if they are.
  private(set) var error: String?

  init(_ record: Record, login: LoginRecord, log: Logger) {
    self.record = record
    self.login = login
    self.log = log
  }

  /// Notes by which session the record is used from now on.
  func note(_ session: Record.Session) {
    self.session = session
    record.note(session)
  }

  /// Notes by how much the wall clock is ahead now, if it was set or the computer was suspended: by the difference, deadlines
  /// are continued after a restart of the machine.
  private func note(clock: Int64) {
    guard var session, (Int128(clock) - Int128(session.clock)).magnitude >= Self.minClockDifference else { return }
    session.clock = clock
    note(session)
  }

  /// Notes what a presenter needs to find a presentation again.
  func note(memory: Properties, of handle: Handle) { record.note(memory: memory, of: handle) }

  /// Writes the changes of a turn, and what was noted. What cannot be written stays noted.
  /// - Parameter clock: by how many nanoseconds the wall clock was ahead of the monotonic one; nil if that was not read.
  /// - Throws: `Refusal` with the code `notRecorded` if there are changes, and they are not on record.
  func write(_ changes: RecordChanges, clock: Int64?) throws(Refusal) {
    if !changes.isEmpty {
      if let clock { note(clock: clock) }
      record.note(changes)
      login.note(changes.kept)
    }
    login.commit()
    let wasBehind = record.isBehind
    do throws(Record.Failure) {
      try commit()
    } catch {
      if !wasBehind {
        log.critical(
          """
          \(error); presentations stay, and requests are refused until the record can be written; changes until then are lost \
          if navd is killed
          """)
      }
      guard !changes.isEmpty else { return }
      throw Refusal(
        .notRecorded, "the request was carried out, but not recorded, and is lost if navd is killed: \(error)")
    }
  }

  /// Refuses changes while earlier ones cannot be recorded. Tries to record those first.
  /// - Throws: `Refusal` with the code `notRecorded`.
  func requireComplete() throws(Refusal) {
    guard record.isBehind else { return }
    do throws(Record.Failure) {
      try commit()
    } catch {
      throw Refusal(.notRecorded, "nothing was changed, since the change cannot be recorded: \(error)")
    }
  }

  /// Tries for the last time to write what could not be written before.
  func finish() {
    note(clock: StartupContext.wallClockLead)
    try? commit()
    login.commit()
  }

  private func commit() throws(Record.Failure) {
    let wasBehind = record.isBehind
    do throws(Record.Failure) {
      if try record.commit() { log.warning("another program had removed the record; it is made again") }
      error = nil
    } catch {
      self.error = error.description
      throw error
    }
    if wasBehind { log.notice("the record is complete again") }
  }
}

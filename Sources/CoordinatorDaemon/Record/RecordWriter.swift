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
  /// Why the last changes are not on record; nil if they are.
  private(set) var error: String?

  init(_ record: Record, login: LoginRecord, log: Logger) {
    self.record = record
    self.login = login
    self.log = log
  }

  /// Notes by which session the record is used from now on.
  func note(_ session: Record.Session) { record.note(session) }

  /// Notes what a presenter needs to find a presentation again.
  func note(memory: Properties, of handle: Handle) { record.note(memory: memory, of: handle) }

  /// Writes the changes of a turn, and what was noted. What cannot be written stays noted.
  /// - Throws: `Refusal` with the code `notRecorded` if there are changes, and they are not on record.
  func write(_ changes: RecordChanges) throws(Refusal) {
    if !changes.isEmpty {
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

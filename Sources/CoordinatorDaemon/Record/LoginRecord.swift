import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRecord
import PresentationRules

/// The record of the items kept for the next login. It outlives the session, and is created with
/// the first item (K4).
final class LoginRecord {
  /// The items and holds that an earlier navd kept.
  let items: [BindingID: LoginItem]
  let holds: [String: LoginHold]
  private let directory: String
  private let log: Logger
  /// The record; nil if no items are kept.
  private var record: Record?
  /// The reason why no items are kept; nil once it was logged.
  private var mistake: String?
  private var hasRows = false

  /// - Parameter directory: nil if no items can be kept.
  init(in directory: String?, log: Logger) {
    self.directory = directory ?? ""
    self.log = log
    guard let directory else {
      (items, holds) = ([:], [:])
      mistake = "no later session would find it; let the session have XDG_RUNTIME_DIR and XDG_STATE_HOME"
      return
    }
    do throws(Record.Failure) {
      let (record, content) = try Record.open(in: directory, timeout: 1, isReplaced: true) { $0 }
      self.record = record
      (items, holds) = (content.state.loginItems, content.state.loginHolds)
      if let (path, reason) = content.setAside {
        log.critical("what was kept for this login cannot be read, and is kept as \(path): \(reason)")
      }
    } catch {
      (items, holds) = ([:], [:])
      mistake = "\(error)"
    }
  }

  func note(_ items: RecordChanges.Rows<BindingID, LoginItem>, _ holds: RecordChanges.Rows<String, LoginHold>) {
    guard !items.isEmpty || !holds.isEmpty else { return }
    if let mistake {
      log.warning("items are not kept for the next login: \(mistake)")
      self.mistake = nil
    }
    guard let record else { return }
    if !hasRows { makeParents() }
    hasRows = true
    record.note(loginItems: items)
    record.note(loginHolds: holds)
  }

  /// Writes the noted changes. Changes that cannot be written stay noted; no request is refused because of them.
  func commit() {
    guard let record else { return }
    let wasBehind = record.isBehind
    do throws(Record.Failure) {
      if try record.commit() {
        log.warning("another program had removed or changed what is kept for the next login; it is made again")
      }
    } catch {
      if !wasBehind { log.error("items are not kept for the next login until there is room: \(error)") }
      return
    }
    if wasBehind { log.notice("items are kept for the next login again") }
  }

  /// Creates the directories above the record's directory, as the XDG Base Directory Specification demands.
  private func makeParents() {
    for index in directory.indices.dropFirst() where directory[index] == "/" {
      mkdir(String(directory[..<index]), 0o700)
    }
  }
}

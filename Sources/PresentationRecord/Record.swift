import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules

/// The record of one navd: a file that outlives it (R1). The file has no other writer.
public final class Record {
  /// The files of a record.
  public static let files = [name, name + RecordFile.newSuffix]
  private static let name = "record.jsonl"

  /// The circumstances in which a record was written.
  public struct Session: Hashable, Sendable {
    /// The id of the bus (R7).
    public var bus: String
    /// An id that changes at each start of the machine.
    public var boot: String
    /// The nanoseconds by which the wall clock was ahead of the monotonic clock.
    public var clock: Int64
    /// The token that identifies started commands, together with their handles.
    public var token: String
    /// Whether there has been an adapter for the window system (N13).
    public var hadAdapter: Bool
    /// The windows that the next adapters show again, since their items were given up while there was none (N8): their properties, by
    /// their ids and the name of the adapter on the bus.
    public var windowsToShow: [String: [String: Properties]]
    /// The time at which the first navd of the session started, in milliseconds since 1970; 0 if it is not known.
    public var began: UInt64

    public init(
      bus: String, boot: String, clock: Int64, token: String, hadAdapter: Bool = false,
      windowsToShow: [String: [String: Properties]] = [:], began: UInt64 = 0
    ) {
      (self.bus, self.boot, self.clock, self.token) = (bus, boot, clock, token)
      (self.hadAdapter, self.windowsToShow, self.began) = (hadAdapter, windowsToShow, began)
    }
  }

  /// The content of a record when it was opened.
  public struct Content: Sendable {
    public var state = RecordedState()
    /// The session; nil if none was ever written.
    public var session: Session?
    /// The data by which presenters recognize the items that they showed.
    public var memories: [Handle: Properties] = [:]
    /// The path to which an unreadable record was moved, and the reason why it could not be read; nil if it was read.
    public var setAside: (path: String, reason: String)?

    public init() {}
  }

  /// The reason why a record cannot be opened or written, for people.
  public struct Failure: Error, CustomStringConvertible, Sendable {
    public let description: String
    init(_ description: String) { self.description = description }
  }

  private let directory: String
  private var path: String { "\(directory)/\(Self.name)" }
  /// Whether each commit replaces the file, so that a loss of power leaves the old one or the new one.
  private let isReplaced: Bool
  /// The lock; nil if there was no room for the directory, or another program has removed it.
  private var lock: DirectoryLock?
  /// The file; nil if the next commit has to make one.
  private var file: RecordFile?
  private var rows = Rows()
  /// The time between two checks that the file is still at its path. So not every turn takes the time for a check.
  var lookInterval = Duration.milliseconds(10)
  private var nextLook = MonotonicInstant(nanoseconds: 0)
  /// Whether the last commit failed. Its rows are still to be written.
  public private(set) var isBehind = false
  /// Whether the last commit failed for want of room.
  public private(set) var isFull = false

  private init(_ directory: String, _ lock: DirectoryLock?, isReplaced: Bool) {
    (self.directory, self.lock, self.isReplaced) = (directory, lock, isReplaced)
  }

  // MARK: Opening

  /// Opens the record of a directory, or begins one. A record that cannot be used is renamed, and another one is begun (R4). A record
  /// that cannot be written now is still read, and `commit` throws until it can be written.
  /// - Parameters:
  ///   - timeout: the seconds to wait for another program that has the record open, perhaps a navd that is ending.
  ///   - isReplaced: whether each commit replaces the file, as a record on a disk needs it; otherwise it appends a line.
  ///   - restore: makes a state of the record's content; its error means that the record cannot be used.
  /// - Throws: `Failure` if another program has the record open, if the record cannot be read from the disk, or if none can be begun
  ///   for another reason than a lack of room.
  public static func open<Restored>(
    in directory: String, timeout: Double = 5, isReplaced: Bool = false, restore: (Content) throws -> Restored
  ) throws(Failure) -> (record: Record, restored: Restored) {
    let record = Record(directory, nil, isReplaced: isReplaced)
    do {
      // The directory is made when there is room (`replace`).
      if access(directory, F_OK) != 0, errno == ENOENT { return (record, try restore(Content())) }
      record.lock = try DirectoryLock(directory, timeout: timeout)
      do {
        return (record, try record.read(restore))
      } catch let error where !(error is SystemError) {
        record.rows = Rows()
        var content = Content()
        content.setAside = (try record.setAside(), "\(error)")
        let restored = try restore(content)
        try record.begin()
        return (record, restored)
      }
    } catch let error as SystemError where error.code == EWOULDBLOCK {
      throw Failure("the record \(record.path): another program has it open, another navd perhaps")
    } catch {
      throw Failure("the record \(record.path): \(error)")
    }
  }

  private func read<Restored>(_ restore: (Content) throws -> Restored) throws -> Restored {
    guard let (file, lines) = try RecordFile.open(path) else {
      let restored = try restore(Content())
      try begin()
      return restored
    }
    let (rows, content) = try Rows.read(lines)
    let restored = try restore(content)
    self.rows = rows
    self.file = file
    return restored
  }

  /// Makes the file of an empty record, unless the cause of a failure may pass: then the next commit tries again.
  private func begin() throws(SystemError) {
    do throws(SystemError) { try replace() } catch { if !error.isPassing { throw error } }
  }

  /// - Returns: the path of the renamed record.
  private func setAside() throws(SystemError) -> String {
    let newPath = "\(directory)/unreadable-\(time(nil))-\(getpid()).jsonl"
    try check("rename \(path)") { rename(path, newPath) }
    return newPath
  }

  // MARK: Writing

  /// Notes changes for the next commit, except those of kept items, which have a file of their own.
  public func note(_ changes: RecordChanges) {
    if let numbers = changes.numbers { rows.set(.numbers, "", numbers) }
    rows.set(.presentations, changes.presentations)
    rows.set(.tags, changes.tags)
    rows.set(.endings, changes.endings)
    rows.set(.containerValues, changes.containerValues)
    for (name, list) in changes.registrations { rows.set(.registrations, name, list.map(RecordedList.init)) }
    rows.set(.holds, changes.holders)
    rows.set(.environment, changes.environment)
  }

  /// Notes items that are kept beyond the session, or no longer kept (K4).
  public func note(loginItems items: RecordChanges.Rows<BindingID, LoginItem>) { rows.set(.loginItems, items) }

  /// Notes holds that are kept beyond the session, or no longer kept (K4).
  public func note(loginHolds holds: RecordChanges.Rows<String, LoginHold>) { rows.set(.loginHolds, holds) }

  /// Notes the data by which a presenter recognizes an item that it shows. They are forgotten with the presentation.
  public func note(memory: Properties, of handle: Handle) { rows.set(.memories, handle.rowKey, memory) }

  public func note(_ session: Session) { rows.set(.session, "", session) }

  /// Writes everything that was noted, or nothing.
  /// - Returns: whether the record was made again because another program had removed or changed it.
  /// - Throws: `Failure` if the record cannot be written; everything stays noted.
  @discardableResult
  public func commit() throws(Failure) -> Bool {
    guard rows.hasChanges else { return false }
    rows.forgetOrphans()
    let wasChanged = isChangedByOthers()
    if wasChanged { file = nil }
    do throws(SystemError) {
      try write()
    } catch {
      (isBehind, isFull) = (true, [ENOSPC, EDQUOT].contains(error.code))
      throw Failure("the record: \(error)")
    }
    (isBehind, isFull) = (false, false)
    rows.noteWritten()
    return wasChanged
  }

  private func write() throws(SystemError) {
    guard let file, !isReplaced else { return try replace() }
    if file.isLong {
      do throws(SystemError) { return try replace() } catch { file.postponeCheckpoint() }
    }
    try file.append(rows.change)
  }

  /// Makes the file, and its directory if it is missing.
  private func replace() throws(SystemError) {
    if lock?.isLost == true { lock = nil }
    if lock == nil {
      // A directory that exists by now belongs to another navd.
      try check("mkdir \(directory)") { mkdir(directory, 0o700) }
      do throws(SystemError) {
        lock = try DirectoryLock(directory, timeout: 0)
      } catch {
        // The next commit would take the directory for another navd's.
        if error.code != EWOULDBLOCK { rmdir(directory) }
        throw error
      }
    }
    file = try RecordFile.create(path, rows.snapshot)
  }

  /// Has the disk promise room for changes that no request asks for, such as the start of the next item of a queue: what runs has to be
  /// on record, or it would be run again (R2).
  /// - Throws: `Failure` if there is no room.
  public func reserve() throws(Failure) {
    do throws(SystemError) { try file?.reserve() } catch { throw Failure("the record: \(error)") }
  }

  /// Whether another program has removed, cut or replaced the file.
  private func isChangedByOthers() -> Bool {
    guard let file else { return false }
    if !file.isIntact { return true }
    let now = MonotonicInstant.now
    guard now >= nextLook else { return false }
    nextLook = now + lookInterval
    return file.isElsewhere
  }
}

extension SystemError {
  /// Whether the cause may pass: there may be room later, or the device may work.
  public var isPassing: Bool { [ENOSPC, EDQUOT, EIO].contains(code) }
}

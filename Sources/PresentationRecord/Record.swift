import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules

/// The record of one navd: a file that outlives it (R1). The file has no other writer.
public final class Record {
  /// The files of a record.
  public static let files = [name, name + RecordFile.newSuffix]
  private static let name = "record.journal"

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

    public init(bus: String, boot: String, clock: Int64, token: String) {
      (self.bus, self.boot, self.clock, self.token) = (bus, boot, clock, token)
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
    /// The bad parts of the record, for people. They are left out: bad texts with their rows, and torn changes at the end.
    public var faults: [String] = []
    /// The path of a copy of the record that still has the rows that were left out; nil if no copy could be made.
    public var copy: String?
    /// The rows that were left out, which the next commit removes.
    var unreadableKeys: [[UInt8]] = []
    var removed = RecordChanges()

    public init() {}
  }

  /// The reason why a record cannot be opened or written, for people.
  public struct Failure: Error, CustomStringConvertible, Sendable {
    public let description: String
    init(_ description: String) { self.description = description }
  }

  private let directory: String
  /// The lock; nil if there was no room for the directory, or another program has removed it.
  private var lock: DirectoryLock?
  private var storage: Storage
  /// Rows for the next commit: rows noted since the last one, and rows that could not be written.
  private var pending = PayloadWriter()
  /// The size of `pending`, in bytes, beyond which replaced rows are left out while nothing can be written.
  private var maxPending = minMaxPending
  private static let minMaxPending = 1 << 20
  /// The time between two checks that the file is still at its path. So not every turn takes the time for a check.
  var lookInterval = Duration.milliseconds(10)
  private var nextLook = MonotonicInstant(nanoseconds: 0)
  /// Whether the last commit failed. Its rows are still to be written.
  public private(set) var isBehind = false
  /// Whether the last commit failed for want of room.
  public private(set) var isFull = false

  private enum Storage {
    case file(RecordFile)
    /// The first rows of a file that could not be made yet.
    case none(LiveRows)
  }

  private init(_ directory: String, _ lock: DirectoryLock?, _ storage: Storage) {
    (self.directory, self.lock, self.storage) = (directory, lock, storage)
  }

  // MARK: Opening

  /// Opens the record of a directory, or begins one. A record that cannot be read is renamed, and another one is begun (R4). A record
  /// that cannot be written now is still read, and `commit` throws until it can be written.
  /// - Parameters:
  ///   - timeout: the seconds to wait for another program that has the record open, perhaps a navd that is ending.
  ///   - restore: makes a state of the record's content; its error means that the record cannot be read.
  /// - Throws: `Failure` if another program has the record open, if the record cannot be read from the disk, or if none can be begun
  ///   for another reason than a lack of room.
  public static func open<Restored>(
    in directory: String, timeout: Double = 5, restore: (Content) throws -> Restored
  ) throws(Failure) -> (record: Record, restored: Restored) {
    do {
      if access(directory, F_OK) != 0, errno == ENOENT {
        // The directory is made when there is room (`begin`).
        return (Record(directory, nil, .none(try LiveRows([]))), try restore(Content()))
      }
      let lock = try DirectoryLock(directory, timeout: timeout)
      do {
        return try open(directory, lock, timeout, restore)
      } catch let error where !(error is SystemError) {
        let aside = try setAside(directory)
        return try open(directory, lock, timeout) { content in
          var content = content
          content.setAside = (aside, "\(error)")
          return try restore(content)
        }
      }
    } catch let error as SystemError where error.code == EWOULDBLOCK {
      throw Failure("the record \(directory)/\(name): another program has it open, another navd perhaps")
    } catch {
      throw Failure("the record \(directory)/\(name): \(error)")
    }
  }

  private static func open<Restored>(
    _ directory: String, _ lock: DirectoryLock, _ timeout: Double, _ restore: (Content) throws -> Restored
  ) throws -> (record: Record, restored: Restored) {
    func content(of rows: LiveRows, isTorn: Bool = false) throws -> Content {
      var content = try rows.content()
      if isTorn { content.faults.append("its last changes, of which a loss of power has taken parts") }
      if !content.faults.isEmpty { content.copy = try? keepCopy(directory) }
      return content
    }
    if let (file, rows) = try RecordFile.open("\(directory)/\(name)") {
      let content = try content(of: rows, isTorn: file.isTorn)
      let restored = try restore(content)
      let record = Record(directory, lock, .file(file))
      record.leaveOut(content)
      return (record, restored)
    }
    let rows = try LiveRows([])
    let restored = try restore(Content())
    let record = Record(directory, lock, .none(rows))
    do throws(SystemError) {
      _ = try record.begin(rows)
    } catch {
      // The next commit tries again.
      guard error.isPassing else { throw error }
    }
    return (record, restored)
  }

  /// Makes the file.
  private func begin(_ rows: LiveRows) throws(SystemError) -> RecordFile {
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
    let file = try RecordFile.create("\(directory)/\(Self.name)", rows)
    storage = .file(file)
    return file
  }

  /// Removes unreadable rows with the next commit, if a copy has them.
  private func leaveOut(_ content: Content) {
    guard content.copy != nil else { return }
    for key in content.unreadableKeys { pending.append(key[...], nil) }
    pending.rows(of: content.removed)
    note(kept: content.removed.kept)
  }

  /// - Returns: the path of the renamed record.
  private static func setAside(_ directory: String) throws(SystemError) -> String {
    let newName = unreadableName(in: directory)
    // The path that is returned is that of the first file.
    let renamed = files.filter { rename("\(directory)/\($0)", newName + $0.dropFirst("record".count)) == 0 }
    guard let first = renamed.first else { throw SystemError("rename \(directory)/\(name)") }
    return newName + first.dropFirst("record".count)
  }

  /// The first part of the name of a record that is set aside, in place of “record”.
  private static func unreadableName(in directory: String) -> String {
    "\(directory)/unreadable-\(time(nil))-\(getpid())"
  }

  /// - Returns: the path of a copy of the record.
  private static func keepCopy(_ directory: String) throws -> String {
    let newName = unreadableName(in: directory)
    var first: String?
    for name in files where try fileExists("\(directory)/\(name)") {
      let path = newName + name.dropFirst("record".count)
      let original = try openFile("\(directory)/\(name)", O_RDONLY)
      defer { close(original) }
      let copy = try createFile(path, O_WRONLY)
      defer { close(copy) }
      do throws(SystemError) {
        while try check(path, { sendfile(copy, original, nil, 1 << 30) }) > 0 {}
      } catch {
        unlink(path)
        throw error
      }
      first = first ?? path
    }
    guard let first else { throw SystemError(code: ENOENT, operation: directory) }
    return first
  }

  // MARK: Writing

  /// Notes changes for the next commit.
  public func note(_ changes: RecordChanges) { pending.rows(of: changes) }

  /// Notes items that are kept beyond the session, or no longer kept (K4).
  public func note(kept rows: RecordChanges.Rows<BindingID, KeptItem>) {
    for (binding, item) in rows { pending.row(.kept, binding, item) }
  }

  /// Notes the data by which a presenter recognizes an item that it shows. They are forgotten with the presentation.
  public func note(memory: Properties, of handle: Handle) { pending.row(.memory, handle, memory) }

  public func note(_ session: Session) { pending.row(.session, Mark(), session) }

  /// Writes everything that was noted, or nothing.
  /// - Returns: whether the record was made again because another program had removed it.
  /// - Throws: `Failure` if the record cannot be written; everything stays noted.
  @discardableResult
  public func commit() throws(Failure) -> Bool {
    guard pending.count > 0 else { return false }
    var wasRemoved = false
    do throws(SystemError) {
      if let rows = rowsOfRemovedFile() {
        storage = .none(rows)
        wasRemoved = true
      }
      let file: RecordFile =
        switch storage {
        case .file(let file): file
        case .none(let rows): try begin(rows)
        }
      // The commit does not need the checkpoint.
      if file.isLong { try? file.checkpoint() }
      try file.append(pending.bytes)
    } catch {
      (isBehind, isFull) = (true, [ENOSPC, EDQUOT].contains(error.code))
      if pending.count > maxPending {
        pending.keepLastRows()
        maxPending = max(Self.minMaxPending, 2 * pending.count)
      }
      throw Failure("the record: \(error)")
    }
    (isBehind, isFull) = (false, false)
    pending.removeAll()
    maxPending = Self.minMaxPending
    return wasRemoved
  }

  /// Has the disk promise room for changes that no request asks for, such as the start of the next item of a queue: what runs has to be
  /// on record, or it would be run again (R2).
  /// - Throws: `Failure` if there is no room.
  public func reserve() throws(Failure) {
    guard case .file(let file) = storage else { return }
    do throws(SystemError) { try file.reserve() } catch { throw Failure("the record: \(error)") }
  }

  /// All rows of the file, if it is no longer at its path; nil if it is, or if it was a moment ago and still has a path.
  private func rowsOfRemovedFile() -> LiveRows? {
    let now = MonotonicInstant.now
    guard case .file(let file) = storage, now >= nextLook || file.isUnlinked else { return nil }
    nextLook = now + lookInterval
    return file.isRemoved ? try? file.rows() : nil
  }
}

extension SystemError {
  /// Whether the cause may pass: there may be room later, or the device may work.
  public var isPassing: Bool { [ENOSPC, EDQUOT, EIO].contains(code) }
}

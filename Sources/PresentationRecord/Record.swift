// Why this file exists: what was acknowledged survives navd (R1); a database keeps it, and a journal that is written once a turn.

import CLinux
import DBusValues
import EventLoops
import GRDB
import Glibc
import PresentationModel
import PresentationRules

/// The record of one navd, in two files of one directory.
public final class Record {
  /// What it consists of while it is open, the journal of SQLite's own among it.
  public static let files = [tables, tables + "-wal", journal]
  private static let tables = "record.sqlite"
  private static let journal = "record.journal"

  /// Under which circumstances it was written.
  public struct Session: Hashable, Sendable {
    /// The bus's own id (R7).
    public var bus: String
    /// Changes at each start of the machine.
    public var boot: String
    /// By how many nanoseconds the wall clock was ahead of the monotonic one.
    public var clock: Int64
    /// What commands that were started are known again by, together with their handles.
    public var token: String

    public init(bus: String, boot: String, clock: Int64, token: String) {
      self.bus = bus
      self.boot = boot
      self.clock = clock
      self.token = token
    }
  }

  /// What was on record when it was opened.
  public struct Content: Sendable {
    public var state = RecordedState()
    /// nil: nothing was ever written.
    public var session: Session?
    /// What presenters need in order to know again what they showed.
    public var memories: [Handle: Properties] = [:]
    /// The record that was there could not be read; under which name it is kept, and why it could not.
    public var setAside: (path: String, reason: String)?

    public init() {}
  }

  /// Why it cannot be written, or opened for writing, in words for people.
  public struct Failure: Error, CustomStringConvertible, Sendable {
    public let description: String
  }

  private let queue: DatabaseQueue
  private let journal: Journal
  /// What is to be written with the next commit: what came since the last one, and what that one could not write.
  private var pending = Changes()
  /// Whether the last commit failed; what it should have written is still to be written.
  public private(set) var isBehind = false

  // MARK: Opening

  /// Opens the record of a directory, or begins one. What cannot be read is kept under another name, and there is a new one
  /// (R4).
  /// - Parameters:
  ///   - patience: for how many seconds another program may keep it open, one that is on its way out perhaps.
  ///   - restore: makes of it what it is the record of; what it throws says that this cannot be read.
  /// - Throws: where another program keeps it open, or it cannot be written.
  public static func open<Restored>(
    in directory: String, patience: Double = 5, restore: (Content) throws -> Restored
  ) throws(Failure) -> (record: Record, restored: Restored) {
    let path = path(of: tables, in: directory)
    do {
      let (record, content) = try open(directory, patience)
      return (record, try restore(content))
    } catch let error {
      guard !isObstacle(error) else { throw Failure("the record \(path)", error) }
      let aside = try setAside(directory, for: error)
      do {
        var (record, content) = try open(directory, patience)
        content.setAside = (aside, reason(of: error))
        return (record, try restore(content))
      } catch {
        throw Failure("the record \(path)", error)
      }
    }
  }

  private static func open(_ directory: String, _ patience: Double) throws -> (record: Record, content: Content) {
    var configuration = Configuration()
    // A navd that is on its way out has it for a moment; one of another bus for longer.
    configuration.busyMode = .timeout(patience)
    configuration.prepareDatabase { database in
      // One process alone has it, so that the index of the log is in its memory and not in one more file; and its locks go
      // with it, however it ends.
      try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      // What a large commit has made of the log is given back; the runtime directory is memory.
      try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
      // On a disk what is folded has to be there before the journal is emptied.
      try database.execute(sql: "PRAGMA synchronous = \(isInMemory(directory) ? "OFF" : "FULL")")
    }
    let queue = try DatabaseQueue(path: path(of: tables, in: directory), configuration: configuration)
    let migrator = Schema.migrator
    if try queue.read({ try migrator.hasBeenSuperseded($0) }) {
      throw Unreadable("a later release of navd has written it")
    }
    let isNew = try queue.read { try migrator.appliedIdentifiers($0).isEmpty }
    try migrator.migrate(queue)
    return try queue.inDatabase { database in
      // Only now: what has the database has the journal.
      let journal = try Journal(database, in: JournalFile(path(of: journal, in: directory)))
      // Turns are told against tables that are not there any more.
      if isNew, !journal.isEmpty {
        throw Unreadable("\(Self.journal) is there, and the tables that it belongs to are not")
      }
      return (Record(queue, journal), try journal.restore())
    }
  }

  private init(_ queue: DatabaseQueue, _ journal: Journal) {
    self.queue = queue
    self.journal = journal
  }

  /// Whether a directory is in memory, where nothing is to be gained by waiting for a disk.
  private static func isInMemory(_ directory: String) -> Bool { linux_file_system_type(directory) == LINUX_TMPFS_MAGIC }

  private static func path(of file: String, in directory: String) -> String { "\(directory)/\(file)" }

  /// - Returns: where it is now.
  private static func setAside(_ directory: String, for error: any Error) throws(Failure) -> String {
    let name = "unreadable-\(time(nil))-\(getpid())"
    func aside(_ file: String) -> String { path(of: name + file.dropFirst("record".count), in: directory) }
    func move(_ file: String) -> Bool { rename(path(of: file, in: directory), aside(file)) == 0 }
    guard move(tables) else { throw Failure("the record \(path(of: tables, in: directory))", error) }
    // What was written last is beside it.
    for file in files where file != tables { _ = move(file) }
    return aside(tables)
  }

  // MARK: Writing

  /// Notes what is to be written with the next commit.
  public func note(_ changes: RecordChanges) { pending.state.append(changes) }

  /// Notes what a presenter needs in order to know again what it shows; it is forgotten with the presentation.
  public func note(memory: Properties, of handle: Handle) { pending.memories.append((handle, memory)) }

  public func note(_ session: Session) { pending.session = session }

  /// Puts on record what was noted, all or none.
  /// - Throws: where it cannot be written; it stays noted.
  public func commit() throws(Failure) {
    let changes = pending
    guard !changes.isEmpty || journal.isLong else { return }
    do {
      if !changes.isEmpty { try journal.append(changes.rows) }
      pending = Changes()
      if journal.isLong { try queue.inDatabase { _ in try journal.fold() } }
      isBehind = false
    } catch {
      isBehind = true
      throw Failure("the record", error)
    }
  }

  /// Brings the tables up to date, for people to look at. Nothing is lost where this is not done.
  public func close() {
    guard (try? commit()) != nil else { return }
    try? queue.inDatabase { _ in try journal.fold() }
  }
}

extension Record.Failure {
  fileprivate init(_ what: String, _ error: any Error) {
    let isBusy = (error as? DatabaseError)?.resultCode == .SQLITE_BUSY
    description = "\(what): \(isBusy ? "another program has it open, another navd perhaps" : reason(of: error))"
  }
}

/// What went wrong, in words.
private func reason(of error: any Error) -> String {
  guard let error = error as? DatabaseError else { return "\(error)" }
  return error.message ?? "\(error.resultCode)"
}

/// Whether it is not the record that is at fault.
func isObstacle(_ error: any Error) -> Bool {
  if error is SystemError { return true }
  return switch (error as? DatabaseError)?.resultCode {
  case .SQLITE_BUSY?, .SQLITE_LOCKED?, .SQLITE_FULL?, .SQLITE_IOERR?, .SQLITE_READONLY?, .SQLITE_NOMEM?,
    .SQLITE_PERM?:
    true
  default: false
  }
}

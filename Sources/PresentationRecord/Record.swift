import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules

/// The record of one navd: a file that outlives it (R1), of which this is the only writer.
public final class Record {
  /// All files of a record, among them those of earlier releases.
  public static let files = EarlierRecord.files + [name, name + RecordFile.newSuffix]
  /// An earlier release has a file of that name beside its tables. If it finds this one, and no tables, it sets it aside.
  private static let name = "record.journal"

  /// The circumstances in which a record was written.
  public struct Session: Hashable, Sendable {
    /// The bus's own id (R7).
    public var bus: String
    /// Changes at each start of the machine.
    public var boot: String
    /// By how many nanoseconds the wall clock was ahead of the monotonic one.
    public var clock: Int64
    /// Identifies commands that were started, together with their handles.
    public var token: String

    public init(bus: String, boot: String, clock: Int64, token: String) {
      (self.bus, self.boot, self.clock, self.token) = (bus, boot, clock, token)
    }
  }

  /// The content of a record when it was opened.
  public struct Content: Sendable {
    public var state = RecordedState()
    /// nil: nothing was ever written.
    public var session: Session?
    /// What presenters need in order to recognize what they showed.
    public var memories: [Handle: Properties] = [:]
    /// Where the record that was found is kept, if it could not be read, and why it could not.
    public var setAside: (path: String, reason: String)?

    public init() {}
  }

  /// Why a record cannot be opened or written, for people.
  public struct Failure: Error, CustomStringConvertible, Sendable {
    public let description: String
    init(_ description: String) { self.description = description }
  }

  private let lock: DirectoryLock
  private let file: RecordFile
  /// Rows for the next commit: those noted since the last one, and those that could not be written.
  private var pending = PayloadWriter()
  /// Whether the last commit failed; its rows are still to be written.
  public private(set) var isBehind = false

  private init(_ file: RecordFile, _ lock: DirectoryLock) { (self.file, self.lock) = (file, lock) }

  // MARK: Opening

  /// Opens the record of a directory, or begins one. A record that cannot be read is renamed, and another begun (R4).
  /// - Parameters:
  ///   - timeout: for how many seconds to wait for another program that has it open, perhaps a navd that is ending.
  ///   - restore: makes a state of the record's content; its error says that the record cannot be read.
  /// - Throws: where another program has the record open, or a system call fails.
  public static func open<Restored>(
    in directory: String, timeout: Double = 5, restore: (Content) throws -> Restored
  ) throws(Failure) -> (record: Record, restored: Restored) {
    do {
      let lock = try DirectoryLock(directory, timeout: timeout)
      do {
        return try open(lock, timeout, restore)
      } catch let error where !(error is SystemError) {
        let aside = try setAside(directory)
        return try open(lock, timeout) { content in
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
    _ lock: DirectoryLock, _ timeout: Double, _ restore: (Content) throws -> Restored
  ) throws -> (record: Record, restored: Restored) {
    let path = "\(lock.directory)/\(name)"
    if let (file, rows) = try RecordFile.open(path) {
      let restored = try restore(rows.content())
      // After a kill between the two lines below that make a record of an earlier release one of this release.
      EarlierRecord.remove(from: lock.directory)
      return (Record(file, lock), restored)
    }
    let rows = try EarlierRecord.rows(in: lock.directory, timeout: timeout)
    let restored = try restore(rows.content())
    let file = try RecordFile.create(path, rows)
    EarlierRecord.remove(from: lock.directory)
    return (Record(file, lock), restored)
  }

  /// - Returns: the path of the renamed record.
  private static func setAside(_ directory: String) throws(SystemError) -> String {
    let newName = "\(directory)/unreadable-\(time(nil))-\(getpid())"
    // The path is that of the first file.
    let renamed = files.filter { rename("\(directory)/\($0)", newName + $0.dropFirst("record".count)) == 0 }
    guard let first = renamed.first else { throw SystemError("rename \(directory)/\(name)") }
    return newName + first.dropFirst("record".count)
  }

  // MARK: Writing

  /// Notes changes for the next commit.
  public func note(_ changes: RecordChanges) { pending.rows(of: changes) }

  /// Notes what a presenter needs in order to recognize what it shows; it is forgotten with the presentation.
  public func note(memory: Properties, of handle: Handle) { pending.row(.memory, handle, memory) }

  public func note(_ session: Session) { pending.row(.session, Mark(), session) }

  /// Writes all that was noted, or nothing.
  /// - Throws: where it cannot be written; it stays noted.
  public func commit() throws(Failure) {
    guard !pending.bytes.isEmpty else { return }
    do throws(SystemError) {
      try file.append(pending.bytes)
    } catch {
      isBehind = true
      throw Failure("the record: \(error)")
    }
    isBehind = false
    pending.removeAll()
    // The commit does not depend on it.
    if file.isLong { try? file.checkpoint() }
  }
}

import CLinux
import EventLoops
import Glibc

/// The file of a record: lines of JSON. The first one is a snapshot with all rows at the time when the file was made; each later one has
/// the rows that one turn changed.
///
/// One write passes a line to the kernel. A writer that is killed leaves at most the beginning of a line at the end, of which no client
/// was notified. A machine that loses power perhaps leaves zeros there.
final class RecordFile {
  /// The suffix of the name of a file that will replace another.
  static let newSuffix = "-new"
  private static let minCheckpointLength = 2 << 20
  /// The least room for changes that no request asks for, in bytes. It is enough for hundreds of them.
  private static let minReserve = 64 << 10
  /// The largest length of a file. It is more than twice the largest snapshot, which leaves time if no other file can be made.
  private static let maxLength = 512 << 20

  private let path: String
  private let descriptor: Int32
  /// The end of the last complete line, in bytes.
  private var length = 0
  private var checkpointLength = 0
  /// The offset up to which the disk has promised room, in bytes.
  private var reservedEnd = 0
  /// Whether a part of a line may follow the last complete one.
  private var hasRemnant = false

  private init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }
  deinit { close(descriptor) }

  /// Reads the complete lines of a file.
  /// - Returns: nil if there is none; the file is nil if it cannot be written now.
  /// - Throws: `SystemError`; `Unreadable` if it is no file, or too long.
  static func open(_ path: String) throws -> (file: RecordFile?, lines: [ArraySlice<UInt8>])? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw SystemError("stat \(path)") }
      return nil
    }
    // navd might wait for anything else for ever.
    guard status.st_mode & S_IFMT == S_IFREG else { throw Unreadable("\(path) is not a file") }
    guard status.st_size <= maxLength else {
      throw Unreadable("expected at most \(maxLength) bytes, found \(status.st_size)")
    }
    let writable = Glibc.open(path, O_RDWR | O_CLOEXEC)
    let file = RecordFile(path, writable >= 0 ? writable : try openFile(path, O_RDONLY))
    let bytes = try contents(of: file.descriptor)
    let written = bytes.lastIndex { $0 != 0 }.map { bytes[...$0] } ?? []
    let lines = Array(written.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast())
    file.length = lines.last.map { $0.endIndex + 1 } ?? 0
    file.hasRemnant = file.length < bytes.count
    file.setCheckpoint(after: lines.first?.count ?? 0)
    return (writable >= 0 ? file : nil, lines)
  }

  /// Makes a file with a snapshot, in place of the existing one. On failure, that stays as it is.
  static func create(_ path: String, _ snapshot: [UInt8]) throws(SystemError) -> RecordFile {
    let newPath = path + newSuffix
    // The target of a link there might be the user's.
    unlink(newPath)
    let file = RecordFile(path, try openFile(newPath, O_RDWR | O_CREAT | O_EXCL))
    // After the rename, there is no file of this name.
    defer { unlink(newPath) }
    try file.append(snapshot)
    try check(path) { rename(newPath, path) }
    file.setCheckpoint(after: snapshot.count)
    return file
  }

  /// Whether the lines of turns are as long as the snapshot, so that another one is due. So snapshots cost no more than turns.
  var isLong: Bool { length >= checkpointLength }

  private func setCheckpoint(after snapshot: Int) {
    checkpointLength = snapshot + max(snapshot, Self.minCheckpointLength)
  }

  /// Has the next turns append lines, after no other file could be made.
  func postponeCheckpoint() { checkpointLength = length + Self.minCheckpointLength }

  /// Whether the file has a path, and nobody has cut it or put something else into it.
  var isIntact: Bool {
    var status = stat()
    // A device that does not answer says nothing of the file.
    guard fstat(descriptor, &status) == 0 else { return true }
    return status.st_nlink > 0 && (hasRemnant || Int(status.st_size) == length)
  }

  /// Whether another file is at the path, or none. This takes more time than ``isIntact``.
  var isElsewhere: Bool { leadsElsewhere(path, than: descriptor) }

  /// Appends a whole line or nothing.
  func append(_ line: [UInt8]) throws(SystemError) {
    guard length + line.count <= Self.maxLength else { throw SystemError(code: EFBIG, operation: path) }
    if hasRemnant {
      // This also gives back the room that the disk has promised.
      reservedEnd = 0
      try check(path) { ftruncate(descriptor, off_t(length)) }
    }
    hasRemnant = true
    let written = pwrite(descriptor, line, line.count, off_t(length))
    guard written == line.count else { throw SystemError(code: written < 0 ? errno : ENOSPC, operation: path) }
    length += written
    hasRemnant = false
  }

  /// Has the disk promise room for later lines.
  /// - Throws: `SystemError` if there is none. A file system that promises nothing, or not for this file, is no error.
  func reserve() throws(SystemError) {
    guard reservedEnd - length < Self.minReserve else { return }
    // Files in memory lose also earlier promises of a range for which there is no room.
    let (start, end) = (max(length, reservedEnd), length + 2 * Self.minReserve)
    if fallocate(descriptor, LINUX_FALLOC_RESERVE, off_t(start), off_t(end - start)) != 0,
      [ENOSPC, EDQUOT].contains(errno)
    {
      throw SystemError(code: errno, operation: path)
    }
    reservedEnd = end
  }
}

func openFile(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
  try check(path) { open(path, flags | O_CLOEXEC, 0o600) }
}

/// Whether a path leads to another file than the open one, or to none; false if this cannot be known.
func leadsElsewhere(_ path: String, than descriptor: Int32) -> Bool {
  var (own, found) = (stat(), stat())
  guard fstat(descriptor, &own) == 0 else { return false }
  guard stat(path, &found) == 0 else { return errno == ENOENT || errno == ENOTDIR }
  return (own.st_dev, own.st_ino) != (found.st_dev, found.st_ino)
}

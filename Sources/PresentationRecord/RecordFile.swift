import CLinux
import EventLoops
import Glibc

/// The file of a record. All rows that were written are found whole, however the writer ended.
///
/// A header, 12 bytes of text and the version of the format as a `u32`, is followed by frames. The first frame is a snapshot with all
/// rows at the time when the file was made. Each later frame has the rows that one turn changed. A frame consists of its payload's
/// length as a `u32`, the same with all bits inverted, the payload's checksum as a `u64`, and the payload. All numbers are
/// little-endian.
///
/// One write passes a frame to the kernel. A writer that is killed leaves at most the beginning of a frame at the end, of which no
/// client was notified. A machine that loses power perhaps leaves zeros where the end of the file was not yet written. The first frame
/// with such zeros, and all after it, are lost. Any other difference is damage.
final class RecordFile {
  private static let name = Array("navd record\n".utf8)
  private static let version: UInt32 = 1
  private static let prefixLength = 16
  /// The suffix of the name of a file that will replace another.
  static let newSuffix = "-new"
  private static let minCheckpointLength = 2 << 20
  /// The least room for changes that no request asks for, in bytes. It is enough for hundreds of them.
  private static let minReserve = 64 << 10
  /// The largest length of a file. It is twice the largest snapshot, and leaves time if no other file can be made in the directory.
  static let maxLength = 512 << 20

  /// The length of a file at which a checkpoint is due: the frames of turns are as long as the snapshot. So snapshots cost no more than
  /// turns.
  private static func checkpointLength(_ snapshotEnd: Int) -> Int {
    snapshotEnd + max(snapshotEnd, minCheckpointLength)
  }

  private let path: String
  private var descriptor: Int32
  /// Whether the file could only be opened for reading. Each new frame tries again to open it for writing.
  private var isReadOnly = false
  /// The offset of the next frame, in bytes.
  private var length = 0
  private var checkpointLength = 0
  /// Whether a loss of power has taken parts of the end of the file.
  private(set) var isTorn = false
  /// The offset up to which the disk has promised room, in bytes.
  private var reservedEnd = 0
  /// Whether a part of a frame that could not be written may follow the last frame.
  private var hasRemnant = false

  private init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }
  deinit { close(descriptor) }

  /// Opens a file. A file that cannot be written now is still read.
  /// - Returns: nil if there is none.
  /// - Throws: `SystemError`; `Unreadable` if the file is damaged or from a later release.
  static func open(_ path: String) throws -> (file: RecordFile, rows: LiveRows)? {
    guard try fileExists(path) else { return nil }
    let writable = Glibc.open(path, O_RDWR | O_CLOEXEC)
    let file = RecordFile(path, writable >= 0 ? writable : try openFile(path, O_RDONLY))
    file.isReadOnly = writable < 0
    let (rows, snapshotEnd, end, fileEnd, isTorn) = try file.read()
    file.isTorn = isTorn
    (file.length, file.checkpointLength) = (end, checkpointLength(snapshotEnd))
    // The next frame may be shorter than the rest of an incomplete one.
    file.hasRemnant = end < fileEnd
    return (file, rows)
  }

  /// Makes a file, in place of the existing one.
  static func create(_ path: String, _ rows: LiveRows) throws(SystemError) -> RecordFile {
    let file = RecordFile(path, -1)
    try file.replace(with: rows)
    return file
  }

  // MARK: Reading

  /// The live rows, and the ends of the snapshot, of the last complete frame and of the file.
  private func read() throws -> (rows: LiveRows, snapshotEnd: Int, end: Int, fileEnd: Int, isTorn: Bool) {
    let bytes = try recorded(in: descriptor, at: path)
    guard bytes.starts(with: Self.name) else { throw Unreadable("it is no record") }
    var header = PayloadReader(bytes.dropFirst(Self.name.count))
    let version: UInt32 = try header.get()
    guard version == Self.version else {
      throw Unreadable("a later release of navd has written it: expected format \(Self.version), found \(version)")
    }
    let (frames, end, isTorn) = try Self.frames(in: bytes.dropFirst(Self.prefixLength))
    guard let snapshot = frames.first else { throw Unreadable("the snapshot is incomplete") }
    return (try LiveRows(frames), snapshot.endIndex, end, bytes.count, isTorn)
  }

  /// The payloads of all complete frames, the end of the last one, and whether a loss of power has taken parts of what follows.
  /// - Parameter bytes: the frames; an index is a position in the file.
  static func frames(
    in bytes: ArraySlice<UInt8>
  ) throws(Unreadable) -> (payloads: [ArraySlice<UInt8>], end: Int, isTorn: Bool) {
    var payloads: [ArraySlice<UInt8>] = []
    var rest = bytes
    while rest.count >= prefixLength {
      var prefix = PayloadReader(rest)
      let (count, inverse, sum): (UInt32, UInt32, UInt64) = try (prefix.get(), prefix.get(), prefix.get())
      // Two words that are each other's inverse, but in the wrong order, are damage: no file has such a length.
      guard inverse == ~count, count <= maxLength else {
        if rest.allSatisfy({ $0 == 0 }) { break }
        if isTorn(rest, upTo: rest.startIndex + prefixLength) { return (payloads, rest.startIndex, true) }
        throw Unreadable("there is no frame at byte \(rest.startIndex)")
      }
      guard Int(count) <= rest.count - prefixLength else { break }
      let payload = try prefix.bytes(Int(count))
      guard checksum(payload) == sum else {
        if payload.endIndex == rest.endIndex, isTorn(rest, upTo: rest.endIndex) {
          return (payloads, rest.startIndex, true)
        }
        throw Unreadable("the frame at byte \(rest.startIndex) has another checksum than its payload")
      }
      payloads.append(payload)
      rest = bytes[payload.endIndex...]
    }
    return (payloads, rest.startIndex, false)
  }

  /// The smallest part of a file that a disk writes as a whole, in bytes.
  private static let sectorLength = 512
  /// The number of zeros in a row that no payload has.
  private static let minZeros = 64

  /// Whether one of the sectors that begin before `end` has zeros only.
  private static func isTorn(_ rest: ArraySlice<UInt8>, upTo end: Int) -> Bool {
    var start = rest.startIndex
    while start < end {
      let next = min((start / sectorLength + 1) * sectorLength, rest.endIndex)
      if next - start >= minZeros, rest[start..<next].allSatisfy({ $0 == 0 }) { return true }
      start = next
    }
    return false
  }

  /// The checksum, of eight bytes at a time (after FNV-1a). A change of any of the eight changes it.
  private static func checksum(_ payload: ArraySlice<UInt8>) -> UInt64 {
    payload.withUnsafeBytes { bytes in
      var sum: UInt64 = 0xcbf2_9ce4_8422_2325
      let whole = bytes.count & ~7
      for index in stride(from: 0, to: whole, by: 8) {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        sum = (sum ^ word) &* 0x100_0000_01b3
      }
      for byte in bytes[whole...] { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
      return sum
    }
  }

  // MARK: Writing

  var isLong: Bool { length >= checkpointLength }
  /// Whether the file is no longer at its path, so that nobody would find new rows.
  var isRemoved: Bool { leadsElsewhere(path, than: descriptor) }
  /// Whether the file has no path any more. This takes less time than ``isRemoved``.
  var isUnlinked: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink == 0
  }

  /// Appends a whole frame or nothing.
  func append(_ payload: [UInt8]) throws(SystemError) {
    guard length + Self.prefixLength + payload.count <= Self.maxLength else {
      throw SystemError(code: EFBIG, operation: path)
    }
    if isReadOnly {
      let writable = try openFile(path, O_RDWR)
      close(descriptor)
      (descriptor, isReadOnly) = (writable, false)
    }
    if hasRemnant {
      // This also gives back the room that the disk has promised.
      reservedEnd = 0
      try check(path) { ftruncate(descriptor, off_t(length)) }
    }
    hasRemnant = true
    var prefix = PayloadWriter()
    prefix.put(UInt32(payload.count), ~UInt32(payload.count), Self.checksum(payload[...]))
    try write(prefix.bytes, payload)
    hasRemnant = false
  }

  /// Has the disk promise room for later frames.
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

  private func write(_ prefix: [UInt8], _ payload: [UInt8]) throws(SystemError) {
    let written = prefix.withUnsafeBytes { prefix in
      payload.withUnsafeBytes { payload in
        let parts = [prefix, payload].map {
          iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
        return pwritev(descriptor, parts, CInt(parts.count), off_t(length))
      }
    }
    guard written == prefix.count + payload.count else {
      throw SystemError(code: written < 0 ? errno : ENOSPC, operation: path)
    }
    length += written
  }

  /// Replaces the file by one whose snapshot has all rows. On failure, the file stays as it is.
  func checkpoint() throws {
    // After a failure, the next turn does not try again at once.
    checkpointLength = length + Self.minCheckpointLength
    // The whole state was in memory twice, and glibc would keep the freed memory.
    defer { malloc_trim(0) }
    try replace(with: rows())
  }

  /// All rows that were written, even if the file was removed since.
  func rows() throws -> LiveRows {
    let (rows, _, end, _, _) = try read()
    guard end == length else {
      throw Unreadable("another program changed \(path)")
    }
    return rows
  }

  private func replace(with rows: LiveRows) throws(SystemError) {
    let directory = String(path[..<path.lastIndex(of: "/")!])
    // Files in memory are lost with the machine, so there is no use in waiting for the disk.
    let isOnDisk = linux_file_system_type(directory) != LINUX_TMPFS_MAGIC
    let newPath = path + Self.newSuffix
    let new = RecordFile(newPath, try createFile(newPath, O_RDWR))
    // Removes the new file if it was not renamed. After the rename, there is no file of this name.
    defer { unlink(newPath) }
    var header = PayloadWriter()
    header.put(Self.version)
    try new.write(Self.name, header.bytes)
    try new.append(rows.snapshot)
    if isOnDisk { try check(newPath) { fsync(new.descriptor) } }
    try check(path) { rename(newPath, path) }
    swap(&descriptor, &new.descriptor)
    (length, checkpointLength) = (new.length, Self.checkpointLength(new.length))
    (hasRemnant, isReadOnly, reservedEnd) = (false, false, 0)
    if isOnDisk {
      let directory = try openFile(directory, O_RDONLY)
      defer { close(directory) }
      try check(path) { fsync(directory) }
    }
  }
}

func openFile(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
  try check(path) { open(path, flags | O_CLOEXEC, 0o600) }
}

/// Creates a file in place of what is at the path. The target of a link there might be the user's.
func createFile(_ path: String, _ access: Int32) throws(SystemError) -> Int32 {
  unlink(path)
  return try openFile(path, access | O_CREAT | O_EXCL)
}

/// Whether there is a regular file at a path.
/// - Throws: `SystemError` if this cannot be known; `Unreadable` if there is something else, for which navd might wait for ever.
func fileExists(_ path: String) throws -> Bool {
  var status = stat()
  guard stat(path, &status) == 0 else {
    guard errno == ENOENT else { throw SystemError("stat \(path)") }
    return false
  }
  guard status.st_mode & S_IFMT == S_IFREG else { throw Unreadable("\(path) is not a file") }
  return true
}

/// Whether a path leads to another file than the open one, or to none; false if this cannot be known.
func leadsElsewhere(_ path: String, than descriptor: Int32) -> Bool {
  var (own, found) = (stat(), stat())
  guard fstat(descriptor, &own) == 0 else { return false }
  guard stat(path, &found) == 0 else { return errno == ENOENT || errno == ENOTDIR }
  return (own.st_dev, own.st_ino) != (found.st_dev, found.st_ino)
}

/// The bytes of a record's file.
/// - Parameter path: the path, for errors.
func recorded(in descriptor: Int32, at path: String) throws -> ArraySlice<UInt8> {
  var status = stat()
  try check(path) { fstat(descriptor, &status) }
  guard status.st_size <= RecordFile.maxLength else {
    throw Unreadable("expected at most \(RecordFile.maxLength) bytes, found \(status.st_size)")
  }
  var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
  var count = 0
  while count < bytes.count {
    let more = bytes.withUnsafeMutableBytes { room in
      pread(descriptor, room.baseAddress! + count, room.count - count, off_t(count))
    }
    try check(path) { more }
    // The file was cut off since.
    guard more > 0 else { break }
    count += more
  }
  return bytes[..<count]
}

// Why this file exists: a turn is on record (R1) once the kernel has its bytes, and one write hands them over. A commit of the
// database takes several, of whole pages, and took a sixth of a request.

import EventLoops
import Glibc

/// A file of bodies, one after another. However its writer ends, each is there whole or not at all.
///
/// Before each stand 16 bytes, all numbers little-endian: its length as a `u32`, the same with all bits turned over, and its
/// sum as a `u64`. A writer that is killed leaves at most the beginning of a body at the end, which nobody was told of, and
/// a machine that loses power perhaps nothing but zeros; what is wrong otherwise is damage.
final class JournalFile {
  private static let headLength = 16

  private let path: String
  private let descriptor: Int32
  /// In bytes: where the next body goes.
  private(set) var length = 0

  init(_ path: String) throws(SystemError) {
    self.path = path
    descriptor = try check(path) { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
  }

  deinit { close(descriptor) }

  /// Whether there is nothing in the file, nothing broken either.
  var isEmpty: Bool { lseek(descriptor, 0, SEEK_END) <= 0 }

  /// Adds a body, all of it or nothing.
  func append(_ body: [UInt8]) throws(SystemError) {
    var head = BodyWriter(capacity: Self.headLength)
    head.put(UInt32(body.count))
    head.put(~UInt32(body.count))
    head.put(Self.sum(body[...]))
    let written = head.bytes.withUnsafeBytes { head in
      body.withUnsafeBytes { body in
        let parts = [head, body].map {
          iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
        return pwritev(descriptor, parts, CInt(parts.count), off_t(length))
      }
    }
    guard written == Self.headLength + body.count else {
      let fault = SystemError(code: written < 0 ? errno : ENOSPC, operation: path)
      try? cut(to: length)
      throw fault
    }
    length += written
  }

  /// Takes all bodies away.
  func clear() throws(SystemError) { try cut(to: 0) }

  private func cut(to length: Int) throws(SystemError) {
    try check(path) { ftruncate(descriptor, off_t(length)) }
    self.length = length
  }

  /// All bodies, in the order of their writing. The next one goes after them.
  /// - Throws: `SystemError`; `Unreadable` where there is something that nobody has written.
  func bodies() throws -> [[UInt8]] {
    let file = try content()
    var bodies: [[UInt8]] = []
    length = 0
    while file.count - length >= Self.headLength {
      var head = BodyReader(file[length..<length + Self.headLength])
      let (count, inverse, sum) = (
        try head.number(UInt32.self), try head.number(UInt32.self), try head.number(UInt64.self)
      )
      let start = length + Self.headLength
      guard inverse == ~count else {
        if file[length...].allSatisfy({ $0 == 0 }) { break }
        throw Unreadable("there is no turn at byte \(length) of the journal")
      }
      guard Int(count) <= file.count - start else { break }
      let body = file[start..<start + Int(count)]
      guard Self.sum(body) == sum else {
        throw Unreadable("the turn at byte \(length) of the journal is not as it was written")
      }
      bodies.append(Array(body))
      length = start + Int(count)
    }
    // Of what is not whole nothing may be left: the next body may be shorter.
    try cut(to: length)
    return bodies
  }

  private func content() throws -> [UInt8] {
    var status = stat()
    try check(path) { fstat(descriptor, &status) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      let more = try bytes.withUnsafeMutableBytes { room in
        try check(path) { pread(descriptor, room.baseAddress! + count, room.count - count, off_t(count)) }
      }
      guard more > 0 else { break }
      count += more
    }
    return Array(bytes[..<count])
  }

  /// Eight bytes at a time; whichever single one of them is another, so is the sum (after FNV-1a).
  private static func sum(_ body: ArraySlice<UInt8>) -> UInt64 {
    body.withUnsafeBytes { bytes in
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
}

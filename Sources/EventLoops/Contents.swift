import Glibc

/// The bytes of a descriptor up to its end.
/// - Parameter limit: the number of bytes after which no more are read.
/// - Throws: ``SystemError`` if it cannot be read (`read`).
package func contents(of descriptor: Int32, limit: Int = .max) throws(SystemError) -> [UInt8] {
  var content: [UInt8] = []
  // The capacity fits most files, which are short.
  var capacity = 1 << 10
  while content.count < limit {
    var failure: SystemError?
    let part = [UInt8](unsafeUninitializedCapacity: min(capacity, limit - content.count)) { buffer, count in
      var length: Int
      repeat { length = read(descriptor, buffer.baseAddress, buffer.count) } while length < 0 && errno == EINTR
      if length < 0 { failure = SystemError("read") }
      count = max(0, length)
    }
    if let failure { throw failure }
    if part.isEmpty { break }
    content += part
    capacity = min(capacity * 4, 1 << 16)
  }
  return content
}

/// The bytes of a file.
/// - Parameter limit: the number of bytes after which no more are read.
/// - Throws: ``SystemError`` if it cannot be opened (`open`) or read (`read`).
package func contents(ofFile path: String, limit: Int = .max) throws(SystemError) -> [UInt8] {
  let descriptor = try check("open") { open(path, O_RDONLY | O_CLOEXEC) }
  defer { close(descriptor) }
  return try contents(of: descriptor, limit: limit)
}

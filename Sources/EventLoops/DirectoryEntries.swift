import Glibc

/// The names in a directory, in no order, without `.` and `..`.
/// - Throws: ``SystemError`` if it cannot be opened (`open`) or read (`read`).
package func directoryEntries(_ path: some Collection<UInt8>) throws(SystemError) -> [[UInt8]] {
  // The base address is never nil, since the bytes end with a NUL.
  let stream = (Array(path) + [0]).withUnsafeBytes { opendir($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
  guard let stream else { throw SystemError("open") }
  defer { closedir(stream) }
  var names: [[UInt8]] = []
  while true {
    errno = 0
    guard let entry = readdir(stream) else {
      guard errno == 0 else { throw SystemError("read") }
      return names
    }
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
    if name != [UInt8(ascii: ".")], name != Array("..".utf8) { names.append(name) }
  }
}

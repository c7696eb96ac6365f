// Why this file exists: configuration is looked for in many places, most of them not there, some of them strange; none of
// that may block navd, or end it.

import EventLoops
import Glibc

/// Directories and files of the configuration. Paths are bytes, as the kernel has them.
enum ConfigurationFiles {
  /// What stands in a directory, in the order of names, without `.`, `..` and what else is hidden.
  /// - Returns: nil where there is no such directory.
  static func names(in directory: [UInt8]) throws(SystemError) -> [[UInt8]]? {
    guard let stream = withPath(directory, { opendir($0) }) else {
      let error = SystemError("open")
      // A part of the path that is no directory makes it as absent as one that is not there, but not the last part.
      if error.code == ENOENT || error.code == ENOTDIR && withPath(directory, { access($0, F_OK) }) != 0 { return nil }
      throw error
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw SystemError("read") }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
      }
      let bytes = withUnsafePointer(to: &entry.pointee.d_name) { name in
        UnsafeRawBufferPointer(start: name, count: strlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)))
      }
      if bytes.first != UInt8(ascii: ".") { names.append(Array(bytes)) }
    }
  }

  /// Why a file cannot be read, as the rest of a sentence that begins with it.
  struct Unreadable: Error {
    let why: String
  }

  /// A regular file's content.
  /// - Returns: nil where there is none.
  static func content(of path: [UInt8], most: Int) throws(Unreadable) -> [UInt8]? {
    // Without O_NONBLOCK, a FIFO would be waited for.
    let file = withPath(path) { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard file >= 0 else {
      let error = SystemError("open")
      var status = stat()
      // A part of the path that is no directory makes it as absent as one that is not there.
      guard error.code == ENOENT || error.code == ENOTDIR else {
        throw Unreadable(why: "cannot be read: \(error.reason)")
      }
      guard withPath(path, { lstat($0, &status) }) == 0 else { return nil }
      throw Unreadable(why: "is a link that leads to no file; a file there, or no link, would do")
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Unreadable(why: "is \(kind(status.st_mode)); a regular file would do")
    }
    var content: [UInt8] = []
    while content.count <= most {
      let room = min(most + 1 - content.count, 1 << 16)
      var failure: SystemError?
      let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        let got = read(file, buffer.baseAddress, room)
        if got < 0 { failure = SystemError("read") }
        count = max(got, 0)
      }
      if let failure {
        if failure.code == EINTR { continue }
        throw Unreadable(why: "cannot be read: \(failure.reason)")
      }
      if chunk.isEmpty { return content }
      content += chunk
    }
    throw Unreadable(why: "is larger than \(most) bytes; a shorter one would do")
  }

  private static func kind(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a directory"
    case S_IFIFO: "a FIFO"
    case S_IFCHR, S_IFBLK: "a device"
    default: "no regular file"
    }
  }

  private static func withPath<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (path + [0]).withUnsafeBytes { bytes in
      // The bytes end with the NUL that has just been put there, so the buffer has an address.
      body(bytes.assumingMemoryBound(to: CChar.self).baseAddress!)
    }
  }
}

import EventLoops
import Glibc

/// Reads directories and files that others may have made. No kind of file blocks the reader. Paths are bytes, as in the kernel.
package enum SafeFiles {
  /// The sorted names of a directory's entries, without hidden ones.
  /// - Returns: nil if there is no such directory.
  package static func names(in directory: [UInt8]) throws(SystemError) -> [[UInt8]]? {
    do throws(SystemError) {
      let names = try directoryEntries(directory).filter { $0.first != UInt8(ascii: ".") }
      return names.sorted { $0.lexicographicallyPrecedes($1) }
    } catch {
      // ENOTDIR means that the directory is absent if a parent of the path is meant, and a mistake if it is the path itself.
      if error.code == ENOENT || error.code == ENOTDIR && withPath(directory, { access($0, F_OK) }) != 0 { return nil }
      throw error
    }
  }

  /// The reason why a file cannot be read, as the rest of a sentence that begins with its path.
  package struct Unreadable: Error {
    package let why: String

    package init(why: String) { self.why = why }
  }

  /// The content of a regular file.
  /// - Returns: nil if there is no such file.
  package static func content(of path: [UInt8], maxBytes: Int) throws(Unreadable) -> [UInt8]? {
    // O_NONBLOCK keeps the opening of a FIFO from blocking.
    let file = withPath(path) { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard file >= 0 else {
      let error = SystemError("open")
      var status = stat()
      guard error.code == ENOENT || error.code == ENOTDIR else {
        throw Unreadable(why: "cannot be read: \(error.reason)")
      }
      guard withPath(path, { lstat($0, &status) }) == 0 else { return nil }
      throw Unreadable(why: "the link's target does not exist; create the target or remove the link")
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Unreadable(why: "expected a regular file, found \(kind(status.st_mode))")
    }
    let content: [UInt8]
    do throws(SystemError) { content = try contents(of: file, limit: maxBytes + 1) } catch {
      throw Unreadable(why: "cannot be read: \(error.reason)")
    }
    if content.count <= maxBytes { return content }
    throw Unreadable(why: "expected at most \(maxBytes) bytes, found more")
  }

  private static func kind(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a directory"
    case S_IFIFO: "a FIFO"
    case S_IFCHR, S_IFBLK: "a device"
    default: "another kind of file"
    }
  }

  /// Calls the body with the path as a C string.
  package static func withPath<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (path + [0]).withUnsafeBytes { bytes in
      // The base address is never nil, since the bytes end with the NUL that was appended.
      body(bytes.assumingMemoryBound(to: CChar.self).baseAddress!)
    }
  }
}

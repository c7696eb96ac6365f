import EventLoops
import Glibc

/// Reading and writing files without Foundation.
public enum Files {
  /// The directory of this package.
  public static let package = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  /// The contents of a file; empty if it cannot be read.
  public static func contents(of path: String) -> [UInt8] {
    (try? bytes(of: path)) ?? []
  }

  /// The text of a file of this package.
  /// - Parameter path: the path relative to the package's directory.
  /// - Throws: `SystemError` if there is no such file.
  public static func text(inPackage path: String) throws -> String {
    String(decoding: try bytes(of: "\(package)/\(path)"), as: UTF8.self)
  }

  private static func bytes(of path: String) throws(SystemError) -> [UInt8] {
    let file = try check("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) }
    defer { close(file) }
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16384)
    while case let count = read(file, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
    return all
  }

  /// Creates or overwrites a file.
  /// - Throws: `SystemError`.
  public static func write(_ text: String, to path: String) throws {
    let file = try check("open \(path)") { open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
    defer { close(file) }
    _ = Array(text.utf8).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
  }

  /// The names in a directory, without “.” and “..”.
  /// - Throws: `SystemError` if the path is not a directory or cannot be read.
  public static func names(in path: String) throws -> [String] {
    guard let directory = opendir(path) else { throw SystemError("opendir \(path)") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// The target of a symbolic link: a path, or the kernel's name of a file without one; nil if there is no such link.
  public static func target(of link: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes { readlink(link, $0.baseAddress!, $0.count) }
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}

import Glibc

extension ByteString {
  /// Whether the kernel would execute the file at this path, as far as the file's permissions and first bytes show: a binary, or
  /// a script whose interpreter is executable. True also for a file that may be executed but not read.
  public var isExecutable: Bool { isExecutable(throughInterpreters: 4) }

  /// - Parameter most: the number of interpreters that may be scripts themselves; the kernel has the same limit.
  private func isExecutable(throughInterpreters most: Int) -> Bool {
    guard withCString({ access($0, X_OK) }) == 0 else { return false }
    let file = withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard file >= 0 else { return true }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = read(file, &buffer, buffer.count)
    let beginning = buffer.prefix(max(0, count))
    if beginning.starts(with: [0x7F] + Array("ELF".utf8)) { return true }
    guard beginning.starts(with: Array("#!".utf8)), most > 0 else { return false }
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let line = beginning.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }.drop(while: isBlank)
    return ByteString(line.prefix { !isBlank($0) }).isExecutable(throughInterpreters: most - 1)
  }
}

import EventLoops
import Glibc

/// Reads lines from a descriptor as they arrive.
final class LineInput {
  /// The limit in bytes of a line; the largest value that navd accepts fits.
  private static let maxLine = 4 << 20

  private let descriptor: Int32
  private let onLine: (_ number: Int, _ bytes: [UInt8]?) -> Void
  private let onEnd: () -> Void
  private var watch: Watch?
  private var pending: [UInt8] = []
  private var count = 0
  /// Whether the line is too long, and its rest is skipped.
  private var isSkipping = false

  /// - Parameters:
  ///   - onLine: called with each line, counted from 1; nil for a line that is too long.
  ///   - onEnd: called once, at the end.
  init(
    _ descriptor: Int32, _ loop: EventLoop, onLine: @escaping (Int, [UInt8]?) -> Void, onEnd: @escaping () -> Void
  ) {
    self.descriptor = descriptor
    self.onLine = onLine
    self.onEnd = onEnd
    watch = try? loop.watch(descriptor, .read) { [weak self] _ in self?.read() }
    // A file cannot be watched, and is always ready.
    if watch == nil { loop.soon { [weak self] in while self?.read() == true {} } }
  }

  /// - Returns: whether more bytes may follow.
  @discardableResult
  private func read() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let size = Glibc.read(descriptor, &buffer, buffer.count)
    guard size > 0 else {
      if size < 0, errno == EINTR || errno == EAGAIN { return true }
      if !pending.isEmpty || isSkipping { endLine() }
      watch?.cancel()
      onEnd()
      return false
    }
    var rest = buffer[..<size]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      take(rest[..<end])
      endLine()
      rest = rest[(end + 1)...]
    }
    take(rest)
    return true
  }

  private func take(_ bytes: ArraySlice<UInt8>) {
    if pending.count + bytes.count > Self.maxLine { (pending, isSkipping) = ([], true) }
    if !isSkipping { pending += bytes }
  }

  private func endLine() {
    count += 1
    let line = isSkipping ? nil : pending
    (pending, isSkipping) = ([], false)
    onLine(count, line)
  }
}

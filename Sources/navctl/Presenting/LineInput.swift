import EventLoops
import Glibc

/// Reads lines from a descriptor as they arrive.
final class LineInput {
  /// The limit in bytes of a line; the largest value that navd accepts fits.
  static let maxLine = 4 << 20

  /// Whether reading is paused: no line is passed on and nothing is read, so that the writer has to wait.
  var isPaused = false {
    didSet {
      guard isPaused != oldValue, !hasEnded else { return }
      watch?.interest = isPaused ? [] : .read
      if !isPaused { proceedSoon() }
    }
  }

  private let descriptor: Int32
  private let loop: EventLoop
  private let onLine: (_ number: Int, LineReader.Line) -> Void
  private let onEnd: () -> Void
  /// The watch of the descriptor; nil for a file, which cannot be watched and is always ready.
  private var watch: Watch?
  private var reader = LineReader(limit: LineInput.maxLine)
  private var count = 0
  private var hasEnded = false

  /// - Parameters:
  ///   - onLine: called with each line, counted from 1; nil for a line that is too long.
  ///   - onEnd: called once, at the end.
  init(
    _ descriptor: Int32, _ loop: EventLoop, onLine: @escaping (Int, LineReader.Line) -> Void,
    onEnd: @escaping () -> Void
  ) {
    self.descriptor = descriptor
    self.loop = loop
    self.onLine = onLine
    self.onEnd = onEnd
    watch = try? loop.watch(descriptor, .read) { [weak self] _ in self?.read() }
    if watch == nil { proceedSoon() }
  }

  /// Continues with the bytes that were read already, and with a file.
  private func proceedSoon() {
    loop.soon { [weak self] in
      guard let self else { return }
      takeLines()
      while watch == nil, !isPaused, read() {}
    }
  }

  /// - Returns: whether more bytes may follow.
  @discardableResult
  private func read() -> Bool {
    takeLines()
    guard !isPaused, !hasEnded else { return !hasEnded }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let size = Glibc.read(descriptor, &buffer, buffer.count)
    guard size > 0 else {
      if size < 0, errno == EINTR || errno == EAGAIN { return true }
      hasEnded = true
      if let line = reader.rest { pass(line) }
      watch?.cancel()
      onEnd()
      return false
    }
    reader.take(buffer[..<size])
    takeLines()
    return true
  }

  private func takeLines() {
    while !isPaused, let line = reader.next() { pass(line) }
  }

  private func pass(_ line: LineReader.Line) {
    count += 1
    onLine(count, line)
  }
}

import EventLoops
import Glibc
import TextFormats

/// Writes lines to a descriptor without waiting for a slow or stopped reader (W3).
///
/// The descriptor stays blocking, because other programs may share it. A ready pipe takes `PIPE_BUF` bytes without blocking, so no
/// more bytes are written at a time.
final class LineWriter {
  /// Called when the reader has taken all lines.
  var onDrained: (() -> Void)?
  /// Called when writing failed, with the `errno`; `EPIPE` if the reader has closed its end.
  var onEnd: ((Int32) -> Void)?

  private let descriptor: Int32
  private let isTerminal: Bool
  private var watch: Watch?
  private var pending = UnwrittenBytes()
  /// The interest while no bytes are pending. The writing end of a pipe never becomes readable, so
  /// this reports only that the reader has closed its end.
  private let idle: Interest

  init(_ descriptor: Int32, _ loop: EventLoop) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    var status = stat()
    let isPipe = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    idle = isPipe ? .read : []
    // A file cannot be watched, and is always ready.
    watch = try? loop.watch(descriptor, idle) { [weak self] ready in self?.handle(ready) }
    if !isPipe, (try? loop.watch(descriptor, .write) { _ in }.cancel()) == nil { watch = nil }
  }

  /// The number of bytes not yet written.
  var pendingCount: Int { pending.count }

  /// Writes a line of JSON or of a template. On a terminal the line has no control characters.
  func write(_ line: String) { write(raw: (isTerminal ? line.escapingControlsInJSON : line) + "\n") }

  /// Writes the text without a newline.
  func write(raw text: String) {
    pending.append(text.utf8)
    guard let watch else {
      flush(all: true)
      return
    }
    // The loop calls `handle` once the descriptor is ready.
    watch.interest = .write
  }

  private func handle(_ ready: Readiness) {
    if ready.contains(.error) || ready.contains(.hangUp) {
      onEnd?(EPIPE)
      return
    }
    if ready.contains(.write) { flush(all: false) }
  }

  private func flush(all: Bool) {
    repeat {
      let count = pending.write { Glibc.write(descriptor, $0.baseAddress, min($0.count, Int(PIPE_BUF))) }
      if count < 0, errno != EINTR, errno != EAGAIN {
        onEnd?(errno)
        return
      }
    } while all && !pending.isEmpty
    guard pending.isEmpty else { return }
    watch?.interest = idle
    onDrained?()
  }
}

// Why this file exists: a reader that is slow, or stopped, must neither hold up what navctl takes from the bus nor let
// what waits for it grow (rule W3).

import EventLoops
import Glibc

/// Writes lines to a descriptor, at once where that is possible, later where the reader is behind.
///
/// The descriptor stays blocking, since it may be shared with others: a pipe that is ready takes `PIPE_BUF` bytes without
/// blocking, so no more are written at a time.
final class LineWriter {
  /// Nothing is pending any more.
  var onDrained: (() -> Void)?
  /// The reader is gone, or writing failed with this error.
  var onEnd: ((Int32) -> Void)?

  private let descriptor: Int32
  private var watch: Watch?
  private var pending: [UInt8] = []
  /// A pipe's writing end never becomes readable: waiting for that tells of nothing but the reader's going.
  private let idle: Interest

  init(_ descriptor: Int32, _ loop: EventLoop) {
    self.descriptor = descriptor
    var status = stat()
    let isPipe = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    idle = isPipe ? .read : []
    // What cannot be waited for (a file) is always ready.
    watch = try? loop.watch(descriptor, idle) { [weak self] ready in self?.handle(ready) }
    if !isPipe, (try? loop.watch(descriptor, .write) { _ in }.cancel()) == nil { watch = nil }
  }

  /// Bytes that the reader has not taken.
  var pendingCount: Int { pending.count }

  func write(_ line: String) { put(line + "\n") }

  /// Writes what is not a line.
  func put(_ text: String) {
    pending.append(contentsOf: text.utf8)
    guard let watch else {
      flush(all: true)
      return
    }
    // Ready or not is the loop's to say; the line goes out in this turn or the next.
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
      let count = pending.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, min($0.count, Int(PIPE_BUF))) }
      if count >= 0 {
        pending.removeFirst(count)
      } else if errno != EINTR, errno != EAGAIN {
        onEnd?(errno)
        return
      }
    } while all && !pending.isEmpty
    guard pending.isEmpty else { return }
    watch?.interest = idle
    onDrained?()
  }
}

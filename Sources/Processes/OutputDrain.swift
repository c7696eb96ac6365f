import EventLoops
import Glibc

/// Reads and discards the output of a command that outlives its item, so that the command never blocks. The command was started
/// by an earlier navd, whose ``OutputReader`` is gone.
public final class OutputDrain {
  private static let step = 1 << 16

  private let capture: OutputCapture
  private var watch: Watch?
  /// Called once, when the last process has closed the output and its files are removed.
  private let onEnd: () -> Void

  /// - Returns: nil if no process has the output open; the files are removed then.
  public init?(of capture: OutputCapture, loop: EventLoop, onEnd: @escaping () -> Void) {
    self.capture = capture
    self.onEnd = onEnd
    let fifo = capture.fifo.withCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) }
    guard fifo >= 0, !Self.isOver(fifo) else {
      if fifo >= 0 { close(fifo) }
      capture.remove()
      return nil
    }
    do throws(SystemError) {
      watch = try loop.watch(fifo, .read) { [weak self] _ in self?.read(fifo) }
    } catch {
      // The command may block until the next navd reads its output.
      close(fifo)
      return nil
    }
  }

  deinit { watch?.close() }

  private func read(_ fifo: Int32) {
    guard Self.isOver(fifo) else { return }
    watch?.close()
    capture.remove()
    onEnd()
  }

  /// Discards one step of the available output.
  /// - Returns: whether no process has the output open.
  private static func isOver(_ fifo: Int32) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: step, alignment: 1) { Glibc.read(fifo, $0.baseAddress!, $0.count) } == 0
  }
}

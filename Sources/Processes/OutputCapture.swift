// Why this file exists: what a command writes has to outlive the daemon, and must hold up neither of them, however
// much it is.

import CLinux
import EventLoops
import Glibc

/// What a command wrote to its standard output.
public struct CapturedOutput: Hashable, Sendable {
  public var bytes: [UInt8]
  /// Whether it wrote more than is here.
  public var isTruncated: Bool

  public init(bytes: [UInt8], isTruncated: Bool) {
    self.bytes = bytes
    self.isTruncated = isTruncated
  }
}

/// Where a command's standard output is kept: a FIFO, `PATH.fifo`, which the command holds open for reading and
/// writing, so that it lives through a time without a reader; and a file, `PATH.output`, into which the kernel moves
/// what comes, so that a reader that is killed has lost nothing of what it had taken out. `PATH.started` is there once
/// the command was started.
///
/// All of them stay until ``remove()``, so that a result can be put on record first.
public struct OutputCapture: Hashable, Sendable {
  /// An absolute path, in a directory that only this user can enter; of no other command.
  public var path: ByteString
  /// How many bytes are kept; the rest is read and thrown away.
  public var limit: Int

  public init(path: ByteString, limit: Int) {
    self.path = path
    self.limit = max(0, limit)
  }

  var fifo: ByteString { path + ".fifo" }
  var file: ByteString { path + ".output" }
  /// Made by the child itself, just before it becomes the program.
  var evidence: ByteString { path + ".started" }

  /// Whether the command whose output this is was started, as far as ``remove()`` has not been called since. For who finds
  /// nothing of it, and cannot tell whether it has ended or never began.
  public var wasStarted: Bool { evidence.withCString { access($0, F_OK) } == 0 }
  /// One byte more than the limit is kept, as the sign that there was more.
  fileprivate var capacity: Int { limit == .max ? limit : limit + 1 }

  /// What has been taken out of the FIFO so far, for a command that ended while nobody watched it; nil if there is
  /// nothing on record.
  public func read() -> CapturedOutput? {
    let descriptor = file.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return read(from: descriptor)
  }

  /// The FIFO as a command is to have it for its standard output: open for reading too, so that it outlives every reader.
  /// - Returns: a descriptor, for the caller to hand on and to close.
  public func openForCommand() throws(SystemError) -> Int32 {
    try check("open \(fifo)") { fifo.withCString { open($0, O_RDWR | O_CLOEXEC | O_NOFOLLOW) } }
  }

  public func remove() {
    for name in [fifo, file, evidence] { _ = name.withCString { unlink($0) } }
  }

  fileprivate func read(from descriptor: Int32) -> CapturedOutput? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    let length = min(Int(status.st_size), limit)
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      count = 0
      while count < length {
        let read = pread(descriptor, buffer.baseAddress! + count, length - count, off_t(count))
        guard read > 0 else { break }
        count += read
      }
    }
    return CapturedOutput(bytes: bytes, isTruncated: Int(status.st_size) > limit)
  }
}

/// The reading end of an ``OutputCapture``. A ``ProcessKeeper`` has one for each command that it starts; this is for who
/// has others start them.
public final class OutputReader {
  private static let step = 1 << 16

  private let capture: OutputCapture
  private let fifo: Int32
  private let file: Int32
  private var watch: Watch?
  private var stored: Int
  /// The file system would not take more.
  private var hasLost = false

  /// Begins anew, with nothing stored.
  public static func create(_ capture: OutputCapture, loop: EventLoop) throws(SystemError) -> OutputReader {
    capture.remove()
    try check("mkfifo \(capture.fifo)") { capture.fifo.withCString { mkfifo($0, 0o600) } }
    do throws(SystemError) {
      return try OutputReader(capture, fileFlags: O_CREAT | O_EXCL, loop: loop)
    } catch {
      capture.remove()
      throw error
    }
  }

  /// Goes on where an earlier reader stopped.
  public static func resume(_ capture: OutputCapture, loop: EventLoop) throws(SystemError) -> OutputReader {
    try OutputReader(capture, fileFlags: O_CREAT, loop: loop)
  }

  private init(_ capture: OutputCapture, fileFlags: Int32, loop: EventLoop) throws(SystemError) {
    self.capture = capture
    fifo = try check("open \(capture.fifo)") {
      capture.fifo.withCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) }
    }
    do throws(SystemError) {
      file = try check("open \(capture.file)") {
        capture.file.withCString { open($0, O_RDWR | O_CLOEXEC | O_NOFOLLOW | fileFlags, 0o600) }
      }
    } catch {
      close(fifo)
      throw error
    }
    stored = 0
    // From here on, deinit closes them if this throws.
    stored = Int(try check("seek in \(capture.file)") { lseek(file, 0, SEEK_END) })
    watch = try loop.watch(fifo, .read) { [weak self] _ in
      guard let self else { return }
      // Without a writer it would be ready for ever; what a later one may write is taken at the end.
      if take() == .ended { watch?.cancel() }
    }
  }

  deinit {
    watch?.cancel()
    close(fifo)
    close(file)
  }

  private enum Taking { case some, nothing, ended }

  /// Takes one step's worth out of the FIFO, to be kept if there is room for it.
  private func take() -> Taking {
    let room = capture.capacity - stored
    var taken: Int
    if room > 0, !hasLost {
      // Moved by the kernel in one call, it is at every instant either in the FIFO or in the file.
      taken = splice(fifo, nil, file, nil, min(room, Self.step), LINUX_SPLICE_F_NONBLOCK)
      if taken > 0 { stored += taken }
      if taken < 0, errno != EAGAIN, errno != EINTR { hasLost = true }
    } else {
      taken = withUnsafeTemporaryAllocation(byteCount: Self.step, alignment: 1) {
        Glibc.read(fifo, $0.baseAddress!, $0.count)
      }
    }
    if taken == 0 { return .ended }
    return taken > 0 ? .some : .nothing
  }

  /// Takes what is left in the FIFO and tells all that was kept.
  public func finish() -> CapturedOutput {
    // What writes on although it is none of the command's must not keep us for ever: the FIFO's size is enough.
    for _ in 0..<64 {
      let lostBefore = hasLost
      guard take() == .some || hasLost != lostBefore else { break }
    }
    watch?.cancel()
    var output = capture.read(from: file) ?? CapturedOutput(bytes: [], isTruncated: true)
    if hasLost { output.isTruncated = true }
    return output
  }
}

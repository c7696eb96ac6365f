import CLinux
import EventLoops
import Glibc

/// The standard output of a command.
public struct CapturedOutput: Hashable, Sendable {
  public var bytes: [UInt8]
  /// Whether the command wrote more than `bytes`.
  public var isTruncated: Bool

  public init(bytes: [UInt8], isTruncated: Bool) {
    (self.bytes, self.isTruncated) = (bytes, isTruncated)
  }
}

/// The files that capture a command's standard output:
/// - `PATH.fifo`, a FIFO. The command holds it open for reading and writing, so that it survives a time without a reader. It
///   loses its sticky bit when the command is started; a command that changes the mode of its output hardly chooses this bit.
/// - `PATH.output`, a file, once there is output. The kernel moves output from the FIFO into the file, so that nothing is lost
///   if the reader is killed.
/// - `PATH.started`, for a command without a FIFO. It exists once the command was started, and contains the number of its process.
///
/// All files stay until ``remove()``, so that the result can be recorded first.
public struct OutputCapture: Hashable, Sendable {
  /// An absolute path in a directory that only this user can enter. No other command has the same path.
  public var path: ByteString
  /// The maximum number of bytes kept. The rest is read and discarded.
  public var limit: Int

  public init(path: ByteString, limit: Int) {
    self.path = path
    self.limit = max(0, limit)
  }

  var fifo: ByteString { path + ".fifo" }
  var file: ByteString { path + ".output" }
  /// The file that the child of a command without a FIFO creates just before it executes the program.
  var evidence: ByteString { path + ".started" }

  /// Whether the command was started; false after ``remove()``. This distinguishes a command that has ended from one that was
  /// never started, if no process is left.
  public var wasStarted: Bool {
    var status = stat()
    let isMarked = fifo.withCString { stat($0, &status) } == 0 && status.st_mode & S_ISVTX == 0
    return isMarked || evidence.withCString { access($0, F_OK) } == 0
  }
  /// The started process; nil if there is none.
  var startedProcess: pid_t? {
    ProcessTable.read(evidence.description).flatMap { pid_t(ascii: $0.prefix { $0 != UInt8(ascii: "\n") }) }
  }

  /// The limit and one more byte, which shows that the output was truncated.
  fileprivate var capacity: Int { limit == .max ? limit : limit + 1 }

  /// The output moved into the file so far, for a command that ended without a reader; nil if the output was not captured.
  public func read() -> CapturedOutput? {
    let descriptor = file.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 else {
      let wasCaptured = errno == ENOENT && fifo.withCString { access($0, F_OK) } == 0
      return wasCaptured ? CapturedOutput(bytes: [], isTruncated: false) : nil
    }
    defer { close(descriptor) }
    return read(from: descriptor)
  }

  /// Opens the FIFO for a command's standard output. It is open for reading too, so that it outlives every reader.
  /// - Returns: a descriptor that the caller closes.
  public func openForCommand() throws(SystemError) -> Int32 {
    try check("open \(fifo)") { fifo.withCString { open($0, O_RDWR | O_CLOEXEC | O_NOFOLLOW) } }
  }

  fileprivate func openFile(_ flags: Int32 = 0) throws(SystemError) -> Int32 {
    try check("open \(file)") { file.withCString { open($0, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0o600) } }
  }

  public func remove() {
    // The FIFO is created first and therefore removed last: without it, none of the other files exist.
    for name in [evidence, file, fifo] { _ = name.withCString { unlink($0) } }
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

/// Reads the FIFO of an ``OutputCapture``. A ``ProcessSupervisor`` creates a reader for each command that it starts; a caller
/// creates one for a command that another program starts.
public final class OutputReader {
  private static let step = 1 << 16

  private let capture: OutputCapture
  private let fifo: Int32
  /// The output file; nil while there is no output, as for most panels.
  private var file: Int32?
  private var watch: Watch?
  private var stored: Int
  /// Whether output was discarded because the file could not be written.
  private var hasLost = false

  /// Creates the files, after removing earlier ones.
  public static func create(_ capture: OutputCapture, loop: EventLoop) throws(SystemError) -> OutputReader {
    let makeFIFO = { capture.fifo.withCString { mkfifo($0, S_ISVTX | S_IRUSR | S_IWUSR) } }
    if makeFIFO() != 0 {
      if errno == EEXIST { capture.remove() }
      try check("mkfifo \(capture.fifo)", makeFIFO)
    }
    do throws(SystemError) {
      let reader = try OutputReader(capture, loop: loop)
      try DescriptorLimit.checkReserve(reader.fifo, "open \(capture.fifo)")
      return reader
    } catch {
      capture.remove()
      throw error
    }
  }

  /// Continues with the files of an earlier reader.
  public static func resume(_ capture: OutputCapture, loop: EventLoop) throws(SystemError) -> OutputReader {
    let reader = try OutputReader(capture, loop: loop)
    do throws(SystemError) {
      let file = try capture.openFile()
      reader.file = file
      reader.stored = Int(try check("seek in \(capture.file)") { lseek(file, 0, SEEK_END) })
    } catch {
      // No output had been captured yet.
      guard error.code == ENOENT else { throw error }
    }
    return reader
  }

  private init(_ capture: OutputCapture, loop: EventLoop) throws(SystemError) {
    self.capture = capture
    // The FIFO is open for writing too, so that the end of its last writer does not make it ready: `finish` follows anyway.
    fifo = try check("open \(capture.fifo)") {
      capture.fifo.withCString { open($0, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) }
    }
    stored = 0
    // deinit closes the FIFO if this call throws.
    watch = try loop.watch(fifo, .read) { [weak self] _ in _ = self?.take() }
  }

  deinit {
    if let watch { watch.close() } else { close(fifo) }
    if let file { close(file) }
  }

  /// Takes up to one step of bytes out of the FIFO, and stores them as far as the limit permits.
  /// - Returns: whether there were any bytes.
  private func take() -> Bool {
    if file == nil, !hasLost {
      var available: Int32 = 0
      guard ioctl(fifo, UInt(FIONREAD), &available) == 0, available > 0 else { return false }
      file = try? capture.openFile(O_CREAT | O_EXCL)
      hasLost = file == nil
    }
    let room = capture.capacity - stored
    var taken: Int
    if let file, room > 0, !hasLost {
      // The kernel moves the bytes in one call, so they are always either in the FIFO or in the file.
      taken = splice(fifo, nil, file, nil, min(room, Self.step), LINUX_SPLICE_F_NONBLOCK)
      if taken > 0 { stored += taken }
      if taken < 0, errno != EAGAIN, errno != EINTR { hasLost = true }
    } else {
      taken = withUnsafeTemporaryAllocation(byteCount: Self.step, alignment: 1) {
        Glibc.read(fifo, $0.baseAddress!, $0.count)
      }
    }
    return taken > 0
  }

  /// Takes the rest out of the FIFO, and ends the capture.
  /// - Returns: the output that was stored.
  public func finish() -> CapturedOutput {
    // The size of the FIFO limits this loop, because a process outside the tree may still write.
    for _ in 0..<64 {
      let lostBefore = hasLost
      guard take() || hasLost != lostBefore else { break }
    }
    watch?.close()
    guard stored > 0, let file else { return CapturedOutput(bytes: [], isTruncated: hasLost) }
    var output = capture.read(from: file) ?? CapturedOutput(bytes: [], isTruncated: true)
    if hasLost { output.isTruncated = true }
    return output
  }
}

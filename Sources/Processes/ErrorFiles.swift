import CLinux
import EventLoops
import Glibc

/// The standard errors of commands. Each command has a file of its own, `NAME.errors`, in a directory of this user.
///
/// A file never blocks its writer and never signals it, whether or not navd runs. Its end is read when the command ends, and once
/// more when no process can write into it any more: processes that the command has started may live on. Then it is removed.
///
/// Only the end of a file takes memory, however much is written: the rest is freed, as a hole in the file.
public final class ErrorFiles {
  /// The number of bytes at the end of a file that are read when the file is removed.
  public static let kept = 1 << 15
  /// The number of bytes in which the last line is looked for.
  private static let maxLine = 4096
  /// The memory that a file may take before all but its end is freed.
  private static let maxSize = 1 << 20
  /// The pause between two looks at files that are written without end.
  private static let pause = Duration.milliseconds(10)
  /// The suffix of the files' names.
  public static let suffix: ByteString = ".errors"

  private struct File {
    /// The command's unit, if the service manager runs it.
    let unit: ByteString?
    var isOfCommand: Bool
    /// The number of the file's watch.
    let watch: Int32
  }

  private let directory: ByteString
  private let loop: EventLoop
  private let onEnd: (_ name: ByteString, _ unit: ByteString?, _ text: [UInt8]) -> Void
  private let notifications: Int32
  private var watch: Watch?
  private var files: [ByteString: File] = [:]
  /// The names of files, by the numbers of their watches.
  private var watched: [Int32: ByteString] = [:]
  /// Runs until `notifications` is read.
  private var nextLook: Timer?

  /// - Parameters:
  ///   - directory: an absolute path.
  ///   - onEnd: receives the end of a file that has no writer any more, with its name and the unit of its command.
  public init(directory: ByteString, loop: EventLoop, onEnd: @escaping (ByteString, ByteString?, [UInt8]) -> Void) {
    self.directory = directory
    self.loop = loop
    self.onEnd = onEnd
    // Commands have this process's standard error if there is no inotify.
    notifications = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    if notifications >= 0 {
      watch = try? loop.watch(notifications, .read) { [weak self] _ in self?.lookSoon() }
    }
  }

  deinit {
    nextLook?.cancel()
    if let watch { watch.close() } else if notifications >= 0 { close(notifications) }
  }

  public var count: Int { files.count }

  /// Creates the file of a command.
  /// - Parameter unit: the command's unit, if the service manager runs it.
  /// - Returns: a descriptor that the caller closes once the command has it. The descriptor and the command's copies are locked:
  ///   the lock shows whether any process can write.
  public func create(_ name: ByteString, unit: ByteString? = nil) throws(SystemError) -> Int32 {
    let path = path(of: name)
    _ = path.withCString { unlink($0) }
    let file = try check("open \(path)") {
      path.withCString { open($0, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    }
    do throws(SystemError) {
      try check("flock \(path)") { flock(file, LOCK_SH | LOCK_NB) }
      try follow(name, unit: unit, isOfCommand: true)
    } catch {
      close(file)
      remove(name)
      throw error
    }
    return file
  }

  /// Follows the files of an earlier process.
  /// - Parameter running: the commands that may still run, with their units.
  public func resume(_ running: [ByteString: ByteString?]) {
    for name in names() where files[name] == nil {
      let command = running[name]
      try? follow(name, unit: command ?? nil, isOfCommand: command != nil)
      look(at: name)
    }
  }

  /// Notes that a command has ended.
  /// - Parameter isCause: whether a line can say why a command has failed.
  /// - Returns: its last such line that is not empty, without its end; empty if there is no such line, or no file.
  public func finish(_ name: ByteString, isCause: (ArraySlice<UInt8>) -> Bool = { _ in true }) -> [UInt8] {
    guard files[name] != nil else { return [] }
    let text = end(of: name, Self.maxLine)
    let last = text.split(whereSeparator: Self.isEnd).last(where: isCause) ?? []
    files[name]?.isOfCommand = false
    look(at: name)
    return Array(last)
  }

  /// Whether a byte ends a line.
  public static func isEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == 0
  }

  // MARK: The directory

  private func path(of name: ByteString) -> ByteString { directory + "/" + name + Self.suffix }

  private func names() -> [ByteString] {
    let end = Self.suffix.bytes
    return ((try? directoryEntries(directory.bytes)) ?? []).filter { $0.suffix(end.count).elementsEqual(end) }
      .map { ByteString(Array($0.dropLast(end.count))) }
  }

  private func follow(_ name: ByteString, unit: ByteString?, isOfCommand: Bool) throws(SystemError) {
    let path = path(of: name)
    let number = try check("inotify_add_watch \(path)") {
      path.withCString { inotify_add_watch(notifications, $0, UInt32(IN_MODIFY | IN_CLOSE_WRITE)) }
    }
    watched[number] = name
    files[name] = File(unit: unit, isOfCommand: isOfCommand, watch: number)
  }

  /// Looks at the written text after a pause, so that text written without end leaves time for
  /// everything else.
  private func lookSoon() {
    watch?.interest = []
    nextLook = loop.timer(after: Self.pause) { [weak self] in
      guard let self else { return }
      watch?.interest = .read
      for name in changes() { look(at: name) }
    }
  }

  /// Reads the notifications.
  /// - Returns: the files that may have changed.
  private func changes() -> Set<ByteString> {
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
      var changed: Set<ByteString> = []
      var offset = 0
      let count = read(notifications, buffer.baseAddress!, buffer.count)
      while offset + MemoryLayout<inotify_event>.size <= count {
        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        if let name = watched[event.wd] { changed.insert(name) }
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { changed.formUnion(files.keys) }
        offset += MemoryLayout<inotify_event>.size + Int(event.len)
      }
      return changed
    }
  }

  // MARK: A file

  /// Frees the memory of a large file, and removes a file into which no process can write any more.
  private func look(at name: ByteString) {
    guard let file = files[name] else { return }
    var (isDone, size, memory) = (false, off_t(0), off_t(0))
    withFile(name) { descriptor in
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return }
      (size, memory) = (status.st_size, status.st_blocks * 512)
      isDone = !file.isOfCommand && flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
    if isDone {
      let text = end(of: name, Self.kept)
      remove(name)
      onEnd(name, file.unit, text)
    } else if memory > Self.maxSize {
      withFile(name, O_WRONLY) { _ = fallocate($0, LINUX_FALLOC_FREE, 0, size - off_t(Self.kept)) }
    }
  }

  /// The last bytes of a file.
  private func end(of name: ByteString, _ room: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    withFile(name) { descriptor in
      let start = max(0, lseek(descriptor, 0, SEEK_END) - off_t(room))
      bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        count = max(0, pread(descriptor, buffer.baseAddress!, room, start))
      }
    }
    return bytes
  }

  /// - Parameter mode: reading, except to free memory, because the end of writing is itself an event of the file.
  private func withFile(_ name: ByteString, _ mode: Int32 = O_RDONLY, _ body: (Int32) -> Void) {
    let file = path(of: name).withCString { open($0, mode | O_CLOEXEC | O_NOFOLLOW) }
    guard file >= 0 else { return }
    defer { close(file) }
    body(file)
  }

  private func remove(_ name: ByteString) {
    if let file = files.removeValue(forKey: name) {
      watched[file.watch] = nil
      inotify_rm_watch(notifications, file.watch)
    }
    _ = path(of: name).withCString { unlink($0) }
  }
}

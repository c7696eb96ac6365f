import CLinux
import EventLoops
import Glibc

/// The standard errors of commands. Each command has a file of its own, `NAME.errors`, in a directory of this user.
///
/// A file never blocks its writer and never signals it, whether or not it is read, and keeps the text that is written while no
/// reader runs. The part that was read is freed at once, as a hole in the file. So a file takes only as much memory as its unread
/// part.
///
/// A file is followed until no process can write into it any more. Processes that the command has started may live on long after
/// the end of the command.
///
/// A turn of the loop reads a limited number of bytes and passes on a limited number of lines, however many commands write, and
/// however much. The files take turns, with a pause between the turns of the loop that read.
public final class ErrorFiles {
  /// The number of bytes kept of a file with more than ``maxWaiting`` unread bytes.
  private static let kept = 1 << 16
  /// The limit of bytes in a line; a longer line is passed on in parts.
  private static let maxLine = 4096
  /// The limit of unread bytes. If a command writes more than is read, the latest bytes are passed on.
  private static let maxWaiting = 1 << 20

  /// The limits of bytes read in a turn, from one file and from all files.
  private static let step = 1 << 14
  private static let maxBytesPerTurn = 1 << 16
  /// The number of lines in a turn after which no other file is read.
  private static let maxLinesPerTurn = 512
  /// The limit of files checked for unread bytes in a turn.
  private static let maxFilesPerTurn = 256
  /// The pause between two turns that read.
  private static let pause = Duration.milliseconds(10)
  /// The limit of lines of one command that are passed on in a second.
  public static let maxLinesPerSecond = 1000

  private struct File {
    /// The number of bytes that were read.
    var read: off_t = 0
    /// The bytes of the unfinished line.
    var part: [UInt8] = []
    /// The last line that was not empty.
    var last: [UInt8] = []
    /// Whether the file's command still runs.
    var isOfCommand = true
    /// The beginning of the second in which lines are counted.
    var second: EventLoop.Instant?
    /// The number of lines passed on in that second, and the number of lines left out since the last report.
    var lines = 0
    var leftOut = 0
  }

  private let directory: ByteString
  private let loop: EventLoop
  private let onLine: (_ name: ByteString, _ line: [UInt8]) -> Void
  private let onLeftOut: (_ name: ByteString, _ count: Int) -> Void
  private let onEnd: (_ name: ByteString) -> Void
  /// The suffix of the files' names.
  public static let suffix: ByteString = ".errors"
  private let notifications: Int32
  private var watch: Watch?
  private var files: [ByteString: File] = [:]
  /// The names of files, by the numbers of their watches.
  private var watched: [Int32: ByteString] = [:]
  /// The files that may have unread bytes, in the order in which they are checked.
  private var queue: [ByteString] = []
  private var queued: Set<ByteString> = []
  /// Runs until the next turn may read; `notifications` is not read before.
  private var nextTurn: Timer?
  /// Runs until left-out lines are reported.
  private var nextReport: Timer?

  /// - Parameters:
  ///   - directory: an absolute path.
  ///   - onLine: called with each line and the name of its file.
  ///   - onLeftOut: called with the number of lines left out beyond ``maxLinesPerSecond``.
  ///   - onEnd: called when a command has ended and no more lines of it will come, also if it has no file.
  public init(
    directory: ByteString, loop: EventLoop, onLine: @escaping (ByteString, [UInt8]) -> Void,
    onLeftOut: @escaping (ByteString, Int) -> Void, onEnd: @escaping (ByteString) -> Void
  ) {
    self.directory = directory
    self.loop = loop
    self.onLine = onLine
    self.onLeftOut = onLeftOut
    self.onEnd = onEnd
    // Without inotify, commands have this process's standard error.
    notifications = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    if notifications >= 0 {
      watch = try? loop.watch(notifications, .read) { [weak self] _ in self?.takeChanges() }
    }
  }

  deinit {
    nextTurn?.cancel()
    nextReport?.cancel()
    if let watch { watch.close() } else if notifications >= 0 { close(notifications) }
  }

  /// Creates the file of a command.
  /// - Returns: a descriptor that the caller closes once the command has it. The descriptor and the command's copies are locked:
  ///   the lock shows whether any process can write.
  public func create(_ name: ByteString) throws(SystemError) -> Int32 {
    let path = path(of: name)
    _ = path.withCString { unlink($0) }
    let file = try check("open \(path)") {
      path.withCString { open($0, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    }
    do throws(SystemError) {
      try check("flock \(path)") { flock(file, LOCK_SH | LOCK_NB) }
      try follow(name)
    } catch {
      close(file)
      remove(name)
      throw error
    }
    files[name] = File()
    return file
  }

  /// Follows the files of an earlier process.
  /// - Parameter isOfCommand: whether the command of a file may still run.
  public func resume(_ isOfCommand: (ByteString) -> Bool) {
    for name in names() where files[name] == nil && (try? follow(name)) != nil {
      files[name] = File(isOfCommand: isOfCommand(name))
      // The part that was read is a hole.
      withFile(name) { file in
        let data = lseek(file, 0, LINUX_SEEK_DATA)
        files[name]!.read = data >= 0 ? data : lseek(file, 0, SEEK_END)
      }
      enqueue(name)
    }
    if !queue.isEmpty, nextTurn == nil { takeTurn() }
  }

  /// Notes that a command has ended. Its unread lines are passed on later.
  /// - Returns: the last non-empty line, without its end; empty if there is no such line, or no file.
  public func finish(_ name: ByteString) -> [UInt8] {
    guard files[name] != nil else {
      onEnd(name)
      return []
    }
    let last = lastLine(of: name)
    files[name]!.isOfCommand = false
    removeIfDone(name)
    if files[name] != nil {
      enqueue(name)
      pauseReading()
    }
    return last
  }

  // MARK: The directory

  private func path(of name: ByteString) -> ByteString { directory + "/" + name + Self.suffix }

  private func names() -> [ByteString] {
    let end = Self.suffix.bytes
    return ((try? directoryEntries(directory.bytes)) ?? []).filter { $0.suffix(end.count).elementsEqual(end) }
      .map { ByteString(Array($0.dropLast(end.count))) }
  }

  private func follow(_ name: ByteString) throws(SystemError) {
    let path = path(of: name)
    let number = try check("inotify_add_watch \(path)") {
      path.withCString { inotify_add_watch(notifications, $0, UInt32(IN_MODIFY | IN_CLOSE_WRITE)) }
    }
    watched[number] = name
  }

  private func takeChanges() {
    var hasMissed = false
    withUnsafeTemporaryAllocation(byteCount: Self.kept, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
      let count = read(notifications, buffer.baseAddress!, buffer.count)
      var offset = 0
      let size = MemoryLayout<inotify_event>.size
      while offset + size <= count {
        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        if let name = watched[event.wd] { enqueue(name) }
        if event.mask & UInt32(IN_IGNORED) != 0 { watched[event.wd] = nil }
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { hasMissed = true }
        offset += size + Int(event.len)
      }
    }
    if hasMissed {
      // The ends of watches may be missed, too.
      watched = watched.filter { files[$0.value] != nil }
      for name in files.keys { enqueue(name) }
    }
    takeTurn()
  }

  // MARK: Turns

  private func enqueue(_ name: ByteString) { if queued.insert(name).inserted { queue.append(name) } }

  /// Checks files in their order, and reads from them as much as a turn has room for.
  private func takeTurn() {
    let round = queue.prefix(Self.maxFilesPerTurn)
    queue.removeFirst(round.count)
    queued.subtract(round)
    let share = max(Self.step, Self.maxBytesPerTurn / max(1, round.count))
    var (bytes, lines) = (Self.maxBytesPerTurn, Self.maxLinesPerTurn)
    var (postponed, unread): ([ByteString], [ByteString]) = ([], [])
    for name in round {
      // Each file is freed, so that many files written without end do not fill the memory.
      let room = lines > 0 ? min(bytes, share) : 0
      let taken = take(name, upTo: room)
      bytes -= taken.bytes
      lines -= taken.lines
      if taken.isAll { removeIfDone(name) } else if room == 0 { postponed.append(name) } else { unread.append(name) }
    }
    queue = postponed + queue + unread
    queued.formUnion(postponed + unread)
    pauseReading()
  }

  /// Stops reading for a while, so that text written without end leaves time for everything else.
  private func pauseReading() {
    guard nextTurn?.isPending != true else { return }
    watch?.interest = []
    nextTurn = loop.timer(after: Self.pause) { [weak self] in
      guard let self else { return }
      nextTurn = nil
      watch?.interest = .read
      if !queue.isEmpty { takeTurn() }
    }
  }

  // MARK: A file

  /// - Parameter mode: reading, except to free memory, because the end of writing is itself an event of the file.
  private func withFile(_ name: ByteString, _ mode: Int32 = O_RDONLY, _ body: (Int32) -> Void) {
    let file = path(of: name).withCString { open($0, mode | O_CLOEXEC | O_NOFOLLOW) }
    guard file >= 0 else { return }
    defer { close(file) }
    body(file)
  }

  private static func bytes(of file: Int32, from start: off_t, upTo room: Int) -> [UInt8] {
    guard room > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      count = max(0, pread(file, buffer.baseAddress!, room, start))
    }
  }

  /// Leaves out all but the latest unread bytes, if there are too many.
  /// - Returns: the end of the file.
  private func skip(_ name: ByteString, _ file: Int32) -> off_t {
    let end = lseek(file, 0, SEEK_END)
    guard var state = files[name] else { return end }
    // A program may have emptied the file (“>/dev/stderr”).
    if end < state.read { state.read = 0 }
    if end - state.read > off_t(Self.maxWaiting) {
      let before = state.read
      state.part = []
      state.read = end - off_t(Self.kept)
      free(name, before..<state.read)
    }
    files[name] = state
    return end
  }

  /// Frees the memory of bytes that were read.
  private func free(_ name: ByteString, _ bytes: Range<off_t>) {
    // Whole pages are freed. The rest of a page becomes zero, which is no line if another process reads it again. Freeing is a
    // change of the file that leaves nothing to read.
    let start = bytes.lowerBound & ~off_t(Self.kept - 1)
    withFile(name, O_WRONLY) { _ = fallocate($0, LINUX_FALLOC_FREE, start, bytes.upperBound - start) }
  }

  /// Reads from a file, and frees the memory of the bytes that were read.
  /// - Parameter room: the limit of bytes to read.
  /// - Returns: the numbers of bytes read and of lines passed on, and whether nothing is left.
  @discardableResult
  private func take(_ name: ByteString, upTo room: Int) -> (bytes: Int, lines: Int, isAll: Bool) {
    var bytes: [UInt8] = []
    var start: off_t = 0
    var isAll = true
    withFile(name) { file in
      let end = skip(name, file)
      start = files[name]?.read ?? end
      bytes = Self.bytes(of: file, from: start, upTo: room)
      isAll = start + off_t(bytes.count) >= end
    }
    guard !bytes.isEmpty else { return (0, 0, isAll) }
    files[name]?.read = start + off_t(bytes.count)
    free(name, start..<start + off_t(bytes.count))
    return (bytes.count, split(bytes, of: name), isAll)
  }

  private static func isEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == 0
  }

  /// - Returns: the number of lines passed on.
  private func split(_ bytes: [UInt8], of name: ByteString) -> Int {
    guard var state = files[name] else { return 0 }
    var lines: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let most = rest.prefix(Self.maxLine - state.part.count)
      let end = most.firstIndex(where: Self.isEnd)
      state.part += rest[..<(end ?? most.endIndex)]
      rest = rest[(end.map { $0 + 1 } ?? most.endIndex)...]
      guard end != nil || state.part.count == Self.maxLine, !state.part.isEmpty else { continue }
      if isAllowed(&state) { lines.append(state.part) }
      state.last = state.part
      state.part = []
    }
    files[name] = state
    for line in lines { onLine(name, line) }
    return lines.count
  }

  /// Counts a line.
  /// - Returns: whether the line may be passed on.
  private func isAllowed(_ state: inout File) -> Bool {
    let now = loop.now
    if state.second.map({ $0 + .seconds(1) <= now }) ?? true { (state.second, state.lines) = (now, 0) }
    guard state.lines >= Self.maxLinesPerSecond else {
      state.lines += 1
      return true
    }
    state.leftOut += 1
    if nextReport?.isPending != true {
      nextReport = loop.timer(after: .seconds(1)) { [weak self] in
        guard let self else { return }
        for name in files.keys { reportLeftOut(name) }
      }
    }
    return false
  }

  private func reportLeftOut(_ name: ByteString) {
    guard let count = files[name]?.leftOut, count > 0 else { return }
    files[name]?.leftOut = 0
    onLeftOut(name, count)
  }

  /// The last non-empty line, read or unread, as it would be passed on.
  /// - Parameter room: the limit of bytes that are searched at first. Most lines are short, however much waits.
  private func lastLine(of name: ByteString, within room: Int = ErrorFiles.maxLine) -> [UInt8] {
    var bytes: [UInt8] = []
    var isAll = true
    withFile(name) { file in
      let end = skip(name, file)
      guard let start = files[name]?.read else { return }
      isAll = end - start <= off_t(room)
      bytes = Self.bytes(of: file, from: max(start, end - off_t(room)), upTo: room)
    }
    guard let state = files[name] else { return [] }
    if isAll { bytes = state.part + bytes }
    let last = bytes.lastIndex { !Self.isEnd($0) }
    let before = last.flatMap { bytes[..<$0].lastIndex(where: Self.isEnd) }
    guard isAll || before != nil else { return lastLine(of: name, within: Self.maxWaiting) }
    guard let last else { return state.last }
    let start = before.map { $0 + 1 } ?? 0
    // The last part of a long line, as it would be passed on.
    return Array(bytes[(start + (last - start) / Self.maxLine * Self.maxLine)...last])
  }

  /// Removes a file if no process can write into it any more.
  private func removeIfDone(_ name: ByteString) {
    guard let state = files[name], !state.isOfCommand else { return }
    var isDone = true
    withFile(name) { file in isDone = flock(file, LOCK_EX | LOCK_NB) == 0 && lseek(file, 0, SEEK_END) <= state.read }
    guard isDone else { return }
    if !state.part.isEmpty { onLine(name, state.part) }
    reportLeftOut(name)
    remove(name)
    onEnd(name)
  }

  private func remove(_ name: ByteString) {
    files[name] = nil
    _ = path(of: name).withCString { unlink($0) }
  }
}

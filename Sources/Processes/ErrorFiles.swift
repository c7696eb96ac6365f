import CLinux
import EventLoops
import Glibc

/// The standard errors of commands: each is a file of its own, `NAME.errors` in a directory of this user.
///
/// A file never blocks its writer and never signals it, whether or not anybody reads, and keeps what is written while no reader
/// runs. What was read is freed at once: the file becomes sparse. So a file takes as much memory as was not read yet.
///
/// A file is followed until nobody can write into it any more, which may be long after the end of the command: what it has
/// started may live on.
///
/// However much commands write, and however many do, a turn of the loop reads a limited number of bytes and hands on a limited
/// number of lines, the files take turns, and there is a pause between such turns.
public final class ErrorFiles {
  /// Bytes that are kept of a file of which more than ``maxWaiting`` were not read.
  private static let kept = 1 << 16
  /// Bytes of a line; a longer one is handed on in parts.
  private static let maxLine = 4096
  /// Bytes that may wait. Of a command that writes more than is read, the latest are handed on.
  private static let maxWaiting = 1 << 20

  /// Bytes that are read of one file in a turn, and of all together.
  private static let step = 1 << 14
  private static let maxBytesPerTurn = 1 << 16
  /// Lines of all files together after which no other file is read in a turn.
  private static let maxLinesPerTurn = 512
  /// Files of which a turn looks how much there is to read.
  private static let maxFilesPerTurn = 256
  /// Between two turns that read.
  private static let pause = Duration.milliseconds(10)
  /// Lines of one command that are handed on in a second.
  public static let maxLinesPerSecond = 1000

  private struct File {
    /// The bytes that were read.
    var read: off_t = 0
    /// The line that has not ended yet.
    var part: [UInt8] = []
    /// The last line that was not empty.
    var last: [UInt8] = []
    /// Whether its command still runs.
    var isOfCommand = true
    /// When the second began in which lines are counted.
    var second: EventLoop.Instant?
    /// Lines that were handed on in that second, and lines that were left out since the last report of that.
    var lines = 0
    var leftOut = 0
  }

  /// Receives what is written.
  public struct Receiver {
    let line: (_ name: ByteString, _ line: [UInt8]) -> Void
    let leftOut: (_ name: ByteString, _ count: Int) -> Void

    /// - Parameters:
    ///   - line: called with each line and the name of its file.
    ///   - leftOut: called with the number of lines that were left out, since they were more than ``maxLinesPerSecond``.
    public init(line: @escaping (ByteString, [UInt8]) -> Void, leftOut: @escaping (ByteString, Int) -> Void) {
      (self.line, self.leftOut) = (line, leftOut)
    }
  }

  private let directory: ByteString
  private let loop: EventLoop
  private let receiver: Receiver
  /// The end of the names of the files.
  public static let suffix: ByteString = ".errors"
  private let notifications: Int32
  private var watch: Watch?
  private var files: [ByteString: File] = [:]
  /// The names of files by the numbers of their watches.
  private var watched: [Int32: ByteString] = [:]
  /// The files of which there may be something to read, in the order in which they are looked at.
  private var queue: [ByteString] = []
  private var queued: Set<ByteString> = []
  /// Runs until the next turn may read; nothing is taken from `notifications` before.
  private var nextTurn: Timer?
  /// Runs until lines that were left out are reported.
  private var nextReport: Timer?

  /// - Parameter directory: an absolute path.
  public init(directory: ByteString, loop: EventLoop, _ receiver: Receiver) {
    self.directory = directory
    self.loop = loop
    self.receiver = receiver
    // If there is none, commands have this process's standard error.
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
  /// - Returns: a descriptor that the caller closes once the command has it. It is locked, and so is what the command has: that
  ///   shows whether anybody can write.
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

  /// Takes in that a command has ended. What it has written and was not read yet is handed on later.
  /// - Returns: its last line that was not empty, without its end; empty if there was none, or no file.
  public func finish(_ name: ByteString) -> [UInt8] {
    guard files[name] != nil else { return [] }
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
    guard let opened = opendir(directory.description) else { return [] }
    defer { closedir(opened) }
    var names: [ByteString] = []
    while let entry = readdir(opened) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { ByteString(Array($0.prefix { $0 != 0 })) }
      let end = Self.suffix.bytes
      if name.bytes.suffix(end.count).elementsEqual(end) {
        names.append(ByteString(Array(name.bytes.dropLast(end.count))))
      }
    }
    return names
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
    if hasMissed { for name in files.keys { enqueue(name) } }
    takeTurn()
  }

  // MARK: Turns

  private func enqueue(_ name: ByteString) { if queued.insert(name).inserted { queue.append(name) } }

  /// Looks at files in their order, and reads of them what a turn has room for.
  private func takeTurn() {
    let round = queue.prefix(Self.maxFilesPerTurn)
    queue.removeFirst(round.count)
    queued.subtract(round)
    let share = max(Self.step, Self.maxBytesPerTurn / max(1, round.count))
    var (bytes, lines) = (Self.maxBytesPerTurn, Self.maxLinesPerTurn)
    var (postponed, unread): ([ByteString], [ByteString]) = ([], [])
    for name in round {
      // Memory is freed of each of them, so that many that write without end do not fill it.
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

  /// Has nothing read for a while, so that reading what is written without end leaves time for everything else.
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

  /// - Parameter mode: reading, unless something is to be freed: the end of writing is an event of the file.
  private func withFile(_ name: ByteString, _ mode: Int32 = O_RDONLY, _ body: (Int32) -> Void) {
    let file = path(of: name).withCString { open($0, mode | O_CLOEXEC | O_NOFOLLOW) }
    guard file >= 0 else { return }
    defer { close(file) }
    body(file)
  }

  /// Leaves out all but the latest of what waits, if that is too much.
  /// - Returns: where the file ends.
  private func skip(_ name: ByteString, _ file: Int32) -> off_t {
    let end = lseek(file, 0, SEEK_END)
    guard var state = files[name] else { return end }
    // A program may have emptied it (“>/dev/stderr”).
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

  /// Frees what was read.
  private func free(_ name: ByteString, _ bytes: Range<off_t>) {
    // Pages are freed, and the part of a page is zero, which is no line either, should another process read it again. It is a
    // change of the file, after which there is nothing to read.
    let start = bytes.lowerBound & ~off_t(Self.kept - 1)
    withFile(name, O_WRONLY) { _ = fallocate($0, LINUX_FALLOC_FREE, start, bytes.upperBound - start) }
  }

  /// Reads of a file, and frees what was read.
  /// - Parameter room: the bytes that may be read.
  /// - Returns: how much was read and handed on, and whether nothing is left.
  @discardableResult
  private func take(_ name: ByteString, upTo room: Int) -> (bytes: Int, lines: Int, isAll: Bool) {
    var bytes: [UInt8] = []
    var start: off_t = 0
    var isAll = true
    withFile(name) { file in
      let end = skip(name, file)
      start = files[name]?.read ?? end
      bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        count = room == 0 ? 0 : max(0, pread(file, buffer.baseAddress!, room, start))
      }
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

  /// - Returns: how many lines were handed on.
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
    for line in lines { receiver.line(name, line) }
    return lines.count
  }

  /// Counts a line.
  /// - Returns: whether it is handed on.
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
    receiver.leftOut(name, count)
  }

  /// The last line that is not empty, of what was read and of what waits, as it would be handed on.
  private func lastLine(of name: ByteString) -> [UInt8] {
    var line: [UInt8]?
    withFile(name) { file in
      let end = skip(name, file)
      guard let state = files[name] else { return }
      var start = end
      // From the end, a little at first, so that most ends cost little; in all no more than may wait.
      var tail: [UInt8] = []
      var size = off_t(Self.maxLine)
      while start > state.read {
        let length = Int(min(size, start - state.read))
        start -= off_t(length)
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
          count = max(0, pread(file, buffer.baseAddress!, length, start))
        }
        tail = bytes + tail
        size *= 4
        guard let last = tail.lastIndex(where: { !Self.isEnd($0) }) else {
          tail = []
          continue
        }
        tail = Array(tail[...last])
        if let before = tail.lastIndex(where: Self.isEnd) {
          line = Array(tail[(before + 1)...])
          return
        }
      }
      if !tail.isEmpty { line = state.part + tail }
    }
    // The part of a long one that would be handed on last.
    if let line { return Array(line[((line.count - 1) / Self.maxLine * Self.maxLine)...]) }
    return files[name].map { $0.part.isEmpty ? $0.last : $0.part } ?? []
  }

  /// Removes a file into which nobody can write any more.
  private func removeIfDone(_ name: ByteString) {
    guard let state = files[name], !state.isOfCommand else { return }
    var isDone = true
    withFile(name) { file in isDone = flock(file, LOCK_EX | LOCK_NB) == 0 && lseek(file, 0, SEEK_END) <= state.read }
    guard isDone else { return }
    if !state.part.isEmpty { receiver.line(name, state.part) }
    reportLeftOut(name)
    remove(name)
  }

  private func remove(_ name: ByteString) {
    files[name] = nil
    _ = path(of: name).withCString { unlink($0) }
  }
}

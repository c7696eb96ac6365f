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
public final class ErrorFiles {
  /// Bytes that are read at once, and that are kept of what was read.
  private static let step = 1 << 16
  /// Bytes of a line; a longer one is handed on in parts.
  private static let maxLine = 4096
  /// Bytes that may wait. Of a command that writes more than is read, the latest are handed on.
  private static let maxWaiting = 1 << 20

  private struct File {
    /// The bytes that were read.
    var read: off_t = 0
    /// The line that has not ended yet.
    var part: [UInt8] = []
    /// The last line that was not empty.
    var last: [UInt8] = []
    /// Whether its command still runs.
    var isOfCommand = true
  }

  private let directory: ByteString
  private let loop: EventLoop
  private let receive: (_ name: ByteString, _ line: [UInt8]) -> Void
  /// The end of the names of the files.
  public static let suffix: ByteString = ".errors"
  private let notifications: Int32
  private var watch: Watch?
  private var files: [ByteString: File] = [:]
  /// The names of files by the numbers of their watches.
  private var watched: [Int32: ByteString] = [:]

  /// - Parameters:
  ///   - directory: an absolute path.
  ///   - receive: called with each line and the name of its file.
  public init(directory: ByteString, loop: EventLoop, receive: @escaping (ByteString, [UInt8]) -> Void) {
    self.directory = directory
    self.loop = loop
    self.receive = receive
    // If there is none, commands have this process's standard error.
    notifications = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    if notifications >= 0 {
      watch = try? loop.watch(notifications, .read) { [weak self] _ in self?.takeChanges() }
    }
  }

  deinit { if let watch { watch.close() } else if notifications >= 0 { close(notifications) } }

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
      take(name)
      removeIfDone(name)
    }
  }

  /// Takes in that a command has ended.
  /// - Returns: its last line that was not empty, without its end; empty if there was none, or no file.
  public func finish(_ name: ByteString) -> [UInt8] {
    guard files[name] != nil else { return [] }
    // Bounded by what may wait, since others may still write.
    for _ in 0...(Self.maxWaiting / Self.step) where !take(name) { break }
    guard let file = files[name] else { return [] }
    let last = file.part.isEmpty ? file.last : file.part
    files[name]!.isOfCommand = false
    removeIfDone(name)
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
    var changed: Set<ByteString> = []
    var hasMissed = false
    withUnsafeTemporaryAllocation(byteCount: Self.step, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
      let count = read(notifications, buffer.baseAddress!, buffer.count)
      var offset = 0
      let size = MemoryLayout<inotify_event>.size
      while offset + size <= count {
        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        if let name = watched[event.wd] { changed.insert(name) }
        if event.mask & UInt32(IN_IGNORED) != 0 { watched[event.wd] = nil }
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { hasMissed = true }
        offset += size + Int(event.len)
      }
    }
    for name in hasMissed ? Set(files.keys) : changed {
      take(name)
      removeIfDone(name)
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

  /// Reads one step, and frees it in the file.
  /// - Returns: whether there was any. The rest follows in later turns.
  @discardableResult
  private func take(_ name: ByteString) -> Bool {
    guard var state = files[name] else { return false }
    let before = state.read
    var bytes: [UInt8] = []
    withFile(name) { file in
      let end = lseek(file, 0, SEEK_END)
      // A program may have emptied it (“>/dev/stderr”).
      if end < state.read { state.read = 0 }
      if end - state.read > off_t(Self.maxWaiting) {
        state.part = []
        state.read = end - off_t(Self.step)
      }
      bytes = [UInt8](unsafeUninitializedCapacity: Self.step) { buffer, count in
        count = max(0, pread(file, buffer.baseAddress!, Self.step, state.read))
      }
      state.read += off_t(bytes.count)
    }
    files[name] = state
    guard !bytes.isEmpty else { return false }
    // Pages are freed, and the part of a page is zero, which is no line either, should another process read it again. It is a
    // change of the file, after which there is nothing to read.
    let start = min(before, state.read) & ~off_t(Self.step - 1)
    withFile(name, O_WRONLY) { _ = fallocate($0, LINUX_FALLOC_FREE, start, state.read - start) }
    split(bytes, of: name)
    if bytes.count == Self.step { loop.soon { [weak self] in self?.take(name) } }
    return true
  }

  private func split(_ bytes: [UInt8], of name: ByteString) {
    func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == 0 }
    var rest = bytes[...]
    while !rest.isEmpty, var state = files[name] {
      let room = Self.maxLine - state.part.count
      let end = rest.prefix(room).firstIndex(where: isEnd)
      state.part += rest[..<(end ?? rest.index(rest.startIndex, offsetBy: min(room, rest.count)))]
      rest = rest[(end.map { $0 + 1 } ?? rest.index(rest.startIndex, offsetBy: min(room, rest.count)))...]
      if end != nil || state.part.count == Self.maxLine {
        let line = state.part
        state.part = []
        if !line.isEmpty { state.last = line }
        files[name] = state
        if !line.isEmpty { receive(name, line) }
      } else {
        files[name] = state
      }
    }
  }

  /// Removes a file into which nobody can write any more.
  private func removeIfDone(_ name: ByteString) {
    guard let state = files[name], !state.isOfCommand else { return }
    var isDone = true
    withFile(name) { file in isDone = flock(file, LOCK_EX | LOCK_NB) == 0 && lseek(file, 0, SEEK_END) <= state.read }
    guard isDone else { return }
    if !state.part.isEmpty { receive(name, state.part) }
    remove(name)
  }

  private func remove(_ name: ByteString) {
    files[name] = nil
    _ = path(of: name).withCString { unlink($0) }
  }
}

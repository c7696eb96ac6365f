import CLinux
import EventLoops
import Glibc
import SessionFiles
import TextFormats

/// Notices changes of the configuration files (`inotify(7)`), so that a file counts as soon as it is written.
///
/// A change *settles* when no other has followed for a while. Until then an editor may be about to write a missing or empty file.
final class ConfigurationWatch {
  /// The time without a change that settles the last one: editors write a file in several steps.
  private static let settling = Duration.milliseconds(200)
  /// The longest time to settle: some programs write without a pause.
  private static let longestSettling = Duration.seconds(2)
  private static let events = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

  /// The relevant names in a directory.
  private struct Interest {
    var names: Set<[UInt8]> = []
    /// Whether every destination file is relevant.
    var includesDestinations = false

    func includes(_ name: [UInt8]) -> Bool {
      // An event without a name is about the directory itself.
      name.isEmpty || names.contains(name) || includesDestinations && Configuration.isDestinationFile(name)
    }
  }

  private let loop: EventLoop
  private let descriptor: Int32
  /// The memory for events, kept because most requests look for events.
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: 1 << 16, alignment: MemoryLayout<inotify_event>.alignment)
  private let onChange: (_ isSettled: Bool) -> Void
  private var watch: Watch?
  private var interests: [Int32: Interest] = [:]
  private var settled: Timer?
  /// The latest time to settle; nil if all changes have settled.
  private var latest: EventLoop.Instant?
  /// Whether files have changed since the last report.
  private var hasChanged = false

  /// - Parameter onChange: called when changes have settled, and earlier by ``reportPending()``.
  /// - Throws: `SystemError`, such as `EMFILE` if the user has no instance of inotify left.
  init(_ loop: EventLoop, _ onChange: @escaping (_ isSettled: Bool) -> Void) throws(SystemError) {
    self.loop = loop
    self.onChange = onChange
    descriptor = try check("inotify_init") { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) }
    watch = try loop.watch(descriptor, .read) { [unowned self] _ in _ = receive() }
  }

  deinit {
    settled?.cancel()
    watch?.cancel()
    close(descriptor)
    buffer.deallocate()
  }

  /// Watches the files of a configuration from now on. Call it before reading them, so that no change is missed.
  /// - Throws: `SystemError` if a directory cannot be watched, such as `ENOSPC`; the other directories are watched.
  func follow(_ configuration: Configuration) throws(SystemError) {
    var wanted: [[UInt8]: Interest] = [:]
    for directory in configuration.directories {
      wanted[directory, default: Interest()].includesDestinations = true
      Self.want(directory, &wanted)
      Self.wantTarget(of: directory, &wanted)
      for name in (try? SafeFiles.names(in: directory)) ?? [] where Configuration.isDestinationFile(name) {
        let file = directory + [UInt8(ascii: "/")] + name
        if Self.target(of: file) != nil { Self.wantTarget(of: file, &wanted) }
      }
    }
    for file in configuration.settingsFiles + configuration.desktopFiles
      + [configuration.startupPath].compactMap(\.self)
    {
      Self.want(file, &wanted)
      Self.wantTarget(of: file, &wanted)
    }
    try watch(wanted)
  }

  /// Wants the name of a path in its directory; if the directory is missing, the next name in the
  /// nearest directory above that exists.
  private static func want(_ path: [UInt8], _ wanted: inout [[UInt8]: Interest]) {
    var path = path[...]
    repeat {
      guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return }
      let name = Array(path[path.index(after: slash)...])
      path = path[..<slash]
      let directory = path.isEmpty ? [UInt8(ascii: "/")] : Array(path)
      // The directories above a wanted directory are wanted already, as far as needed.
      let isKnown = wanted[directory] != nil
      wanted[directory, default: Interest()].names.insert(name)
      if isKnown { return }
    } while !path.isEmpty && SafeFiles.withPath(Array(path), { access($0, F_OK) }) != 0
  }

  /// The number of links that the kernel follows in one path.
  private static let maxLinks = 40

  /// Wants every link of a path, as dotfile managers make them, and the last target, whether it exists or not.
  private static func wantTarget(of path: [UInt8], _ wanted: inout [[UInt8]: Interest]) {
    let slash = UInt8(ascii: "/")
    // The path without links.
    var resolved: [UInt8] = []
    var rest = Array(path.split(separator: slash).reversed())
    var links = 0
    while let name = rest.popLast() {
      if name.elementsEqual(".".utf8) { continue }
      if name.elementsEqual("..".utf8) {
        resolved.removeSubrange((resolved.lastIndex(of: slash) ?? 0)...)
        continue
      }
      guard let target = target(of: resolved + [slash] + name) else {
        resolved += [slash] + name
        continue
      }
      links += 1
      if links > maxLinks { return }
      want(resolved + [slash] + name, &wanted)
      if target.first == slash { resolved = [] }
      rest += target.split(separator: slash).reversed()
    }
    want(resolved, &wanted)
  }

  /// The target of a link; nil if the path is no link.
  private static func target(of path: [UInt8]) -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = max(0, SafeFiles.withPath(path) { readlink($0, buffer.baseAddress!, buffer.count) })
    }
    return bytes.isEmpty ? nil : bytes
  }

  private func watch(_ wanted: [[UInt8]: Interest]) throws(SystemError) {
    var failure: SystemError?
    var followed: [Int32: Interest] = [:]
    for (path, interest) in wanted {
      let number = SafeFiles.withPath(path) {
        inotify_add_watch(descriptor, $0, Self.events | UInt32(IN_ONLYDIR))
      }
      if number >= 0 {
        // Two paths may lead to one directory.
        followed[number, default: Interest()].names.formUnion(interest.names)
        if interest.includesDestinations { followed[number]!.includesDestinations = true }
      } else if errno != ENOENT, errno != ENOTDIR, failure == nil {
        failure = SystemError("watch \(displayed(path))")
      }
    }
    for number in interests.keys where followed[number] == nil { inotify_rm_watch(descriptor, number) }
    interests = followed
    if let failure { throw failure }
  }

  /// Reports now all changes made before this call, including those that the kernel has reported and the loop has not read. They
  /// are reported once more when they have settled.
  /// - Returns: whether there were any.
  @discardableResult
  func reportPending() -> Bool {
    // The reading is unconditional, because the readiness of the descriptor may be older than a
    // request of the same turn. It costs one system call if there is no change.
    var reads = 0
    while reads < Self.maxReads, !receive() { reads += 1 }
    guard hasChanged else { return false }
    hasChanged = false
    onChange(false)
    return true
  }

  /// Cap of reads in a row: the kernel's queue needs fewer, and a program that writes all the time
  /// does not keep navd reading.
  private static let maxReads = 100

  /// - Returns: whether the queue was empty.
  private func receive() -> Bool {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    var isOfInterest = false
    var offset = 0
    let size = MemoryLayout<inotify_event>.size
    while offset + size <= count {
      let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
      let name = buffer[(offset + size)..<(offset + size + Int(event.len))].prefix { $0 != 0 }
      offset += size + Int(event.len)
      // Events were lost.
      if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isOfInterest = true }
      // The removal of a watch is an event, too.
      guard event.mask & UInt32(IN_IGNORED) == 0, let interest = interests[event.wd] else { continue }
      if interest.includes(Array(name)) { isOfInterest = true }
    }
    if isOfInterest { noteChange() }
    return count <= 0
  }

  private func noteChange() {
    hasChanged = true
    let latest = self.latest ?? loop.now + Self.longestSettling
    self.latest = latest
    settled?.cancel()
    settled = loop.timer(at: min(loop.now + Self.settling, latest)) { [unowned self] in
      self.latest = nil
      hasChanged = false
      onChange(true)
    }
  }
}

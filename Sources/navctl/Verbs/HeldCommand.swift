import CLinux
import CoordinatorAPI
import EventLoops
import Glibc
import TextFormats

/// A command that runs in the foreground, with all its descendants.
final class HeldCommand {
  /// Earlier children, such as the ssh of “-H”, which are no part of the tree.
  private let others = children()
  private let loop: EventLoop
  private var forwarding: SignalWatch?
  /// The first process of the command, until it has ended.
  private var first: pid_t?
  private var status: Int32 = 0

  private init(_ loop: EventLoop) { self.loop = loop }

  /// Runs a command until the last process of its tree has ended: a locker that moves itself into
  /// the background keeps the screen locked.
  ///
  /// While the first process runs, it gets the signals. After its end, signals end navctl and with
  /// it the hold; the remaining processes live on.
  /// - Parameter loop: the loop to run meanwhile; nil for a new one.
  /// - Returns: the exit status of the first process, or 128 and the number of the signal that has ended it.
  static func run(
    _ command: [[UInt8]], _ operation: String, _ loop: EventLoop?
  ) throws(Failure) -> Int32 {
    do throws(SystemError) {
      let current = if let loop { loop } else { try EventLoop() }
      let held = HeldCommand(current)
      try held.start(command)
      held.reap()
      if !held.hasEnded { held.loop.run() }
      return held.status
    } catch {
      throw Failure(operation, error.description, status: .ownFailure)
    }
  }

  private func start(_ command: [[UInt8]]) throws(SystemError) {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    // A process of the tree whose parent has ended becomes a child of this one.
    linux_set_child_subreaper(1)
    forwarding = try loop.onSignal([SIGTERM, SIGHUP]) { [self] number in
      if let first { kill(first, number) }
    }
    try loop.onSignal([SIGCHLD]) { [self] _ in
      reap()
      if hasEnded { loop.stop() }
    }
    first = try Self.spawn(command, mask)
    // A terminal sends these signals to the command, too, and the command decides.
    for number in [SIGINT, SIGQUIT] { signal(number, SIG_IGN) }
  }

  private static func spawn(_ command: [[UInt8]], _ mask: sigset_t) throws(SystemError) -> pid_t {
    var words: [UnsafeMutablePointer<CChar>?] = command.map { bytes in
      (bytes + [0]).withUnsafeBytes { strdup($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }
    words.append(nil)
    defer { words.forEach { free($0) } }
    // The signals that this process reads from the loop are blocked here, and not in the command.
    var (attributes, mask) = (posix_spawnattr_t(), mask)
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let error = posix_spawnp(&process, words[0]!, nil, &attributes, &words, linux_environment())
    guard error == 0 else {
      let program = quoted(String(decoding: command[0], as: UTF8.self))
      throw SystemError(code: error, operation: "could not start \(program)")
    }
    return process
  }

  private var hasEnded: Bool { first == nil && Self.children().subtracting(others).isEmpty }

  /// Takes the statuses of the children that have ended.
  private func reap() {
    var code: Int32 = 0
    while case let ended = waitpid(-1, &code, WNOHANG), ended > 0 {
      guard ended == first else { continue }
      first = nil
      forwarding?.cancel()
      for number in [SIGINT, SIGQUIT] { signal(number, SIG_DFL) }
      status = code & 0x7f == 0 ? code >> 8 & 0xff : 128 + code & 0x7f
    }
  }

  /// The children of this process.
  private static func children() -> Set<pid_t> {
    let list = (try? contents(ofFile: "/proc/thread-self/children")) ?? []
    return Set(String(decoding: list, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) })
  }
}

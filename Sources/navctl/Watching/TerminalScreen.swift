// Why this file exists: what takes a whole terminal for itself has to give it back as it was, however it ends.

import CoordinatorAPI
import EventLoops
import Glibc

/// The terminal that navctl writes to, as one screen.
final class TerminalScreen {
  /// There may be more or less room now, or something else was on the screen meanwhile.
  var onChange: (() -> Void)?
  /// navctl is to end: by a signal, or because its user has seen enough.
  var onEnd: (() -> Void)?

  private let loop: EventLoop
  private var signals: SignalWatch?
  private var keys: Watch?
  /// As it was before; nil while it is so, or where nobody types.
  private var settings: termios?
  private var isTaken = false
  /// What navctl is ended by.
  private var endedBy: Int32?

  init(_ loop: EventLoop) { self.loop = loop }

  /// Whether there is a terminal that can be taken: one that can do more than write lines, and is ours at the moment.
  static var isThere: Bool { StandardOutput.isCapable && isForeground(STDOUT_FILENO) }

  /// A terminal that belongs to no session is whose process writes to it.
  private static func isForeground(_ terminal: Int32) -> Bool {
    let group = tcgetpgrp(terminal)
    return group < 0 || group == getpgrp()
  }

  /// - Throws: `SystemError` where signals cannot be watched.
  func start() throws(SystemError) {
    let handled = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
    signals = try loop.onSignal(handled) { [unowned self] in handle($0) }
    take()
    guard isatty(STDIN_FILENO) == 1 else { return }
    keys = try? loop.watch(STDIN_FILENO, .read) { [unowned self] _ in read() }
  }

  /// Gives the terminal back. Where a signal was to end navctl, it does now.
  func finish() {
    keys?.cancel()
    // First: where output is stopped (by Ctrl-S), giving back waits until it goes on, and a signal may still end that.
    signals?.cancel()
    giveBack()
    guard let endedBy else { return }
    signal(endedBy, SIG_DFL)
    raise(endedBy)
  }

  private func handle(_ signal: Int32) {
    switch signal {
    case SIGWINCH: onChange?()
    case SIGTSTP:
      giveBack()
      kill(getpid(), SIGSTOP)
    case SIGCONT:
      // Sent to the background it has no screen, and has to wait for one as whoever reads from a terminal does.
      guard Self.isForeground(STDOUT_FILENO) else {
        kill(getpid(), SIGSTOP)
        return
      }
      take()
      onChange?()
    default:
      endedBy = signal
      onEnd?()
    }
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
    // Nobody types any more.
    guard count > 0 else {
      keys?.cancel()
      return
    }
    let control: (UInt8) -> UInt8 = { $0 & 0x1F }
    for key in buffer[..<count] {
      switch key {
      case UInt8(ascii: "q"), UInt8(ascii: "Q"), control(UInt8(ascii: "D")): onEnd?()
      case control(UInt8(ascii: "L")): onChange?()
      default: break
      }
    }
  }

  // MARK: The terminal

  /// The other screen, without cursor, and without lines that go on in the next one.
  private static let entry = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
  private static let exit = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

  private func take() {
    if settings == nil, Self.isForeground(STDIN_FILENO) {
      var before = termios()
      if tcgetattr(STDIN_FILENO, &before) == 0 {
        settings = before
        // Keys as they are pressed, and not on the screen.
        before.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
      }
    }
    guard !isTaken else { return }
    isTaken = true
    StandardOutput.attempt(Self.entry)
  }

  private func giveBack() {
    if var before = settings { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
    settings = nil
    if isTaken { StandardOutput.attempt(Self.exit) }
    isTaken = false
  }
}

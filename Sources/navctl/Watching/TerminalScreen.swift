import CoordinatorAPI
import EventLoops
import Glibc

/// The whole terminal that navctl writes to. `finish` restores it, even when a signal ends navctl.
final class TerminalScreen {
  /// Called when the size has changed, or another program has used the screen.
  var onChange: (() -> Void)?
  /// Called when navctl must end, because of a signal or a key.
  var onQuit: (() -> Void)?

  private let loop: EventLoop
  private var signals: SignalWatch?
  private var keys: Watch?
  /// The settings to restore; nil if they are unchanged.
  private var savedSettings: termios?
  /// Whether the alternate screen is shown.
  private var isActive = false
  private var endingSignal: Int32?

  init(_ loop: EventLoop) { self.loop = loop }

  /// Whether standard output is a terminal with control sequences, and navctl is in its foreground.
  static var isAvailable: Bool { StandardOutput.hasControlSequences && isForeground(STDOUT_FILENO) }

  /// Whether standard input is a terminal, whose keys are read.
  static var hasKeys: Bool { isatty(STDIN_FILENO) == 1 }

  /// Whether navctl is in the foreground; true for a terminal without a session.
  private static func isForeground(_ terminal: Int32) -> Bool {
    let group = tcgetpgrp(terminal)
    return group < 0 || group == getpgrp()
  }

  /// - Throws: `SystemError` if signals cannot be watched.
  func start() throws(SystemError) {
    let handled = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
    signals = try loop.onSignal(handled, of: self) { $0.handle($1) }
    enter()
    guard Self.hasKeys else { return }
    keys = try? loop.watch(STDIN_FILENO, .read, of: self) { screen, _ in screen.read() }
  }

  /// Restores the terminal, then ends navctl if a signal was received.
  func finish() {
    keys?.cancel()
    // The signals come first, because restoring blocks while output is stopped (Ctrl-S), and a signal must be able to end that.
    signals?.cancel()
    leave()
    guard let endingSignal else { return }
    signal(endingSignal, SIG_DFL)
    raise(endingSignal)
  }

  private func handle(_ signal: Int32) {
    switch signal {
    case SIGWINCH: onChange?()
    case SIGTSTP:
      leave()
      kill(getpid(), SIGSTOP)
    case SIGCONT:
      // navctl stops again in the background, like a program that reads from the terminal.
      guard Self.isForeground(STDOUT_FILENO) else {
        kill(getpid(), SIGSTOP)
        return
      }
      enter()
      onChange?()
    default:
      endingSignal = signal
      onQuit?()
    }
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
    // A count of 0 is the end of input, and -1 an error.
    guard count > 0 else {
      keys?.cancel()
      return
    }
    let control: (UInt8) -> UInt8 = { $0 & 0x1F }
    for key in buffer[..<count] {
      switch key {
      case UInt8(ascii: "q"), UInt8(ascii: "Q"), control(UInt8(ascii: "D")): onQuit?()
      case control(UInt8(ascii: "L")): onChange?()
      default: break
      }
    }
  }

  // MARK: The terminal

  /// Switches to the alternate screen, without a cursor and without line wrapping.
  private static let enterSequence = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
  private static let leaveSequence = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

  private func enter() {
    if savedSettings == nil, Self.isForeground(STDIN_FILENO) {
      var before = termios()
      if tcgetattr(STDIN_FILENO, &before) == 0 {
        savedSettings = before
        // Single keys are read, without echo.
        before.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
      }
    }
    guard !isActive else { return }
    isActive = true
    StandardOutput.attempt(Self.enterSequence)
  }

  private func leave() {
    if var before = savedSettings { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
    savedSettings = nil
    if isActive { StandardOutput.attempt(Self.leaveSequence) }
    isActive = false
  }
}

import Dispatch
import Glibc
import Navigation
import Observation

/// The program's terminal. It draws the pages, redraws them when their state changes, and passes the keys to the top page.
@MainActor @Observable
final class Terminal {
  struct Missing: Error, CustomStringConvertible {
    let description = "standard input and output must be a terminal"
  }

  /// Called when the terminal is closed, or a signal asks the program to exit.
  @ObservationIgnored var onHangUp: () -> Void = {}

  /// The pages in the order in which they appeared.
  private var pages: [Page] = []
  private var rows = 0
  @ObservationIgnored private var former = termios()
  @ObservationIgnored private var sources: [any DispatchSourceProtocol] = []
  @ObservationIgnored private var drawing: Observing?

  /// Uses the terminal of standard input and output, until ``restore()``.
  init() throws(Missing) {
    guard tcgetattr(STDIN_FILENO, &former) == 0, isatty(STDOUT_FILENO) == 1 else { throw Missing() }
    var raw = former
    cfmakeraw(&raw)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    put("\u{1b}[?1049h\u{1b}[?25l")
    measure()
    let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    handle(input) { $0.read() }
    for number in [SIGTERM, SIGHUP, SIGINT] {
      handle(number) { $0.onHangUp() }
    }
    handle(SIGWINCH) { $0.measure() }
    // The screen is redrawn when any state read by the drawing changes: the pages, the models, the size.
    drawing = observe { [weak self] in self?.draw() }
  }

  /// Restores the terminal's settings and content.
  func restore() {
    drawing?.cancel()
    for source in sources { source.cancel() }
    put("\u{1b}[?25h\u{1b}[?1049l")
    tcsetattr(STDIN_FILENO, TCSANOW, &former)
  }

  func add(_ page: Page) { pages.append(page) }
  func remove(_ page: Page) { pages.removeAll { $0 === page } }

  private var top: Page? { pages.last { $0.kind == .page } }

  // MARK: Drawing

  private func draw() {
    let shown = [top].compactMap(\.self) + pages.filter { $0.kind == .card }
    let lines = shown.flatMap { page in
      ["\u{1b}[1m\(Self.printable(page.title))\u{1b}[0m  \u{1b}[2m\(page.binding)\u{1b}[0m", ""]
        + page.lines.map { "  " + Self.printable($0) } + [""]
    }
    put("\u{1b}[H" + lines.prefix(rows).map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J")
  }

  /// The text without control characters: other programs may have written it, and a terminal would execute them.
  private static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? "·" : $0 }))
  }

  private func put(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return }
      bytes = bytes.dropFirst(max(0, count))
    }
  }

  private func measure() {
    var size = winsize()
    rows = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0 ? Int(size.ws_row) : 24
  }

  // MARK: Keys

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
    guard count > 0 else {
      sources.first?.cancel()
      return onHangUp()
    }
    for key in Key.keys(in: Array(buffer[..<count])) { top?.press(key) }
  }

  private func handle(_ number: Int32, _ body: @escaping @MainActor (Terminal) -> Void) {
    signal(number, SIG_IGN)
    handle(DispatchSource.makeSignalSource(signal: number, queue: .main), body)
  }

  /// Installs a handler, which runs on the main queue, and so on the main actor.
  private func handle(_ source: any DispatchSourceProtocol, _ body: @escaping @MainActor (Terminal) -> Void) {
    source.setEventHandler { [weak self] in MainActor.assumeIsolated { if let self { body(self) } } }
    source.resume()
    sources.append(source)
  }
}

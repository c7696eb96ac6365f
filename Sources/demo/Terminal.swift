// Why this file exists: pages need a place; this one is a terminal, which is drawn again when something changes that is seen.

import Dispatch
import Glibc
import Navigation
import Observation

/// The terminal of the program: what is on it, and who gets the keys.
@MainActor @Observable
final class Terminal {
  struct Missing: Error, CustomStringConvertible {
    let description = "standard input is no terminal, and this is shown on one"
  }

  /// Called when the terminal is closed, or the program is told to end.
  @ObservationIgnored var onHangUp: () -> Void = {}

  /// The last one came last.
  private var pages: [Page] = []
  private var rows = 0
  @ObservationIgnored private var former = termios()
  @ObservationIgnored private var sources: [any DispatchSourceProtocol] = []
  @ObservationIgnored private var drawing: Observing?

  /// Takes the terminal of the program's standard input and output, until it is given back.
  /// - Throws: `Missing`.
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
    // What is read while drawing is what is drawn again for: the pages, the models, the size.
    drawing = observe { [weak self] in self?.draw() }
  }

  /// Gives it back as it was.
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

  /// Others write what is shown, too, and a terminal obeys.
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

  /// The main queue is the main actor's.
  private func handle(_ source: any DispatchSourceProtocol, _ body: @escaping @MainActor (Terminal) -> Void) {
    source.setEventHandler { [weak self] in MainActor.assumeIsolated { if let self { body(self) } } }
    source.resume()
    sources.append(source)
  }
}

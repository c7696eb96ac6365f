import CoordinatorAPI
import EventLoops
import PresentationModel

/// Draws the state on a terminal, and redraws it in place when it changes and as time passes.
final class LiveView: WatchOutput {
  /// The least time between two requests for the state.
  private static let refreshInterval = Duration.milliseconds(50)
  private static let second = Duration.seconds(1)

  enum Content {
    case notRunning
    case state(StateSnapshot)
  }

  private let filter: StateFilter
  private let colour: Bool
  private let legend: Bool
  /// Whether a key can end the view; otherwise only a signal can.
  private let readsKeys: Bool
  private let loop: EventLoop
  private let writer: LineWriter
  /// The content; nil until the first reply, before which nothing is drawn.
  private var content: Content?
  /// The lines on the screen; nil if they are unknown.
  private var drawn: [String]?
  private var isRefreshing = false

  init(
    _ filter: StateFilter, colour: Bool, legend: Bool, readsKeys: Bool, _ writer: LineWriter, _ loop: EventLoop
  ) {
    self.filter = filter
    self.colour = colour
    self.legend = legend
    self.readsKeys = readsKeys
    self.writer = writer
    self.loop = loop
    tick()
  }

  /// Draws once a second, because the age of an item is part of the text.
  private func tick() {
    draw()
    _ = loop.timer(after: Self.second) { [weak self] in self?.tick() }
  }

  /// Draws everything again, after the screen was resized or used by another program.
  func redraw() {
    drawn = nil
    draw()
  }

  func daemonStopped() {
    content = .notRunning
    draw()
  }

  func state(_ state: StateSnapshot, _ writer: LineWriter, _ follower: StateFollower) {
    content = .state(filter.apply(state))
    draw()
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) {
    guard !isRefreshing else { return }
    isRefreshing = true
    _ = loop.timer(after: Self.refreshInterval) { [weak self, weak follower] in
      self?.isRefreshing = false
      follower?.resynchronize()
    }
  }

  func drained(_ writer: LineWriter, _ follower: StateFollower) { draw() }

  private func draw() {
    // A stopped terminal (Ctrl-S) gets the latest state when it continues.
    guard let content, writer.pendingCount == 0 else { return }
    let size = StandardOutput.size ?? (24, 80)
    let style = Table.Style.aligned(colour: colour, legend: legend, columns: size.columns)
    let lines = Self.lines(content, style, readsKeys: readsKeys, rows: size.rows, at: Timestamp.now)
    guard lines != drawn else { return }
    drawn = lines
    writer.write(raw: "\u{1b}[H" + lines.joined(separator: "\u{1b}[K\r\n") + "\u{1b}[K\u{1b}[J")
  }

  /// - Parameters:
  ///   - rows: the maximum number of lines.
  ///   - now: the time in milliseconds since 1970.
  static func lines(
    _ content: Content, _ style: Table.Style, readsKeys: Bool, rows: Int, at now: UInt64
  ) -> [String] {
    let hint = "press \(readsKeys ? "q" : "Ctrl-C") to quit"
    guard case .state(let state) = content else {
      return lines(of: style.legend("navd is not running; waiting for it · \(hint)"))
    }
    let count = state.entries.count
    let presented = state.entries.count { $0.knownPhase == .presented }
    let heading = style.legend(
      "navd · serial \(state.serial ?? 0) · \(presented) of \(count) presented · \(hint)", .title)
    let overview = StateTables.overview(state, style, at: now, limit: rows)
    let lines = lines(of: heading.isEmpty ? overview : heading + "\n" + overview)
    guard lines.count > rows, rows > 0 else { return lines }
    let hidden = lines.count - (rows - 1) + max(0, count - rows)
    return lines.prefix(rows - 1) + ["… \(hidden) more lines"]
  }

  private static func lines(of text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}

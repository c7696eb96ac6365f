// Why this file exists: people who watch want to see how things stand now, in one place, with the time that passes.

import CoordinatorAPI
import EventLoops
import PresentationModel
import TextFormats

/// The state as a screen that is drawn anew where it stands.
final class LiveView: WatchLines {
  /// However much happens, nobody reads faster.
  private static let rest = Duration.milliseconds(50)
  private static let second = Duration.seconds(1)

  /// What can be seen of navd.
  enum Sight {
    /// It does not run.
    case nothing
    case state(StateView)
  }

  private let filter: StateFilter
  private let colour: Bool
  private let legend: Bool
  private let loop: EventLoop
  private let writer: LineWriter
  /// What is known of navd; nil until anything is.
  private var sight: Sight?
  /// What is on the screen.
  private var drawn: [String]?
  private var isRefreshing = false

  init(_ filter: StateFilter, colour: Bool, legend: Bool, _ writer: LineWriter, _ loop: EventLoop) {
    self.filter = filter
    self.colour = colour
    self.legend = legend
    self.writer = writer
    self.loop = loop
    tick()
  }

  /// Has the time pass.
  private func tick() {
    draw()
    _ = loop.timer(after: Self.second) { [weak self] in self?.tick() }
  }

  /// Draws all of it: what is on the screen is not known any more.
  func redraw() {
    drawn = nil
    draw()
  }

  /// navd does not run.
  func isGone() {
    sight = .nothing
    draw()
  }

  func state(_ state: StateView, _ writer: LineWriter, _ follower: StateFollower) {
    sight = .state(filter.apply(state))
    draw()
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) {
    guard !isRefreshing else { return }
    isRefreshing = true
    _ = loop.timer(after: Self.rest) { [weak self, weak follower] in
      self?.isRefreshing = false
      follower?.resynchronise()
    }
  }

  func drained(_ writer: LineWriter, _ follower: StateFollower) { draw() }

  private func draw() {
    // A terminal that was stopped gets what there is then.
    guard let sight, writer.pendingCount == 0 else { return }
    let size = StandardOutput.size ?? (24, 80)
    let style = Table.Style.aligned(colour: colour, legend: legend, columns: size.columns)
    let lines = Self.lines(sight, style, rows: size.rows, at: WallClock.now)
    guard lines != drawn else { return }
    drawn = lines
    writer.put("\u{1b}[H" + lines.joined(separator: "\u{1b}[K\r\n") + "\u{1b}[K\u{1b}[J")
  }

  /// - Parameters:
  ///   - rows: no more lines than these.
  ///   - now: milliseconds since 1970.
  static func lines(_ sight: Sight, _ style: Table.Style, rows: Int, at now: UInt64) -> [String] {
    guard case .state(let state) = sight else {
      return lines(of: style.legend("navd is not running; this waits until it is · q ends it"))
    }
    let count = state.presentations.count
    let presented = state.presentations.count { $0["phase"] == "presented" }
    let heading = style.legend(
      "navd · serial \(state.json["serial"]?.text ?? "") · \(presented) of \(count) presented · q ends this", .title)
    let overview = Overview.text(state, style, at: now, most: rows)
    let lines = lines(of: heading.isEmpty ? overview : heading + "\n" + overview)
    guard lines.count > rows, rows > 0 else { return lines }
    let hidden = lines.count - (rows - 1) + max(0, count - rows)
    return lines.prefix(rows - 1) + ["… \(hidden) lines more"]
  }

  private static func lines(of text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}

// Why this file exists: a bar wants the latest state, not how it came about.

import CoordinatorAPI
import PresentationModel
import TextFormats

/// A line for the state whenever what it shows has changed; a reader that is behind gets the latest only.
final class StateLines: WatchLines {
  enum Shape: Equatable {
    case json
    case format(Template)
    case waybar
  }

  private let filter: StateFilter
  private let shape: Shape
  /// What the last line showed.
  private var last: String?
  /// Whether there is a newer state than the last that was asked for.
  private var isStale = false

  init(_ filter: StateFilter, _ shape: Shape) {
    self.filter = filter
    self.shape = shape
  }

  func state(_ state: StateView, _ writer: LineWriter, _ follower: StateFollower) {
    let (line, shown) = render(state)
    guard shown != last else { return }
    last = shown
    writer.write(line)
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) {
    // One state is on its way to the reader: the next is asked for when that has arrived.
    if writer.pendingCount > 0 { isStale = true } else { follower.resynchronise() }
  }

  func drained(_ writer: LineWriter, _ follower: StateFollower) {
    guard isStale else { return }
    isStale = false
    follower.resynchronise()
  }

  /// - Returns: the line, and what of it has to differ from the last one for it to be written.
  private func render(_ state: StateView) -> (line: String, shown: String) {
    switch shape {
    case .json:
      let json = filter.apply(state).json
      guard !filter.isEmpty, case .object(var members) = json else { return (json.text, json.text) }
      // The serial grows also by what is filtered out.
      members["serial"] = nil
      return (json.text, JSON.object(members).text)
    case .format(let template):
      let line = filter.shown(state).map { template.line($0) } ?? ""
      return (line, line)
    case .waybar:
      let line = Waybar.line(filter.shown(state)).text
      return (line, line)
    }
  }
}

import CoordinatorAPI
import PresentationModel
import TextFormats

/// Writes a line for the state whenever the line has changed. A slow reader gets only the latest.
final class StateLines: WatchOutput {
  enum Format: Equatable {
    case json
    case template(Template)
    case waybar
  }

  private let filter: StateFilter
  private let format: Format
  /// The last line, as far as it is compared.
  private var last: String?
  /// Whether the state has changed since it was last requested.
  private var isStale = false

  init(_ filter: StateFilter, _ format: Format) {
    self.filter = filter
    self.format = format
  }

  func state(_ state: StateView, _ writer: LineWriter, _ follower: StateFollower) {
    let (line, compared) = render(state)
    guard compared != last else { return }
    last = compared
    writer.write(line)
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) {
    // The next state is requested when the reader has taken the last one.
    if writer.pendingCount > 0 { isStale = true } else { follower.resynchronize() }
  }

  func drained(_ writer: LineWriter, _ follower: StateFollower) {
    guard isStale else { return }
    isStale = false
    follower.resynchronize()
  }

  /// - Returns: the line, and the part of it that must differ from the last one for it to be written.
  private func render(_ state: StateView) -> (line: String, compared: String) {
    switch format {
    case .json:
      let filtered = filter.apply(state)
      let line = filtered.json.text
      return (line, filter.isEmpty ? line : filtered.jsonWithoutSerial.text)
    case .template(let template):
      let line = filter.shown(state).map { template.line($0.json) } ?? ""
      return (line, line)
    case .waybar:
      let line = Waybar.line(filter.shown(state)).text
      return (line, line)
    }
  }
}

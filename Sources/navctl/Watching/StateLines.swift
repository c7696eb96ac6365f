import CoordinatorAPI
import PresentationModel
import TextFormats

/// Writes a line for the state whenever the line has changed. A slow reader gets only the latest line.
final class StateLines: WatchOutput {
  enum Format: Equatable {
    case json
    case template(OutputTemplate)
    case waybar
  }

  private let filter: StateFilter
  private let format: Format
  /// The part of the last line that is compared.
  private var last: String?
  /// Whether the state has changed since the last request for it.
  private var isStale = false

  init(_ filter: StateFilter, _ format: Format) {
    self.filter = filter
    self.format = format
  }

  func absent(_ writer: LineWriter) {
    guard format == .json else { return }
    last = nil
    writer.write(JSON.object(JSON.absentState).text)
  }

  func state(_ state: StateSnapshot, _ writer: LineWriter, _ follower: StateFollower) {
    let (line, compared) = render(state)
    guard compared != last else { return }
    last = compared
    writer.write(line)
  }

  func event(_ event: StateEvent, _ writer: LineWriter, _ follower: StateFollower) { readAgain(writer, follower) }

  func destinationsChanged(_ writer: LineWriter, _ follower: StateFollower) { readAgain(writer, follower) }

  private func readAgain(_ writer: LineWriter, _ follower: StateFollower) {
    // The next state is requested when the reader has taken the last one.
    if writer.pendingCount > 0 { isStale = true } else { follower.resynchronize() }
  }

  func drained(_ writer: LineWriter, _ follower: StateFollower) {
    guard isStale else { return }
    isStale = false
    follower.resynchronize()
  }

  /// - Returns: the line, and the part of it that must differ from the last line for it to be written.
  private func render(_ state: StateSnapshot) -> (line: String, compared: String) {
    switch format {
    case .json:
      var filtered = filter.apply(state)
      let line = filtered.json.text
      if filter.isEmpty { return (line, line) }
      // The serial also grows with changes that the filter leaves out.
      filtered.serial = nil
      return (line, filtered.json.text)
    case .template(let template):
      let line = filter.shown(state).map { template.line($0.json) } ?? ""
      return (line, line)
    case .waybar:
      let line = Waybar.line(filter.shown(state), holds: state.holds ?? []).text
      return (line, line)
    }
  }
}

/// One line for a custom module of waybar (waybar-custom(5), `return-type: json`).
enum Waybar {
  /// The line. `text` and `tooltip` are Pango markup, so they are escaped. `alt` and `class` are not, because waybar looks them up in
  /// its configuration and style sheet.
  /// - Parameters:
  ///   - entry: the open item; if nil, the text is empty and waybar hides the module.
  ///   - holds: the holds in force; each becomes a class `hold-NAME`.
  static func line(_ entry: StateEntry?, holds: [String] = []) -> JSON {
    let holdClasses = holds.map { "hold-\($0)" }
    guard let entry else {
      return [
        "text": "", "alt": "", "tooltip": "", "class": .array((["none"] + holdClasses).map(JSON.string)),
        "percentage": 0,
      ]
    }
    let tag = entry.tag ?? ""
    let text = [entry.text(\.title), tag, entry.text(\.id), entry.text(\.binding)].first { !$0.isEmpty } ?? ""
    let states = [entry.asking == true ? "asking" : "", entry.heldBy == nil ? "" : "held"]
    let classes = ([entry.text(\.phase)] + states + [entry.text(\.destination)] + holdClasses).filter { !$0.isEmpty }
    let percentage: JSON =
      switch entry.value?["percentage"].map({ JSON($0) }) {
      case .integer(let number): .integer(number)
      case .real(let number) where number.isFinite: .real(number)
      default: 0
      }
    return [
      "text": .string(text.printable.escapedForMarkup),
      "alt": .string(tag),
      "tooltip": .string(
        (entry.name + (entry.shownPhase == entry.text(\.phase) ? "" : ": \(entry.shownPhase)")).printable
          .escapedForMarkup),
      "class": .array(classes.map(JSON.string)),
      "percentage": percentage,
    ]
  }
}

import PresentationModel
import TextFormats

/// Rows under titles: aligned for people, tab-separated for programs.
struct Table {
  enum Style: Equatable {
    /// The style for programs: tabs, no titles.
    case plain
    /// Aligned columns, with titles if `legend`; at most `columns` wide unless nil.
    case aligned(colour: Bool, legend: Bool = true, columns: Int? = nil)

    /// The same style without a limit of the width.
    var unlimited: Style {
      if case .aligned(let colour, let legend, _) = self { .aligned(colour: colour, legend: legend) } else { self }
    }

    /// A line beside tables; empty for programs and without a legend.
    func legend(_ text: String, _ meaning: Colour? = nil) -> String {
      guard case .aligned(let colour, let legend, let columns) = self, legend else { return "" }
      let line = columns.map { text.cut(to: $0) } ?? text
      return (colour ? meaning?.paint(line) ?? line : line) + "\n"
    }
  }

  struct Column: ExpressibleByStringLiteral {
    let title: String
    /// Whether the column is right-aligned.
    var isNumber = false
    init(stringLiteral value: String) { title = value }
    static func number(_ title: String) -> Column {
      var column = Column(stringLiteral: title)
      column.isNumber = true
      return column
    }
  }

  struct Cell: ExpressibleByStringInterpolation {
    private(set) var text: String
    var colour: Colour?
    init(stringLiteral value: String) { self.init(value) }
    init(_ text: String, _ colour: Colour? = nil) {
      self.text = text.printable
      self.colour = colour
    }

    /// The cell as a terminal shows it.
    var aligned: Cell {
      var copy = self
      copy.text = text.escapingControls()
      return copy
    }
  }

  /// The least width of a cut column, so that names stay recognizable.
  private static let minWidth = 12
  private static let gap = 2

  let columns: [Column]
  private(set) var rows: [[Cell]] = []

  init(_ columns: Column...) { self.columns = columns }

  mutating func add(_ cells: Cell...) { add(cells) }

  /// - Parameter cells: those of a row; those of the last columns may be missing.
  mutating func add(_ cells: [Cell]) { rows.append(cells) }

  /// The lines, each with its newline; empty without rows.
  func text(_ style: Style) -> String {
    switch style {
    case .plain:
      rows.map { $0.map(\.text).joined(separator: "\t") + "\n" }.joined()
    case .aligned(let colour, let legend, let width):
      rows.isEmpty ? "" : aligned(colour, legend, width)
    }
  }

  private func aligned(_ colour: Bool, _ legend: Bool, _ width: Int?) -> String {
    // Empty columns are left out.
    let used = columns.indices.filter { index in rows.contains { index < $0.count && !$0[index].text.isEmpty } }
    let titles = legend ? [columns.map { Cell($0.title, .title) }] : []
    let lines = titles + rows.map { $0.map(\.aligned) }
    let natural = used.map { index in
      lines.reduce(0) { index < $1.count ? max($0, $1[index].text.displayWidth) : $0 }
    }
    let widths = width.map { Self.narrowed(natural, to: $0) } ?? natural
    return lines.map { line in
      var text = ""
      var pending = 0
      for (index, width) in zip(used, widths) where index < line.count {
        let cell = line[index]
        let shown = cell.text.cut(to: width)
        let padding = width - shown.displayWidth
        // Padding is written only before the next cell, so that no line ends in spaces.
        if !shown.isEmpty {
          text += String(repeating: " ", count: pending + (columns[index].isNumber ? padding : 0))
          text += colour ? (cell.colour?.paint(shown) ?? shown) : shown
          pending = columns[index].isNumber ? 0 : padding
        } else {
          pending += width
        }
        pending += Self.gap
      }
      return text + "\n"
    }.joined()
  }

  /// Shrinks the widest columns evenly; if that is not enough, drops the last columns.
  static func narrowed(_ widths: [Int], to width: Int) -> [Int] {
    guard widths.count > 1 else { return widths.map { min($0, width) } }
    var narrowed = widths
    var excess = widths.reduce((widths.count - 1) * gap, +) - width
    while excess > 0, let widest = narrowed.max(), widest > minWidth {
      let next = max(narrowed.filter { $0 < widest }.max() ?? 0, minWidth)
      let indices = narrowed.indices.filter { narrowed[$0] == widest }
      // The step shrinks all of them to the next widest, or as far as needed.
      let step = min(widest - next, (excess + indices.count - 1) / indices.count)
      for index in indices where excess > 0 {
        narrowed[index] -= min(step, excess)
        excess -= min(step, excess)
      }
    }
    return excess <= 0 ? narrowed : Self.narrowed(widths.dropLast(), to: width)
  }
}

/// The colours in use, by their meaning.
enum Colour: String {
  case title = "1"
  case good = "32"
  case pending = "33"
  case ending = "35"
  case bad = "31"

  func paint(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

  init?(_ phase: Phase?) {
    switch phase {
    case .presented: self = .good
    case .waiting, .presenting: self = .pending
    case .dismissing: self = .ending
    case nil: return nil
    }
  }
}

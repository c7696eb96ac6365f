// Why this file exists: the same rows are aligned for people and tab-separated for programs.

/// Rows under titles.
struct Table {
  enum Style: Equatable {
    /// Tabs, no titles: for programs.
    case plain
    /// Aligned, with titles if there is to be a `legend`; not wider than so many `columns` where there are so many.
    case aligned(colour: Bool, legend: Bool = true, columns: Int? = nil)

    /// The same, as wide as it gets.
    var whole: Style {
      if case .aligned(let colour, let legend, _) = self { .aligned(colour: colour, legend: legend) } else { self }
    }

    /// A line beside tables, for people only.
    func legend(_ text: String, _ meaning: Colour? = nil) -> String {
      guard case .aligned(let colour, let legend, let columns) = self, legend else { return "" }
      let line = columns.map { text.cut(to: $0) } ?? text
      return (colour ? meaning?.paint(line) ?? line : line) + "\n"
    }
  }

  struct Column: ExpressibleByStringLiteral {
    let title: String
    /// Whether its cells end at the same place instead of beginning there.
    var isNumber = false
    init(stringLiteral value: String) { title = value }
    static func number(_ title: String) -> Column {
      var column = Column(stringLiteral: title)
      column.isNumber = true
      return column
    }
  }

  struct Cell: ExpressibleByStringInterpolation {
    let text: String
    var colour: Colour?
    init(stringLiteral value: String) { self.init(value) }
    init(_ text: String, _ colour: Colour? = nil) {
      self.text = text.printable
      self.colour = colour
    }
  }

  /// Columns are not made narrower than this: of half a name nobody has anything.
  private static let narrowest = 12
  private static let gap = 2

  let columns: [Column]
  private(set) var rows: [[Cell]] = []

  init(_ columns: Column...) { self.columns = columns }

  mutating func add(_ cells: Cell...) { rows.append(cells) }

  /// Lines, each with its newline; none where there is no row.
  func text(_ style: Style) -> String {
    switch style {
    case .plain:
      rows.map { $0.map(\.text).joined(separator: "\t") + "\n" }.joined()
    case .aligned(let colour, let legend, let width):
      rows.isEmpty ? "" : aligned(colour, legend, width)
    }
  }

  private func aligned(_ colour: Bool, _ legend: Bool, _ width: Int?) -> String {
    // A column in which nothing stands tells nothing.
    let used = columns.indices.filter { index in rows.contains { index < $0.count && !$0[index].text.isEmpty } }
    let titles = legend ? [columns.map { Cell($0.title, .title) }] : []
    let lines = titles + rows
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
        // Padding only before what follows, so that no line ends in spaces.
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

  /// Takes from the widest columns, evenly, what is too much; where that does not do, the last columns are left out.
  static func narrowed(_ widths: [Int], to width: Int) -> [Int] {
    guard widths.count > 1 else { return widths.map { min($0, width) } }
    var narrowed = widths
    var excess = widths.reduce((widths.count - 1) * gap, +) - width
    while excess > 0, let widest = narrowed.max(), widest > narrowest {
      let next = max(narrowed.filter { $0 < widest }.max() ?? 0, narrowest)
      let indices = narrowed.indices.filter { narrowed[$0] == widest }
      // All of them down to the next widest, or as far as is needed.
      let step = min(widest - next, (excess + indices.count - 1) / indices.count)
      for index in indices where excess > 0 {
        narrowed[index] -= min(step, excess)
        excess -= min(step, excess)
      }
    }
    return excess <= 0 ? narrowed : Self.narrowed(widths.dropLast(), to: width)
  }
}

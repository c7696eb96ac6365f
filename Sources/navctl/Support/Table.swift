// Why this file exists: the same rows are aligned for people and tab-separated for programs.

/// Rows under titles.
struct Table {
  enum Style: Equatable {
    /// Tabs, no titles: for programs.
    case plain
    /// Aligned, with titles.
    case aligned(colour: Bool)
  }

  let titles: [String]
  private(set) var rows: [[Cell]] = []

  struct Cell: ExpressibleByStringInterpolation {
    let text: String
    var colour: Colour?
    init(stringLiteral value: String) { self.init(value) }
    init(_ text: String, _ colour: Colour? = nil) {
      self.text = text.printable
      self.colour = colour
    }
  }

  init(_ titles: String...) { self.titles = titles }

  mutating func add(_ cells: Cell...) { rows.append(cells) }

  /// Lines, each with its newline; none where there is no row.
  func text(_ style: Style) -> String {
    switch style {
    case .plain:
      return rows.map { $0.map(\.text).joined(separator: "\t") + "\n" }.joined()
    case .aligned(let colour):
      guard !rows.isEmpty else { return "" }
      let lines = [titles.map { Cell($0, .title) }] + rows
      var widths = titles.map { _ in 0 }
      for line in lines {
        for (index, cell) in line.enumerated() where index < widths.count {
          widths[index] = max(widths[index], cell.text.displayWidth)
        }
      }
      return lines.map { line in
        var text = ""
        var pending = 0
        for (cell, width) in zip(line, widths) {
          // Padding only before what follows, so that no line ends in spaces.
          if !cell.text.isEmpty {
            text += String(repeating: " ", count: pending)
            pending = 0
            text += colour ? (cell.colour?.paint(cell.text) ?? cell.text) : cell.text
          }
          pending += width - cell.text.displayWidth + 2
        }
        return text + "\n"
      }.joined()
    }
  }
}

/// The few colours in use, by their meaning.
enum Colour: String {
  case title = "1"
  case good = "32"
  case underWay = "33"
  case going = "35"
  case bad = "31"

  func paint(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

  /// For the words of the contract that say how something stands.
  init?(phase: String) {
    switch phase {
    case "presented": self = .good
    case "waiting", "presenting": self = .underWay
    case "dismissing": self = .going
    default: return nil
    }
  }
}

extension String {
  /// How many columns of a terminal the text takes: none for marks on other characters, two for East Asian wide ones.
  var displayWidth: Int {
    unicodeScalars.reduce(0) { width, scalar in
      if scalar.isASCII { return width + 1 }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format: return width
      default: return width + (Self.wide.contains { $0.contains(scalar.value) } ? 2 : 1)
      }
    }
  }

  /// Unicode's EastAsianWidth.txt, W and F, in the large.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
    0x1F900...0x1F9FF, 0x20000...0x3FFFD,
  ]
}

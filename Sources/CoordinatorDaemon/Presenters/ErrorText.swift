import TextFormats

/// A line that a program has written on standard error, as people read it.
struct ErrorText {
  /// The limit in characters.
  private static let maxLength = 300

  let text: String

  /// - Returns: nil if the line has nothing that people can read.
  init?(_ line: [UInt8]) {
    var scalars = String.UnicodeScalarView()
    var sequence = Sequence.none
    for scalar in String(decoding: line, as: UTF8.self).unicodeScalars {
      switch sequence {
      case .none where scalar == "\u{1b}": sequence = .begun
      case .none: scalars.append(scalar.isControl ? " " : scalar)
      case .begun: sequence = scalar == "[" ? .control : scalar == "]" ? .text : .none
      // ECMA-48, 5.4: a control sequence ends with one of these.
      case .control: if ("@"..."~").contains(scalar) { sequence = .none }
      case .text: if scalar == "\u{7}" || scalar == "\u{1b}" { sequence = scalar == "\u{7}" ? .none : .begun }
      }
    }
    let words = String(scalars).split { $0.isWhitespace }.joined(separator: " ")
    guard !words.isEmpty else { return nil }
    text = words.count > Self.maxLength ? words.prefix(Self.maxLength) + "…" : words
  }

  /// A sequence with which a program moves the cursor, chooses a colour or sets the title of a terminal.
  private enum Sequence { case none, begun, control, text }
}

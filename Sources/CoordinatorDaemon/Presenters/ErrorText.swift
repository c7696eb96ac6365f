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

  /// Whether a line is a notice of foot or of a program by the same author, such as `info: main.c:680: goodbye`. The last lines of
  /// these say that the program ends, and not why. Nor do errors of its event loop (`fdm.c`), which follow a cause. The first word is missing
  /// in a notice of its fonts (`fcft.c`) if two threads write at once.
  static func isNotice(_ line: ArraySlice<UInt8>) -> Bool {
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard words.count > 1 else { return false }
    if words[0].starts(with: "fcft.c:".utf8) { return true }
    if words[0].elementsEqual("err:".utf8) { return words[1].starts(with: "fdm.c:".utf8) }
    guard words.count == 3, words[0].elementsEqual("info:".utf8) || words[0].elementsEqual("warn:".utf8) else {
      return false
    }
    return words[1].prefix { $0 != UInt8(ascii: ":") }.suffix(2).elementsEqual(".c".utf8)
  }

  /// A sequence with which a program moves the cursor, chooses a colour or sets the title of a terminal.
  private enum Sequence { case none, begun, control, text }
}

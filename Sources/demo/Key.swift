/// A key of a terminal.
enum Key: Hashable {
  case character(Character)
  case control(Character)
  case enter, backspace, escape

  /// The keys in the bytes of one read from a terminal. An escape sequence (an arrow key, …) is ignored.
  static func keys(in bytes: [UInt8]) -> [Key] {
    if bytes.first == 0x1b { return bytes.count == 1 ? [.escape] : [] }
    return String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
      switch scalar.value {
      case 0x0a, 0x0d: .enter
      case 0x08, 0x7f: .backspace
      case 0x1b: .escape
      case 0..<0x20: .control(Character(UnicodeScalar(UInt8(scalar.value) | 0x60)))
      default: .character(Character(scalar))
      }
    }
  }
}

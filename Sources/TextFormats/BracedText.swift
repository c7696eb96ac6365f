/// A text with placeholders, `{name}`; `{{` and `}}` are literal braces. navd and navctl share this syntax.
public struct BracedText: Hashable, Sendable {
  public enum Part: Hashable, Sendable {
    case literal([UInt8])
    /// The text between the braces.
    case placeholder(String)
  }

  /// The parts, in the order of the text. No literal is empty.
  public let parts: [Part]

  /// The text in which each literal brace is doubled.
  public static func escaped(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.flatMap { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") ? [$0, $0] : [$0] }
  }

  /// A mistake in the braces; `why` completes a sentence that begins with the text: `has a “{” without …`.
  public struct Mistake: Error, Hashable, Sendable {
    public let why: String
    public init(_ why: String) { self.why = why }
  }

  /// - Throws: `Mistake` for a brace without its counterpart.
  public init(_ text: some Sequence<UInt8>) throws(Mistake) {
    let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
    var parts: [Part] = []
    var literal: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      if byte != open, byte != close {
        literal.append(byte)
      } else if rest.first == byte {
        rest.removeFirst()
        literal.append(byte)
      } else if byte == open, let end = rest.firstIndex(of: close) {
        if !literal.isEmpty { parts.append(.literal(literal)) }
        literal = []
        parts.append(.placeholder(String(decoding: rest[..<end], as: UTF8.self)))
        rest = rest[(end + 1)...]
      } else if byte == open {
        throw Mistake("has a “{” without its “}”; “{{” stands for a brace")
      } else {
        throw Mistake("has a “}” without its “{”; “}}” stands for a brace")
      }
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
    self.parts = parts
  }
}

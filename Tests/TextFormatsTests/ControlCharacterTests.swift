import Testing

@testable import TextFormats

// Control characters in texts for people: each is spelled out, and similar characters stay.

/// The characters that a terminal or a reader may take as a command: C0, DEL, C1, the separators of lines and paragraphs, and the
/// controls of direction.
private let controls = [0..<0x20, 0x7F..<0xA0, 0x61C..<0x61D, 0x200E..<0x2010, 0x2028..<0x202F, 0x2066..<0x206A]
  .flatMap { $0.map { Unicode.Scalar(UInt32($0))! } }

/// The neighbors of the controls, and other characters that only look like them.
private let others = [
  0x20, 0x7E, 0xA0, 0xAD, 0x61B, 0x61D, 0x200B, 0x200C, 0x200D, 0x2010, 0x2027, 0x202F, 0x2065, 0x206A, 0x2603, 0xFEFF,
  0x1F600, 0x10FFFF,
].map { Unicode.Scalar($0)! }

private func isClean(_ text: String) -> Bool { !text.unicodeScalars.contains { controls.contains($0) } }

@Test(arguments: controls)
func controls_each_areSpelledOut(control: Unicode.Scalar) throws {
  let text = "a\(control)b"
  #expect(control.isControl)
  let escaped = text.escapingControls()
  #expect(isClean(escaped) && escaped.hasPrefix("a\\") && escaped.hasSuffix("b"))
  #expect(text.escapingControls { $0 == control } == text)
  #expect(isClean(quoted(text)) && isClean(displayed(Array(text.utf8))))
  let json = JSON.string(text)
  let shown = json.text.escapingControlsInJSON
  #expect(isClean(shown) && shown.utf8.allSatisfy { $0 < 0x7F })
  #expect(try JSON.parse(shown) == json)
}

@Test(arguments: others)
func controls_others_stay(other: Unicode.Scalar) {
  let text = "a\(other)b"
  #expect(!other.isControl)
  #expect(text.escapingControls() == text && text.escapingControlsInJSON == text)
  #expect(quoted(text) == "“\(text)”" && displayed(Array(text.utf8)) == text)
}

@Test func controls_spelling_isReadable() {
  #expect("\n\t\r\u{1b}[2J\u{9b}\u{202e}".escapingControls() == #"\n\t\r\u{1b}[2J\u{9b}\u{202e}"#)
  #expect("\u{1b}\u{202e}".escapingControlsInJSON == #"\u001b\u202e"#)
  #expect(displayed([0xC2, 0x9B]) == #"\xc2\x9b"# && displayed([0x9B]) == #"\x9b"#)
}

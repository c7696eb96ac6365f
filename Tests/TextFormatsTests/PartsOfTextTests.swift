import Testing
import TextFormats

/// Splitting and replacing in texts, by bytes and not by characters.
@Suite struct PartsOfTextTests {
  @Test(
    arguments: [
      ("", "a", nil), ("abc", "x", nil), ("ab", "abc", nil), ("abc", "a", ["", "bc"]), ("abc", "c", ["ab", ""]),
      ("abc", "abc", ["", ""]), ("aab", "ab", ["a", ""]), ("a--b--c", "--", ["a", "b--c"]),
      ("für dich", "ü", ["f", "r dich"]),
      // A letter and its combining mark are one character; the byte of the letter matches all the same.
      ("e\u{301}", "e", ["", "\u{301}"]),
    ] as [(String, String, [String]?)])
  func text_partedAtAnother_isWhatIsBeforeAndAfterItsFirstPlace(text: String, part: String, parts: [String]?) {
    let found = text.parted(at: part).map { [String($0.before), String($0.after)] }
    #expect(found.map { $0.map { Array($0.utf8) } } == parts.map { $0.map { Array($0.utf8) } })
  }

  @Test(arguments: [
    ("", ""), ("{o}", "HDMI"), ("panel-{o}", "panel-HDMI"), ("{o}{o}", "HDMIHDMI"), ("{o", "{o"),
    ("a{o}b{o}c", "aHDMIbHDMIc"),
  ])
  func text_replacingAll_hasTheOtherInEachPlace(text: String, expected: String) {
    #expect(text.replacingAll("{o}", with: "HDMI") == expected)
    // The inserted text is not searched again.
    #expect(text.replacingAll("{o}", with: "{o}") == text)
  }
}

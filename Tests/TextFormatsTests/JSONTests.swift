import Testing
import TextFormats

// JSON: parsing with positions and limits, reading with members left out, and writing.

@Test(
  arguments: [
    ("null", JSON.null), ("true", true), (" false\n", false), ("0", 0), ("-0", 0), ("-12", -12),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .unsigned(1 << 63)), ("18446744073709551615", .unsigned(.max)),
    ("1.0", .real(1)), ("1e3", .real(1000)), ("-2.5E-1", .real(-0.25)), ("0.1", .real(0.1)),
    (#""""#, ""), (#""a\"\\\/\b\f\n\r\t\u00e9z""#, "a\"\\/\u{8}\u{c}\n\r\t\u{e9}z"),
    (#""\uD83D\uDE00 😀""#, "😀 😀"), (#""\u0000""#, "\0"), (#""\uffff""#, "\u{FFFF}"),
    ("[]", []), ("[ ]", []), ("{}", [:]), ("[1,[2,{}] , \"x\"]", [1, [2, [:]], "x"]),
    (#"{ "a" : 1 , "b":{"c":[null]}}"#, ["a": 1, "b": ["c": [.null]]]),
  ] as [(String, JSON)])
func json_text_isParsedToItsValue(text: String, meaning: JSON) throws {
  #expect(try JSON.parse(text) == meaning)
}

@Test(
  arguments: [
    ("", 1, 1, "expected a value, found the end"),
    ("  \n ", 2, 2, "found the end"),
    ("nul", 1, 1, "expected a value, found \"n\""),
    ("[1,]", 1, 4, "expected a value, found \"]\""),
    ("[1 2]", 1, 4, "expected ',' or ']'"),
    ("[1", 1, 3, "found the end"),
    ("{\"a\":1,}", 1, 8, "expected a name in quotes"),
    ("{\"a\" 1}", 1, 6, "expected ':'"),
    ("{\"a\":1\n,\n  b:2}", 3, 3, "expected a name in quotes, found \"b\""),
    ("{\"a\":1,\n \"a\":2}", 2, 2, "the object has \"a\" twice"),
    ("{\"a\":1;", 1, 7, "expected ',' or '}'"),
    ("[\"é\", x]", 1, 7, "expected a value, found \"x\""),
    ("01", 1, 1, "may not begin with a zero"),
    ("-", 1, 2, "expected a digit"),
    ("1.", 1, 3, "expected a digit"),
    ("1e+", 1, 4, "expected a digit"),
    (".5", 1, 1, "expected a value"),
    ("+1", 1, 1, "expected a value"),
    ("1e999", 1, 1, "out of range"),
    ("[18446744073709551616]", 1, 2, "the integer is out of range"),
    ("-9223372036854775809", 1, 1, "the integer is out of range"),
    ("\"abc", 1, 1, "no closing quote"),
    ("\"\\", 1, 2, "unknown escape"),
    ("\"\\x\"", 1, 2, "unknown escape"),
    ("\"\\u12g4\"", 1, 2, "four hexadecimal digits"),
    ("\"\\uD800\"", 1, 2, "unpaired surrogate"),
    ("\"\\uDC00\"", 1, 2, "unpaired surrogate"),
    ("\"\\uD800\\u0041\"", 1, 2, "unpaired surrogate"),
    ("\"a\nb\"", 1, 3, "control character"),
    ("1 1", 1, 3, "expected the end"),
    ("[]]", 1, 3, "expected the end"),
    ("\u{FEFF}1", 1, 1, "expected a value"),
  ] as [(String, Int, Int, String)])
func json_mistake_isReportedWithLineAndColumn(text: String, line: Int, column: Int, why: String) throws {
  let mistake = try #require(throws: JSON.Mistake.self) { try JSON.parse(text) }
  #expect(mistake.position == TextPosition(line: line, column: column))
  #expect(mistake.why.contains(why), "\(mistake)")
}

@Test(arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]])
func json_bytesThatAreNotUTF8_areAMistake(bytes: [UInt8]) throws {
  let mistake = try #require(throws: JSON.Mistake.self) { try JSON.parse(bytes) }
  #expect(mistake.why.contains("UTF-8"))
}

@Test func json_nesting_isLimited() throws {
  let deepest = String(repeating: "[", count: JSON.maximumDepth) + String(repeating: "]", count: JSON.maximumDepth)
  _ = try JSON.parse(deepest)
  for bracket in ["[", "{\"a\":"] {
    let mistake = try #require(throws: JSON.Mistake.self) {
      try JSON.parse(String(repeating: bracket, count: 1_000_000))
    }
    #expect(mistake.why.contains("nested more than \(JSON.maximumDepth)"))
  }
}

@Test(arguments: [
  "null", "true", "-1", "18446744073709551615", "0.1", "1e+300", "1.0", "\"\"", "[]", "{}", #"[1,"a",{"b":[false]}]"#,
])
func json_valueWritten_isParsedToTheSame(text: String) throws {
  #expect(try JSON.parse(text).text == text)
}

@Test func json_objectWritten_hasItsNamesSorted() {
  #expect((["b": 1, "a": ["d": 2, "c": 3]] as JSON).text == #"{"a":{"c":3,"d":2},"b":1}"#)
}

@Test func json_controlCharactersWritten_areEscapedOnOneLine() throws {
  let all =
    String(String.UnicodeScalarView((0..<0xA1).compactMap { Unicode.Scalar($0 as UInt32) })) + "\u{2028}\u{2029}"
  let text = JSON.string(all).text
  #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
  #expect(!text.contains { $0.isNewline })
  #expect(try JSON.parse(text) == .string(all))
  #expect(JSON.string("\u{1b}\n\"\\").text == #""\u001b\n\"\\""#)
}

@Test(arguments: [Double.nan, .infinity, -.infinity])
func json_nonFiniteNumberWritten_isNull(number: Double) {
  #expect(JSON.real(number).text == "null")
}

@Test func json_integer_keepsAllDigits() {
  #expect(JSON(UInt64.max).text == "18446744073709551615")
  #expect(JSON(UInt8(7)) == .integer(7))
  #expect(JSON(UInt64(7)) == 7)
  #expect(JSON(7 as Int).unsigned == 7)
  #expect(JSON(-7 as Int).unsigned == nil)
  #expect(JSON(UInt64.max).unsigned == .max)
}

@Test func json_position_isFoundByPath() throws {
  let text = "[\n  [\"Present\", \"fact\",\n   {\"title\": 3}],\n []]"
  let bytes = Array(text.utf8)
  #expect(JSON.position(of: [], in: bytes) == TextPosition(line: 1, column: 1))
  #expect(JSON.position(of: [.element(0), .element(1)], in: bytes) == TextPosition(line: 2, column: 15))
  #expect(JSON.position(of: [.element(0), .element(2), .member("title")], in: bytes) == .init(line: 3, column: 14))
  #expect(JSON.position(of: [.element(1)], in: bytes) == TextPosition(line: 4, column: 2))
}

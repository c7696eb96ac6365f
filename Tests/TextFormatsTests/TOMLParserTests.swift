// Why this file exists: TOML is read as its specification says, every value with its place, and no text ends the process.
// (The parser was also held against the toml-test collection: it differs in dates, which it does not check, and in NUL.)

import Testing

@testable import TextFormats

/// A document as one line: `key@line:column=value`, tables in braces, in the order of keys.
private func read(_ text: String) throws -> String { try shown(TOMLParser.document(Array(text.utf8), file: "f")) }

private func shown(_ table: [String: TOMLNode]) -> String {
  table.sorted { $0.key < $1.key }.map { "\($0.key)@\(shown($0.value))" }.joined(separator: " ")
}

private func shown(_ node: TOMLNode) -> String {
  let content =
    switch node.content {
    case .string(let text): "“\(text)”"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .date: "date"
    case .array(let elements): "[" + elements.map { shown($0) }.joined(separator: " ") + "]"
    case .table(let members): "{" + shown(members) + "}"
    }
  return "\(node.position.line):\(node.position.column)=\(content)"
}

private func fault(_ bytes: [UInt8]) -> String? {
  do throws(FileFault) {
    _ = try TOMLParser.document(bytes, file: "f")
    return nil
  } catch {
    return error.description
  }
}

@Test(
  arguments: [
    ("", ""),
    ("\u{feff}a=1\r\n# c\r\nb = 2 # d", "a@1:1=1 b@3:1=2"),
    ("a = -1\nb = +0x1F\n", nil), ("a = 0x_1", nil),
    ("a = 0xdead_BEEF\nb = 0o17\nc = 0b1_0", "a@1:1=3735928559 b@2:1=15 c@3:1=2"),
    ("a = 1_000\nb = -0\nc = 9223372036854775807", "a@1:1=1000 b@2:1=0 c@3:1=9223372036854775807"),
    ("a = 9223372036854775808", nil), ("a = 01", nil), ("a = 1_", nil), ("a = 1.", nil), ("a = .5", nil),
    ("a = 1e", nil),
    ("a = 1.5\nb = -1e3\nc = 1_0.0_1E+0_2\nd = -inf", "a@1:1=1.5 b@2:1=-1000.0 c@3:1=1001.0 d@4:1=-inf"),
    ("a = true\nb = false", "a@1:1=true b@2:1=false"), ("a = True", nil),
    ("a = 1979-05-27\nb = 07:32:00.5\nc = 1979-05-27 07:32:00-07:00", "a@1:1=date b@2:1=date c@3:1=date"),
    (#"a = "\t\"\\\u00e9\U0001F600""#, "a@1:1=“\t\"\\é😀”"), (#"a = "\q""#, nil), (#"a = "\ud800""#, nil),
    ("a = 'C:\\x'\nb = ''", "a@1:1=“C:\\x” b@2:1=“”"), ("a = 'x\n'", nil),
    ("a = \"\"\"\nx \\  \n\n   y\r\n\"\"z\"\"\"\"\"", "a@1:1=“x y\n\"\"z\"\"”"),
    ("a = '''\nx\\\n''''", "a@1:1=“x\\\n'”"),
    ("a = [1, [2, 3], # ]\n  'x', ]", "a@1:1=[1:6=1 1:9=[1:10=2 1:13=3] 2:3=“x”]"), ("a = [1 2]", nil),
    ("a = [,]", nil),
    ("a = { b.c = 1, 'd e' = {} }", "a@1:1={b@1:7={c@1:9=1} d e@1:16={}}"), ("a = { b = 1, }", nil), ("a = {\n}", nil),
    ("a.b = 1\na.c = 2\n[t.u]\nx = 1\n[t]\ny = 2", "a@1:1={b@1:3=1 c@2:3=2} t@3:2={u@3:4={x@4:1=1} y@6:1=2}"),
    ("[[l]]\nx = 1\n[[l]]\n[l.s]\ny = 2", "l@1:3=[1:3={x@2:1=1} 3:3={s@4:4={y@5:1=2}}]"),
    ("a = 1\na = 2", nil), ("a = 1\na.b = 2", nil), ("[a]\n[a]", nil), ("a = {}\n[a.b]", nil), ("a = []\n[[a]]", nil),
    ("[a.b]\n[a]\nb.c = 1", nil), ("a.b = 1\n[a]", nil), ("[[a]]\n[a]", nil), ("[ a . 'b' ]", "a@1:3={b@1:7={}}"),
    ("a = 1 b = 2", nil), ("a", nil), ("a =", nil), ("= 1", nil), ("[a", nil), ("[a]]", nil), ("[[a]", nil),
    ("[?]", nil),
    ("[é]", nil), ("é = 1", nil), ("\"\"\"a\"\"\" = 1", nil), ("# \u{1}", nil), ("a = 'x\u{7f}'", nil),
    ("a = 1 \r b = 2", nil),
  ] as [(String, String?)])
func toml_document_isReadAsSpecified(_ text: String, _ expected: String?) {
  #expect((try? read(text)) == expected)
}

@Test(arguments: [
  ("\n\n[?]", "f:3:2: expected a key, found “?”; letters, digits, “_” and “-”, or a text in quotes, would do"),
  ("a = 1\nb.a = 2\nb = 3", "f:3:1: “b” stands already at line 2; once would do"),
  ("a = yes", "f:1:5: “yes” is no value; a string stands in quotes"),
  ("é = 1", "f:1:1: expected a key, found “é”; letters, digits, “_” and “-”, or a text in quotes, would do"),
  ("a = 'é' x", "f:1:9: expected the end of the line, found “x”"),
  ("a = \"x", "f:1:5: a string that does not end"), ("a = \"x\n\"", "f:1:5: a string that does not end on its line"),
  ("a = \"\\u0000\"", "f:1:6: an escaped NUL, which no text on the bus or in a command may hold"),
  ("a = 'x\0'", "f:1:7: a control character, \\x00"),
  ("a", "f:1:2: expected “=” after a key, found the end of the file"),
  ("[a.b\nc", "f:1:5: expected “]” after the keys of a header, found the end of the line"),
])
func toml_mistake_isToldWithItsPlace(_ text: String, _ expected: String) {
  #expect(fault(Array(text.utf8)) == expected)
}

@Test func toml_bytesThatAreNoUTF8_areToldWithTheirPlace() {
  #expect(fault(Array("# é\nx = 'é".utf8) + [0xff, 0x27]) == "f:2:7: bytes that are no UTF-8, which TOML has to be")
}

@Test(arguments: ["[", "{a=", "\"", "a.", "[[", "a=[", "a={b="])
func toml_nestedBeyondReason_isAMistakeLikeAnyOther(_ part: String) {
  #expect(fault(Array(String(repeating: part, count: 50_000).utf8)) != nil)
  #expect(fault(Array(("x = " + String(repeating: part, count: 50_000)).utf8)) != nil)
}

@Test func toml_veryManyTables_areReadInTimeThatGrowsWithThem() throws {
  let document = try TOMLParser.document(Array(String(repeating: "[[a]]\nb=1\n", count: 100_000).utf8), file: "f")
  guard case .array(let elements) = document["a"]?.content else { throw Unexpected() }
  #expect(elements.count == 100_000)
}

private struct Unexpected: Error {}

@Test func toml_anyText_comesToAnEnd() {
  let tokens = [
    "a", "b.", "=", "[", "]", "[[", "{", "}", ",", "\n", "\"", "'", "\"\"\"", "'''", "\\", "\\u0000", "#", " ", "1",
  ]
  var state: UInt64 = 1
  for _ in 0..<20_000 {
    var text = ""
    for _ in 0..<24 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      text += tokens[Int(state >> 33) % tokens.count]
    }
    _ = fault(Array(text.utf8))
  }
}

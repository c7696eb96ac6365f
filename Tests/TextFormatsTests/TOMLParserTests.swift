import Testing

@testable import TextFormats

// The TOML parser: positions, mistakes, limits of depth, and the time for large documents.

private func fault(_ bytes: [UInt8]) -> String? {
  do throws(FileFault) {
    _ = try TOMLParser.document(bytes, file: "f")
    return nil
  } catch {
    return error.description
  }
}

@Test(arguments: [
  ("\u{feff}a = 1\r\n# c\r\n  b = 2", "a@1:1=1 b@3:3=2"),
  ("a = [1, [2, 3], # ]\n  'é', ]", "a@1:1=[@1:6 1 @1:9 [@1:10 2 @1:13 3] @2:3 “é”]"),
  ("a = { b.c = 1, 'd e' = {} }", "a@1:1={b@1:7={c@1:9=1} d e@1:16={}}"),
  ("a.b = 1\na.c = 2\n[t.u]\nx = 1\n[t]\ny = 2", "a@1:1={b@1:3=1 c@2:3=2} t@3:2={u@3:4={x@4:1=1} y@6:1=2}"),
  ("[[l]]\nx = 1\n[[l]]\n[l.s]\ny = 2", "l@1:3=[@1:3 {x@2:1=1} @3:3 {s@4:4={y@5:1=2}}]"),
  ("a = '''\n\n''' # c\nb = 1", "a@1:1=“\n” b@4:1=1"),
])
func toml_value_hasThePositionOfItsKeyOrElement(_ text: String, _ expected: String) throws {
  let document = try TOMLParser.document(Array(text.utf8), file: "f")
  #expect(shown(document) { "@\($0.line):\($0.column)" } == expected)
}

@Test(arguments: [
  ("\n\n[?]", "f:3:2: expected a key, found “?”; a key is letters, digits, “_” and “-”, or a string in quotes"),
  ("é = 1", "f:1:1: expected a key, found “é”; a key is letters, digits, “_” and “-”, or a string in quotes"),
  ("'''a''' = 1", "f:1:1: expected a key, found a multi-line string; write the key in single or double quotes"),
  ("a = 1\nb.a = 2\nb = 3", "f:3:1: “b” is already defined at line 2; define it once"),
  ("a = {}\na.b = 2", "f:2:1: “a” is already defined at line 1; a dotted key cannot add to it"),
  ("a = 1\n[a.b]", "f:2:2: expected a table, found an integer: “a” is defined at line 1"),
  ("a = {}\n[a.b]", "f:2:2: expected a table with a header of its own, found one in braces: “a” is defined at line 1"),
  (
    "// a",
    "f:1:1: expected a key, found “/”; a key is letters, digits, “_” and “-”, or a string in quotes; a comment begins with “#”"
  ),
  (
    "a = {\n  b = 1 }",
    "f:1:6: expected a key, found the end of the line: a table in braces is on one line; or end the file with a line such as “[window]”, and write the keys on lines below it"
  ),
  (
    "a = { b = 640 400 }",
    "f:1:15: expected “,” or “}” on the same line, after a value in braces, found “4”; write a text with blanks in quotes"
  ),
  ("a = [“x”]", "f:1:6: expected a value, found ““”; write strings in quotes, \" or '"),
  ("a = True", "f:1:5: “True” is not a value; write true"),
  ("a = yes", "f:1:5: “yes” is not a value; write strings in quotes"),
  (
    "a = 9223372036854775808",
    "f:1:5: expected an integer from -9223372036854775808 to 9223372036854775807, found “9223372036854775808”"
  ),
  (
    "a = 0xffffffffffffffff",
    "f:1:5: expected an integer from -9223372036854775808 to 9223372036854775807, found “0xffffffffffffffff”"
  ),
  ("a = 'é' x", "f:1:9: expected the end of the line, found “x”"),
  ("a = \"x", "f:1:5: the string has no closing quote"),
  ("a = \"x\n\"", "f:1:5: the string has no closing quote on its line"),
  ("a = '''x\ry'''", "f:1:9: the control character \\x0d is not allowed here"),
  (
    "a = \"\\e\"",
    #"f:1:6: expected one of \b \t \n \f \r \" \\ \uXXXX \UXXXXXXXX, found “\e”; in single quotes, “\” is itself"#
  ),
  ("a = \"\\ud800\"", #"f:1:6: expected \u and the 4 hexadecimal digits of a Unicode scalar value, found “\ud800”"#),
  ("a = \"\\u0000\"", "f:1:6: U+0000 is not allowed: text on the bus and in commands cannot contain NUL"),
  ("a = 'x\0'", "f:1:7: the control character \\x00 is not allowed here"),
  ("a", "f:1:2: expected “=” after a key, found the end of the file"),
  ("[a.b\nc", "f:1:5: expected “]” after the keys of a header, found the end of the line"),
])
func toml_mistake_isReportedWithItsPosition(_ text: String, _ expected: String) {
  #expect(fault(Array(text.utf8)) == expected)
}

@Test func toml_bytesThatAreNotUTF8_areReportedWithTheirPosition() {
  #expect(fault(Array("# é\nx = 'é".utf8) + [0xff, 0x27]) == "f:2:7: expected UTF-8, found other bytes")
  #expect(fault([0x61, 0x3d, 0x27, 0xed, 0xa0, 0x80, 0x27])?.hasPrefix("f:1:4: ") == true)
}

@Test("Two keys that Swift compares as equal (an é of one scalar and one of two) are refused, so that neither is lost")
func toml_canonicallyEquivalentKeys_areRefused() {
  #expect(fault(Array("'\u{e9}' = 1\n'e\u{301}' = 2".utf8))?.hasPrefix("f:2:1: ") == true)
}

@Test(arguments: ["[", "{a=", "{a.b=", "\"", "a.", "[[", "a=[", "a={b="])
func toml_nestingBeyondTheLimit_isRefused(_ part: String) {
  let parts = String(repeating: part, count: 50_000)
  #expect(fault(Array(parts.utf8)) != nil)
  #expect(fault(Array(("x = " + parts).utf8)) != nil)
}

@Test("The limit of 64 levels counts arrays, tables in braces and the parts of keys alike")
func toml_nestingByKeysAndBraces_hasOneLimit() throws {
  func nested(_ open: String, _ count: Int, _ close: String) -> [UInt8] {
    Array(("x = " + String(repeating: open, count: count) + "1" + String(repeating: close, count: count)).utf8)
  }
  for (open, levels, close) in [("[", 1, "]"), ("{a=", 1, "}"), ("{a.b.c=", 3, "}"), ("[{a=", 2, "}]")] {
    let most = TOMLParser.maximumDepth / levels
    let document = try TOMLParser.document(nested(open, most, close), file: "f")
    _ = try document["x"]?.json()
    #expect(fault(nested(open, most + 1, close))?.contains("more than 64 levels") == true, "\(open)")
  }
  let header = String(repeating: "a.", count: 63) + "a"
  #expect(fault(Array("[\(header)]\n".utf8)) == nil)
  #expect(fault(Array("[\(header).a]\n".utf8))?.contains("more than 64 levels") == true)
  #expect(fault(Array("[\(header)]\nb = [1]".utf8))?.contains("more than 64 levels") == true)
  #expect(fault(Array("\(header) = 1\n".utf8)) == nil)
  #expect(fault(Array("\(header) = {b = 1}\n".utf8)) == nil)
  #expect(fault(Array("\(header) = {b.c = 1}\n".utf8))?.contains("more than 64 levels") == true)
}

/// A document of about 256 KiB, a quarter of the largest file that is read. Reading one in quadratic time would take longer than
/// these tests may.
struct LargeDocument: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let bytes: [UInt8]

  init(_ name: String, before: String = "", _ count: Int, after: String = "", part: (Int) -> String) {
    testDescription = name
    bytes = Array((before + (0..<count).map(part).joined() + after).utf8)
  }

  init(_ name: String, before: String = "", _ part: String, _ count: Int, after: String = "") {
    self.init(name, before: before, count, after: after) { _ in part }
  }
}

@Test(
  .timeLimit(.minutes(15)),
  arguments: [
    LargeDocument("many keys", 20_000) { "k\($0) = 1\n" },
    LargeDocument("many dotted keys", 15_000) { "a.b.k\($0) = 1\n" },
    LargeDocument("many tables", 20_000) { "[t.k\($0)]\n" },
    LargeDocument("many elements of one array of tables", "[[a]]\nb=1\n", 25_000),
    LargeDocument("many tables in an element", before: "[[a]]\n", 20_000) { "[a.k\($0)]\n" },
    LargeDocument("many members in braces", before: "t = {", 20_000, after: "z=1}") { "k\($0)=1," },
    LargeDocument("many elements", before: "a = [", "1,\n", 75_000, after: "]"),
    LargeDocument("a long string", before: "a = \"", "x", 1 << 18, after: "\""),
    LargeDocument("a long key", "x", 1 << 18, after: " = 1"),
    LargeDocument("a long comment", before: "# ", "é", 1 << 17),
    LargeDocument("many escapes", before: "a = \"", "\\u00e9", 42_000, after: "\""),
    LargeDocument("many joined lines", before: "a = \"\"\"", "\\\nx", 85_000, after: "\"\"\""),
    LargeDocument("one join of many lines", before: "a = \"\"\"\\", " \n", 125_000, after: "\"\"\""),
    LargeDocument("many quotes in a string", before: "a = '''", "''x", 85_000, after: "'''"),
    LargeDocument("many empty lines", "\r\n", 125_000),
  ])
func toml_largeDocument_isReadInProportionateTime(_ document: LargeDocument) {
  #expect(fault(document.bytes) == nil)
}

@Test(
  "A mistake in a large document is reported in proportionate time, and only a part of it is quoted",
  .timeLimit(.minutes(15)),
  arguments: [
    LargeDocument("a long number", before: "a = ", "1", 1 << 18),
    LargeDocument("a long word", before: "a = ", "e", 1 << 18),
    LargeDocument("many underscores", before: "a = 1", "_", 1 << 18),
    LargeDocument("many points", before: "a = 1", ".1", 1 << 17),
    LargeDocument("a string without its end", before: "a = \"\"\"", "\"\"x", 85_000),
    LargeDocument("blanks after a backslash", before: "a = \"\"\"\\", " ", 1 << 18, after: "x\"\"\""),
    LargeDocument("many brackets", "[", 1 << 18), LargeDocument("many equal signs", before: "a ", "=", 1 << 18),
    LargeDocument("a duplicate after many keys", 20_000, after: "k0 = 2") { "k\($0) = 1\n" },
  ])
func toml_largeDocumentWithAMistake_isRefusedInProportionateTime(_ document: LargeDocument) throws {
  #expect(try #require(fault(document.bytes)).utf8.count < 500)
}

import Testing

@testable import TextFormats

// The TOML parser beside the specification. Each test is a section of TOML v1.0.0 (https://toml.io/en/v1.0.0).

/// A document, and what the specification says of it: its meaning, or the position of its mistake.
struct TOMLCase: Sendable, CustomTestStringConvertible {
  /// A document with keys and values. `meaning` lists them in the order of keys, as in `a=1 b={c=“x”} d=[1 2]`.
  static func valid(_ text: String, _ meaning: String) -> TOMLCase { TOMLCase(text: text, expected: meaning) }

  /// A document with a mistake. `position` is its line and column, as in `2:1`.
  static func invalid(_ text: String, at position: String) -> TOMLCase {
    TOMLCase(text: text, expected: "refused at \(position)")
  }

  let text: String
  let expected: String
  var testDescription: String { text.debugDescription }

  func check() {
    do throws(FileFault) {
      #expect(shown(try TOMLParser.document(Array(text.utf8), file: "f"), position: { _ in "" }) == expected)
    } catch {
      let position = error.position.map { "\($0.line):\($0.column)" } ?? "no position"
      #expect("refused at \(position)" == expected, "\(error)")
    }
  }
}

/// The members of a table in the order of keys; `position` is shown after each key and before each element.
func shown(_ table: [String: TOMLNode], position: (TextPosition) -> String) -> String {
  table.sorted { $0.key < $1.key }
    .map { "\($0.key)\(position($0.value.position))=\(shown($0.value, position: position))" }.joined(separator: " ")
}

private func shown(_ node: TOMLNode, position: (TextPosition) -> String) -> String {
  switch node.content {
  case .string(let text): "“\(text)”"
  case .integer(let number): "\(number)"
  case .real(let number): "\(number)"
  case .boolean(let flag): "\(flag)"
  case .date: "date"
  case .array(let elements):
    "["
      + elements.flatMap { [position($0.position), shown($0, position: position)] }.filter { !$0.isEmpty }
      .joined(separator: " ") + "]"
  case .table(let members): "{" + shown(members, position: position) + "}"
  }
}

@Test(
  "TOML, Spec: case matters, whitespace is tab and space, newlines are LF and CRLF",
  arguments: [
    .valid("", ""), .valid(" \t\n\r\n", ""), .valid("size = 1\nSize = 2", "Size=2 size=1"),
    .valid("\ta\t=\t1\t\r\n  b = 2\r\n", "a=1 b=2"), .valid("\u{feff}a = 1", "a=1"),
    .invalid("a = 1\rb = 2", at: "1:6"), .invalid("a\u{a0}= 1", at: "1:2"), .invalid("a = 1\n\u{feff}b = 2", at: "2:1"),
    .invalid("a = 1\u{c}", at: "1:6"), .invalid("\0", at: "1:1"),
  ] as [TOMLCase])
func toml_spec_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Comment: from # to the end of the line, without control characters",
  arguments: [
    .valid("# only a comment", ""), .valid("#\n#\n", ""), .valid("a = 1 # one\n# between\nb = 2#two", "a=1 b=2"),
    .valid("a = '# kept'\nb = \"# kept\"", "a=“# kept” b=“# kept”"), .valid("[t] # a table\n# é \t \u{1f600}", "t={}"),
    .valid("# [ignored]\r\n", ""),
    .invalid("# \u{1}", at: "1:3"), .invalid("a = 1 # \0", at: "1:9"), .invalid("# \u{7f}", at: "1:3"),
    .invalid("# a\rb = 1", at: "1:4"), .invalid("# \u{1f}", at: "1:3"),
  ] as [TOMLCase])
func toml_comment_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Key/Value Pair: a key, =, and a value on one line, and nothing after them",
  arguments: [
    .valid("port = 80", "port=80"), .valid("port=80", "port=80"), .valid("a = [\n1\n]", "a=[1]"),
    .valid("a = '''\nx'''", "a=“x”"),
    .invalid("port =", at: "1:7"), .invalid("port = # nothing", at: "1:8"), .invalid("port", at: "1:5"),
    .invalid("port\n= 80", at: "1:5"), .invalid("port =\n80", at: "1:7"), .invalid("port = 80 host = 'h'", at: "1:11"),
    .invalid("= 80", at: "1:1"), .invalid("port = 80,", at: "1:10"), .invalid("port == 80", at: "1:7"),
    .invalid("port: 80", at: "1:5"), .invalid("port = name", at: "1:8"),
  ] as [TOMLCase])
func toml_keyValuePair_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Keys, bare: ASCII letters, digits, _ and -",
  arguments: [
    .valid("name = 1\nmy_name = 2\nmy-name = 3\n2024 = 4", "2024=4 my-name=3 my_name=2 name=1"),
    .valid("- = 1\n_ = 2\ntrue = 3\ninf = 4\n1979-05-27 = 5", "-=1 1979-05-27=5 _=2 inf=4 true=3"),
    .invalid("é = 1", at: "1:1"), .invalid("two words = 1", at: "1:5"), .invalid("a+b = 1", at: "1:2"),
    .invalid("a = 1\na = 2", at: "2:1"), .invalid("@ = 1", at: "1:1"),
  ] as [TOMLCase])
func toml_bareKey_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Keys, quoted: as strings of one line, and the same key as the bare one",
  arguments: [
    .valid(#""10.0.0.1" = 1"#, "10.0.0.1=1"), .valid(#""two words" = 1"#, "two words=1"),
    .valid("'a \"b\"' = 1", "a \"b\"=1"), .valid(#""\u00e9" = 1"#, "é=1"), .valid("\"\" = 1", "=1"),
    .valid("'' = 1", "=1"), .valid(#"'a\n' = 1"#, #"a\n=1"#), .valid("\"#\" = 1", "#=1"),
    .invalid("a = 1\n\"a\" = 2", at: "2:1"), .invalid("'a' = 1\n\"\\u0061\" = 2", at: "2:1"),
    .invalid("\"a\nb\" = 1", at: "1:1"), .invalid("\"\"\"a\"\"\" = 1", at: "1:1"), .invalid("'''a''' = 1", at: "1:1"),
    .invalid("\"a = 1", at: "1:1"), .invalid("\"a\"b = 1", at: "1:4"), .invalid(#""\q" = 1"#, at: "1:2"),
  ] as [TOMLCase])
func toml_quotedKey_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Keys, dotted: they make tables, and a table that a key has made may get more keys",
  arguments: [
    .valid("a.b = 1\na.c = 2", "a={b=1 c=2}"), .valid("a . \"b.c\" . 'd' = 1", "a={b.c={d=1}}"),
    .valid("3.14 = 'pi'", "3={14=“pi”}"), .valid("a.b.c = 1\nx = 0\na.d = 2\na.b.e = 3", "a={b={c=1 e=3} d=2} x=0"),
    .valid("'' . '' = 1", "={=1}"),
    .invalid("a = 1\na.b = 2", at: "2:1"), .invalid("a.b = 1\na = 2", at: "2:1"),
    .invalid("a.b = 1\na.b.c = 2", at: "2:3"), .invalid("a.b = 1\na.b = 2", at: "2:3"), .invalid("a. = 1", at: "1:4"),
    .invalid(".a = 1", at: "1:1"), .invalid("a..b = 1", at: "1:3"), .invalid("a.\nb = 1", at: "1:3"),
  ] as [TOMLCase])
func toml_dottedKey_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, String, basic: escapes, and no control characters but tab",
  arguments: [
    .valid(#"a = "say \"hi\"""#, "a=“say \"hi\"”"), .valid(#"a = """#, "a=“”"), .valid("a = \"é\t😀\"", "a=“é\t😀”"),
    .valid(#"a = "\b\t\n\f\r\"\\""#, "a=“\u{8}\t\n\u{c}\r\"\\”"),
    .valid(#"a = "\u00e9\U0001F600\u007f""#, "a=“é😀\u{7f}”"), .valid(#"a = "\\u0041 \u0041""#, #"a=“\u0041 A”"#),
    .valid(#"a = "\uD7FF\uE000\U0010FFFF""#, "a=“\u{d7ff}\u{e000}\u{10ffff}”"),
    .invalid(#"a = "\q""#, at: "1:6"), .invalid(#"a = "\x41""#, at: "1:6"), .invalid(#"a = "\u12g4""#, at: "1:6"),
    .invalid(#"a = "\u004""#, at: "1:6"), .invalid(#"a = "\ud800""#, at: "1:6"),
    .invalid(#"a = "\U00110000""#, at: "1:6"), .invalid(#"a = "\UFFFFFFFF""#, at: "1:6"),
    .invalid("a = \"x\ny\"", at: "1:5"), .invalid("a = \"x", at: "1:5"), .invalid("a = \"x\u{7f}\"", at: "1:7"),
    .invalid("a = \"x\u{1}\"", at: "1:7"), .invalid(#"a = "x\"#, at: "1:7"), .invalid(#"a = "x" y""#, at: "1:9"),
    .invalid(#"a = "\ ""#, at: "1:6"),
  ] as [TOMLCase])
func toml_basicString_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, String, multi-line basic: the first newline goes, a backslash joins lines, quotes need no escape",
  arguments: [
    .valid("a = \"\"\"\none\ntwo\"\"\"", "a=“one\ntwo”"), .valid("a = \"\"\"\r\none\r\ntwo\"\"\"", "a=“one\ntwo”"),
    .valid("a = \"\"\"\n\none\"\"\"", "a=“\none”"), .valid("a = \"\"\"one \\\n   two\"\"\"", "a=“one two”"),
    .valid("a = \"\"\"one\\  \n\n \t two\\\r\n\"\"\"", "a=“onetwo”"), .valid("a = \"\"\"\\\n\"\"\"", "a=“”"),
    .valid("a = \"\"\"\"\"\"", "a=“”"), .valid("a = \"\"\"one \"\" two\"\"\"", "a=“one \"\" two”"),
    .valid("a = \"\"\"\"one\"\"\"\"", "a=“\"one\"”"), .valid("a = \"\"\"\"\"one\"\"\"\"\"", "a=“\"\"one\"\"”"),
    .valid("a = \"\"\"x\\\"\"\"\\\"y\"\"\"", "a=“x\"\"\"\"y”"), .valid("a = \"\"\"\\u00e9\\n\"\"\"", "a=“é\n”"),
    .invalid("a = \"\"\"x", at: "1:5"), .invalid("a = \"\"\"x\"\"", at: "1:5"),
    .invalid("a = \"\"\"x\"\"\"\"\"\"", at: "1:14"), .invalid("a = \"\"\"x\"\"\"\"y\"\"\"", at: "1:13"),
    .invalid("a = \"\"\"x\\ y\"\"\"", at: "1:9"), .invalid("a = \"\"\"x\ry\"\"\"", at: "1:9"),
    .invalid("a = \"\"\"x\n\u{1}\"\"\"", at: "2:1"), .invalid("a = \"\"\"x\\\ry\"\"\"", at: "1:10"),
    .invalid("a = \"\"\"\\", at: "1:8"),
  ] as [TOMLCase])
func toml_multiLineBasicString_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, String, literal: what is written, on one line",
  arguments: [
    .valid(#"a = 'C:\Users\ann'"#, #"a=“C:\Users\ann”"#), .valid("a = ''", "a=“”"),
    .valid("a = 'say \"hi\"'", "a=“say \"hi\"”"),
    .valid(#"a = '\d+\u0041'"#, #"a=“\d+\u0041”"#), .valid("a = 'x\ty'", "a=“x\ty”"),
    .invalid("a = 'it's'", at: "1:9"), .invalid("a = 'x\n'", at: "1:5"), .invalid("a = 'x", at: "1:5"),
    .invalid("a = 'x\u{7f}'", at: "1:7"), .invalid("a = 'x\0'", at: "1:7"), .invalid("a = 'x\r'", at: "1:5"),
  ] as [TOMLCase])
func toml_literalString_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, String, multi-line literal: what is written, without the first newline",
  arguments: [
    .valid("a = '''\none\ntwo\n'''", "a=“one\ntwo\n”"), .valid("a = '''it's \\n'''", "a=“it's \\n”"),
    .valid("a = ''''one''''", "a=“'one'”"), .valid("a = '''''one'''''", "a=“''one''”"), .valid("a = ''''''", "a=“”"),
    .valid("a = '''x \\\n y'''", "a=“x \\\n y”"),
    .invalid("a = '''x", at: "1:5"), .invalid("a = '''x''", at: "1:5"), .invalid("a = '''x''''''", at: "1:14"),
    .invalid("a = '''x\u{1}'''", at: "1:9"), .invalid("a = '''x\ry'''", at: "1:9"),
  ] as [TOMLCase])
func toml_multiLineLiteralString_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Integer: signs, underscores between digits, three prefixes, 64 bits",
  arguments: [
    .valid("a = +99\nb = 42\nc = 0\nd = -17\ne = +0\nf = -0", "a=99 b=42 c=0 d=-17 e=0 f=0"),
    .valid("a = 1_000\nb = 5_349_221\nc = 1_2_3", "a=1000 b=5349221 c=123"),
    .valid("a = 0xDEADBEEF\nb = 0xdead_beef\nc = 0o0755\nd = 0b1101_0110", "a=3735928559 b=3735928559 c=493 d=214"),
    .valid("a = 9223372036854775807\nb = -9223372036854775808", "a=9223372036854775807 b=-9223372036854775808"),
    .valid("a = 0x7fff_ffff_ffff_ffff\nb = 0b0", "a=9223372036854775807 b=0"),
    .invalid("a = 9223372036854775808", at: "1:5"), .invalid("a = -9223372036854775809", at: "1:5"),
    .invalid("a = 0x8000000000000000", at: "1:5"), .invalid("a = 01", at: "1:5"), .invalid("a = -01", at: "1:5"),
    .invalid("a = 0_1", at: "1:5"), .invalid("a = _1", at: "1:5"), .invalid("a = 1_", at: "1:5"),
    .invalid("a = 1__0", at: "1:5"), .invalid("a = +0x1", at: "1:5"), .invalid("a = 0x", at: "1:5"),
    .invalid("a = 0x_1", at: "1:5"), .invalid("a = 0X1", at: "1:5"), .invalid("a = 0o8", at: "1:5"),
    .invalid("a = 0b2", at: "1:5"), .invalid("a = 0x-1", at: "1:5"), .invalid("a = --1", at: "1:5"),
    .invalid("a = + 1", at: "1:5"), .invalid("a = 1 000", at: "1:7"), .invalid("a = 1k", at: "1:5"),
  ] as [TOMLCase])
func toml_integer_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Float: a fraction, an exponent or both; inf and nan",
  arguments: [
    .valid("a = +1.0\nb = 3.1415\nc = -0.01", "a=1.0 b=3.1415 c=-0.01"),
    .valid("a = 5e+22\nb = 1E06\nc = -2e-2\nd = 1e0_1", "a=5e+22 b=1000000.0 c=-0.02 d=10.0"),
    .valid("a = 6.626e-34\nb = 224_617.445_991\nc = 0e0", "a=6.626e-34 b=224617.445991 c=0.0"),
    .valid("a = 0.0\nb = -0.0\nc = +0.0", "a=0.0 b=-0.0 c=0.0"),
    .valid("a = inf\nb = +inf\nc = -inf", "a=inf b=inf c=-inf"),
    .valid("a = nan\nb = +nan\nc = -nan", "a=nan b=nan c=nan"),
    .invalid("a = .7", at: "1:5"), .invalid("a = 7.", at: "1:5"), .invalid("a = 3.e+20", at: "1:5"),
    .invalid("a = 1e", at: "1:5"), .invalid("a = 1e1.5", at: "1:5"), .invalid("a = 1_.5", at: "1:5"),
    .invalid("a = 1._5", at: "1:5"), .invalid("a = 1.5_", at: "1:5"), .invalid("a = 1e_5", at: "1:5"),
    .invalid("a = 01.5", at: "1:5"), .invalid("a = 1.2.3", at: "1:5"), .invalid("a = 1e2e3", at: "1:5"),
    .invalid("a = Inf", at: "1:5"), .invalid("a = NaN", at: "1:5"), .invalid("a = infinity", at: "1:5"),
    .invalid("a = 1,5", at: "1:6"), .invalid("a = 0x1.8", at: "1:5"), .invalid("a = 1e+-2", at: "1:5"),
  ] as [TOMLCase])
func toml_float_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Boolean: true and false in lower case",
  arguments: [
    .valid("a = true\nb = false", "a=true b=false"),
    .invalid("a = True", at: "1:5"), .invalid("a = FALSE", at: "1:5"), .invalid("a = truer", at: "1:5"),
    .invalid("a = yes", at: "1:5"), .invalid("a = t", at: "1:5"),
  ] as [TOMLCase])
func toml_boolean_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Offset Date-Time: after RFC 3339, the T may be a space",
  arguments: [
    .valid("a = 1979-05-27T07:32:00Z", "a=date"), .valid("a = 1979-05-27T00:32:00-07:00", "a=date"),
    .valid("a = 1979-05-27T00:32:00.999999+07:00", "a=date"), .valid("a = 1979-05-27 07:32:00Z # at", "a=date"),
    .valid("a = 1979-05-27t07:32:00z", "a=date"), .valid("a = [1979-05-27 07:32:00Z, 1]", "a=[date 1]"),
    .invalid("a = 79-05-27T07:32:00Z", at: "1:5"), .invalid("a = 1979-05-27  07:32:00Z", at: "1:17"),
  ] as [TOMLCase])
func toml_offsetDateTime_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Local Date-Time: a date and a time without an offset",
  arguments: [
    .valid("a = 1979-05-27T07:32:00", "a=date"), .valid("a = 1979-05-27T00:32:00.999999", "a=date"),
    .valid("a = 1979-05-27 07:32:00\nb = 1", "a=date b=1"), .invalid("a = 1979-05-27 x", at: "1:16"),
  ] as [TOMLCase])
func toml_localDateTime_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Local Date: year, month and day",
  arguments: [
    .valid("a = 1979-05-27", "a=date"), .valid("a = 1979-05-27 # c", "a=date"),
    .valid("a = {b = 1979-05-27 }", "a={b=date}"),
    .invalid("a = 1979/05/27", at: "1:9"), .invalid("a = 12345-05-27", at: "1:5"),
  ] as [TOMLCase])
func toml_localDate_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Local Time: hours, minutes and seconds",
  arguments: [
    .valid("a = 07:32:00", "a=date"), .valid("a = 00:32:00.999999", "a=date"), .invalid("a = 7:32:00", at: "1:5"),
  ] as [TOMLCase])
func toml_localTime_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test("docs/configuration.md: dates and times are recognized by their first part, and the rest is not checked")
func toml_dateThatDoesNotExist_isADate() {
  for text in ["a = 2023-02-30", "a = 25:61:61", "a = 1979-05-27T", "a = 1979-05-27x"] {
    TOMLCase.valid(text, "a=date").check()
  }
}

@Test(
  "TOML, Array: values of any types, over any lines, with a comma after the last one or none",
  arguments: [
    .valid("a = []", "a=[]"), .valid("a = [ 1, 2, 3 ]", "a=[1 2 3]"),
    .valid("a = [[1, 2], ['a', \"b\"]]", "a=[[1 2] [“a” “b”]]"),
    .valid("a = [1, 2.0, 'x', true, {b = 1}, [07:32:00]]", "a=[1 2.0 “x” true {b=1} [date]]"),
    .valid("a = [\n  1, # one\n\n  2,\r\n  # end\n]", "a=[1 2]"), .valid("a = [1,]", "a=[1]"),
    .valid("a = ['''\n]\n''', \"]\"]", "a=[“]\n” “]”]"),
    .invalid("a = [1 2]", at: "1:8"), .invalid("a = [,]", at: "1:6"), .invalid("a = [1,,2]", at: "1:8"),
    .invalid("a = [1", at: "1:7"), .invalid("a = [", at: "1:6"), .invalid("a = [1]]", at: "1:8"),
    .invalid("a = ]", at: "1:5"),
    .invalid("a = [b = 1]", at: "1:6"), .invalid("a = [1 # ]", at: "1:11"),
  ] as [TOMLCase])
func toml_array_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Table: a header begins one, in any order, and each only once",
  arguments: [
    .valid("[a]", "a={}"), .valid("x = 0\n[a]\nx = 1\n[b]\nx = 2", "a={x=1} b={x=2} x=0"),
    .valid("[a.\"b.c\"]\nx = 1", "a={b.c={x=1}}"), .valid("[ a . 'é' ]\n[\ta.c\t]", "a={c={} é={}}"),
    .valid("[a.b.c]\n[a]\nx = 1", "a={b={c={}} x=1}"), .valid("[a.b]\n[c]\n[a.d]", "a={b={} d={}} c={}"),
    .valid("[a]\nb.c = 1\n[a.b.d]\nx = 1", "a={b={c=1 d={x=1}}}"), .valid("a.b = 1\n[a.c]\nx = 1", "a={b=1 c={x=1}}"),
    .valid("['']", "={}"), .valid("[1.2]\n[true]", "1={2={}} true={}"), .valid("[a]\n[a.a]\na = 1", "a={a={a=1}}"),
    .invalid("[a]\n[a]", at: "2:2"), .invalid("[a]\nb = 1\n[a.b]", at: "3:4"), .invalid("[a.b]\n[a]\nb = 1", at: "3:1"),
    .invalid("[a.b]\n[a]\nb.c = 1", at: "3:1"), .invalid("[a]\nb.c = 1\n[a.b]", at: "3:4"),
    .invalid("a.b = 1\n[a]", at: "2:2"), .invalid("a = 1\n[a.b]", at: "2:2"),
    .invalid("[a.b.c]\n[a]\nb.c.d = 1", at: "3:1"),
    .invalid("[]", at: "1:2"), .invalid("[a.]", at: "1:4"), .invalid("[a..b]", at: "1:4"), .invalid("[.a]", at: "1:2"),
    .invalid("[a", at: "1:3"), .invalid("[a]]", at: "1:4"), .invalid("[a] b = 1", at: "1:5"),
    .invalid("[a\n]", at: "1:3"),
    .invalid("[a b]", at: "1:4"), .invalid("[?]", at: "1:2"), .invalid("[\"\"\"a\"\"\"]", at: "1:2"),
    .invalid("[a] [b]", at: "1:5"), .invalid("[[a] ]", at: "1:5"), .invalid("[ [a]]", at: "1:3"),
  ] as [TOMLCase])
func toml_table_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Inline Table: on one line, without a comma at the end, and complete at its brace",
  arguments: [
    .valid("a = {}", "a={}"), .valid("a = { x = 1, 'y z' = {} }", "a={x=1 y z={}}"),
    .valid("a = { b.c = 1, b.d = 2 }", "a={b={c=1 d=2}}"),
    .valid("a = { b = [\n1,\n], c = '''\nx''' }", "a={b=[1] c=“x”}"),
    .valid("a = [{x = 1}, {x = 2}]", "a=[{x=1} {x=2}]"),
    .invalid("a = { x = 1, }", at: "1:14"), .invalid("a = {,}", at: "1:6"), .invalid("a = { x = 1 y = 2 }", at: "1:13"),
    .invalid("a = {\nx = 1 }", at: "1:6"), .invalid("a = { x = 1,\ny = 2 }", at: "1:13"),
    .invalid("a = { x = 1\n}", at: "1:12"),
    .invalid("a = { x = 1 # c }", at: "1:13"), .invalid("a = { x = 1", at: "1:12"),
    .invalid("a = { x = 1, x = 2 }", at: "1:14"),
    .invalid("a = { x = 1 }\na.y = 2", at: "2:1"), .invalid("a = {}\n[a]", at: "2:2"),
    .invalid("a = {}\n[a.b]", at: "2:2"),
    .invalid("[a]\nx = 1\n[b]\nc = {}\n[b.c]", at: "5:4"), .invalid("[a]\nb.c = 1\nb = {}", at: "3:1"),
    .invalid("a = { b = {}, b.c = 1 }", at: "1:15"), .invalid("a = { b.c = 1, b = {} }", at: "1:16"),
    .invalid("a = { x }", at: "1:9"), .invalid("a = { [b] }", at: "1:7"),
  ] as [TOMLCase])
func toml_inlineTable_isReadAsSpecified(_ document: TOMLCase) { document.check() }

@Test(
  "TOML, Array of Tables: a header in double brackets adds an element, to which later headers refer",
  arguments: [
    .valid("[[a]]\nx = 1\n[[a]]\n[[a]]\nx = 3", "a=[{x=1} {} {x=3}]"),
    .valid("[[a]]\n[a.b]\nx = 1\n[[a]]\n[a.b]\nx = 2", "a=[{b={x=1}} {b={x=2}}]"),
    .valid("[[a]]\n[[a.b]]\nx = 1\n[[a.b]]\nx = 2\n[[a]]\n[[a.b]]\nx = 3", "a=[{b=[{x=1} {x=2}]} {b=[{x=3}]}]"),
    .valid("[[ a . b ]]\n[a]\nx = 1", "a={b=[{}] x=1}"), .valid("[[a]]\n[b]\n[[a]]\n", "a=[{} {}] b={}"),
    .valid("[[a]]\nb.c = 1\n[a.d]", "a=[{b={c=1} d={}}]"),
    .invalid("a = []\n[[a]]", at: "2:3"), .invalid("a = [{}]\n[[a]]", at: "2:3"), .invalid("[[a]]\n[a]", at: "2:2"),
    .invalid("[a]\n[[a]]", at: "2:3"), .invalid("[a.b]\n[[a]]", at: "2:3"),
    .invalid("[[a]]\n[[a.b]]\n[a.b]", at: "3:4"),
    .invalid("[[a]]\n[a.b]\n[[a.b]]", at: "3:5"), .invalid("a = [{x = 1}]\n[a.b]", at: "2:2"),
    .invalid("[[a.b]]\n[a]\nb.c = 1", at: "3:1"), .invalid("[[a]]\nb = 1\n[[a.b]]", at: "3:5"),
    .invalid("a = 1\n[[a]]", at: "2:3"), .invalid("[[a]", at: "1:5"), .invalid("[[]]", at: "1:3"),
    .invalid("[[a]]]", at: "1:6"),
  ] as [TOMLCase])
func toml_arrayOfTables_isReadAsSpecified(_ document: TOMLCase) { document.check() }

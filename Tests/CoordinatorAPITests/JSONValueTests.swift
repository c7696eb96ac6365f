import CoordinatorAPI
import DBusValues
import PresentationModel
import Testing
import TextFormats

// Values from JSON and JSON from values: the types that a text gets, and the mistakes that are reported.

private func sameTypeAndValue(_ a: Value, _ b: Value) -> Bool { a.type == b.type && a == b }

@Test(
  arguments: [
    ("1", Value.int64(1)), ("-1", .int64(-1)), ("9223372036854775808", .uint64(1 << 63)), ("1.0", .double(1)),
    ("true", .boolean(true)), ("\"x\"", .string("x")),
    ("[]", .array(element: .variant, [])),
    ("[1,\"x\"]", .array(element: .variant, [.variant(.int64(1)), .variant(.string("x"))])),
    ("{\"a\":{}}", ["a": Properties().value].value),
  ] as [(String, Value)])
func value_ofJSONWithoutAType_isAsTheContractSays(text: String, value: Value) throws {
  #expect(sameTypeAndValue(try Value(JSON.parse(text)), value))
}

@Test(
  arguments: [
    ("255", "y", Value.byte(255)), ("-5", "n", .int16(-5)), ("5", "q", .uint16(5)), ("-5", "i", .int32(-5)),
    ("5", "u", .uint32(5)), ("-5", "x", .int64(-5)), ("18446744073709551615", "t", .uint64(.max)),
    ("5", "d", .double(5)), ("18446744073709551615", "d", .double(0x1p64)), ("5.5", "d", .double(5.5)),
    ("false", "b", .boolean(false)), ("\"s\"", "s", .string("s")), ("\"/a\"", "o", .objectPath("/a")),
    ("17", "o", .objectPath("/org/navd/Coordinator1/presentation/17")), ("\"a{sv}\"", "g", .signature("a{sv}")),
    ("3", "v", .variant(.int64(3))), ("\"é\"", "ay", .bytes([0xC3, 0xA9])), ("[1,2]", "ay", .bytes([1, 2])),
    ("[]", "ay", .bytes([])), ("[\"a\",\"b\"]", "as", ["a", "b"].value), ("[\"a\"]", "aay", [[UInt8(97)]].value),
    ("{\"a\":\"b\"}", "a{ss}", ["a": "b"].value), ("{\"7\":true}", "a{ub}", [UInt32(7): true].value),
    ("{\"a\":1}", "a{sv}", ["a": Value.int64(1)].value), ("{}", "a{sv}", Properties().value),
    ("[\"fact\",\"1\",{}]", "(ssa{sv})", Structure("fact", "1", Properties()).value),
    ("[[\"x\",[1]]]", "a(sav)", [Structure("x", [Value.int64(1)])].value),
  ] as [(String, String, Value)])
func value_ofJSONByItsType_isOfThatType(text: String, type: String, value: Value) throws {
  let type = try #require(Signature(text: type)).types[0]
  #expect(sameTypeAndValue(try Value(JSON.parse(text), as: type), value))
}

@Test(
  arguments: [
    ("256", "y", "", "expected 0 to 255 (y), found 256"), ("-1", "t", "", "found -1"),
    ("2147483648", "i", "", "found 2147483648"), ("18446744073709551615", "x", "", "found 18446744073709551615"),
    ("1.0", "u", "", "expected an integer (u), found a real number"), ("1", "b", "", "expected true or false"),
    ("1", "s", "", "expected a string (s), found an integer"), ("\"a\"", "d", "", "expected a number"),
    ("null", "v", "", "null cannot be sent"), ("null", "s", "", "found null"),
    ("\"no path\"", "o", "", "expected an object path"),
    ("-1", "o", "", "expected the number of a presentation"), ("\"{\"", "g", "", "expected a D-Bus signature"),
    ("1", "h", "", "descriptor"),
    ("[1,256]", "ay", "[1]", "found 256"), ("[\"a\",1]", "as", "[1]", "expected a string"),
    ("{\"a\":{\"b\":null}}", "a{sv}", "[\"a\"][\"b\"]", "null"), ("[]", "a{sv}", "", "expected an object"),
    ("{\"x\":1}", "a{us}", "[\"x\"]", "expected an integer"), ("[\"a\"]", "(ss)", "", "a list of 2 ((ss)), found 1"),
    ("[[\"a\",1]]", "a(ss)", "[0][1]", "expected a string"), ("\"\\u0000\"", "s", "", "U+0000"),
    ("{\"\\u0000\":1}", "a{sv}", "[\"\\u0000\"]", "U+0000"), ("{\"a\":\"\\u0000\"}", "v", "[\"a\"]", "U+0000"),
  ] as [(String, String, String, String)])
func value_ofJSONOfAnotherType_namesPositionAndExpectedType(
  text: String, type: String, path: String, why: String
) throws {
  let type = try #require(Signature(text: type)).types[0]
  let mismatch = try #require(throws: JSON.Mismatch.self) { try Value(JSON.parse(text), as: type) }
  #expect(mismatch.description.hasPrefix(path.isEmpty ? mismatch.why : path + ": "))
  #expect(mismatch.why.contains(why), "\(mismatch)")
}

@Test(
  arguments: [
    ("plain text", "s", Value.string("plain text")), ("3", "s", .string("3")), ("3", "u", .uint32(3)),
    ("3", "v", .variant(.int64(3))), ("\"3\"", "v", .variant(.string("3"))), ("[1,2]", "au", [UInt32(1), 2].value),
    ("a b", "ay", .bytes(Array("a b".utf8))), ("true", "b", .boolean(true)), ("/a/b", "o", .objectPath("/a/b")),
  ] as [(String, String, Value)])
func value_ofAWordByItsType_isTextOrJSON(word: String, type: String, value: Value) throws {
  let type = try #require(Signature(text: type)).types[0]
  #expect(sameTypeAndValue(try Value(argument: word, as: type), value))
}

@Test func value_ofAWordThatIsNotJSON_namesTheExpectedType() throws {
  let mismatch = try #require(throws: JSON.Mismatch.self) { try Value(argument: "three", as: .uint32) }
  #expect(mismatch.why.contains("expected an integer (u) as JSON: line 1, column 1"))
}

@Test(
  arguments: [
    (Value.byte(1), "1"), (.int64(.min), "-9223372036854775808"), (.uint64(.max), "18446744073709551615"),
    (.double(1), "1.0"), (.double(.nan), "null"), (.boolean(true), "true"), (.string("a\"b"), #""a\"b""#),
    (.objectPath("/a"), "\"/a\""), (.signature("a{sv}"), "\"a{sv}\""), (.variant(.variant(.byte(3))), "3"),
    (.bytes(Array("ok\n".utf8)), #""ok\n""#), (.bytes([0x61, 0xFF, 0x62]), "\"a\u{FFFD}b\""),
    (.array(element: .variant, [.variant(.byte(1)), .variant(.string("x"))]), #"[1,"x"]"#),
    (.structure([.string("x"), .boolean(false)]), #"["x",false]"#), (["b": Value.byte(1)].value, #"{"b":1}"#),
    ([UInt32(7): "seven"].value, #"{"7":"seven"}"#),
    (
      .dictionary(
        key: .double, value: .byte,
        [.double(.nan): .byte(1), .double(.infinity): .byte(2), .double(-.infinity): .byte(3), .double(1): .byte(4)]),
      #"{"-inf":3,"1.0":4,"inf":2,"nan":1}"#
    ),
  ] as [(Value, String)])
func json_ofAValue_showsIt(value: Value, text: String) {
  #expect(JSON(value).text == text)
}

@Test func json_ofProperties_hasNoVariants() {
  #expect(JSON(["a": .variant(.byte(1)), "b": .string("c")] as Properties).text == #"{"a":1,"b":"c"}"#)
}

extension Signature {
  /// Parses a text at run time. `Signature(_:)` with an interpolated literal would choose the literal initializer.
  fileprivate init?(text: String) { self.init(text) }
}

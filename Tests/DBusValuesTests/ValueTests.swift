import DBusValues
import Glibc
import Testing

// Values of the bus: equality, types, sizes and depths.

private let integersOfSeven: [Value] = [
  .byte(7), .int16(7), .uint16(7), .int32(7), .uint32(7), .int64(7), .uint64(7),
]

@Test("P2: integers compare by number whatever their width")
func equality_integers_areComparedByNumber() {
  for a in integersOfSeven {
    for b in integersOfSeven {
      #expect(a == b)
      #expect(a.hashValue == b.hashValue)
    }
    #expect(a != .double(7))
    #expect(a != .boolean(true))
    #expect(a != .string("7"))
  }
  #expect(Value.int64(-1) != .uint64(.max))
  #expect(Value.int64(.min) == .int64(.min))
  #expect(Value.uint64(.max) != .int64(.max))
}

@Test("P2: NaN equals NaN")
func equality_doubles_treatNaNAsItself() {
  #expect(Value.double(.nan) == .double(-.nan))
  #expect(Value.double(.nan).hashValue == Value.double(.signalingNaN).hashValue)
  #expect(Value.double(0) == .double(-0.0))
  #expect(Value.double(0).hashValue == Value.double(-0.0).hashValue)
  #expect(Value.double(1) != .double(2))
}

@Test("P2: dictionaries compare without order")
func equality_dictionaries_ignoreOrderAndWidth() {
  let a = ["x": Value.int32(1), "y": .string("z")].value
  let b = ["y": Value.string("z"), "x": .uint64(1)].value
  #expect(a == b)
  #expect(a.hashValue == b.hashValue)
  #expect(a != ["x": Value.int32(1)].value)
  #expect(a != ["x": Value.int32(2), "y": .string("z")].value)
}

@Test("P2: bytes equal an array of the same numbers, of any integer type")
func equality_bytes_equalArraysOfTheSameNumbers() {
  let bytes = Value.bytes([1, 2])
  let arrays: [Value] = [
    .array(element: .byte, [.byte(1), .byte(2)]), .array(element: .int32, [.int32(1), .int32(2)]),
  ]
  for array in arrays {
    #expect(bytes == array)
    #expect(array == bytes)
    #expect(bytes.hashValue == array.hashValue)
  }
  #expect(bytes != .array(element: .byte, [.byte(1)]))
  #expect(bytes != .array(element: .string, [.string("1"), .string("2")]))
}

@Test func equality_strings_areComparedByBytes() {
  // These strings are canonically equivalent but different texts; a change from one to the other must not be lost.
  #expect(Value.string("\u{e9}") != .string("e\u{301}"))
  #expect(Value.string("a").hashValue == Value.string("a").hashValue)
}

@Test func equality_kinds_doNotMix() {
  let all: [Value] = [
    .byte(1), .boolean(true), .double(1), .string("/"), .objectPath("/"), .signature("s"), .variant(.byte(1)),
    .bytes([1]), ["a": Value.byte(1)].value, .structure([.byte(1)]),
  ]
  for (i, a) in all.enumerated() { for (j, b) in all.enumerated() { #expect((a == b) == (i == j)) } }
  #expect(Value.structure([.byte(1)]) == .structure([.int64(1)]))
  #expect(Value.variant(.byte(1)) == .variant(.uint16(1)))
}

@Test func type_ofEveryValue_isItsSignature() {
  let pairs: [(Value, String)] = [
    (.byte(1), "y"), (.boolean(true), "b"), (.int16(1), "n"), (.uint16(1), "q"), (.int32(1), "i"), (.uint32(1), "u"),
    (.int64(1), "x"), (.uint64(1), "t"), (.double(1), "d"), (.string(""), "s"), (.objectPath("/"), "o"),
    (.signature(""), "g"), (.variant(.byte(1)), "v"), (.bytes([]), "ay"), (.array(element: .string, []), "as"),
    (Properties().value, "a{sv}"), (.structure([.byte(1), .string("")]), "(ys)"),
    (.descriptor(Descriptor(owning: dup(0))), "h"),
  ]
  for (value, signature) in pairs { #expect(value.type.signature == signature) }
}

@Test func byteCount_isAboutTheMarshalledSize() {
  #expect(Value.string("abc").byteCount == 8)
  #expect(Value.bytes([1, 2, 3]).byteCount == 7)
  #expect(Value.array(element: .uint32, [.uint32(1), .uint32(2)]).byteCount == 12)
  #expect(["ab": Value.boolean(true)].value.byteCount == 4 + 7 + 3 + 4)
}

@Test func depth_countsContainersAndVariants() {
  #expect(Value.byte(1).depth == 0)
  #expect(Value.variant(.byte(1)).depth == 1)
  #expect(["a": Value.bytes([])].value.depth == 4)
  #expect(Value.structure([.array(element: .string, [])]).depth == 2)
}

@Test func descriptor_lastCopyGone_isClosed() {
  let number = dup(0)
  var values = [Value.descriptor(Descriptor(owning: number))]
  values.append(values[0])
  #expect(values[0] == values[1])
  values.removeFirst()
  #expect(fcntl(number, F_GETFD) >= 0)
}

@Test("P2: both forms of a{sv} are equal") func value_propertiesAndDictionary_areEqualAndHashAlike() {
  let kept: Value = .properties(["a": .int32(1), "b": .properties([:])])
  let spelt: Value = .dictionary(
    key: .string, value: .variant,
    [.string("a"): .variant(.byte(1)), .string("b"): .variant(.dictionary(key: .string, value: .variant, [:]))])
  #expect(kept == spelt && spelt == kept)
  #expect(kept.hashValue == spelt.hashValue)
  #expect(kept.type == spelt.type && kept.depth == spelt.depth)
  #expect(kept.byteCount >= spelt.byteCount)
  #expect(kept != .properties(["a": .int32(2), "b": .properties([:])]))
  #expect(Properties(value: spelt) == Properties(value: kept))
  #expect(Properties(value: kept)?.value == kept)
  #expect([String: UInt8](value: kept) == nil)
}

@Test func dictionary_keysThatSwiftComparesAsEqual_areBothKept() {
  // One key has an é of one scalar, the other an é of two.
  let entries: [Value: Value] = [.string("\u{e9}"): .variant(.byte(1)), .string("e\u{301}"): .variant(.byte(2))]
  guard case .dictionary(_, _, let same) = Value(key: .string, value: .variant, entries) else {
    Issue.record("one of the keys is lost")
    return
  }
  #expect(same == entries)
}

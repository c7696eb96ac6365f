import DBusValues
import Testing

// Conversions between types of Swift and values of the bus.

private func roundTrip<T: ValueConvertible & Equatable>(_ original: T, as signature: String) {
  #expect(T.valueType.signature == signature)
  #expect(original.value.type.signature == signature)
  #expect(T(value: original.value) == original)
  #expect(T(value: .structure([])) == nil)
}

@Test func basicTypes_convertedBothWays_areTheSame() {
  roundTrip(true, as: "b")
  roundTrip(UInt8.max, as: "y")
  roundTrip(Int16.min, as: "n")
  roundTrip(UInt16.max, as: "q")
  roundTrip(Int32.min, as: "i")
  roundTrip(UInt32.max, as: "u")
  roundTrip(Int64.min, as: "x")
  roundTrip(UInt64.max, as: "t")
  roundTrip(1.5, as: "d")
  roundTrip("text", as: "s")
  roundTrip(ObjectPath.root, as: "o")
  roundTrip(Signature("a{sv}"), as: "g")
}

@Test func containers_convertedBothWays_areTheSame() {
  roundTrip(["a", "b"], as: "as")
  roundTrip([String](), as: "as")
  roundTrip([[UInt8]]([[1, 2], []]), as: "aay")
  roundTrip([UInt8]([1, 2]), as: "ay")
  roundTrip([[Value.int32(1)], []], as: "aav")
  roundTrip(["a": Value.bytes([1]), "b": .boolean(false)], as: "a{sv}")
  roundTrip(["LANG": "C"], as: "a{ss}")
  roundTrip(["limit": UInt64(1)], as: "a{st}")
  #expect([UInt8](value: .bytes([1])) == [1])
  #expect([UInt8](value: .array(element: .byte, [.byte(1)])) == [1])
  #expect([UInt8]([1]).value.type == .array(.byte))
}

@Test func wrongType_isRefused() {
  #expect(UInt32(value: .int32(1)) == nil)
  #expect(String(value: .objectPath("/")) == nil)
  #expect([String](value: .array(element: .int32, [])) == nil)
  #expect([String](value: .bytes([1])) == nil)
  #expect([UInt32](value: .bytes([1])) == nil)
  #expect([String](value: .bytes([])) == nil)
  #expect(Properties(value: ["a": "b"].value) == nil)
  #expect(Value(value: .int32(1)) == nil)
}

@Test func value_asAnArgument_isAVariant() {
  #expect(Value.valueType == .variant)
  #expect(Value.int32(1).value.type == .variant)
  #expect(Value(value: .variant(.int32(1))) == .int32(1))
}

@Test func structure_convertedBothWays_isTheSame() throws {
  typealias Element = Structure<String, String, Properties>
  let list = [Element("fact", "1", ["a": .byte(1)]), Element("note", "", [:])]
  #expect([Element].valueType.signature == "a(ssa{sv})")
  #expect(list.value.type.signature == "a(ssa{sv})")
  let back = try #require([Element](value: list.value))
  #expect(back.count == 2)
  #expect(back[0].fields.0 == "fact")
  #expect(back[0].fields.1 == "1")
  #expect(back[0].fields.2 == ["a": .byte(1)])
  #expect(Element(value: .structure([.string("a"), .string("b")])) == nil)
  #expect(Structure<String>(value: .structure([.string("a"), .string("b")])) == nil)
  #expect(Structure<String>(value: .structure([.byte(1)])) == nil)
}

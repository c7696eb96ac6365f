import DBusValues
import Testing

// Conversions between the integer types of the bus.

private let integerTypes: [ValueType] = [.byte, .int16, .uint16, .int32, .uint32, .int64, .uint64]

@Test func integer_thatFits_isConvertedToEveryType() throws {
  let numbers: [Value] = [
    .byte(100), .int16(100), .uint16(100), .int32(100), .uint32(100), .int64(100), .uint64(100), .double(100),
  ]
  for number in numbers {
    for type in integerTypes {
      let converted = try #require(number.integer(as: type))
      #expect(converted.type == type && converted == .byte(100))
    }
    for type in [ValueType.double, .string, .boolean, .variant] { #expect(number.integer(as: type) == nil) }
  }
}

@Test(
  arguments: [
    (.int32(256), .byte), (.int32(-1), .byte), (.int64(-1), .uint64), (.uint64(.max), .int64), (.double(1.5), .int64),
    (.double(.nan), .int64), (.double(.infinity), .uint64), (.double(-1e300), .int64), (.uint16(40000), .int16),
    (.string("1"), .byte), (.boolean(true), .byte), (.variant(.byte(1)), .byte),
  ] as [(Value, ValueType)])
func integer_thatDoesNotFit_isNotConverted(value: Value, type: ValueType) {
  #expect(value.integer(as: type) == nil)
}

@Test func integerRange_isThatOfTheType() {
  #expect(ValueType.byte.integerRange == "0 to 255")
  #expect(ValueType.int16.integerRange == "-32768 to 32767")
  for type in [ValueType.double, .boolean, .string, .variant] { #expect(type.integerRange == nil) }
}

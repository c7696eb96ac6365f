import DBusValues
import Testing

@testable import DBus

// Argument lists, which are written from the memory of tuples.

/// The elements of a tuple have other sizes and alignments in memory than on the bus.
@Test func argumentList_elementsOfDifferentSizes_areWrittenAsOneByOne() throws {
  let list = ArgumentList(
    Arg<UInt8>("a"), Arg<UInt64>("b"), Arg<Bool>("c"), Arg<String>("d"), Arg<UInt16>("e"), Arg<Double>("f"),
    Arg<ObjectPath>("g"), Arg<Properties>("h"), Arg<UInt8>("i"), Arg<Int32>("j"))
  var values: (UInt8, UInt64, Bool, String, UInt16, Double, ObjectPath, Properties, UInt8, Int32) = (
    1, .max, true, "a text that is longer than fifteen bytes", 3, 4.5, "/a", ["k": .uint32(7)], 9, -2
  )
  var written = MessageWriter()
  try list.write(&values, to: &written)

  var expected = MessageWriter()
  try expected.append(values.0)
  try expected.append(values.1)
  try expected.append(values.2)
  try expected.append(values.3)
  try expected.append(values.4)
  try expected.append(values.5)
  try expected.append(values.6)
  try expected.append(values.7)
  try expected.append(values.8)
  try expected.append(values.9)
  #expect(Array(written.bytes) == Array(expected.bytes))
}

@Test func argumentList_oneArgument_isNoTuple() throws {
  var value = "text"
  var written = MessageWriter()
  try ArgumentList(Arg<String>("a")).write(&value, to: &written)
  var expected = MessageWriter()
  try expected.text("text")
  #expect(Array(written.bytes) == Array(expected.bytes))
}

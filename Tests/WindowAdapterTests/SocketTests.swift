import Testing

@testable import WindowAdapter

// Lines and numbers from the sockets of compositors.

@Test func lines_inAnyPieces_areReadWhole() {
  let bytes = Array("one\n\ntwo three\nfour".utf8)
  for size in [1, 2, 4, 5, bytes.count] {
    var reader = LineReader(limit: 9)
    var found: [String?] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      reader.take(bytes[start..<min(start + size, bytes.count)])
      while let line = reader.next() { found.append(line.map { String(decoding: $0, as: UTF8.self) }) }
    }
    #expect(found == ["one", "", "two three"])
  }
}

@Test func lines_thatAreTooLong_arePassedOverInAnyPieces() {
  let bytes = Array("before\n".utf8) + [UInt8](repeating: 0x20, count: 100) + Array("\nafter\n".utf8)
  for size in [1, 8, 9, 50, bytes.count] {
    var reader = LineReader(limit: 8)
    var found: [String?] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      reader.take(bytes[start..<min(start + size, bytes.count)])
      while let line = reader.next() { found.append(line.map { String(decoding: $0, as: UTF8.self) }) }
    }
    #expect(found == ["before", nil, "after"], "in pieces of \(size)")
  }
}

@Test("A number that a compositor uses again makes another id, even if the used numbers are forgotten")
func numberedIDs_ofANumberUsedAgain_areOthers() {
  var ids = NumberedIDs(token: "run", WindowIDs(), remembered: 3)
  #expect(ids.id(of: 7) == "run-7")
  #expect(ids.id(of: .max) == "run-18446744073709551615")
  ids.close(7)
  let (again, oncemore) = (ids.id(of: 7), ids.id(of: 7))
  #expect(again.hasPrefix("run-7-") && oncemore.hasPrefix("run-7-") && again != oncemore)
  #expect(ids.id(of: 5) == "run-5", "it may open later than those after it")
  for number: UInt64 in [8, 9, 10] { ids.close(number) }
  #expect(ids.id(of: 5) != "run-5" && ids.id(of: 10) != "run-10")
  #expect(ids.id(of: 11) == "run-11")
}

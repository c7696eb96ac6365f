import EventLoops
import Testing

/// The lines of a text that arrives in pieces; nil for each that is too long.
private func lines(of text: String, inPiecesOf size: Int, limit: Int) -> [String?] {
  let bytes = Array(text.utf8)
  var reader = LineReader(limit: limit)
  var found: [LineReader.Line] = []
  for start in stride(from: 0, to: bytes.count, by: size) {
    reader.take(bytes[start..<min(start + size, bytes.count)])
    while let line = reader.next() { found.append(line) }
  }
  if let line = reader.rest { found.append(line) }
  return found.map { line in line.map { String(decoding: $0, as: UTF8.self) } }
}

@Test(arguments: [1, 2, 4, 5, 100])
func lines_inAnyPieces_areReadWhole(size: Int) {
  #expect(lines(of: "one\n\ntwo three\nfour", inPiecesOf: size, limit: 9) == ["one", "", "two three", "four"])
  #expect(lines(of: "one\n", inPiecesOf: size, limit: 9) == ["one"])
  #expect(lines(of: "", inPiecesOf: size, limit: 9) == [])
}

@Test(arguments: [1, 8, 9, 50, 1000])
func lines_thatAreTooLong_arePassedOverInAnyPieces(size: Int) {
  let long = String(repeating: " ", count: 100)
  #expect(lines(of: "before\n\(long)\nafter\n", inPiecesOf: size, limit: 8) == ["before", nil, "after"])
  #expect(lines(of: "before\n\(long)", inPiecesOf: size, limit: 8) == ["before", nil])
}

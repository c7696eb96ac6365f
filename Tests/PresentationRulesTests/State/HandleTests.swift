import PresentationModel
import Testing

/// Hashes of handles in tables.
@Suite struct HandleTests {
  @Test(
    "Consecutive handles leave gaps in a table, at which the search for a missing one, and a removal, end",
    arguments: [1, 1000, 123_456_789] as [UInt64])
  func hash_consecutiveHandles_leaveGaps(first: UInt64) {
    let size = 1024
    var isTaken = Array(repeating: false, count: size)
    // The table is as full as a dictionary's table becomes.
    for number in first..<first + 768 {
      var bucket = Handle(number)._rawHashValue(seed: 0) & (size - 1)
      while isTaken[bucket] { bucket = (bucket + 1) % size }
      isTaken[bucket] = true
    }
    let longest = isTaken.split(separator: false).map(\.count).max() ?? 0
    #expect(longest < size / 8)
  }
}

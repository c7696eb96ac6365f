import PresentationModel
import Testing

@Suite struct HandleTests {
  @Test(
    "Consecutive handles and multiples of a power of two are spread in a table, so that looking one up takes few steps",
    arguments: 0..<46)
  func hash_multiplesOfPowerOfTwo_areSpread(exponent: Int) {
    let size = 1024
    var counts: [Int: Int] = [:]
    for factor in 0..<UInt64(size) {
      counts[Handle(factor << exponent)._rawHashValue(seed: 0) & (size - 1), default: 0] += 1
    }
    // Consecutive ones do not collide at all.
    #expect(counts.values.max()! <= (exponent == 0 ? 1 : 4))
  }
}

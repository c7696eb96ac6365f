import Glibc

/// A random number generator that repeats its numbers for the same seed (splitmix64), so that a failure can be
/// reproduced.
public struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Returns true with a given probability.
  public mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &self) < probability }

  /// Returns a random element.
  /// - Precondition: the array is not empty.
  public mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &self)]
  }

  /// The seed in `NAVD_SEED`, to repeat a run; otherwise a random one.
  public static var chosenSeed: UInt64 {
    getenv("NAVD_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1..<1 << 32)
  }
}

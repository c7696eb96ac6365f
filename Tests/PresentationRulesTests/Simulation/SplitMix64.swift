// Why this file exists: a simulation is a number that anyone can replay, so its dice are our own and depend on nothing
// but that number.

/// Steele, Lea and Flood's generator: small, fast, and good enough for dice.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// Dice for one step of one world: what is thrown in a step does not depend on how many were thrown before, so that
  /// steps can be left out.
  init(seed: UInt64, step: Int) {
    var mixed = SplitMix64(seed: seed &+ UInt64(truncatingIfNeeded: step) &* 0xd134_2543_de82_ef95)
    state = mixed.next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// 0 ..< count; `count` is small, so that the bias does not matter.
  mutating func below(_ count: Int) -> Int { Int(truncatingIfNeeded: next() % UInt64(count)) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }

  /// One of the choices, each as often as its weight says.
  mutating func pick<Element>(weighted choices: [(Int, Element)]) -> Element {
    var rest = below(choices.reduce(0) { $0 + $1.0 })
    for (weight, element) in choices {
      if rest < weight { return element }
      rest -= weight
    }
    return choices[0].1
  }
}

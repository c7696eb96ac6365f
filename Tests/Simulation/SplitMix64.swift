/// The random numbers (“dice”) of a simulation: the generator of Steele, Lea and Flood. A run depends on nothing but its
/// seed, so that it can be repeated.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// The dice of one step of a world. They do not depend on earlier steps, so that steps can be left out.
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

  /// A number in 0 ..< count; `count` is small, so that the bias does not matter.
  mutating func below(_ count: Int) -> Int { Int(truncatingIfNeeded: next() % UInt64(count)) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }

  /// One of the choices, with probabilities by their weights.
  mutating func pick<Element>(weighted choices: [(Int, Element)]) -> Element {
    var rest = below(choices.reduce(0) { $0 + $1.0 })
    for (weight, element) in choices {
      if rest < weight { return element }
      rest -= weight
    }
    return choices[0].1
  }
}

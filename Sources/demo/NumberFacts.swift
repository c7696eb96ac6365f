// Why this file exists: an example that asks a server for its facts would need one.

/// What can be said of a number.
enum NumberFacts {
  static func fact(about number: Int) -> String {
    guard number > 1 else { return few[number] ?? "\(number) is as far below nothing as \(-number) is above it." }
    let divisors = (1...number).filter { number.isMultiple(of: $0) }
    if divisors.count == 2 { return "\(number) is prime." }
    if divisors.count.isMultiple(of: 2) { return "\(number) has \(divisors.count) divisors: \(list(divisors))." }
    return "\(number) is the square of \(divisors[divisors.count / 2])."
  }

  private static let few = [0: "0 is what there is before anybody counts.", 1: "1 divides every number."]

  private static func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }
}

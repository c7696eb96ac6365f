/// Facts about numbers, computed here so that the example needs no server.
enum NumberFacts {
  static func fact(about number: Int) -> String {
    guard number > 1 else { return small[number] ?? "\(number) is as far below 0 as \(-number) is above it." }
    let divisors = (1...number).filter { number.isMultiple(of: $0) }
    if divisors.count == 2 { return "\(number) is prime." }
    if divisors.count.isMultiple(of: 2) { return "\(number) has \(divisors.count) divisors: \(list(divisors))." }
    return "\(number) is the square of \(divisors[divisors.count / 2])."
  }

  private static let small = [0: "0 is a multiple of every number.", 1: "1 divides every number."]

  private static func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }
}

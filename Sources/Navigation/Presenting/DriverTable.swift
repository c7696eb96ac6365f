/// A slot or a stack on the bus, as the subject of a driver.
enum DrivenSubject: Hashable {
  /// The slot of a binding.
  case slot(String)
  /// The slots of a stack: `name[0]`, `name[1]`, …
  case stack(String)

  var name: String {
    switch self {
    case .slot(let name), .stack(let name): name
    }
  }
}

/// Drivers in the order of their creation. They are found by their subjects, at a cost that does not grow with their number.
@MainActor
struct DriverTable {
  private var last = 0
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var byNumber: [Int: any Driver] = [:]
  /// The numbers of drivers, in the order of creation. A subject almost always has one.
  private var bySubject: [DrivenSubject: [Int]] = [:]

  /// All drivers, in the order of creation.
  var inOrder: [any Driver] { byNumber.keys.sorted().compactMap { byNumber[$0] } }

  /// The given drivers that are in the table, in the order of creation.
  func inOrder(_ some: Set<ObjectIdentifier>) -> [any Driver] {
    some.compactMap { numbers[$0] }.sorted().compactMap { byNumber[$0] }
  }

  /// The drivers of a binding, in the order of creation.
  subscript(binding: String) -> [any Driver] {
    var found = bySubject[.slot(binding)] ?? []
    if let (stack, _) = StackElement.parts(of: binding), let others = bySubject[.stack(stack)] {
      found = (found + others).sorted()
    }
    return found.compactMap { byNumber[$0] }
  }

  /// The first driver of a subject.
  func first(of subject: DrivenSubject) -> (any Driver)? { bySubject[subject]?.first.flatMap { byNumber[$0] } }

  /// The last driver of a subject.
  func last(of subject: DrivenSubject) -> (any Driver)? { bySubject[subject]?.last.flatMap { byNumber[$0] } }

  func contains(_ driver: any Driver) -> Bool { numbers[ObjectIdentifier(driver)] != nil }

  mutating func add(_ driver: any Driver) {
    last += 1
    numbers[ObjectIdentifier(driver)] = last
    byNumber[last] = driver
    bySubject[driver.subject, default: []].append(last)
  }

  /// - Returns: whether the table had the driver.
  @discardableResult
  mutating func remove(_ driver: any Driver) -> Bool {
    guard let number = numbers.removeValue(forKey: ObjectIdentifier(driver)) else { return false }
    byNumber[number] = nil
    bySubject[driver.subject]?.removeAll { $0 == number }
    if bySubject[driver.subject]?.isEmpty == true { bySubject[driver.subject] = nil }
    return true
  }
}

/// The bindings of a stack's elements.
enum StackElement {
  static func binding(_ stack: String, _ index: Int) -> String { "\(stack)[\(index)]" }

  /// The stack and the position; nil if the binding does not belong to an element.
  static func parts(of binding: String) -> (stack: String, index: Int)? {
    guard binding.utf8.last == UInt8(ascii: "]"), let bracket = binding.utf8.lastIndex(of: UInt8(ascii: "[")),
      let index = Int(binding[binding.utf8.index(after: bracket)...].dropLast())
    else { return nil }
    return (String(binding[..<bracket]), index)
  }
}

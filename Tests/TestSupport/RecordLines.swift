import TextFormats

/// The lines of a record's file, and damage after which they are still JSON.
public struct RecordLines {
  public var lines: [JSON]

  /// - Returns: nil if the bytes are no lines of JSON.
  public init?(_ bytes: [UInt8]) {
    lines = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let json = try? JSON.parse(Array(line), depth: 200) else { return nil }
      lines.append(json)
    }
  }

  public var bytes: [UInt8] { lines.flatMap { Array($0.text.utf8) + [UInt8(ascii: "\n")] } }

  /// A file that is damaged in some places: mostly in its rows.
  public func damaged(_ dice: inout SeededNumbers) -> [UInt8] {
    var copy = self
    let values = lines.flatMap(Self.values)
    for _ in 0..<Int.random(in: 1...3, using: &dice) { copy.strike(with: values, &dice) }
    var bytes = copy.bytes
    guard !bytes.isEmpty else { return bytes }
    if dice.chance(0.1) {
      bytes[Int.random(in: bytes.indices, using: &dice)] ^= UInt8.random(in: 1...255, using: &dice)
    }
    if dice.chance(0.05) { bytes.removeLast(Int.random(in: 1...bytes.count, using: &dice)) }
    return bytes
  }

  private mutating func strike(with values: [JSON], _ dice: inout SeededNumbers) {
    guard !lines.isEmpty else { return }
    let (one, two) = (Int.random(in: lines.indices, using: &dice), Int.random(in: lines.indices, using: &dice))
    switch Int.random(in: 0..<30, using: &dice) {
    case 0: lines.remove(at: one)
    case 1: lines.insert(lines[one], at: two)
    case 2: lines.swapAt(one, two)
    default: lines[one] = Self.struck(lines[one], with: values, &dice)
    }
  }

  /// A value in which one value is another one, or one member is missing, has another name or is there twice.
  private static func struck(_ json: JSON, with values: [JSON], _ dice: inout SeededNumbers) -> JSON {
    switch json {
    case .object(var members) where !members.isEmpty:
      let name = dice.pick(members.keys.sorted())
      switch Int.random(in: 0..<12, using: &dice) {
      case 0: members[name] = nil
      case 1: members[text(of: dice.pick(values))] = members[name]
      case 2: members[name] = members[dice.pick(members.keys.sorted())]
      default: members[name] = struck(members[name]!, with: values, &dice)
      }
      return .object(members)
    case .array(var elements) where !elements.isEmpty && dice.chance(0.9):
      let index = Int.random(in: elements.indices, using: &dice)
      if dice.chance(0.1) {
        elements.remove(at: index)
      } else {
        elements[index] = struck(elements[index], with: values, &dice)
      }
      return .array(elements)
    default:
      // Handles and serials of other rows are the numbers that are most likely to be accepted.
      if dice.chance(0.5) { return dice.pick(values) }
      let large = dice.pick([0, 1, 2, UInt64(Int64.max), 1 << 63, .max])
      return dice.pick([JSON(large), -1, .real(1.5), true, .null, "", "x", "a\0b", [], .object([:])])
    }
  }

  private static func text(of json: JSON) -> String { json.string ?? json.text }

  /// The values in a value that contain no others.
  private static func values(_ json: JSON) -> [JSON] {
    switch json {
    case .object(let members): members.sorted { $0.key < $1.key }.flatMap { values($0.value) }
    case .array(let elements): elements.flatMap(values)
    default: [json]
    }
  }
}

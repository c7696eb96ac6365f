import CoordinatorAPI
import CoordinatorCore
import TextFormats

/// Reads the keys of one TOML table, and collects every mistake with its position.
struct TableReader {
  private static let maxFaults = 20

  /// The table's name in messages, such as “a destination”.
  let name: String
  let file: String
  /// The position of mistakes in the table as a whole; nil for the file's top level.
  let position: TextPosition?
  private(set) var faults: [FileFault] = []
  private let table: [String: TOMLNode]
  private var known: [String] = []
  private let advice: (_ key: String, TOMLNode) -> String?

  /// - Parameter advice: the hint for a key that the table does not have: it is another table's, or another program's.
  init(
    _ table: [String: TOMLNode], name: String, file: String, position: TextPosition? = nil,
    advice: @escaping (_ key: String, TOMLNode) -> String? = { _, _ in nil }
  ) {
    self.table = table
    self.name = name
    self.file = file
    self.position = position
    self.advice = advice
  }

  mutating func fault(_ position: TextPosition?, _ message: String) {
    faults.append(FileFault(file, position, message))
  }

  /// Reports a key whose value has another type.
  mutating func expected(_ expected: String, at key: String, found node: TOMLNode) {
    fault(node.position, "“\(key)”: expected \(expected), found \(node.kind)")
  }

  mutating func add(_ others: [FileFault]) { faults += others }

  /// The value of a key that is read later.
  func node(_ key: String) -> TOMLNode? { table[key] }

  /// The value of a key, of any type.
  mutating func take(_ key: String) -> TOMLNode? {
    known.append(key)
    return table[key]
  }

  /// The text of a key; nil if the key is missing, or has another type, which is a fault.
  /// - Parameter example: a valid value, as written in a file.
  mutating func text(_ key: String, example: String) -> (text: String, position: TextPosition)? {
    guard let node = take(key) else { return nil }
    guard case .string(let text) = node.content else {
      expected("a string such as \(key) = \(example)", at: key, found: node)
      return nil
    }
    return (text, node.position)
  }

  /// The value of a key that has one of a few words; nil if the key is missing, or has another
  /// value, which is a fault.
  mutating func choice(_ key: String, of words: [String], example: String) -> String? {
    guard let (text, position) = text(key, example: example) else { return nil }
    if words.contains(text) { return text }
    fault(position, "“\(key)”: expected \(Self.alternatives(words)), found \(quoted(text))")
    return nil
  }

  /// The case with the word of a key; nil if the key is absent, or has another word, which is a fault.
  mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(_ key: String, example: String) -> Choice? {
    choice(key, of: Choice.allCases.map(\.rawValue), example: example).flatMap(Choice.init)
  }

  /// The words as in a sentence: `“a”, “b” or “c”`.
  static func alternatives(_ words: [String]) -> String {
    let words = words.map { "“\($0)”" }
    return words.dropLast().joined(separator: ", ") + " or " + words.last!
  }

  /// The entries of a table; nil if the node is no table, which is a fault.
  mutating func entries(of node: TOMLNode, at key: String, _ expectation: String) -> [String: TOMLNode]? {
    if case .table(let entries) = node.content { return entries }
    expected(expectation, at: key, found: node)
    return nil
  }

  /// The boolean of a key.
  /// - Parameter defaultValue: returned if the key is missing.
  /// - Returns: nil if the key has another type, which is a fault.
  mutating func bool(_ key: String, default defaultValue: Bool? = nil) -> Bool? {
    guard let node = take(key) else { return defaultValue }
    guard case .boolean(let bool) = node.content else {
      expected("true or false", at: key, found: node)
      return nil
    }
    return bool
  }

  /// The number of a key; nil if the key is missing, or the number is not in the range, which is a fault.
  mutating func number(_ key: String, in range: ClosedRange<UInt32>, example: String) -> UInt32? {
    guard let node = take(key) else { return nil }
    guard case .integer(let found) = node.content else {
      expected("a number such as \(key) = \(example)", at: key, found: node)
      return nil
    }
    guard let number = UInt32(exactly: found), range.contains(number) else {
      fault(node.position, "“\(key)”: expected \(range.lowerBound) to \(range.upperBound), found \(found)")
      return nil
    }
    return number
  }

  /// The value parsed from the text of a key; nil if the key is missing, or the text is not valid, which is a fault.
  mutating func value<Value>(
    _ key: String, example: String, _ parse: (String) throws(Invalid) -> Value
  ) -> Value? {
    guard let (text, position) = text(key, example: example) else { return nil }
    return value(of: text, at: position, for: key, example: example, parse)
  }

  /// The value parsed from a text that belongs to a key; nil if the text is not valid, which is a fault.
  mutating func value<Value>(
    of text: String, at position: TextPosition, for key: String, example: String,
    _ parse: (String) throws(Invalid) -> Value
  ) -> Value? {
    do {
      return try parse(text)
    } catch {
      // A value that was probably meant says more than an example.
      fault(position, "“\(key)”: \(error.why)" + (error.why.hasSuffix("?") ? "" : ", for example \(key) = \(example)"))
      return nil
    }
  }

  /// The value parsed from the text of a key that must be there.
  mutating func required<Value>(
    _ key: String, example: String, _ parse: (String) throws(Invalid) -> Value
  ) -> Value? {
    let before = faults.count
    let value = value(key, example: example, parse)
    if value == nil, faults.count == before {
      fault(position, "“\(name)” has no “\(key)”; add one, for example \(key) = \(example)")
    }
    return value
  }

  /// The expectation that a key's text does not meet; an example follows: `expected an object path, found “x”`.
  struct Invalid: Error {
    let why: String
    init(_ why: String) { self.why = why }
    init(expected: String, found: String) { why = "expected \(expected), found \(quoted(found))" }
  }

  /// Reports every key that was not read. Call it last.
  /// - Returns: all faults, in the order of the file; only the first ones if there are very many.
  mutating func finish() -> [FileFault] {
    for (key, node) in table where !known.contains(key) {
      let hint =
        advice(key, node) ?? nearest(to: key, among: known).map { "did you mean “\($0)”?" }
        ?? "use one of \(known.joined(separator: ", "))"
      fault(node.position, "\(quoted(key)) is not a key of \(name); \(hint)")
    }
    let sorted = faults.sorted {
      ($0.position ?? TextPosition(), $0.message) < ($1.position ?? TextPosition(), $1.message)
    }
    guard sorted.count > Self.maxFaults else { return sorted }
    return sorted.prefix(Self.maxFaults) + [FileFault(file, nil, "\(sorted.count - Self.maxFaults) more mistakes")]
  }
}

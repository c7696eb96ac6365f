// Why this file exists: every table of every file is read alike: each key by the one type that it may have, all mistakes
// told, and what nobody asked for refused with the name that was probably meant.

import CoordinatorAPI
import CoordinatorCore
import TextFormats

/// Takes the keys of one table, one by one, and collects what is wrong.
struct TableReader {
  /// How many mistakes one table is told of.
  private static let mostFaults = 20

  /// What messages call the table, as in “a destination”.
  let name: String
  let file: String
  /// What is said of the table as a whole is said of this place; nil is the whole file.
  let position: TextPosition?
  private(set) var faults: [FileFault] = []
  private let table: [String: TOMLNode]
  private var known: [String] = []

  init(_ table: [String: TOMLNode], name: String, file: String, position: TextPosition? = nil) {
    self.table = table
    self.name = name
    self.file = file
    self.position = position
  }

  mutating func fault(_ position: TextPosition?, _ message: String) {
    faults.append(FileFault(file, position, message))
  }

  mutating func add(_ others: [FileFault]) { faults += others }

  /// What stands at a key, of whatever type.
  mutating func take(_ key: String) -> TOMLNode? {
    known.append(key)
    return table[key]
  }

  /// The text at a key; nil where there is none, or where something else stands, which is a fault.
  /// - Parameter example: what would do, as it stands in a file.
  mutating func text(_ key: String, example: String) -> (text: String, position: TextPosition)? {
    guard let node = take(key) else { return nil }
    guard case .string(let text) = node.content else {
      fault(node.position, "“\(key)” is \(node.kind); a string such as \(key) = \(example) would do")
      return nil
    }
    return (text, node.position)
  }

  /// Whether a key says yes.
  /// - Parameter standard: where it is not there.
  /// - Returns: nil where something else stands, which is a fault.
  mutating func truth(_ key: String, default standard: Bool) -> Bool? {
    guard let node = take(key) else { return standard }
    guard case .boolean(let truth) = node.content else {
      fault(node.position, "“\(key)” is \(node.kind); \(key) = \(!standard) would do")
      return nil
    }
    return truth
  }

  /// The text at a key, read as something that has to be valid.
  /// - Parameter read: says what is wrong with a text, beginning with a verb.
  mutating func value<Value>(
    _ key: String, example: String, _ read: (String) throws(Invalid) -> Value
  ) -> Value? {
    guard let (text, position) = text(key, example: example) else { return nil }
    do {
      return try read(text)
    } catch {
      fault(position, "“\(key)” \(error.why); \(key) = \(example) would do")
      return nil
    }
  }

  /// The same of a key that has to be there.
  mutating func required<Value>(
    _ key: String, example: String, _ read: (String) throws(Invalid) -> Value
  ) -> Value? {
    let before = faults.count
    let value = value(key, example: example, read)
    if value == nil, faults.count == before {
      fault(position, "“\(name)” has no “\(key)”; \(key) = \(example) would do")
    }
    return value
  }

  /// Why a text is not what a key wants, as the rest of a sentence that begins with the key.
  struct Invalid: Error {
    let why: String
    init(_ why: String) { self.why = why }
  }

  /// Refuses the keys that nobody took; the last thing to be asked of it.
  /// - Returns: all faults, in the order of the file; of very many, the first.
  mutating func finish() -> [FileFault] {
    for (key, node) in table where !known.contains(key) {
      let hint =
        nearest(to: key, among: known).map { "did you mean “\($0)”?" }
        ?? "one of \(known.joined(separator: ", ")) would do"
      fault(node.position, "\(quoted(key)) is no key of \(name); \(hint)")
    }
    let sorted = faults.sorted {
      ($0.position ?? TextPosition(), $0.message) < ($1.position ?? TextPosition(), $1.message)
    }
    guard sorted.count > Self.mostFaults else { return sorted }
    return sorted.prefix(Self.mostFaults) + [
      FileFault(file, nil, "\(sorted.count - Self.mostFaults) more mistakes")
    ]
  }
}

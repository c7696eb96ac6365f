import DBusValues
import TextFormats

/// Keys of an `a{sv}` dictionary: the options of a method, or the content of its reply.
public struct OptionTable: Sendable {
  public struct Row: Sendable {
    public let name: String
    /// The accepted types, the usual one first.
    public let types: [ValueType]
    public let doc: String

    fileprivate var signatures: String { types.signatures }
  }

  /// The rows in the order of the documentation.
  public let rows: [Row]

  public init(_ rows: [Row]) { self.rows = rows }

  public static func + (a: OptionTable, b: OptionTable) -> OptionTable { OptionTable(a.rows + b.rows) }

  // A linear search: the tables are short, and making a dictionary for each would slow every start down.
  public subscript(name: String) -> Row? { rows.first { $0.name == name } }

  /// Checks the names and types of options, not their values.
  /// - Throws: `Refusal` with the code `invalidArgument` for the first fault in the order of the names.
  public func check(_ options: Properties) throws(Refusal) {
    for (name, value) in options.sorted(by: { $0.key < $1.key }) {
      guard let row = self[name] else { throw unknown(name) }
      if let mistake = value.mistake(as: row.types) {
        throw Refusal(.invalidArgument, "option \(quoted(name)): \(mistake)")
      }
    }
  }

  /// The text for the documentation: a line for each option.
  public var doc: String { rows.map { "\($0.name) (\($0.signatures)): \($0.doc)" }.joined(separator: "\n") }

  package func unknown(_ name: String) -> Refusal {
    let known = rows.map(\.name).joined(separator: ", ")
    return Refusal(
      .invalidArgument,
      "unknown option \(quoted(name)); " + (known.isEmpty ? "expected none" : "known: \(known)"))
  }
}

extension [ValueType] {
  fileprivate var signatures: String { map(\.signature).joined(separator: " or ") }
}

extension Value {
  /// The reason why this is not a value of one of these types; nil if it is one. An integer may have any integer type if its value
  /// fits, and so may a double without a fraction: ``DictionaryKey`` and ``integer(as:)`` convert it.
  package func mistake(as types: [ValueType]) -> String? {
    if types.contains(type) { return nil }
    if let integer = types.first(where: { $0.integerRange != nil }), let range = integer.integerRange, let numberText {
      return self.integer(as: integer) == nil ? "expected an integer from \(range), found \(numberText)" : nil
    }
    return "expected the type \(types.signatures), found \(type.signature)"
  }
}

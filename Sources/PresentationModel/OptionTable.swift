import DBusValues
import TextFormats

/// The options that a method takes.
public struct OptionTable: Sendable {
  public struct Row: Sendable {
    public let name: String
    /// The types that are accepted, the usual one first.
    public let types: [ValueType]
    public let doc: String

    fileprivate var signatures: String { types.map(\.signature).joined(separator: " or ") }
  }

  /// In the order of the documentation.
  public let rows: [Row]
  private let index: [String: Int]

  public init(_ rows: [Row]) {
    self.rows = rows
    index = Dictionary(rows.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  public static func + (a: OptionTable, b: OptionTable) -> OptionTable { OptionTable(a.rows + b.rows) }

  public subscript(name: String) -> Row? { index[name].map { rows[$0] } }

  /// Checks names and types, not what the values mean.
  /// - Throws: `InvalidArgument`, for the first offender in the order of the names.
  public func check(_ options: Properties) throws(Refusal) {
    for (name, value) in options.sorted(by: { $0.key < $1.key }) {
      guard let row = self[name] else { throw unknown(name) }
      guard row.types.contains(value.type) else {
        throw Refusal(
          .invalidArgument,
          "option \(quoted(name)): expected the type \(row.signatures), found \(value.type.signature)")
      }
    }
  }

  /// The table in words, one option a line, for documentation.
  public var doc: String { rows.map { "\($0.name) (\($0.signatures)): \($0.doc)" }.joined(separator: "\n") }

  /// Names and types, for documentation: “style (s), title (s)”.
  public var namesAndTypes: String { rows.map { "\($0.name) (\($0.signatures))" }.joined(separator: ", ") }

  package func unknown(_ name: String) -> Refusal {
    let known = rows.map(\.name).joined(separator: ", ")
    return Refusal(
      .invalidArgument,
      "unknown option \(quoted(name)); " + (known.isEmpty ? "there are none here" : "known here: \(known)"))
  }
}

// Why this file exists: an option that a method does not know is refused by name, never ignored; daemon and navctl
// check by the same table.

import DBusValues
import TextFormats

/// One option: what it is called, as what it travels, what it means. `T` is the type by which code reads and sets it.
public struct OptionKey<T: ValueConvertible>: Sendable {
  public let name: String
  /// Types that are accepted beside `T`'s.
  public let alternatives: [ValueType]
  public let doc: String

  public init(_ name: String, alternatives: [ValueType] = [], doc: String) {
    self.name = name
    self.alternatives = alternatives
    self.doc = doc
  }

  /// Without the Swift type.
  public var row: OptionTable.Row { row(doc: doc) }

  /// The same for a method where it means something else.
  public func row(doc: String) -> OptionTable.Row {
    OptionTable.Row(name: name, types: [T.valueType] + alternatives, doc: doc)
  }
}

/// The options that a method takes.
public struct OptionTable: Sendable {
  public struct Row: Sendable {
    public let name: String
    /// The types that are accepted, the usual one first.
    public let types: [ValueType]
    public let doc: String
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
  public func check(_ options: Properties) throws(CoordinatorError) {
    for (name, value) in options.sorted(by: { $0.key < $1.key }) {
      guard let row = self[name] else { throw unknown(name) }
      guard row.types.contains(value.type) else {
        throw CoordinatorError(
          .invalidArgument,
          "option \(quoted(name)) is of type \(value.type.signature); \(row.signatures) would do")
      }
    }
  }

  /// Reads options from JSON, each by its declared type.
  /// - Throws: `Mismatch` for a name that is not in the table, or a value that fits no type of its row.
  public func options(_ json: JSON) throws(JSON.Mismatch) -> Properties {
    guard let members = json.object else {
      throw JSON.Mismatch(why: "expected an object of options, found \(json.kind)")
    }
    var options: Properties = [:]
    for (name, member) in members.sorted(by: { $0.key < $1.key }) {
      guard let row = self[name] else {
        throw JSON.Mismatch(path: [.member(name)], why: unknown(name).message)
      }
      do throws(JSON.Mismatch) { options[name] = try row.value(member) } catch { throw error.inside(.member(name)) }
    }
    return options
  }

  /// The table in words, one option a line, for documentation.
  public var doc: String { rows.map { "\($0.name) (\($0.signatures)): \($0.doc)" }.joined(separator: "\n") }

  private func unknown(_ name: String) -> CoordinatorError {
    let known = rows.map(\.name).joined(separator: ", ")
    return CoordinatorError(
      .invalidArgument,
      "unknown option \(quoted(name)); " + (known.isEmpty ? "there are none here" : "known here: \(known)"))
  }
}

extension OptionTable.Row {
  fileprivate var signatures: String { types.map(\.signature).joined(separator: " or ") }

  /// By the first of the types that fits; the mistake told is that of the first.
  fileprivate func value(_ json: JSON) throws(JSON.Mismatch) -> Value {
    var mistake: JSON.Mismatch?
    for type in types {
      do throws(JSON.Mismatch) { return try Value(json, as: type) } catch { mistake = mistake ?? error }
    }
    throw mistake ?? JSON.Mismatch(why: "option \(name) takes no value")
  }
}

extension Properties {
  /// The option as its Swift type; nil where it is not given, or is of one of the alternative types.
  @inlinable public subscript<T>(option: OptionKey<T>) -> T? {
    get { self[option.name].flatMap { T(value: $0) } }
    set { self[option.name] = newValue?.value }
  }
}

// Why this file exists: what is on record are rows of tables; on its way there a row is bytes for a while (Journal.swift),
// and this is what both have in common.

/// The tables, in the order in which they are written: a memory goes to a presentation that is there.
enum Table: UInt8, CaseIterable {
  case numbers = 1
  case session
  case presentation
  case memory
  case changed
  case tag
  case ending
  case containerValue
  case registration
}

/// What stands in one column of a row.
enum Column: Hashable {
  case integer(Int64)
  case text(String)
  case blob([UInt8])
  case null

  /// A number without a sign, which SQLite does not have: its bits.
  static func bits(_ number: UInt64) -> Column { .integer(Int64(bitPattern: number)) }
  static func bits(_ number: UInt64?) -> Column { number.map(bits) ?? .null }
}

/// A row as it is to stand in its table, or that it is to stand there no more.
struct TableRow {
  /// Which row it is.
  struct Key: Hashable {
    let table: Table
    let number: Int64
    let name: String
    let detail: String

    init(_ table: Table, number: Int64 = 0, name: String = "", detail: String = "") {
      self.table = table
      self.number = number
      self.name = name
      self.detail = detail
    }

    /// The columns that say so.
    var columns: [Column] {
      switch table {
      case .numbers, .session, .presentation, .memory, .ending: [.integer(number)]
      case .changed: [.integer(number), .text(name)]
      case .tag: [.text(name), .text(detail)]
      case .containerValue, .registration: [.text(name)]
      }
    }
  }

  let key: Key
  /// What it holds beside its key; nil: there is to be no such row.
  let content: [Column]?

  init(_ key: Key, _ content: [Column]?) {
    self.key = key
    self.content = content
  }
}

// MARK: As bytes

extension TableRow {
  /// What stands for the count of columns where the row is to go.
  private static let gone = UInt8.max

  func write(to body: inout BodyWriter) {
    body.put(key.table.rawValue)
    body.put(key.number)
    body.put(key.name)
    body.put(key.detail)
    guard let content else { return body.put(Self.gone) }
    body.put(content)
  }

  /// The rows of a turn.
  static func all(in turn: [UInt8]) throws(Unreadable) -> [TableRow] {
    var body = BodyReader(turn)
    var rows: [TableRow] = []
    while !body.isAtEnd { rows.append(try TableRow(reading: &body)) }
    return rows
  }

  private init(reading body: inout BodyReader) throws(Unreadable) {
    let code = try body.number(UInt8.self)
    guard let table = Table(rawValue: code) else { throw Unreadable("there is no table \(code)") }
    key = Key(table, number: try body.number(), name: try body.text(), detail: try body.text())
    let count = try body.number(UInt8.self)
    content = count == Self.gone ? nil : try body.columns(count)
  }
}

extension BodyWriter {
  fileprivate mutating func put(_ columns: [Column]) {
    put(UInt8(columns.count))
    for column in columns {
      switch column {
      case .null: put(UInt8(0))
      case .integer(let number):
        put(UInt8(1))
        put(number)
      case .text(let text):
        put(UInt8(2))
        put(text)
      case .blob(let bytes):
        put(UInt8(3))
        put(bytes)
      }
    }
  }
}

extension BodyReader {
  fileprivate mutating func columns(_ count: UInt8) throws(Unreadable) -> [Column] {
    var columns: [Column] = []
    for _ in 0..<count {
      switch try number(UInt8.self) {
      case 0: columns.append(.null)
      case 1: columns.append(.integer(try number()))
      case 2: columns.append(.text(try text()))
      case 3: columns.append(.blob(try someBytes()))
      case let other: throw Unreadable("there is no column of the kind \(other)")
      }
    }
    return columns
  }
}

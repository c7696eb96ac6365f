// Why this file exists: a commit is a handful of short statements in every turn, and most of what one of them took went
// into arguments as objects and into parsing BEGIN and COMMIT; so these few go to SQLite directly. GRDB opens, migrates,
// reads, and owns the statements.

import GRDB
import GRDBSQLite

/// A statement that writes, run again and again.
struct PreparedStatement {
  enum Column {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    /// A number without a sign, which SQLite does not have: its bits.
    static func bits(_ number: UInt64) -> Column { .integer(Int64(bitPattern: number)) }
    static func bits(_ number: UInt64?) -> Column { number.map(bits) ?? .null }
  }

  private let statement: Statement
  private let connection: OpaquePointer?

  init(_ database: Database, _ sql: String) throws {
    statement = try database.makeStatement(sql: sql)
    connection = database.sqliteConnection
  }

  /// - Parameter columns: as many as the statement has places.
  func run(_ columns: Column...) throws {
    let raw = statement.sqliteStatement
    for (index, column) in columns.enumerated() { bind(column, at: CInt(index + 1), of: raw) }
    let result = sqlite3_step(raw)
    sqlite3_reset(raw)
    guard result == SQLITE_DONE else {
      throw DatabaseError(
        resultCode: ResultCode(rawValue: result), message: sqlite3_errmsg(connection).map { String(cString: $0) })
    }
  }

  private func bind(_ column: Column, at index: CInt, of raw: OpaquePointer) {
    switch column {
    case .integer(let number): sqlite3_bind_int64(raw, index, number)
    case .text(var text):
      text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { bytes in
          _ = sqlite3_bind_text(raw, index, bytes.baseAddress, CInt(bytes.count), Self.copied)
        }
      }
    // A place without an address would be null.
    case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(raw, index, 0)
    case .blob(let bytes):
      _ = bytes.withUnsafeBytes { sqlite3_bind_blob(raw, index, $0.baseAddress, CInt($0.count), Self.copied) }
    case .null: sqlite3_bind_null(raw, index)
    }
  }

  /// SQLITE_TRANSIENT, which is a cast that Swift does not import.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

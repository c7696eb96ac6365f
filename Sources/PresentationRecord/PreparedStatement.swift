// Why this file exists: folding the journal runs a statement for each of thousands of rows while clients wait, and most of what
// it took went into arguments as objects; so what writes goes to SQLite directly. GRDB opens, migrates, reads, and owns the
// statements and the queue that they run on.

import GRDB
import GRDBSQLite

/// A statement that writes, run again and again.
struct PreparedStatement {
  private let statement: Statement
  private let connection: OpaquePointer?
  private let places: Int

  init(_ database: Database, _ sql: String) throws {
    statement = try database.makeStatement(sql: sql)
    connection = database.sqliteConnection
    places = Int(sqlite3_bind_parameter_count(statement.sqliteStatement))
  }

  /// - Parameters:
  ///   - key, content: together as many as the statement has places; what is read from a broken record may be less.
  func run(_ key: [Column] = [], _ content: [Column] = []) throws {
    let count = key.count + content.count
    guard count == places else { throw Unreadable("a row has \(count) columns, not \(places)") }
    let raw = statement.sqliteStatement
    for (index, column) in key.enumerated() { bind(column, at: CInt(index + 1), of: raw) }
    for (index, column) in content.enumerated() { bind(column, at: CInt(key.count + index + 1), of: raw) }
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

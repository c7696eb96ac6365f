// Why this file exists: how a row gets into each of the tables, and out of it.

import GRDB

/// The statements that write the tables of one database.
struct TableWriter {
  /// By the numbers of the tables.
  private let set: [PreparedStatement?]
  private let drop: [PreparedStatement?]

  init(_ database: Database) throws {
    func prepared(_ sql: [Table: String]) throws -> [PreparedStatement?] {
      try (0...Table.registration.rawValue).map { number in
        try Table(rawValue: number).flatMap { sql[$0] }.map { try PreparedStatement(database, $0) }
      }
    }
    set = try prepared(Self.setting)
    drop = try prepared(Self.dropping)
  }

  /// - Parameter content: nil: there is to be no such row.
  func write(_ key: TableRow.Key, _ content: [Column]?) throws {
    if let content {
      try set[Int(key.table.rawValue)]?.run(key.columns, content)
    } else {
      try drop[Int(key.table.rawValue)]?.run(key.columns)
    }
  }

  /// The columns of the key first.
  private static let setting: [Table: String] = [
    .numbers: "INSERT OR REPLACE INTO numbers VALUES (?, ?, ?, ?, ?)",
    .session: "INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?)",
    .presentation: """
    INSERT INTO presentation (handle, binding, id, phase, body) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (handle) DO UPDATE SET phase = excluded.phase, body = excluded.body
    """,
    .memory: "UPDATE presentation SET memory = ?2 WHERE handle = ?1",
    .changed: "INSERT OR REPLACE INTO changed VALUES (?, ?, ?, ?, ?)",
    .tag: "INSERT OR REPLACE INTO tag VALUES (?, ?, ?, ?, ?, ?)",
    .ending: "INSERT OR REPLACE INTO ending VALUES (?, ?, ?, ?, ?, ?)",
    .containerValue: "INSERT OR REPLACE INTO containerValue VALUES (?, ?)",
    .registration: "INSERT OR REPLACE INTO registration VALUES (?, ?)",
  ]

  /// What is never taken away is not here.
  private static let dropping: [Table: String] = [
    .presentation: "DELETE FROM presentation WHERE handle = ?",
    .changed: "DELETE FROM changed WHERE kind = ? AND name = ?",
    .tag: "DELETE FROM tag WHERE groupName = ? AND tag = ?",
    .ending: "DELETE FROM ending WHERE handle = ?",
    .registration: "DELETE FROM registration WHERE destination = ?",
  ]
}

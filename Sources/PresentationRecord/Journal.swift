// Why this file exists: a commit costs by the pages that it touches, and what one turn changes is rows of five tables, on as
// many pages. So a turn is a body in a file, the journal, and now and then the journal is folded into the tables.

import GRDB
import PresentationModel
import PresentationRules

/// The turns that are not yet folded into the tables.
final class Journal {
  /// From which length on it is folded. What changed in every turn is written to its table once then, and of the endings
  /// only those that are still remembered.
  private static let limit = (turns: 4000, bytes: 2 << 20)

  private let file: JournalFile
  private let database: Database
  private let tables: TableWriter
  private let begin: PreparedStatement
  private let end: PreparedStatement
  private let undo: PreparedStatement
  private var turns = 0
  /// Whether it is to be folded since that failed before.
  private var isOverdue = false
  /// What the journal holds of each row, as it came last; nil: the row goes.
  private var latest: [TableRow.Key: [Column]?] = [:]
  /// The numbers of the presentations and endings that are in their tables, once that is known. Most come and go while a
  /// journal lasts, and never get there.
  private var stored: [Table: Set<Int64>] = [:]

  init(_ database: Database, in file: JournalFile) throws {
    self.database = database
    self.file = file
    tables = try TableWriter(database)
    begin = try PreparedStatement(database, "BEGIN IMMEDIATE")
    end = try PreparedStatement(database, "COMMIT")
    undo = try PreparedStatement(database, "ROLLBACK")
  }

  /// Whether a navd before has left nothing in it.
  var isEmpty: Bool { file.isEmpty }

  var isLong: Bool { isOverdue || turns >= Self.limit.turns || file.length >= Self.limit.bytes }

  /// Puts rows on record, all or none.
  func append(_ rows: [TableRow]) throws {
    var body = BodyWriter(capacity: 1024)
    for row in rows { row.write(to: &body) }
    try file.append(body.bytes)
    turns += 1
    for row in rows { note(row) }
  }

  private func note(_ row: TableRow) {
    if row.content == nil, stored[row.key.table]?.contains(row.key.number) == false {
      latest[row.key] = nil
    } else {
      latest.updateValue(row.content, forKey: row.key)
    }
  }

  /// Brings the tables up to date, and empties the journal. Where that cannot be kept for now, it stays as it is.
  func fold() throws { try fold {} }

  /// Folds what a navd before left.
  /// - Returns: what the tables hold then.
  func restore() throws -> Record.Content {
    for turn in try file.bodies() { for row in try TableRow.all(in: turn) { note(row) } }
    let content = try fold { try Record.Content(database) }
    stored = [
      .presentation: Set(content.state.presentations.keys.map { Int64(bitPattern: $0.number) }),
      .ending: Set(content.state.endings.keys.map { Int64(bitPattern: $0.number) }),
    ]
    return content
  }

  private func fold<Content>(_ read: () throws -> Content) throws -> Content {
    let content: Content
    try begin.run()
    do {
      for (key, content) in latest where key.table != .memory { try tables.write(key, content) }
      // Those of presentations that are in their table now.
      for (key, content) in latest where key.table == .memory { try tables.write(key, content) }
      content = try read()
    } catch {
      undoAll()
      throw error
    }
    do {
      try end.run()
      for (key, content) in latest {
        if content == nil { stored[key.table]?.remove(key.number) } else { stored[key.table]?.insert(key.number) }
      }
      latest.removeAll(keepingCapacity: true)
      turns = 0
      // What is folded twice, since navd was killed here, is the same: a row says how it is to stand, and the last one holds.
      try file.clear()
      isOverdue = false
    } catch {
      undoAll()
      guard isObstacle(error) else { throw error }
      isOverdue = true
    }
    return content
  }

  /// After some errors SQLite has done so itself.
  private func undoAll() { try? undo.run() }
}

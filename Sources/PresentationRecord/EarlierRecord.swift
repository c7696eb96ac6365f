import CSQLite
import EventLoops
import Glibc

/// Reads the records of releases before `RecordFile`: tables of SQLite, and a journal of turns that are not in the tables yet. The
/// columns have the contents of today's rows.
enum EarlierRecord {
  static let files = [tables, tables + "-wal"]
  private static let tables = "record.sqlite"
  private static let journal = "record.journal"
  private static let migrations = [
    "1: what is presented, and what is remembered", "2: a turn is a row of a journal",
    "3: when and by whom presentations were ended", "4: since when presentations are shown",
    "5: the journal is a file of its own",
  ]

  /// - Returns: the rows; none if there is no record.
  static func rows(in directory: String, timeout: Double) throws -> LiveRows {
    let hasJournal = try fileExists("\(directory)/\(journal)")
    guard try fileExists("\(directory)/\(tables)") else {
      guard !hasJournal else { throw Unreadable("\(journal) is no record") }
      return try LiveRows([])
    }
    // The database stays locked until everything is read.
    let database = try Database("\(directory)/\(tables)", timeout: timeout)
    let applied = try database.select("SELECT identifier FROM grdb_migrations").map {
      String(decoding: $0[0].bytes, as: UTF8.self)
    }
    guard Set(applied).isSubset(of: migrations) else { throw Unreadable("a later release of navd has written it") }
    var rows = PayloadWriter()
    for (kind, keyLength, query) in queries {
      for columns in try database.select(query) {
        rows.row(kind, key: Array(columns[..<keyLength]), Array(columns[keyLength...]))
      }
    }
    // The first release has one row for each client of a destination.
    var registrations: [[UInt8]: [UInt8]] = [:]
    let order = applied.count == 1 ? "ORDER BY destination, place" : ""
    for columns in try database.select("SELECT destination, body FROM registration \(order)") {
      registrations[columns[0].bytes, default: []] += columns[1].bytes
    }
    for (name, list) in registrations { rows.row(.registration, key: [.text(name)], [.blob(list)]) }
    if applied.contains(migrations[1]), !applied.contains(migrations[4]) {
      for turn in try database.select("SELECT body FROM turn ORDER BY number") {
        try rows.rows(ofTurn: turn[0].bytes[...])
      }
    }
    if hasJournal {
      let descriptor = try openFile("\(directory)/\(journal)", O_RDONLY)
      defer { close(descriptor) }
      let turns = try RecordFile.frames(in: recorded(in: descriptor, at: "\(directory)/\(journal)")).payloads
      for turn in turns { try rows.rows(ofTurn: turn) }
    }
    return try LiveRows([rows.bytes[...]])
  }

  static func remove(from directory: String) { for file in files { unlink("\(directory)/\(file)") } }

  /// The queries. `keyLength` is the number of columns that make the key.
  private static let queries: [(kind: RowKind, keyLength: Int, sql: String)] = [
    (.numbers, 0, "SELECT serial, handle, queueAge, forgotten FROM numbers"),
    (.session, 0, "SELECT bus, boot, clock, token FROM session"),
    (.presentation, 1, "SELECT handle, binding, id, phase, body FROM presentation"),
    (.memory, 1, "SELECT handle, memory FROM presentation WHERE memory IS NOT NULL"),
    (.changed, 2, "SELECT kind, name, serial, absent, stamp FROM changed"),
    (.tag, 2, "SELECT groupName, tag, binding, id, body, stamp FROM tag"),
    (.ending, 1, "SELECT handle, binding, id, reason, serial, body FROM ending"),
    (.containerValue, 1, "SELECT key, body FROM containerValue"),
  ]
}

private enum Column {
  case null, integer(Int64), text([UInt8]), blob([UInt8])

  var bytes: [UInt8] {
    switch self {
    case .text(let bytes), .blob(let bytes): bytes
    case .null, .integer: []
    }
  }
}

extension PayloadWriter {
  /// - Parameter content: the columns; nil if the row was removed.
  fileprivate mutating func row(_ kind: RowKind, key: [Column], _ content: [Column]?) {
    row(kind, isRemoved: content == nil) { payload in
      for column in key {
        // The code of a kind of subject, besides its name. The largest code belongs to no kind.
        if kind == .changed, case .integer(let code) = column {
          payload.put(UInt8(exactly: code) ?? .max)
        } else {
          payload.put(column)
        }
      }
    } payload: { payload in
      let content = content ?? []
      for (index, column) in content.enumerated() {
        if kind == .changed, case .integer = column { payload.put(UInt8(index + 1)) }
        payload.put(column)
      }
      for case .blob(let bytes) in content { payload.append(bytes) }
    }
  }

  /// Writes a column, unless it is a blob. Blobs are last in their rows.
  private mutating func put(_ column: Column) {
    switch column {
    case .integer(let number): put(number)
    case .text(let bytes): put(bytes: bytes)
    case .blob, .null: break
    }
  }

  /// Writes the rows of a turn. Each has the number of a table, the table's key, which is a number and two texts, and columns.
  fileprivate mutating func rows(ofTurn turn: ArraySlice<UInt8>) throws(Unreadable) {
    var reader = PayloadReader(turn)
    while !reader.isAtEnd {
      guard let kind = RowKind(rawValue: try reader.get()) else { throw Unreadable("a turn has a row of no table") }
      let number: Column = .integer(try reader.get())
      let (name, detail): (Column, Column) = try (.text(Array(reader.bytes())), .text(Array(reader.bytes())))
      let key: [Column] =
        switch kind {
        case .numbers, .session: []
        case .presentation, .memory, .ending: [number]
        case .changed: [number, name]
        case .tag: [name, detail]
        case .containerValue, .registration: [name]
        case .hold, .kept, .environment: throw Unreadable("a turn has a row of no table")
        }
      let count: UInt8 = try reader.get()
      var content: [Column] = []
      for _ in 0..<(count == .max ? 0 : count) { content.append(try reader.column()) }
      row(kind, key: key, count == .max ? nil : content)
    }
  }
}

extension PayloadReader {
  fileprivate mutating func column() throws(Unreadable) -> Column {
    switch try get(UInt8.self) {
    case 0: .null
    case 1: .integer(try get())
    case 2: .text(Array(try bytes()))
    case 3: .blob(Array(try bytes()))
    case let code: throw Unreadable("expected a kind of column, 0 to 3, found \(code)")
    }
  }
}

/// A database that no other process uses while this exists.
private final class Database {
  private let path: String
  private var connection: OpaquePointer?

  init(_ path: String, timeout: Double) throws {
    self.path = path
    // SQLite would make a log, for which there may be no room. A database without a log is open in no process, and has nothing to undo.
    let isClosed = ["-wal", "-journal"].allSatisfy { access(path + $0, F_OK) != 0 }
    let flags = isClosed ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE
    try check(sqlite3_open_v2(isClosed ? Self.immutable(path) : path, &connection, flags, nil))
    try check(sqlite3_busy_timeout(connection, Int32(timeout * 1000)))
    _ = try select("PRAGMA locking_mode = EXCLUSIVE")
  }

  deinit { sqlite3_close(connection) }

  /// The URI of a file that does not change.
  private static func immutable(_ path: String) -> String {
    let bytes = path.utf8.map { byte in
      let isPlain = byte == UInt8(ascii: "/") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      return isPlain ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "file:\(bytes.joined())?immutable=1"
  }

  func select(_ sql: String) throws -> [[Column]] {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
    defer { sqlite3_finalize(statement) }
    var rows: [[Column]] = []
    while true {
      let result = sqlite3_step(statement)
      if result == SQLITE_DONE { return rows }
      guard result == SQLITE_ROW else { throw error(result) }
      rows.append((0..<sqlite3_column_count(statement)).map { column(of: statement, $0) })
    }
  }

  private func column(of statement: OpaquePointer?, _ index: Int32) -> Column {
    let type = sqlite3_column_type(statement, index)
    if type == SQLITE_INTEGER { return .integer(sqlite3_column_int64(statement, index)) }
    if type == SQLITE_NULL { return .null }
    let start = sqlite3_column_blob(statement, index)
    let bytes = Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
    return type == SQLITE_TEXT ? .text(bytes) : .blob(bytes)
  }

  private func check(_ result: Int32) throws { if result != SQLITE_OK { throw error(result) } }

  private func error(_ result: Int32) -> any Error {
    let message = sqlite3_errmsg(connection).map { String(cString: $0) } ?? "error \(result)"
    switch result & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED: return SystemError(code: EWOULDBLOCK, operation: path)
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_NOMEM, SQLITE_PERM, SQLITE_CANTOPEN:
      return SystemError(code: EIO, operation: "\(path): \(message)")
    default: return Unreadable(message)
    }
  }
}

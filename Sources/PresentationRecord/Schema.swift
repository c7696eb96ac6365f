// Why this file exists: the tables, and how those of an earlier release become those of this one.

import Foundation
import GRDB

/// The schema of the record. A row is what changes by itself; what follows from other rows is not kept
/// (`RecordedState`). Columns are what identifies a row, what orders it, and what people look for with `sqlite3`; all else
/// is in `body`, as `BodyWriter` describes it.
enum Schema {
  /// A migration that was released is never changed: one is added.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1: what is presented, and what is remembered") { database in
      try database.execute(
        sql: """
          -- What counts upwards (R3); one row. Numbers without a sign are kept as their bits.
          CREATE TABLE numbers (
            id INTEGER PRIMARY KEY CHECK (id = 1), serial INTEGER NOT NULL, handle INTEGER NOT NULL,
            queueAge INTEGER NOT NULL, forgotten INTEGER NOT NULL);
          -- On which bus and since which start of the machine the rest was written (R7); one row. `clock` is by how many
          -- nanoseconds the wall clock was ahead of the monotonic one, `token` what commands are known again by.
          CREATE TABLE session (
            id INTEGER PRIMARY KEY CHECK (id = 1), bus TEXT NOT NULL, boot TEXT NOT NULL, clock INTEGER NOT NULL,
            token TEXT NOT NULL);
          -- What is not gone. `memory` is what its presenter needs in order to know it again.
          CREATE TABLE presentation (
            handle INTEGER PRIMARY KEY, binding TEXT NOT NULL, id TEXT NOT NULL, phase TEXT NOT NULL, body BLOB NOT NULL,
            memory BLOB);
          -- When groups and stacks that are there last changed (P10), and slots, groups and stacks that were there before.
          CREATE TABLE changed (
            kind INTEGER NOT NULL, name TEXT NOT NULL, serial INTEGER, absent INTEGER, stamp INTEGER,
            PRIMARY KEY (kind, name)) WITHOUT ROWID;
          -- The last request for each tag (G7), the least stamp being the oldest.
          CREATE TABLE tag (
            groupName TEXT NOT NULL, tag TEXT NOT NULL, binding TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL,
            stamp INTEGER NOT NULL, PRIMARY KEY (groupName, tag)) WITHOUT ROWID;
          -- What is gone, with its result, for those who ask later.
          CREATE TABLE ending (
            handle INTEGER PRIMARY KEY, binding TEXT NOT NULL, id TEXT NOT NULL, reason TEXT NOT NULL,
            serial INTEGER NOT NULL, body BLOB NOT NULL);
          -- Declared keys and their defaults (V1).
          CREATE TABLE containerValue (key TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
          -- What clients registered (D1), in the order in which they did.
          CREATE TABLE registration (
            destination TEXT NOT NULL, place INTEGER NOT NULL, client TEXT NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY (destination, place)) WITHOUT ROWID;
          """)
    }
    migrator.registerMigration("2: a turn is a row of a journal") { database in
      let registrations = try Row.fetchAll(
        database, sql: "SELECT destination, body FROM registration ORDER BY destination, place")
      try database.execute(
        sql: """
          -- What turns changed that is not in the other tables yet, as `Journal` describes it.
          CREATE TABLE turn (number INTEGER PRIMARY KEY, body BLOB NOT NULL);
          -- What clients registered for a destination (D1) is one row: a journal has no room for rows that make way.
          DROP TABLE registration;
          CREATE TABLE registration (destination TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
          """)
      for (name, rows) in Dictionary(grouping: registrations, by: { $0[0] as String }) {
        var bodies: [UInt8] = []
        for row in rows { bodies += try row.bytes(1) }
        try database.execute(sql: "INSERT INTO registration VALUES (?, ?)", arguments: [name, Data(bodies)])
      }
    }
    // Nothing of it is in a column, but an earlier release could not read it.
    migrator.registerMigration("3: when and by whom presentations were ended") { _ in }
    migrator.registerMigration("4: since when presentations are shown") { _ in }
    migrator.registerMigration("5: the journal is a file of its own") { database in
      let tables = try TableWriter(database)
      for turn in try Row.fetchAll(database, sql: "SELECT body FROM turn ORDER BY number") {
        for row in try TableRow.all(in: turn.bytes(0)) { try tables.write(row.key, row.content) }
      }
      try database.execute(sql: "DROP TABLE turn")
    }
    return migrator
  }
}

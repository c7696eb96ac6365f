import DBusValues
import PresentationModel
import PresentationRules
import TextFormats

/// A table of rows; its name is a member of each line.
enum Table: String, CaseIterable {
  case numbers, session, presentations, memories, tags, endings, registrations, holds, environment
  case containerValues = "container-values"
  case loginItems = "login-items"
  case loginHolds = "login-holds"

  /// Whether the table is a single row, without a key.
  var isRow: Bool { self == .numbers || self == .session }
}

/// All rows of a record, as JSON, by their keys.
struct Rows {
  /// The format of the lines; the first line has it.
  private static let format: JSON = 1
  private static let formatName = "navd-record"
  /// The depth of a value of the bus, of which each variant is a list, in a row.
  private static let maxDepth = 2 * JSON.maximumDepth + 8

  private var texts: [Table: [String: [UInt8]]] = [:]
  /// The keys of the rows that differ from the file.
  private var changed: [Table: Set<String>] = [:]

  /// - Parameter row: nil if the row is removed.
  mutating func set(_ table: Table, _ key: String, _ row: (some Recordable)?) {
    changed[table, default: []].insert(key)
    guard let row else {
      texts[table]?[key] = nil
      return
    }
    var writer = JSONWriter()
    row.write(to: &writer)
    // A copy has no room that nobody needs.
    texts[table, default: [:]][key] = writer.bytes.withUnsafeBufferPointer(Array.init)
  }

  mutating func set<Key: RowKey>(_ table: Table, _ rows: RecordChanges.Rows<Key, some Recordable>) {
    for (key, row) in rows { set(table, key.rowKey, row) }
  }

  /// Forgets what presenters know of presentations that are gone. A presenter may note it after the end.
  mutating func forgetOrphans() {
    for key in (changed[.memories] ?? []).union(changed[.presentations] ?? []) where texts[.presentations]?[key] == nil
    {
      if texts[.memories]?.removeValue(forKey: key) != nil { changed[.memories, default: []].insert(key) }
    }
  }

  // MARK: Lines

  var hasChanges: Bool { !changed.isEmpty }
  mutating func noteWritten() { changed.removeAll() }

  /// A line with all rows.
  var snapshot: [UInt8] {
    line(texts.mapValues(\.keys)) { writer in
      writer.beginMember(Self.formatName)
      writer.write(Self.format)
    }
  }

  /// A line with the rows that differ from the file; null for a row that was removed.
  var change: [UInt8] { line(changed) { _ in } }

  private func line(
    _ keys: [Table: some Sequence<String>], _ writeFormat: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writeFormat(&writer)
      for (table, keys) in keys {
        writer.beginMember(table.rawValue)
        let rows = texts[table] ?? [:]
        let removed = Array("null".utf8)
        if table.isRow {
          writer.write(raw: rows[""] ?? removed)
          continue
        }
        writer.object { writer in
          for key in keys {
            writer.beginMember(key)
            writer.write(raw: rows[key] ?? removed)
          }
        }
      }
    }
    return writer.bytes + "\n".utf8
  }

  // MARK: Reading

  /// Reads lines, each of which replaces rows of those before it.
  /// - Returns: the rows, and what they say.
  static func read(_ lines: [ArraySlice<UInt8>]) throws(Unreadable) -> (rows: Rows, content: Record.Content) {
    guard !lines.isEmpty else { throw Unreadable("its first line is incomplete") }
    var read: [Table: [String: JSON]] = [:]
    for (index, line) in lines.enumerated() {
      do throws(Unreadable) { try take(line, isFirst: index == 0, into: &read) } catch {
        throw Unreadable("line \(index + 1): \(error)")
      }
    }
    // A presenter may note something after the end of a presentation (``forgetOrphans()``).
    let presentations = read[.presentations] ?? [:]
    read[.memories] = read[.memories]?.filter { presentations[$0.key] != nil }

    var content = Record.Content()
    for (table, rows) in read {
      for (key, row) in rows {
        do throws(Unreadable) { try content.read(table, key, row) } catch {
          throw Unreadable("\(table.rawValue) \(quoted(key)): \(error)")
        }
      }
    }
    var rows = Rows()
    rows.texts = read.mapValues { $0.mapValues { Array($0.text.utf8) } }
    return (rows, content)
  }

  private static func take(
    _ line: ArraySlice<UInt8>, isFirst: Bool, into read: inout [Table: [String: JSON]]
  ) throws(Unreadable) {
    var members = try parse(line).members()
    if isFirst {
      let format = members.removeValue(forKey: formatName)
      guard let format else { throw Unreadable("it is no record") }
      guard format == Self.format else {
        throw Unreadable("a later release of navd has written it: expected format 1, found \(format.text)")
      }
    }
    for (name, rows) in members {
      guard let table = Table(rawValue: name) else { throw Unreadable("no table is \(quoted(name))") }
      for (key, row) in table.isRow ? ["": rows] : try rows.members() {
        read[table, default: [:]][key] = row == .null ? nil : row
      }
    }
  }

  private static func parse(_ line: ArraySlice<UInt8>) throws(Unreadable) -> JSON {
    do throws(JSON.Mistake) { return try JSON.parse(Array(line), depth: maxDepth) } catch {
      throw Unreadable("\(error)")
    }
  }
}

extension Record.Content {
  fileprivate mutating func read(_ table: Table, _ key: String, _ row: JSON) throws(Unreadable) {
    switch table {
    case .numbers: state.numbers = try .init(recorded: row)
    case .session: session = try .init(recorded: row)
    case .presentations:
      let handle = try Handle(rowKey: key)
      state.presentations[handle] = try .init(recorded: row)
      state.presentations[handle]!.presentation.content.handle = handle
    case .memories: memories[try Handle(rowKey: key)] = try Properties(recorded: row)
    case .tags: state.tags[try GroupTag(rowKey: key)] = try .init(recorded: row)
    case .endings:
      let handle = try Handle(rowKey: key)
      state.endings[handle] = try .init(recorded: row)
      state.endings[handle]!.handle = handle
    case .containerValues: state.containerValues[key] = try Value(recorded: row)
    case .registrations: state.registrations[key] = try RecordedList(recorded: row).elements
    case .holds: state.holders[try Holder.Key(rowKey: key)] = try .init(recorded: row)
    case .environment: state.environment[key] = try .init(recorded: row)
    case .loginHolds: state.loginHolds[key] = try .init(recorded: row)
    case .loginItems: state.loginItems[try BindingID(recorded: .string(key))] = try .init(recorded: row)
    }
  }
}

// MARK: Keys

/// The key of a row, as the name of a member.
protocol RowKey {
  var rowKey: String { get }
  init(rowKey: String) throws(Unreadable)
}

extension String: RowKey {
  var rowKey: String { self }
  init(rowKey: String) { self = rowKey }

  /// The texts before and after the first blank.
  fileprivate func parts() throws(Unreadable) -> (String, String) {
    guard let blank = firstIndex(of: " ") else { throw Unreadable("expected two words, found \(quoted(self))") }
    return (String(self[..<blank]), String(self[index(after: blank)...]))
  }
}

extension BindingID: RowKey {
  var rowKey: String { text }
  init(rowKey: String) throws(Unreadable) { try self.init(recorded: .string(rowKey)) }
}

extension Handle: RowKey {
  var rowKey: String { String(number) }

  init(rowKey: String) throws(Unreadable) {
    guard let number = UInt64(rowKey), String(number) == rowKey else {
      throw Unreadable("expected the number of a presentation, found \(quoted(rowKey))")
    }
    self.init(number)
  }
}

extension GroupTag: RowKey {
  var rowKey: String { "\(group.text) \(tag)" }

  init(rowKey: String) throws(Unreadable) {
    let (group, tag) = try rowKey.parts()
    self.init(group: try BindingID(rowKey: group), tag: tag)
  }
}

extension Holder.Key: RowKey {
  var rowKey: String { "\(name) \(cookie)" }

  init(rowKey: String) throws(Unreadable) {
    let (name, cookie) = try rowKey.parts()
    self.init(name: name, cookie: try Handle(rowKey: cookie).number)
  }
}

/// A table whose document is being read. Several parts of a document may add to one table, but only those that TOML allows.
final class TOMLTable {
  /// The origin of the table. It decides what may still be added.
  private enum Origin {
    /// The header of an inner table. The table may still get its own header.
    case implied
    /// The table's own header, or its braces.
    case defined
    /// A dotted key.
    case dotted
  }

  private enum Member {
    case value(TOMLNode)
    case table(TOMLTable)
    /// An array of tables; never empty.
    case tables([TOMLTable])

    var position: TextPosition {
      switch self {
      case .value(let node): node.position
      case .table(let table): table.position
      case .tables(let tables): tables[0].position
      }
    }
  }

  struct Key {
    let name: String
    let position: TextPosition
  }

  /// A key that conflicts with an earlier definition.
  struct Conflict: Error {
    let position: TextPosition
    let message: String
  }

  private var origin: Origin
  private let position: TextPosition
  private var members: [String: Member] = [:]

  /// Makes the table of the document, or a table in braces.
  convenience init() { self.init(.defined, TextPosition()) }

  private init(_ origin: Origin, _ position: TextPosition) {
    self.origin = origin
    self.position = position
  }

  /// Sets the value of a key; a dotted key creates or extends tables on the way.
  func set(_ content: TOMLNode.Content, at path: [Key]) throws(Conflict) {
    guard let last = path.last else { return }
    var table = self
    for key in path.dropLast() {
      switch table.members[key.name] {
      case nil:
        let inner = TOMLTable(.dotted, key.position)
        table.members[key.name] = .table(inner)
        table = inner
      case .table(let inner) where inner.origin == .dotted: table = inner
      case .some(let other): throw alreadyDefined(key, other, "a dotted key cannot add to it")
      }
    }
    try table.requireAbsent(last)
    table.members[last.name] = .value(TOMLNode(position: last.position, content: content))
  }

  /// The table that the header `[path]` begins.
  func table(at path: [Key]) throws(Conflict) -> TOMLTable {
    guard let last = path.last else { return self }
    let outer = try outer(of: path)
    if case .table(let table) = outer.members[last.name], table.origin == .implied {
      table.origin = .defined
      return table
    }
    try outer.requireAbsent(last)
    let table = TOMLTable(.defined, last.position)
    outer.members[last.name] = .table(table)
    return table
  }

  /// The table that the header `[[path]]` begins.
  func element(at path: [Key]) throws(Conflict) -> TOMLTable {
    guard let last = path.last else { return self }
    let outer = try outer(of: path)
    let table = TOMLTable(.defined, last.position)
    if case .tables(var tables) = outer.members[last.name] {
      // The dictionary gives up the array first, so that the array is not copied.
      outer.members[last.name] = nil
      tables.append(table)
      outer.members[last.name] = .tables(tables)
    } else {
      try outer.requireAbsent(last)
      outer.members[last.name] = .tables([table])
    }
    return table
  }

  var content: [String: TOMLNode] {
    members.mapValues { member in
      switch member {
      case .value(let node): node
      case .table(let table): table.node
      case .tables(let tables): TOMLNode(position: member.position, content: .array(tables.map(\.node)))
      }
    }
  }

  private var node: TOMLNode { TOMLNode(position: position, content: .table(content)) }

  /// The table that holds the last key of a header's path.
  private func outer(of path: [Key]) throws(Conflict) -> TOMLTable {
    var table = self
    for key in path.dropLast() {
      switch table.members[key.name] {
      case nil:
        let inner = TOMLTable(.implied, key.position)
        table.members[key.name] = .table(inner)
        table = inner
      case .table(let inner): table = inner
      case .tables(let tables): table = tables[tables.count - 1]
      case .value(let other):
        let expected =
          if case .table = other.content { "a table with a header of its own, found one in braces" } else {
            "a table, found \(other.kind)"
          }
        throw Conflict(
          position: key.position,
          message: "expected \(expected): \(quoted(key.name)) is defined at line \(other.position.line)")
      }
    }
    return table
  }

  private func requireAbsent(_ key: Key) throws(Conflict) {
    if let other = members[key.name] { throw alreadyDefined(key, other, "define it once") }
  }

  private func alreadyDefined(_ key: Key, _ other: Member, _ advice: String) -> Conflict {
    Conflict(
      position: key.position,
      message: "\(quoted(key.name)) is already defined at line \(other.position.line); \(advice)")
  }
}

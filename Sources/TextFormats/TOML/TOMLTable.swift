// Why this file exists: a table of a TOML document may be defined in several places, but only in those that TOML says.

/// A table while its document is read.
final class TOMLTable {
  /// How a table came to be, which says what may still be put into it.
  private enum Origin {
    /// Something inside it has a header, but it has none (yet).
    case implied
    /// Its own header, or the braces around it.
    case defined
    /// A key with a dot.
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

  /// A key, and where it stands.
  struct Key {
    let name: String
    let position: TextPosition
  }

  /// Why a key cannot stand where it does.
  struct Clash: Error {
    let position: TextPosition
    let message: String
    init(_ key: Key, _ why: String) {
      position = key.position
      message = "\(quoted(key.name)) \(why)"
    }
  }

  private var origin: Origin
  private let position: TextPosition
  private var members: [String: Member] = [:]

  /// The document, or a table in braces.
  convenience init() { self.init(.defined, TextPosition()) }

  private init(_ origin: Origin, _ position: TextPosition) {
    self.origin = origin
    self.position = position
  }

  /// Puts a value at a key, or at the end of the tables that a dotted key leads through.
  func set(_ content: TOMLNode.Content, at path: [Key]) throws(Clash) {
    guard let last = path.last else { return }
    var table = self
    for key in path.dropLast() {
      switch table.members[key.name] {
      case nil:
        let inner = TOMLTable(.dotted, key.position)
        table.members[key.name] = .table(inner)
        table = inner
      case .table(let inner) where inner.origin == .dotted: table = inner
      case .some(let other): throw Clash(key, "stands already at line \(other.position.line); keys are added there")
      }
    }
    try table.requireAbsent(last)
    table.members[last.name] = .value(TOMLNode(position: last.position, content: content))
  }

  /// The table that the header `[path]` begins.
  func table(at path: [Key]) throws(Clash) -> TOMLTable {
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
  func element(at path: [Key]) throws(Clash) -> TOMLTable {
    guard let last = path.last else { return self }
    let outer = try outer(of: path)
    let table = TOMLTable(.defined, last.position)
    if case .tables(var tables) = outer.members[last.name] {
      // Without the one in the dictionary, the array is appended to in its place.
      outer.members[last.name] = nil
      tables.append(table)
      outer.members[last.name] = .tables(tables)
    } else {
      try outer.requireAbsent(last)
      outer.members[last.name] = .tables([table])
    }
    return table
  }

  /// What was read.
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

  /// The table in which the last key of a header's path stands.
  private func outer(of path: [Key]) throws(Clash) -> TOMLTable {
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
        throw Clash(key, "is \(other.kind) at line \(other.position.line), not open for more keys")
      }
    }
    return table
  }

  private func requireAbsent(_ key: Key) throws(Clash) {
    if let other = members[key.name] {
      throw Clash(key, "stands already at line \(other.position.line); once would do")
    }
  }
}

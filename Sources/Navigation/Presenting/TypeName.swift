import Synchronization

/// The names of types, which are the same in every run, so that a saved path can be read again.
enum TypeName {
  /// The full name of a type. For a private or local type, Swift's name contains an address, which is left out here. If two such
  /// types then have one name, the later one keeps its address.
  static func of(_ type: Any.Type) -> String {
    let id = ObjectIdentifier(type)
    if let name = known.withLock({ $0.names[id] }) { return name }
    let full = String(reflecting: type)
    return known.withLock { known in
      if let name = known.names[id] { return name }
      let name = stable(full)
      let isTaken = known.types[name].map { $0 != id } == true
      known.types[isTaken ? full : name] = id
      known.names[id] = isTaken ? full : name
      return isTaken ? full : name
    }
  }

  /// The name of a type for people, which other types may have, too.
  static func shown(_ type: Any.Type) -> String { stable(String(reflecting: type)) }

  /// Whether a name contains an address, which differs in the next run.
  static func isOfThisRun(_ name: String) -> Bool { stable(name) != name }

  /// The replacement for the address of a private or local type.
  static let hidden = "(private)"

  private static let known = Mutex<(names: [ObjectIdentifier: String], types: [String: ObjectIdentifier])>(([:], [:]))

  /// `module.(private).Note` for `module.(unknown context at $55d0c0ffee).Note`.
  private static func stable(_ name: String) -> String {
    let parts = name.split(separator: "(", omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(String(parts[0])) { name, part in
      guard part.hasPrefix("unknown context at "), let end = part.firstIndex(of: ")") else { return "\(name)(\(part)" }
      return "\(name)\(hidden)\(part[part.index(after: end)...])"
    }
  }
}

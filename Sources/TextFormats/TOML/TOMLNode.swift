/// A value of a TOML document with its position. It is the position of the key, or of the first byte of an array's element. It is kept
/// because a value may be valid TOML and still be a mistake for navd.
package struct TOMLNode {
  package enum Content {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// A date or time. It is recognized, but neither checked nor kept: no key of navd takes one.
    case date
    case array([TOMLNode])
    case table([String: TOMLNode])
  }

  package let position: TextPosition
  package let content: Content

  /// The type in words for messages: `a string`, `an integer`, …
  package var kind: String {
    switch content {
    case .string: "a string"
    case .integer: "an integer"
    case .real: "a real number"
    case .boolean: "a boolean"
    case .date: "a date or time"
    case .array: "an array"
    case .table: "a table"
    }
  }

  /// The value as JSON, which has a defined conversion to D-Bus values.
  /// - Throws: `JSON.Mismatch` for a date or time, with the path to it.
  package func json() throws(JSON.Mismatch) -> JSON {
    switch content {
    case .string(let text): return .string(text)
    case .integer(let number): return JSON(number)
    case .real(let number): return .real(number)
    case .boolean(let flag): return .boolean(flag)
    case .date: throw JSON.Mismatch(why: "\(kind) cannot be sent over D-Bus; use a string")
    case .array(let elements):
      var values: [JSON] = []
      for (index, element) in elements.enumerated() { values.append(try element.json(at: .element(index))) }
      return .array(values)
    case .table(let entries):
      var members: [String: JSON] = [:]
      // The order of the keys makes sure that the same one of several mistakes is always reported.
      for (key, node) in entries.sorted(by: { $0.key < $1.key }) { members[key] = try node.json(at: .member(key)) }
      return .object(members)
    }
  }

  private func json(at step: JSON.Step) throws(JSON.Mismatch) -> JSON {
    do throws(JSON.Mismatch) { return try json() } catch { throw error.inside(step) }
  }

  /// The position of the value at `path`, or of the last value on the way to it.
  package func position(of path: some Collection<JSON.Step>) -> TextPosition {
    let inner: TOMLNode? =
      switch (path.first, content) {
      case (.element(let index)?, .array(let elements)) where elements.indices.contains(index): elements[index]
      case (.member(let name)?, .table(let entries)): entries[name]
      default: nil
      }
    return inner?.position(of: path.dropFirst()) ?? position
  }
}

// Why this file exists: a mistake in a file is told with its place, also where the text is good TOML and only means
// nothing to navd; so every value keeps the place where it stood.

/// A value of a TOML document, and where it stands: what a key leads to at its key, an element at its first byte.
package struct TOMLNode {
  package enum Content {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// Dates and times are told apart from other values and no more, since nothing takes one.
    case date
    case array([TOMLNode])
    case table([String: TOMLNode])
  }

  package let position: TextPosition
  package let content: Content

  /// What it is, in words for messages.
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

  /// The value as JSON, of which it is known what it means on the bus.
  /// - Throws: where there is a date in it.
  package func json() throws(JSON.Mismatch) -> JSON {
    switch content {
    case .string(let text): return .string(text)
    case .integer(let number): return JSON(number)
    case .real(let number): return .real(number)
    case .boolean(let flag): return .boolean(flag)
    case .date: throw JSON.Mismatch(why: "\(kind) has no place on the bus; a string would have")
    case .array(let elements):
      var values: [JSON] = []
      for (index, element) in elements.enumerated() { values.append(try element.json(at: .element(index))) }
      return .array(values)
    case .table(let entries):
      var members: [String: JSON] = [:]
      // In order, so that the same mistake is told every time.
      for (key, node) in entries.sorted(by: { $0.key < $1.key }) { members[key] = try node.json(at: .member(key)) }
      return .object(members)
    }
  }

  private func json(at step: JSON.Step) throws(JSON.Mismatch) -> JSON {
    do throws(JSON.Mismatch) { return try json() } catch {
      throw JSON.Mismatch(path: [step] + error.path, why: error.why)
    }
  }

  /// Where a value inside this one stands, as far as the path leads to one.
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

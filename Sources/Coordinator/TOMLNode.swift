// Why this file exists: a mistake in a file is told with its place, also where the text is good TOML and only means
// nothing to navd; so every value keeps the place where it stood.

import CoordinatorAPI

/// A value of a TOML document, and where it stands: what a key leads to at its key, an element at its first byte.
struct TOMLNode {
  enum Content {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// Dates and times are told apart from other values and no more, since nothing takes one.
    case date
    case array([TOMLNode])
    case table([String: TOMLNode])
  }

  let position: TextPosition
  let content: Content

  /// What it is, in words for messages.
  var kind: String {
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
}

/// A shell pattern (`glob(7)`) in its parts, for languages that write patterns in another way.
///
/// It is read by Unicode scalars, as configurations are: a quotation mark with a combining accent is one `Character`, and still ends a text.
package struct ShellPattern {
  package enum Part {
    /// Any characters, or none.
    case anyText
    case anyCharacter
    /// One character of a bracket expression, given as that of a regular expression.
    case oneOf(expression: String)
    case literal(Unicode.Scalar)
  }

  package private(set) var parts: [Part] = []

  package init(_ text: String) {
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": parts.append(.anyText)
      case "?": parts.append(.anyCharacter)
      case "[": parts.append(Self.takeBrackets(&rest) ?? .literal("["))
      case "\\": parts.append(.literal(rest.popFirst() ?? "\\"))
      default: parts.append(.literal(scalar))
      }
    }
  }

  /// Takes a bracket expression, whose “[” is taken already; nil if it has no end.
  private static func takeBrackets(_ rest: inout Substring.UnicodeScalarView) -> Part? {
    var (inner, expression, isFirst, isWritable) = (rest, "[", true, true)
    if let first = inner.first, first == "!" || first == "^" {
      inner.removeFirst()
      expression += "^"
    }
    while let scalar = inner.popFirst() {
      switch scalar {
      case "]" where !isFirst:
        rest = inner
        return isWritable ? .oneOf(expression: expression + "]") : .anyCharacter
      case "[" where inner.first == ":": expression += takeClass(&inner) ?? "\\["
      default:
        let member = scalar == "\\" ? inner.popFirst() ?? scalar : scalar
        isWritable = isWritable && Self.isWritable(member)
        // A hyphen between two members is a range.
        expression += escaped(member, among: scalar == "\\" ? "[]^-&~" : "[]^&~")
      }
      isFirst = false
    }
    return nil
  }

  /// Takes a class such as `[:digit:]`, whose “[” is taken already; nil if it is none.
  private static func takeClass(_ rest: inout Substring.UnicodeScalarView) -> String? {
    let name = rest.dropFirst().prefix { $0.isASCII && $0.properties.isAlphabetic }
    guard !name.isEmpty, rest[name.endIndex...].starts(with: ":]".unicodeScalars) else { return nil }
    rest = rest[name.endIndex...].dropFirst(2)
    return "[:\(Substring(name)):]"
  }

  /// The pattern as a regular expression for the whole text, as PCRE, RE2 and Rust have them.
  package var expression: String {
    let parts = parts.map { part in
      switch part {
      case .anyText: ".*"
      case .anyCharacter: "."
      case .oneOf(let expression): expression
      // sway takes the backslash away from “\?”.
      case .literal("?"): "[?]"
      case .literal(let scalar): Self.isWritable(scalar) ? Self.escaped(scalar, among: ".+*()[]{}|^") : "."
      }
    }
    return "^\(parts.joined())$"
  }

  /// Whether a configuration can have a character in a text. It takes a quotation mark for the end of the text, `$` for a variable, a
  /// backslash for the beginning of another character, and the end of a line for that of a command; sway does so even with their
  /// numbers. A regular expression has any character in their place.
  private static func isWritable(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x20 && scalar.value != 0x7F && !"\"$\\".unicodeScalars.contains(scalar)
  }

  /// A character that stands for itself.
  /// - Parameter special: the characters that need a backslash for that.
  private static func escaped(_ scalar: Unicode.Scalar, among special: String) -> String {
    special.unicodeScalars.contains(scalar) ? "\\\(scalar)" : String(scalar)
  }
}

extension WindowPattern {
  /// The windows as criteria of sway and i3.
  /// - Parameter appID: the name of the criterion for the app-id: `app_id`, or `class` for windows of X11.
  package func i3Criteria(appID name: String) -> String {
    let criteria = [(name, appID), ("title", title)].compactMap { name, pattern in
      pattern.map { "\(name)=\"\(ShellPattern($0).expression)\"" }
    }
    return "[\(criteria.joined(separator: " "))]"
  }
}

import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import TextFormats

/// A text with the placeholders `{id}`, `{binding}` and `{value.KEY}`; `{{` and `}}` are literal braces (D3).
///
/// Expansion never splits a text into several arguments. A key that the value does not have expands to nothing, and its
/// argument stays, so that later arguments keep their number. Text and bytes are inserted unchanged (bytes up to the
/// first NUL, as the bus carries file names), other values as compact JSON (`42`, `true`, `["a",1]`).
struct Template: Hashable, Sendable {
  enum Part: Hashable, Sendable {
    case literal([UInt8])
    case id
    case binding
    case value(key: String)
  }

  let parts: [Part]

  /// Whether the text expands to the same for every item.
  var isLiteral: Bool { parts.allSatisfy { if case .literal = $0 { true } else { false } } }

  /// The syntax of a value's key, in messages.
  static let keySyntax = "a key of letters, digits, “_” and “-” that begins with a letter or “_”"

  /// - Throws: a mistake in the braces or in a placeholder.
  init(_ text: some Sequence<UInt8>) throws(BracedText.Mistake) {
    var parts: [Part] = []
    for part in try BracedText(text).parts {
      switch part {
      case .literal(let bytes): parts.append(.literal(bytes))
      case .placeholder(let name): parts.append(try Self.placeholder(name))
      }
    }
    self.parts = parts
  }

  private static func placeholder(_ name: String) throws(BracedText.Mistake) -> Part {
    switch name {
    case "id": return .id
    case "binding": return .binding
    default:
      guard name.hasPrefix("value.") else {
        let hint =
          nearest(to: name, among: ["id", "binding"]).map { "did you mean “{\($0)}”?" }
          ?? "use “{id}”, “{binding}” or “{value.KEY}”, or \(quoted("{{\(name)}}")) for literal braces"
        throw BracedText.Mistake("has \(quoted("{\(name)}")), which is not a placeholder of navd; \(hint)")
      }
      let key = String(name.dropFirst("value.".count))
      guard BindingID.isName(key) else {
        throw BracedText.Mistake(
          "has the placeholder \(quoted("{\(name)}")); expected \(keySyntax), found \(quoted(key))")
      }
      return .value(key: key)
    }
  }

  /// The text for one item.
  /// - Parameter escaping: applied to the expansion of each placeholder.
  func expanded(
    binding: BindingID, id: String, value: Properties, escaping: ([UInt8]) -> [UInt8] = { $0 }
  ) -> [UInt8] {
    var text: [UInt8] = []
    for part in parts {
      switch part {
      case .literal(let bytes): text += bytes
      case .id: text += escaping(Array(id.utf8))
      case .binding: text += escaping(Array(binding.text.utf8))
      case .value(let key): text += escaping(value[key].map(Self.bytes) ?? [])
      }
    }
    return text
  }

  /// Checks that the text is a unit's name, whatever the placeholders expand to.
  func checkUnitName() throws(UnitName.Mistake) {
    // A letter stands for each expansion, since expansions are escaped to characters that a name may have.
    let example = parts.flatMap { part in if case .literal(let bytes) = part { bytes } else { [UInt8(ascii: "x")] } }
    _ = try UnitName(String(decoding: example, as: UTF8.self))
  }

  private static func bytes(of value: Value) -> [UInt8] {
    switch value {
    case .string(let text): Array(text.utf8)
    case .objectPath(let path): Array(path.text.utf8)
    case .signature(let signature): Array(signature.text.utf8)
    case .bytes(let bytes): Array(bytes.prefix { $0 != 0 })
    case .variant(let inner): Self.bytes(of: inner)
    default: Array(JSON(value).text.utf8)
    }
  }
}

extension Destination {
  /// The program and its arguments for one item; nil if the destination has no command.
  ///
  /// Only a file's command has placeholders; a request's command is run as given.
  func arguments(binding: BindingID, id: String, value: Properties) -> [[UInt8]]? {
    guard case .command(let arguments, _) = presenter else { return nil }
    guard case .file = source else { return arguments }
    return arguments.map { argument in
      // Never fails: a file with a mistake in a placeholder is not loaded.
      (try? Template(argument))?.expanded(binding: binding, id: id, value: value) ?? argument
    }
  }

  /// The name of the unit for one item, which may be invalid; nil if the destination has no unit (D5).
  func unitName(binding: BindingID, id: String, value: Properties) -> String? {
    guard case .unit(let text) = presenter, let template = try? Template(text.utf8) else { return nil }
    let name = template.expanded(binding: binding, id: id, value: value) { Array(UnitName.escaped($0).utf8) }
    return String(decoding: name, as: UTF8.self)
  }
}

// Why this file exists: a destination's command says where the item goes in its arguments (D3), and what a client gives
// must never become more than the text of an argument.

import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationRules
import TextFormats

/// A text with placeholders: `{id}`, `{binding}`, `{value.KEY}`; `{{` and `}}` stand for the braces themselves.
///
/// A key that the value does not have leaves nothing in its place: the argument stays, so that those after it keep
/// their number. Text and bytes stand as they are, the bytes up to the first NUL, as file names travel on the bus;
/// whatever else there is stands as compact JSON (`42`, `true`, `["a",1]`).
struct Placeholders: Hashable, Sendable {
  enum Part: Hashable, Sendable {
    case literal([UInt8])
    case id
    case binding
    case value(key: String)
  }

  let parts: [Part]

  /// Whether the text is the same for every item.
  var isLiteral: Bool { parts.allSatisfy { if case .literal = $0 { true } else { false } } }

  /// - Throws: the mistake, in braces or in what stands between them.
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
          ?? "“{id}”, “{binding}” or “{value.KEY}” would do, and “{{” for a brace"
        throw BracedText.Mistake("has the placeholder \(quoted("{\(name)}")), which there is not; \(hint)")
      }
      let key = String(name.dropFirst("value.".count))
      guard BindingID.isName(key) else {
        throw BracedText.Mistake(
          "has the placeholder \(quoted("{\(name)}")), but \(quoted(key)) is no key: letters, digits, “_” and “-”, a letter "
            + "or “_” first")
      }
      return .value(key: key)
    }
  }

  /// The text for one item.
  /// - Parameter escaping: what is done to the text that stands for a placeholder.
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

  /// Checks that a unit can be named by it, whatever the placeholders stand for.
  func checkUnitName() throws(UnitName.Mistake) {
    // A letter in place of each: what else there may be is escaped to what may stand in a name.
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
  /// The program and its arguments for one item; nil where the destination is no command.
  ///
  /// Only a file's command has placeholders: one that came with a request is run as it was given, braces and all.
  func arguments(binding: BindingID, id: String, value: Properties) -> [[UInt8]]? {
    guard case .command(let arguments) = presenter else { return nil }
    guard case .file = source else { return arguments }
    return arguments.map { argument in
      // A file with a mistake in a placeholder was refused, so none is left here.
      (try? Placeholders(argument))?.expanded(binding: binding, id: id, value: value) ?? argument
    }
  }

  /// The name of the unit for one item, which need not be a valid one; nil where the destination is no unit (D5).
  func unitName(binding: BindingID, id: String, value: Properties) -> String? {
    guard case .unit(let text) = presenter, let placeholders = try? Placeholders(text.utf8) else { return nil }
    let name = placeholders.expanded(binding: binding, id: id, value: value) { Array(UnitName.escaped($0).utf8) }
    return String(decoding: name, as: UTF8.self)
  }
}

import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import Processes
import TextFormats

/// A text with the placeholders `{id}`, `{binding}`, `{title}`, `{output}` and `{value.KEY}`; `{{` and `}}` are literal braces (D3).
///
/// Expansion never splits a text into several arguments. A key that the value does not have expands to nothing, and its
/// argument stays, so that later arguments keep their number. Text and bytes are inserted unchanged (bytes up to the
/// first NUL, as the bus carries file names), other values as compact JSON (`42`, `true`, `["a",1]`).
struct CommandTemplate: Hashable, Sendable {
  enum Part: Hashable, Sendable {
    case literal([UInt8])
    case id
    case binding
    case title
    case output
    case value(key: String)
  }

  let parts: [Part]

  /// Whether the text has the same expansion for every item.
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
    case "title": return .title
    case "output": return .output
    default:
      guard name.hasPrefix("value.") else {
        let hint =
          nearest(to: name, among: ["id", "binding", "title", "output"]).map { "did you mean “{\($0)}”?" }
          ?? "use “{id}”, “{binding}”, “{title}”, “{output}” or “{value.KEY}”, or \(quoted("{{\(name)}}")) for literal braces"
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
    for item: Item, at binding: BindingID, escaping: ([UInt8]) -> [UInt8] = { $0 }
  ) -> [UInt8] {
    var text: [UInt8] = []
    for part in parts {
      switch part {
      case .literal(let bytes): text += bytes
      case .id: text += escaping(Array(item.id.utf8))
      case .binding: text += escaping(Array(binding.text.utf8))
      case .title: text += escaping(Array((item.title ?? "").utf8))
      case .output: text += escaping(Array((item.output ?? "").utf8))
      case .value(let key): text += escaping(item.value[key].map(Self.bytes) ?? [])
      }
    }
    return text
  }

  /// Checks that the text is the name of a unit whatever the placeholders expand to. The placeholders may choose the instance of
  /// a template, but not the unit.
  /// - Parameter text: the text with the placeholders, for messages.
  func checkUnitName(_ text: String) throws(UnitName.Mistake) {
    // A letter stands for each expansion, because expansions are escaped to characters that a name may have.
    let example = parts.flatMap { part in if case .literal(let bytes) = part { bytes } else { [UInt8(ascii: "x")] } }
    _ = try UnitName(String(decoding: example, as: UTF8.self), of: text)
    var isInstance = false
    for part in parts {
      if case .literal(let bytes) = part {
        isInstance = isInstance || bytes.contains(UInt8(ascii: "@"))
      } else if !isInstance {
        throw UnitName.Mistake(
          why:
            "expected placeholders after the “@” only, found \(quoted(text)), which would let clients choose the unit")
      }
    }
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

/// The path of a file, which may begin with the home directory: `~/…`, `$HOME/…` or `${HOME}/…`. No shell expands the path, so
/// nothing else is expanded.
struct HomePath {
  private static let homes = ["~", "$HOME", "${HOME}"]

  private let isInHome: Bool
  /// The text without the home directory.
  let rest: [UInt8]

  init(_ text: [UInt8]) {
    let home = Self.homes.first {
      text.starts(with: $0.utf8) && [nil, UInt8(ascii: "/")].contains(text.dropFirst($0.utf8.count).first)
    }
    isInHome = home != nil
    rest = Array(text.dropFirst(home?.utf8.count ?? 0))
  }

  /// The mistake at the beginning of a path that its writer did not mean literally; nil if there is none.
  var mistake: String? {
    guard !isInHome, let first = rest.first, "~$".utf8.contains(first) else { return nil }
    let found = quoted(String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self))
    return
      "expected a path, or one that begins with “~/” or “$HOME/”, found \(found), which only a shell expands; write the path"
  }

  /// - Parameter rest: the path below the home directory, if it differs from the text's own.
  func path(home: ByteString, rest: [UInt8]? = nil) -> [UInt8] { (isInHome ? home.bytes : []) + (rest ?? self.rest) }
}

extension Destination {
  /// The program and its arguments for one item; nil if the destination has no command.
  ///
  /// Only a file's command has placeholders; a request's command is run as given.
  func arguments(for item: Item, at binding: BindingID, home: ByteString) -> [[UInt8]]? {
    guard case .command(let arguments, _) = presenter else { return nil }
    guard case .file = source else { return arguments }
    return Self.expanded(arguments, for: item, at: binding, home: home)
  }

  /// The program and the arguments of a command in a file, expanded for one item.
  static func expanded(_ command: [[UInt8]], for item: Item, at binding: BindingID, home: ByteString) -> [[UInt8]] {
    command.enumerated().map { index, argument in
      let path = index == 0 ? HomePath(argument) : nil
      // This never fails: a file with a mistake in a placeholder is not loaded.
      let text = (try? CommandTemplate(path?.rest ?? argument))?.expanded(for: item, at: binding)
      return path?.path(home: home, rest: text) ?? text ?? argument
    }
  }

  /// The name of the unit for one item, which may be invalid; nil if the destination has no unit (D5).
  func unitName(for item: Item, at binding: BindingID) -> String? {
    guard case .unit(let text) = presenter, let template = try? CommandTemplate(text.utf8) else { return nil }
    let name = template.expanded(for: item, at: binding) { Array(UnitName.escaped($0).utf8) }
    return String(decoding: name, as: UTF8.self)
  }
}

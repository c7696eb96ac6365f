import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import Processes
import TextFormats

/// A container value that a file declares (V1).
public struct DeclaredContainerValue: Hashable, Sendable {
  public let key: String
  /// The default, which also gives the key's type.
  public let defaultValue: Value
  let file: String
  let position: TextPosition
}

/// Reads `navd.toml`, the settings of the whole daemon.
enum SettingsFile {
  static let name = "navd.toml"

  struct Content {
    /// The declared values, in the order of the file; empty if the file has a mistake.
    var containerValues: [DeclaredContainerValue] = []
    /// The setting; nil if it cannot be read.
    var inlineCommands: InlineCommands?
    /// The effects of holds on all items; nil if they cannot be read (H3).
    var holds: [String: HoldAction]?
    /// The settings of groups (K1, G10).
    var groups: [BindingID: GroupSettings] = [:]
    /// The absolute path of the file with the transaction of the start; nil if there is none (K4).
    var startup: [UInt8]?
    /// Every mistake, in the order of the file; the first one if the text is not TOML.
    var faults: [FileFault] = []
  }

  /// Reads the file's text.
  /// - Parameter path: the file's path, for faults.
  static func read(_ text: [UInt8], path: String) -> Content {
    var reader: TableReader
    do {
      reader = TableReader(try TOMLParser.document(text, file: path), name: name, file: path)
    } catch {
      return Content(faults: [error])
    }
    var content = Content()
    content.inlineCommands =
      reader.bool(SettingsKey.inlineCommands.rawValue, default: true).map { $0 ? .allowed : .switchedOff(file: path) }
    content.containerValues = reader.containerValues()
    let countBefore = reader.faults.count
    let holds = reader.holds(SettingsKey.holds.rawValue, example: SettingsKey.holds.example)
    content.holds = reader.faults.count == countBefore ? holds : nil
    content.groups = reader.groups()
    content.startup = reader.startup()
    content.faults = reader.finish()
    if !content.faults.isEmpty { content.containerValues = [] }
    return content
  }
}

extension TableReader {
  private static let example = "{ signature = \"x\", default = 0 }"

  fileprivate mutating func containerValues() -> [DeclaredContainerValue] {
    guard let node = take(SettingsKey.containerValues.rawValue) else { return [] }
    guard let entries = entries(of: node, at: "container-values", "a table with keys such as badge = \(Self.example)")
    else { return [] }
    // The machine checks each declaration alone; only the daemon knows whether it contradicts an
    // earlier one.
    var machine = StateMachine()
    var values: [DeclaredContainerValue] = []
    for (key, node) in entries.sorted(by: { $0.value.position < $1.value.position }) {
      guard BindingID.isName(key) else {
        fault(node.position, "expected \(CommandTemplate.keySyntax), found \(quoted(key))")
        continue
      }
      guard let defaultValue = defaultValue(of: key, node) else { continue }
      do throws(Refusal) {
        try machine.declareContainerValue(key, defaultValue: defaultValue)
        values.append(DeclaredContainerValue(key: key, defaultValue: defaultValue, file: file, position: node.position))
      } catch {
        fault(node.position, error.message)
      }
    }
    return values
  }

  /// The path in `startup`, relative to this file's directory unless it is absolute (K4).
  fileprivate mutating func startup() -> [UInt8]? {
    value(SettingsKey.startup.rawValue, example: SettingsKey.startup.example) { text throws(Invalid) in
      let path = HomePath(Array(text.utf8))
      if text.isEmpty { throw Invalid(expected: "a path", found: text) }
      if let mistake = path.mistake { throw Invalid(mistake) }
      return path.path(home: ProcessEnvironment.ofThisProcess()["HOME"] ?? "/")
    }
  }

  private static let groupExample = "{ fallback = \"dashboard\" }"

  /// The settings in the tables of groups (K1, G10).
  fileprivate mutating func groups() -> [BindingID: GroupSettings] {
    guard let node = take(SettingsKey.groups.rawValue) else { return [:] }
    guard let entries = entries(of: node, at: "groups", "a table with groups such as main = \(Self.groupExample)")
    else { return [:] }
    let maxCount = 64
    if entries.count > maxCount {
      fault(node.position, "“groups”: expected at most \(maxCount) groups, found \(entries.count)")
    }
    var groups: [BindingID: GroupSettings] = [:]
    for (name, node) in entries.sorted(by: { $0.value.position < $1.value.position }) {
      guard let table = self.entries(of: node, at: name, "a table such as \(Self.groupExample)") else { continue }
      var reader = TableReader(table, name: "groups.\(name)", file: file, position: node.position)
      if table.isEmpty {
        let missing = "“groups.\(name)” has neither “fallback” nor “replacement”; add one, for example "
        reader.fault(node.position, missing + "fallback = \"dashboard\"")
      }
      let fallback = reader.value("fallback", example: "\"dashboard\"") { text throws(Invalid) in
        guard Destination.isName(text) else { throw Invalid(expected: "the name of a destination", found: text) }
        return text
      }
      let replacement: Replacement? = reader.choice("replacement", example: "\"overlap\"")
      do throws(Refusal) {
        groups[try BindingID(name, as: "group")] = GroupSettings(
          fallback: fallback, replacement: replacement ?? .sequential)
      } catch {
        reader.fault(node.position, error.message)
      }
      add(reader.finish())
    }
    return groups
  }

  /// The default of one key, of the type in the key's table.
  private mutating func defaultValue(of key: String, _ node: TOMLNode) -> Value? {
    guard let table = entries(of: node, at: key, "a table such as \(Self.example)") else { return nil }
    var reader = TableReader(table, name: key, file: file, position: node.position)
    let type = reader.required("signature", example: "\"x\"") { text throws(Invalid) in
      guard let types = Signature(text)?.types, types.count == 1 else {
        throw Invalid(expected: "the signature of one D-Bus type", found: text)
      }
      return types[0]
    }
    let defaultValue = reader.take("default")
    if defaultValue == nil {
      reader.fault(node.position, "“\(key)” has no “default”; add one, for example \(key) = \(Self.example)")
    }
    var value: Value?
    if let type, let defaultValue {
      do throws(JSON.Mismatch) { value = try Value(defaultValue.json(), as: type) } catch {
        reader.fault(defaultValue.position(of: error.path), "“default” of “\(key)”: \(error.why)")
      }
    }
    let faults = reader.finish()
    add(faults)
    return faults.isEmpty ? value : nil
  }
}

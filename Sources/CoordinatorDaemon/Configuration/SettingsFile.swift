// Why this file exists: what holds for the whole daemon, and not for one destination, stands in one file.

import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import TextFormats

/// A container value that a file declares (V1).
public struct DeclaredContainerValue: Hashable, Sendable {
  public let key: String
  /// The default; its type is the key's.
  public let defaultValue: Value
  let file: String
  let position: TextPosition
}

/// `navd.toml`.
enum SettingsFile {
  static let name = "navd.toml"

  /// What it says.
  struct Content {
    /// In the order of the file; none if the file has a mistake.
    var containerValues: [DeclaredContainerValue] = []
    /// nil if that cannot be told.
    var inlineCommands: InlineCommands?
    /// Every mistake, in the order of the file; of a text that is no TOML, the first.
    var faults: [FileFault] = []
  }

  /// Reads the file's text.
  /// - Parameter path: where it was read, for faults.
  static func read(_ text: [UInt8], path: String) -> Content {
    var reader: TableReader
    do {
      reader = TableReader(try TOMLParser.document(text, file: path), name: name, file: path)
    } catch {
      return Content(faults: [error])
    }
    var content = Content()
    content.inlineCommands =
      reader.truth(SettingsKey.inlineCommands.rawValue, default: true).map { $0 ? .allowed : .switchedOff(file: path) }
    content.containerValues = reader.containerValues()
    content.faults = reader.finish()
    if !content.faults.isEmpty { content.containerValues = [] }
    return content
  }
}

extension TableReader {
  private static let example = "{ signature = \"x\", default = 0 }"

  fileprivate mutating func containerValues() -> [DeclaredContainerValue] {
    guard let node = take(SettingsKey.containerValues.rawValue) else { return [] }
    guard case .table(let entries) = node.content else {
      fault(
        node.position, "“container-values” is \(node.kind); a table of names, such as badge = \(Self.example), would do"
      )
      return []
    }
    // What can be declared where nothing has been yet; whether it contradicts another declaration only the daemon knows.
    var machine = StateMachine()
    var values: [DeclaredContainerValue] = []
    for (key, node) in entries.sorted(by: { $0.value.position < $1.value.position }) {
      guard BindingID.isName(key) else {
        fault(node.position, "\(quoted(key)) is no name; letters, digits, “_” and “-”, a letter or “_” first, would do")
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

  /// The default of one key, of the type that stands beside it.
  private mutating func defaultValue(of key: String, _ node: TOMLNode) -> Value? {
    guard case .table(let table) = node.content else {
      fault(node.position, "“\(key)” is \(node.kind); a table such as \(Self.example) would do")
      return nil
    }
    var reader = TableReader(table, name: key, file: file, position: node.position)
    let type = reader.required("signature", example: "\"x\"") { text throws(Invalid) in
      guard let types = Signature(text)?.types, types.count == 1 else {
        throw Invalid("is \(quoted(text)), which is not the signature of one D-Bus type")
      }
      return types[0]
    }
    let defaultValue = reader.take("default")
    if defaultValue == nil { reader.fault(node.position, "“\(key)” has no “default”; \(Self.example) would do") }
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

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
    /// The settings of groups (K1, K7, G10).
    var groups: [BindingID: TimedGroup] = [:]
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
  fileprivate mutating func groups() -> [BindingID: TimedGroup] {
    guard let node = take(SettingsKey.groups.rawValue) else { return [:] }
    guard let entries = entries(of: node, at: "groups", "a table with groups such as main = \(Self.groupExample)")
    else { return [:] }
    let maxCount = 64
    if entries.count > maxCount {
      fault(node.position, "“groups”: expected at most \(maxCount) groups, found \(entries.count)")
    }
    var groups: [BindingID: TimedGroup] = [:]
    for (name, node) in entries.sorted(by: { $0.value.position < $1.value.position }) {
      guard let table = self.entries(of: node, at: name, "a table such as \(Self.groupExample)") else { continue }
      var reader = TableReader(table, name: "groups.\(name)", file: file, position: node.position)
      if table.isEmpty {
        let missing = "“groups.\(name)” has neither “fallback” nor “replacement”; add one, for example "
        reader.fault(node.position, missing + "fallback = \"dashboard\"")
      }
      let fallbacks = reader.fallbacks()
      let replacement: Replacement? = reader.choice("replacement", example: "\"overlap\"")
      do throws(Refusal) {
        groups[try BindingID(name, as: "group")] = TimedGroup(
          fallbacks: fallbacks, replacement: replacement ?? .sequential)
      } catch {
        reader.fault(node.position, error.message)
      }
      add(reader.finish())
    }
    return groups
  }

  private static let fallbackExample =
    "[{ show = \"menu\", days = \"Mon-Fri\", from = \"11:30\", to = \"14:00\" }, \"dashboard\"]"

  /// The fallbacks of a group: one name, or a list of names and of tables with times (K7).
  fileprivate mutating func fallbacks() -> [TimedFallback] {
    guard let node = take("fallback") else { return [] }
    guard case .array(let elements) = node.content else {
      guard case .string(let name) = node.content else {
        expected(
          "a string such as fallback = \"dashboard\", or a list such as \(Self.fallbackExample)", at: "fallback",
          found: node)
        return []
      }
      return fallback(name, node.position).map { [$0] } ?? []
    }
    let maxCount = 64
    if elements.isEmpty || elements.count > maxCount {
      fault(node.position, "“fallback”: expected 1 to \(maxCount) elements, found \(elements.count)")
    }
    var fallbacks: [TimedFallback] = []
    for (index, element) in elements.enumerated() {
      if let last = fallbacks.last, last.hours == nil {
        fault(
          element.position,
          "“fallback”: element \(index) never comes, since \(quoted(last.destination)) before it has no “days”, “from” or "
            + "“to”; give it some, or let it be the last one")
        break
      }
      switch element.content {
      case .string(let name):
        if let fallback = fallback(name, element.position) { fallbacks.append(fallback) }
      case .table(let entries):
        var reader = TableReader(entries, name: "an element of “fallback”", file: file, position: element.position)
        if let fallback = reader.timedFallback() { fallbacks.append(fallback) }
        add(reader.finish())
      default: expected("elements as in \(Self.fallbackExample)", at: "fallback", found: element)
      }
    }
    return fallbacks
  }

  /// A fallback without times.
  private mutating func fallback(_ name: String, _ position: TextPosition) -> TimedFallback? {
    value(of: name, at: position, for: "fallback", example: "\"dashboard\"", Self.destination)
      .map { TimedFallback(destination: $0) }
  }

  private static func destination(_ text: String) throws(Invalid) -> String {
    guard Destination.isName(text) else { throw Invalid(expected: "the name of a destination", found: text) }
    return text
  }

  private mutating func timedFallback() -> TimedFallback? {
    let destination = required("show", example: "\"menu\"", Self.destination)
    let isTimed = ["days", "from", "to"].contains { node($0) != nil }
    let days = value("days", example: "\"Mon-Fri\"") { text throws(Invalid) in try Self.days(text) }
    let from = value("from", example: "\"11:30\"") { text throws(Invalid) in try Self.minute(text) }
    let to = value("to", example: "\"14:00\"") { text throws(Invalid) in try Self.minute(text) }
    guard let destination else { return nil }
    return TimedFallback(
      destination: destination,
      hours: isTimed ? WeeklyHours(days: days ?? Set(0..<7), from: from ?? 0, to: to ?? 24 * 60) : nil)
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// The days of a text such as `Mon-Fri` or `Sat,Sun`.
  private static func days(_ text: String) throws(Invalid) -> Set<Int> {
    var days: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { end in
        weekdays.firstIndex(of: end.filter { $0 != " " })
      }
      guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else {
        throw Invalid(expected: "days such as Mon-Fri or Sat,Sun", found: text)
      }
      var day = first
      days.insert(day)
      while day != last {
        day = (day + 1) % 7
        days.insert(day)
      }
    }
    return days
  }

  /// The minute of the day of a text such as `11:30`; `24:00` is the end of the day.
  private static func minute(_ text: String) throws(Invalid) -> Int {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCII) }), let hour = Int(parts[0]),
      let minute = Int(parts[1]), (0..<60).contains(minute), (0...(24 * 60)).contains(hour * 60 + minute)
    else { throw Invalid(expected: "a time from 00:00 to 24:00", found: text) }
    return hour * 60 + minute
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

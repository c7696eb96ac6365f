import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import TextFormats

/// Reads `NAME.toml`, which says how items of the destination `NAME` are shown.
enum DestinationFile {
  /// Reads a file's text.
  /// - Parameters:
  ///   - name: the destination's name, valid by `Destination.isName`.
  ///   - path: the file's path, for faults and as the destination's source.
  /// - Throws: every mistake, in the order of the file; the first one if the text is not TOML.
  static func read(_ text: [UInt8], name: String, path: String) throws(FileFaults) -> Destination {
    var reader: TableReader
    do {
      reader = TableReader(try TOMLParser.document(text, file: path), name: "a destination", file: path)
    } catch {
      throw FileFaults(all: [error])
    }
    var destination = Destination(name: name, presenter: .none, source: .file(path: path))
    if let presenter = reader.presenter() { destination.presenter = presenter }
    destination.group = reader.group(of: destination)
    destination.style = reader.value(.style) { text throws(TableReader.Invalid) in
      let maxBytes = Limits().id
      guard !text.isEmpty, text.utf8.count <= maxBytes else {
        throw TableReader.Invalid("expected 1 to \(maxBytes) bytes, found \(text.utf8.count)")
      }
      return text
    }
    destination.isProtected = reader.isProtected(destination)
    destination.startTimeout = reader.duration(.startTimeout) ?? Destination.defaultStartTimeout
    destination.grace = reader.duration(.grace) ?? Destination.defaultGrace
    let faults = reader.finish()
    guard faults.isEmpty else { throw FileFaults(all: faults) }
    return destination
  }
}

extension TableReader {
  fileprivate mutating func presenter() -> Destination.Presenter? {
    let given = [DestinationKey.command, .unit, .bus]
      .compactMap { key in take(key.rawValue).map { (key: key, node: $0) } }
      .sorted { $0.node.position < $1.node.position }
    for other in given.dropFirst() {
      fault(
        other.node.position,
        "expected one of “command”, “unit” and “bus”, found “\(other.key.rawValue)” after "
          + "“\(given[0].key.rawValue)” (line \(given[0].node.position.line))")
    }
    let scope = scope(ofCommand: given.first?.key == .command)
    if bool(DestinationKey.state.rawValue, default: false) == true, let presenter = given.first {
      fault(
        presenter.node.position,
        "expected only one of “state” and “\(presenter.key.rawValue)”: with state = true no program shows the items")
    }
    switch given.first?.key {
    case .command: return given.first.flatMap { command($0.node, scope) }
    case .unit: return unit()
    case .bus: return given.first.flatMap { bus($0.node) }
    default: return nil
    }
  }

  private mutating func scope(ofCommand isOfCommand: Bool) -> CommandScope {
    guard let (text, position) = text(DestinationKey.scope.rawValue, example: DestinationKey.scope.example) else {
      return .tree
    }
    if !isOfCommand { fault(position, "“scope” needs a “command”: it says which of its processes belong to the item") }
    if let scope = CommandScope(rawValue: text) { return scope }
    fault(position, "“scope”: expected “tree” or “process”, found \(quoted(text))")
    return .tree
  }

  private mutating func command(_ node: TOMLNode, _ scope: CommandScope) -> Destination.Presenter? {
    let elements: [TOMLNode]
    switch node.content {
    case .array(let nodes): elements = nodes
    case .string(let text):
      fault(
        node.position,
        "“command”: expected an array, found a string, which only a shell can split; use command = "
          + ShellScript.suggestion(for: text))
      return nil
    default:
      expected("an array such as command = \(DestinationKey.command.example)", at: "command", found: node)
      return nil
    }
    guard !elements.isEmpty else {
      fault(node.position, "“command”: expected a program and its arguments, found an empty array")
      return nil
    }
    var arguments: [String] = []
    for (index, element) in elements.enumerated() {
      guard case .string(let text) = element.content else {
        fault(element.position, "element \(index) of “command”: expected a string, found \(element.kind)")
        continue
      }
      arguments.append(text)
      do throws(BracedText.Mistake) {
        let isLiteral = try Template(text.utf8).isLiteral
        if index == 0, !isLiteral || text.isEmpty {
          let found = isLiteral ? "an empty text" : "a placeholder, which would let clients choose the program"
          fault(element.position, "“command”: expected a program's name or path, found \(found)")
        }
      } catch {
        fault(element.position, "element \(index) of “command” \(error.why)")
      }
    }
    guard arguments.count == elements.count else { return nil }
    if let script = ShellScript.position(in: arguments), (try? Template(arguments[script].utf8))?.isLiteral == false {
      fault(
        elements[script].position,
        "element \(script) of “command” is a shell script with a placeholder, so a shell would run the item's text as "
          + "code; use \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script"
      )
    }
    return .command(arguments.map { Array($0.utf8) }, scope: scope)
  }

  private mutating func unit() -> Destination.Presenter? {
    value(.unit) { text throws(Invalid) in
      let template: Template
      do throws(BracedText.Mistake) { template = try Template(text.utf8) } catch { throw Invalid(error.why) }
      do throws(UnitName.Mistake) { try template.checkUnitName() } catch { throw Invalid(error.why) }
      return .unit(text)
    }
  }

  private mutating func bus(_ node: TOMLNode) -> Destination.Presenter? {
    guard case .table(let table) = node.content else {
      expected("a table such as bus = \(DestinationKey.bus.example)", at: "bus", found: node)
      return nil
    }
    var reader = TableReader(table, name: "bus", file: file, position: node.position)
    let name = reader.required("name", example: "\"org.example.Bar\"") { text throws(Invalid) in
      guard let name = BusName(text), !name.isUnique else {
        throw Invalid(expected: "a well-known bus name", found: text)
      }
      return name
    }
    let path = reader.required("path", example: "\"/presenter\"") { text throws(Invalid) in
      guard let path = ObjectPath(text) else { throw Invalid(expected: "an object path", found: text) }
      return path
    }
    add(reader.finish())
    guard let name, let path else { return nil }
    return .bus(name: name.text, path: path)
  }

  fileprivate mutating func isProtected(_ destination: Destination) -> Bool {
    guard bool(DestinationKey.protected.rawValue, default: false) == true else { return false }
    if destination.presenter == .none, faults.isEmpty {
      fault(nil, "“protected” needs a “command”, “unit” or “bus”: an item without a program never ends by itself")
    }
    return true
  }

  fileprivate mutating func group(of destination: Destination) -> BindingID? {
    guard let (text, position) = text(DestinationKey.group.rawValue, example: DestinationKey.group.example) else {
      return nil
    }
    do throws(Refusal) {
      var member = destination
      member.group = try BindingID(text)
      _ = try member.declaredTag()
      return member.group
    } catch {
      fault(position, "“group”: \(error.message)")
      return nil
    }
  }

  fileprivate mutating func value<Value>(
    _ key: DestinationKey, _ parse: (String) throws(Invalid) -> Value
  ) -> Value? {
    value(key.rawValue, example: key.example, parse)
  }

  fileprivate mutating func duration(_ key: DestinationKey) -> UInt64? {
    value(key) { text throws(Invalid) in
      guard let milliseconds = DurationText.milliseconds(text) else {
        throw Invalid(expected: "a duration (a number with ms, s, m or h)", found: text)
      }
      return milliseconds
    }
  }
}

/// Finds the script of a command that runs a shell.
private enum ShellScript {
  private static let shells: Set<Substring> = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "oksh", "yash", "fish", "elvish", "nu", "csh", "tcsh",
  ]

  /// The index of the script that a shell runs with `-c`; nil if there is none. It recognises the usual forms only: it
  /// prevents mistakes, not intent.
  static func position(in arguments: [String]) -> Int? {
    for (index, argument) in arguments.enumerated()
    where shells.contains(argument.split(separator: "/").last ?? "") {
      for (position, option) in arguments.enumerated().dropFirst(index + 1) {
        guard option.hasPrefix("-") else { break }
        if !option.hasPrefix("--"), option.contains("c"), position + 1 < arguments.count {
          return position + 1
        }
      }
    }
    return nil
  }

  /// The array that most likely does what the writer of a string wanted.
  static func suggestion(for text: String) -> String {
    let isPlain = text.utf8.allSatisfy { !"|&;<>()$`\\\"'*?[]#~=%!\n".utf8.contains($0) }
    let words = isPlain ? text.split(separator: " ").map(String.init) : ["sh", "-c", text]
    return "[" + words.map { JSON.string($0).text }.joined(separator: ", ") + "]"
  }
}

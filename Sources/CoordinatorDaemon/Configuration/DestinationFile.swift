// Why this file exists: one file's text becomes one destination, or a list of everything that is wrong with it.

import CoordinatorAPI
import CoordinatorCore
import DBusValues
import PresentationModel
import PresentationRules
import TextFormats

/// `NAME.toml`: how items that name the destination `NAME` are shown.
enum DestinationFile {
  /// Reads a file's text.
  /// - Parameters:
  ///   - name: the destination's, valid by `Destination.isName`.
  ///   - path: where it was read, for faults and as the destination's source.
  /// - Throws: every mistake, in the order of the file; of a text that is no TOML, the first.
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
      let most = Limits().id
      guard !text.isEmpty, text.utf8.count <= most else {
        throw TableReader.Invalid("has \(text.utf8.count) bytes, but it may have 1 to \(most)")
      }
      return text
    }
    destination.startTimeout = reader.duration(.startTimeout) ?? Destination.standardStartTimeout
    destination.grace = reader.duration(.grace) ?? Destination.standardGrace
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
        "“\(other.key.rawValue)” stands beside “\(given[0].key.rawValue)” (line \(given[0].node.position.line)); one of "
          + "command, unit and bus would do")
    }
    switch given.first?.key {
    case .command: return given.first.flatMap { command($0.node) }
    case .unit: return unit()
    case .bus: return given.first.flatMap { bus($0.node) }
    default: return nil
    }
  }

  private mutating func command(_ node: TOMLNode) -> Destination.Presenter? {
    let elements: [TOMLNode]
    switch node.content {
    case .array(let nodes): elements = nodes
    case .string(let text):
      fault(
        node.position,
        "“command” is a string, and nothing is run through a shell unasked; command = \(ShellScript.suggestion(for: text)) "
          + "would do")
      return nil
    default:
      fault(
        node.position,
        "“command” is \(node.kind); an array such as command = \(DestinationKey.command.example) would do")
      return nil
    }
    guard !elements.isEmpty else {
      fault(node.position, "“command” is empty; a program and its arguments would do")
      return nil
    }
    var arguments: [String] = []
    for (index, element) in elements.enumerated() {
      guard case .string(let text) = element.content else {
        fault(element.position, "element \(index) of “command” is \(element.kind); a string would do")
        continue
      }
      arguments.append(text)
      do throws(BracedText.Mistake) {
        let isLiteral = try Placeholders(text.utf8).isLiteral
        if index == 0, !isLiteral || text.isEmpty {
          let what = isLiteral ? "is empty" : "has a placeholder, so that a client would choose what is run"
          fault(element.position, "the program of “command” \(what); a program's name or path would do")
        }
      } catch {
        fault(element.position, "element \(index) of “command” \(error.why)")
      }
    }
    guard arguments.count == elements.count else { return nil }
    if let script = ShellScript.place(in: arguments), (try? Placeholders(arguments[script].utf8))?.isLiteral == false {
      fault(
        elements[script].position,
        "element \(script) of “command” is a shell's script with a placeholder, so that the item's text would be run as "
          + "code; \"$NAVD_ID\" in the script, or \"$1\" with the placeholder as an argument after the script, would do"
      )
    }
    return .command(arguments.map { Array($0.utf8) })
  }

  private mutating func unit() -> Destination.Presenter? {
    value(.unit) { text throws(Invalid) in
      do throws(BracedText.Mistake) {
        let placeholders = try Placeholders(text.utf8)
        do throws(UnitName.Mistake) {
          try placeholders.checkUnitName()
        } catch {
          throw BracedText.Mistake("is \(quoted(text)), which \(error.why)")
        }
      } catch {
        throw Invalid(error.why)
      }
      return .unit(text)
    }
  }

  private mutating func bus(_ node: TOMLNode) -> Destination.Presenter? {
    guard case .table(let table) = node.content else {
      fault(
        node.position,
        "“bus” is \(node.kind); a table such as bus = \(DestinationKey.bus.example) would do")
      return nil
    }
    var reader = TableReader(table, name: "bus", file: file, position: node.position)
    let name = reader.required("name", example: "\"org.example.Bar\"") { text throws(Invalid) in
      guard let name = BusName(text), !name.isUnique else {
        throw Invalid("is \(quoted(text)), which is no well-known bus name")
      }
      return name
    }
    let path = reader.required("path", example: "\"/presenter\"") { text throws(Invalid) in
      guard let path = ObjectPath(text) else { throw Invalid("is \(quoted(text)), which is no object path") }
      return path
    }
    add(reader.finish())
    guard let name, let path else { return nil }
    return .bus(name: name.text, path: path)
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
      fault(position, "“group” is wrong: \(error.message)")
      return nil
    }
  }

  fileprivate mutating func value<Value>(
    _ key: DestinationKey, _ read: (String) throws(Invalid) -> Value
  ) -> Value? {
    value(key.rawValue, example: key.example, read)
  }

  fileprivate mutating func duration(_ key: DestinationKey) -> UInt64? {
    value(key) { text throws(Invalid) in
      guard let milliseconds = DurationText.milliseconds(text) else {
        throw Invalid("is \(quoted(text)), which is no duration: a number and ms, s, m or h")
      }
      return milliseconds
    }
  }
}

/// Commands that hand a text to a shell.
private enum ShellScript {
  private static let shells: Set<Substring> = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "oksh", "yash", "fish", "elvish", "nu", "csh", "tcsh",
  ]

  /// Which argument is the script of a shell that is run with `-c`. Only the usual forms are seen: it keeps people from a
  /// mistake, and cannot keep them from wanting it.
  static func place(in arguments: [String]) -> Int? {
    for (index, argument) in arguments.enumerated()
    where shells.contains(argument.split(separator: "/").last ?? "") {
      for (place, option) in arguments.enumerated().dropFirst(index + 1) {
        guard option.hasPrefix("-") else { break }
        if !option.hasPrefix("--"), option.contains("c"), place + 1 < arguments.count {
          return place + 1
        }
      }
    }
    return nil
  }

  /// The array that does what somebody who wrote a string most likely wanted.
  static func suggestion(for text: String) -> String {
    let isPlain = text.utf8.allSatisfy { !"|&;<>()$`\\\"'*?[]#~=%!\n".utf8.contains($0) }
    let words = isPlain ? text.split(separator: " ").map(String.init) : ["sh", "-c", text]
    return "[" + words.map { JSON.string($0).text }.joined(separator: ", ") + "]"
  }
}

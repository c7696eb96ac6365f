import ArgumentParser
import CoordinatorAPI
import DBusValues
import TextFormats

/// A value on the command line: `K=V` is text, `K:=JSON` has a type.
struct Assignment: Equatable {
  enum Content: Equatable {
    case text(String)
    case json(JSON)
  }
  let key: String
  let content: Content

  /// - Throws: `ValidationError` if `=` or the key is missing, or the JSON has a mistake.
  init(_ word: String) throws {
    guard let equals = word.firstIndex(of: "=") else {
      throw ValidationError("expected KEY=TEXT or KEY:=JSON, found “\(word)”")
    }
    let before = word[..<equals]
    let after = String(word[word.index(after: equals)...])
    let isTyped = before.last == ":"
    key = String(isTyped ? before.dropLast() : before)
    guard !key.isEmpty else { throw ValidationError("expected a key before “=”, found “\(word)”") }
    guard isTyped else {
      content = .text(after)
      return
    }
    do { content = .json(try JSON.parse(after)) } catch {
      throw ValidationError("invalid JSON for “\(key)”: \(error)")
    }
  }

  /// Creates an assignment from separate arguments.
  init(_ key: String, _ content: Content) {
    self.key = key
    self.content = content
  }

  /// The value, with the type that its text or JSON implies.
  func value() throws(JSON.Mismatch) -> Value {
    switch content {
    case .text(let text): .string(text)
    case .json(let json): try Value(json)
    }
  }

  /// The value, read as a declared type.
  func value(as type: ValueType) throws(JSON.Mismatch) -> Value {
    switch content {
    case .text(let text): try Value(argument: text, as: type)
    case .json(let json): try Value(json, as: type)
    }
  }
}

extension [Assignment] {
  /// - Throws: `Failure` if a key is repeated or D-Bus has no type for a value.
  func properties(_ operation: String) throws(Failure) -> Properties {
    var properties: Properties = [:]
    for assignment in self {
      guard properties[assignment.key] == nil else {
        throw Failure(operation, "the key “\(assignment.key)” is given twice; give it once", status: .usage)
      }
      do throws(JSON.Mismatch) { properties[assignment.key] = try assignment.value() } catch {
        throw Failure(operation, "value of “\(assignment.key)”: \(error)", status: .usage)
      }
    }
    return properties
  }
}

// Why this file exists: `K=V` and `K:=JSON` mean the same wherever navctl takes values.

import ArgumentParser
import CoordinatorAPI
import DBusValues
import TextFormats

/// `K=V`, a string, or `K:=JSON`, a typed value.
struct Assignment: Equatable {
  enum Content: Equatable {
    case text(String)
    case json(JSON)
  }
  let key: String
  let content: Content

  /// - Throws: `ValidationError` where there is no `=`, no key, or a mistake in the JSON.
  init(_ word: String) throws {
    guard let equals = word.firstIndex(of: "=") else {
      throw ValidationError("“\(word)” has no “=”; KEY=TEXT or KEY:=JSON would do")
    }
    let before = word[..<equals]
    let after = String(word[word.index(after: equals)...])
    let isTyped = before.last == ":"
    key = String(isTyped ? before.dropLast() : before)
    guard !key.isEmpty else { throw ValidationError("“\(word)” has no key; KEY=TEXT or KEY:=JSON would do") }
    guard isTyped else {
      content = .text(after)
      return
    }
    do { content = .json(try JSON.parse(after)) } catch {
      throw ValidationError("the value of “\(key)” is not JSON: \(error)")
    }
  }

  /// Of a key and a value that stand apart.
  init(_ key: String, text: String) {
    self.key = key
    content = .text(text)
  }

  /// The value where no type is declared.
  func value() throws(JSON.Mismatch) -> Value {
    switch content {
    case .text(let text): .string(text)
    case .json(let json): try Value(json)
    }
  }

  /// The value of a declared type.
  func value(as type: ValueType) throws(JSON.Mismatch) -> Value {
    switch content {
    case .text(let text): try Value(argument: text, as: type)
    case .json(let json): try Value(json, as: type)
    }
  }
}

extension [Assignment] {
  /// - Throws: where a key stands twice or a value has no place on the bus.
  func properties(_ what: String) throws(Failure) -> Properties {
    var properties: Properties = [:]
    for assignment in self {
      guard properties[assignment.key] == nil else {
        throw Failure(what, "“\(assignment.key)” is given twice", status: .usage)
      }
      do throws(JSON.Mismatch) { properties[assignment.key] = try assignment.value() } catch {
        throw Failure(what, "the value of “\(assignment.key)”: \(error)", status: .usage)
      }
    }
    return properties
  }
}

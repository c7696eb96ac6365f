// Why this file exists: a record may be of another release, or broken; reading it ends in values or in an error, and never
// ends navd (R4).

import DBusValues
import PresentationModel
import PresentationRules

/// Why bytes cannot be what they should be.
struct Unreadable: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

struct BodyReader {
  private var rest: ArraySlice<UInt8>
  /// More than any value that navd takes, so that what is broken does not recurse for ever.
  private static let deepest = 80

  init(_ bytes: [UInt8]) { rest = bytes[...] }
  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func bytes(_ count: Int) throws(Unreadable) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw Unreadable("a body ends too early") }
    defer { rest.removeFirst(count) }
    return rest.prefix(count)
  }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(Unreadable) -> Number {
    let bytes = try bytes(MemoryLayout<Number>.size)
    var number: Number = 0
    withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: bytes) }
    return Number(littleEndian: number)
  }

  mutating func truth() throws(Unreadable) -> Bool {
    switch try number(UInt8.self) {
    case 0: return false
    case 1: return true
    case let other: throw Unreadable("\(other) is neither true nor false")
    }
  }

  mutating func someBytes() throws(Unreadable) -> [UInt8] { Array(try bytes(Int(try number(UInt32.self)))) }

  mutating func text() throws(Unreadable) -> String {
    guard let text = String(validating: try bytes(Int(try number(UInt32.self))), as: UTF8.self) else {
      throw Unreadable("a text is not UTF-8")
    }
    return text
  }

  mutating func properties() throws(Unreadable) -> Properties {
    var properties: Properties = [:]
    for _ in 0..<(try number(UInt32.self)) {
      let key = try text()
      properties[key] = try value()
    }
    return properties
  }

  mutating func instant() throws(Unreadable) -> Instant { Instant(nanoseconds: try number()) }
  mutating func client() throws(Unreadable) -> Client { Client(try text()) }

  mutating func requester() throws(Unreadable) -> Requester {
    let client = try client()
    let process: UInt32 = try number()
    let program = try text()
    return Requester(client, process: process == 0 ? nil : process, program: program.isEmpty ? nil : program)
  }

  mutating func binding() throws(Unreadable) -> BindingID { try BindingID(recorded: try text()) }

  /// A value with its type.
  mutating func value() throws(Unreadable) -> Value { try value(depth: 0) }

  private mutating func value(depth: Int) throws(Unreadable) -> Value {
    guard depth < Self.deepest else { throw Unreadable("a value is nested too deep") }
    let text = try text()
    guard let types = Signature(text)?.types, types.count == 1 else { throw Unreadable("“\(text)” is no type") }
    return try value(of: types[0], depth: depth)
  }

  private mutating func value(of type: ValueType, depth: Int) throws(Unreadable) -> Value {
    guard depth < Self.deepest else { throw Unreadable("a value is nested too deep") }
    switch type {
    case .byte: return .byte(try number())
    case .boolean: return .boolean(try truth())
    case .int16: return .int16(try number())
    case .uint16: return .uint16(try number())
    case .int32: return .int32(try number())
    case .uint32: return .uint32(try number())
    case .int64: return .int64(try number())
    case .uint64: return .uint64(try number())
    case .double: return .double(Double(bitPattern: try number()))
    case .string: return .string(try text())
    case .objectPath:
      guard let path = ObjectPath(try text()) else { throw Unreadable("an object path is none") }
      return .objectPath(path)
    case .signature:
      guard let signature = Signature(try text()) else { throw Unreadable("a signature is none") }
      return .signature(signature)
    case .variant: return .variant(try value(depth: depth + 1))
    case .descriptor: throw Unreadable("a descriptor is on record")
    case .array(.byte): return .bytes(try someBytes())
    case .array(let element):
      var elements: [Value] = []
      for _ in 0..<(try number(UInt32.self)) { elements.append(try value(of: element, depth: depth + 1)) }
      return .array(element: element, elements)
    case .dictionary(let keyType, let valueType):
      var entries: [Value: Value] = [:]
      for _ in 0..<(try number(UInt32.self)) {
        let key = try value(of: keyType, depth: depth + 1)
        entries[key] = try value(of: valueType, depth: depth + 1)
      }
      return Value(key: keyType, value: valueType, entries)
    case .structure(let types):
      var fields: [Value] = []
      for type in types { fields.append(try value(of: type, depth: depth + 1)) }
      return .structure(fields)
    }
  }

  /// Reads fields until the body ends.
  /// - Parameter read: takes the content of a field; false where it knows none of that code.
  mutating func fields(
    _ read: (UInt8, inout BodyReader) throws(Unreadable) -> Bool
  ) throws(Unreadable) {
    while let code = rest.popFirst() {
      guard try read(code, &self) else {
        throw Unreadable("a body has a field \(code), which this release does not know")
      }
    }
  }
}

extension BindingID {
  init(recorded text: String) throws(Unreadable) {
    do throws(Refusal) {
      try self.init(text)
    } catch {
      throw Unreadable(error.message)
    }
  }
}

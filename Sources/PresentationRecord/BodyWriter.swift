// Why this file exists: a row's body is bytes, so that what a release adds to an item changes no table; here they are
// written, and in BodyReader.swift they are read.
//
// A body is a list of fields, each a byte that says which one and then its content; what there is none of is left out.
// Numbers are little-endian, texts and bytes have their length before them as a `u32`. A value is its signature and then
// what a D-Bus message would hold, without padding; arrays and dictionaries have the number of their elements before them.

import DBusValues
import PresentationModel
import PresentationRules

struct BodyWriter {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int = 64) { bytes.reserveCapacity(capacity) }

  mutating func put(_ byte: UInt8) { bytes.append(byte) }

  mutating func put(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ truth: Bool) { bytes.append(truth ? 1 : 0) }

  mutating func put(_ some: [UInt8]) {
    put(UInt32(some.count))
    bytes.append(contentsOf: some)
  }

  mutating func put(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      put(UInt32(utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  mutating func put(_ properties: Properties) {
    put(UInt32(properties.count))
    for (key, value) in properties {
      put(key)
      put(value)
    }
  }

  /// A value with its type.
  mutating func put(_ value: Value) {
    put(value.type.signature)
    putContent(value)
  }

  private mutating func putContent(_ value: Value) {
    switch value {
    case .byte(let number): put(number)
    case .boolean(let truth): put(truth)
    case .int16(let number): put(number)
    case .uint16(let number): put(number)
    case .int32(let number): put(number)
    case .uint32(let number): put(number)
    case .int64(let number): put(number)
    case .uint64(let number): put(number)
    case .double(let number): put(number.bitPattern)
    case .string(let text): put(text)
    case .objectPath(let path): put(path.text)
    case .signature(let signature): put(signature.text)
    case .variant(let inner): put(inner)
    case .bytes(let some): put(some)
    case .array(_, let elements):
      put(UInt32(elements.count))
      for element in elements { putContent(element) }
    case .dictionary(_, _, let entries):
      put(UInt32(entries.count))
      for (key, value) in entries {
        putContent(key)
        putContent(value)
      }
    case .properties(let entries):
      put(UInt32(entries.count))
      for (key, value) in entries {
        put(key)
        put(value)
      }
    case .structure(let fields): for field in fields { putContent(field) }
    // The rules let none get here: it cannot be kept.
    case .descriptor: break
    }
  }

  // MARK: Fields

  /// A field, if there is something for it.
  mutating func field<Content>(_ code: UInt8, _ content: Content?, _ write: (inout BodyWriter, Content) -> Void) {
    guard let content else { return }
    put(code)
    write(&self, content)
  }

  mutating func field(_ code: UInt8, _ text: String?) { field(code, text) { $0.put($1) } }
  mutating func field(_ code: UInt8, _ number: UInt64?) { field(code, number) { $0.put($1) } }
  mutating func field(_ code: UInt8, _ number: Int32?) { field(code, number) { $0.put($1) } }
  mutating func field(_ code: UInt8, _ truth: Bool?) { field(code, truth) { $0.put($1) } }
  mutating func field(_ code: UInt8, _ properties: Properties?) { field(code, properties) { $0.put($1) } }
  mutating func field(_ code: UInt8, _ instant: Instant?) { field(code, instant?.nanoseconds) }
  mutating func field(_ code: UInt8, _ client: Client?) { field(code, client?.name) }
  mutating func field(_ code: UInt8, _ binding: BindingID?) { field(code, binding?.text) }

  /// Its client, its process or 0, its program or nothing.
  mutating func field(_ code: UInt8, _ requester: Requester?) {
    field(code, requester) { body, requester in
      body.put(requester.client.name)
      body.put(requester.process ?? 0)
      body.put(requester.program ?? "")
    }
  }

  /// A field that is left out where it is empty.
  mutating func fieldUnlessEmpty(_ code: UInt8, _ properties: Properties) {
    field(code, properties.isEmpty ? nil : properties)
  }
}

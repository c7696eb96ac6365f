import DBusValues
import PresentationModel
import PresentationRules

/// A value with its own encoding in a payload.
protocol Recordable {
  func write(to payload: inout PayloadWriter)
  init(from payload: inout PayloadReader) throws(Unreadable)
}

extension Recordable where Self: FixedWidthInteger {
  func write(to payload: inout PayloadWriter) { payload.append(integer: self) }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    let bytes = try payload.bytes(MemoryLayout<Self>.size)
    self = 0
    withUnsafeMutableBytes(of: &self) { $0.copyBytes(from: bytes) }
    self = Self(littleEndian: self)
  }
}

extension UInt8: Recordable {}
extension UInt16: Recordable {}
extension UInt32: Recordable {}
extension UInt64: Recordable {}
extension Int16: Recordable {}
extension Int32: Recordable {}
extension Int64: Recordable {}

extension String: Recordable {
  func write(to payload: inout PayloadWriter) {
    var text = self
    text.withUTF8 { payload.put(bytes: $0) }
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    self = try payload.text()
  }
}

extension [UInt8]: Recordable {
  func write(to payload: inout PayloadWriter) { withUnsafeBytes { payload.put(bytes: $0) } }

  init(from payload: inout PayloadReader) throws(Unreadable) { self.init(try payload.bytes()) }
}

extension Value: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(type.signature)
    payload.put(contentOf: self)
  }

  init(from payload: inout PayloadReader) throws(Unreadable) { self = try payload.value() }
}

extension Properties: Recordable {
  func write(to payload: inout PayloadWriter) {
    payload.put(UInt32(count))
    for (key, value) in self {
      payload.put(key)
      payload.put(value)
    }
  }

  init(from payload: inout PayloadReader) throws(Unreadable) {
    self.init()
    for _ in 0..<(try payload.get(UInt32.self)) {
      let key: String = try payload.get()
      self[key] = try payload.get()
    }
  }
}

// MARK: Values that are written as other values

private protocol RecordableAsOther: Recordable {
  associatedtype Recorded: Recordable
  var recorded: Recorded { get }
  init(recorded: Recorded) throws(Unreadable)
}

extension RecordableAsOther {
  func write(to payload: inout PayloadWriter) { payload.put(recorded) }
  init(from payload: inout PayloadReader) throws(Unreadable) { try self.init(recorded: payload.get()) }
}

extension Shared: RecordableAsOther, Recordable where Value: Recordable {
  var recorded: Value { content }
  init(recorded: Value) { self.init(recorded) }
}

extension Bool: RecordableAsOther {
  var recorded: UInt8 { self ? 1 : 0 }

  init(recorded byte: UInt8) throws(Unreadable) {
    guard byte <= 1 else { throw Unreadable("expected 0 or 1, found \(byte)") }
    self = byte == 1
  }
}

extension Handle: RecordableAsOther {
  var recorded: UInt64 { number }
  init(recorded number: UInt64) { self.init(number) }
}

extension Serial: RecordableAsOther {
  var recorded: UInt64 { number }
  init(recorded number: UInt64) { self.init(number) }
}

extension Instant: RecordableAsOther {
  var recorded: UInt64 { nanoseconds }
  init(recorded nanoseconds: UInt64) { self.init(nanoseconds: nanoseconds) }
}

extension Client: RecordableAsOther {
  var recorded: String { name }
  init(recorded name: String) { self.init(name) }
}

extension BindingID: RecordableAsOther {
  var recorded: String { text }

  init(recorded text: String) throws(Unreadable) {
    do throws(Refusal) { try self.init(text) } catch { throw Unreadable(error.message) }
  }
}

extension DestinationGroup: RecordableAsOther {
  var recorded: String { text }

  init(recorded text: String) throws(Unreadable) {
    do throws(Refusal) { try self.init(text) } catch { throw Unreadable(error.message) }
  }
}

extension RecordableAsOther where Self: RawRepresentable<String> {
  var recorded: String { rawValue }

  init(recorded text: String) throws(Unreadable) {
    guard let value = Self(rawValue: text) else { throw Unreadable("expected a \(Self.self), found “\(text)”") }
    self = value
  }
}

extension Reason: RecordableAsOther {}
extension BusyPolicy: RecordableAsOther {}

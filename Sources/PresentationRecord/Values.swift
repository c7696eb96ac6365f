import CoordinatorAPI
import DBusValues
import PresentationModel
import PresentationRules
import TextFormats

// The values of which fields consist.

/// A value of the bus, or one that is sent as such.
extension Recordable where Self: ValueConvertible {
  func write(to writer: inout JSONWriter) { writer.write(JSON(value, isTyped: true)) }

  init(recorded json: JSON) throws(Unreadable) {
    do throws(JSON.Mismatch) {
      guard let value = Self(value: try DBusValues.Value(json, as: Self.valueType, isTyped: true)) else {
        throw JSON.Mismatch(why: "found \(json.text)")
      }
      self = value
    } catch {
      throw Unreadable("\(error)")
    }
  }
}

extension Bool: Recordable {}
extension UInt8: Recordable {}
extension UInt32: Recordable {}
extension UInt64: Recordable {}
extension Int32: Recordable {}
extension Int64: Recordable {}
extension String: Recordable {}
extension ObjectPath: Recordable {}
extension Value: Recordable {}
extension Array: Recordable where Element: ValueConvertible {}
extension Dictionary: Recordable where Key == String, Value: ValueConvertible {}

/// A list of rows.
struct RecordedList<Element: Recordable>: Recordable {
  var elements: [Element]
  init(_ elements: [Element]) { self.elements = elements }

  func write(to writer: inout JSONWriter) {
    writer.array { writer in
      for element in elements {
        writer.beginElement()
        element.write(to: &writer)
      }
    }
  }

  init(recorded json: JSON) throws(Unreadable) {
    guard case .array(let list) = json else { throw Unreadable("expected a list, found \(json.kind)") }
    elements = []
    for json in list { elements.append(try Element(recorded: json)) }
  }
}

// MARK: Values that are written as other values

private protocol RecordableAsOther: Recordable {
  associatedtype Recorded: Recordable
  var recorded: Recorded { get }
  /// - Returns: nil if no such value is written so.
  static func value(_ recorded: Recorded) -> Self?
}

extension RecordableAsOther {
  func write(to writer: inout JSONWriter) { recorded.write(to: &writer) }

  init(recorded json: JSON) throws(Unreadable) {
    guard let value = Self.value(try Recorded(recorded: json)) else {
      throw Unreadable("expected a \(Self.self), found \(quoted(json.text))")
    }
    self = value
  }
}

extension Shared: RecordableAsOther, Recordable where Value: Recordable {
  var recorded: Value { content }
  static func value(_ content: Value) -> Self? { Self(content) }
}

extension Handle: RecordableAsOther {
  var recorded: UInt64 { number }
  static func value(_ number: UInt64) -> Self? { Self(number) }
}

extension Serial: RecordableAsOther {
  var recorded: UInt64 { number }
  static func value(_ number: UInt64) -> Self? { Self(number) }
}

extension Instant: RecordableAsOther {
  var recorded: UInt64 { nanoseconds }
  static func value(_ nanoseconds: UInt64) -> Self? { Self(nanoseconds: nanoseconds) }
}

extension Client: RecordableAsOther {
  var recorded: String { name }
  static func value(_ name: String) -> Self? { Self(name) }
}

extension BindingID: RecordableAsOther {
  var recorded: String { text }
  static func value(_ text: String) -> Self? { try? Self(text) }
}

extension DestinationGroup: RecordableAsOther {
  var recorded: String { text }
  static func value(_ text: String) -> Self? { try? Self(text) }
}

extension RecordableAsOther where Self: RawRepresentable<String> {
  var recorded: String { rawValue }
  static func value(_ text: String) -> Self? { Self(rawValue: text) }
}

extension Phase: RecordableAsOther {}
extension Reason: RecordableAsOther {}
extension BusyPolicy: RecordableAsOther {}
extension CommandScope: RecordableAsOther {}
extension RestartRule.Condition: RecordableAsOther {}
extension Replacement: RecordableAsOther {}

// Requests are recorded as the dictionaries of the contract, so a new option needs nothing here.
extension WindowPlacement: RecordableAsOther {
  var recorded: Properties { options.properties }
  static func value(_ options: Properties) -> Self? { try? Self(reading: options) }
}

extension ItemOptionFields: RecordableAsOther {
  var recorded: Properties { properties }
  static func value(_ options: Properties) -> Self? { try? Self(options) }
}

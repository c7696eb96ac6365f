// Why this file exists: a program's own types travel as what the bus has: ids as text, values as dictionaries.

import CoordinatorAPI
import DBusValues
import FoundationEssentials
import TextFormats

/// `Codable`, as ids and values.
enum Coding {
  /// The text of an id: a string as it is, everything else as JSON with its keys in order, so that equal ids have equal texts.
  static func id(of value: some Encodable) -> String {
    if let text = value as? String { return text }
    guard let json = try? json(of: value) else { return "" }
    return json.string ?? json.text
  }

  /// A value as an item's dictionary: what encodes as an object is that, everything else stands under `value`. What cannot be
  /// encoded has none.
  static func properties(of value: some Encodable) -> Properties {
    (try? json(of: value)).flatMap(properties) ?? [:]
  }

  /// As above, of what is encoded already; nil where the bus has no such value.
  static func properties(_ json: JSON) -> Properties? {
    let members = json.object ?? ["value": json]
    return (try? Value(.object(members), as: Properties.valueType)).flatMap { Properties(value: $0) }
  }

  /// The value of an item's dictionary; nil where it does not fit.
  static func value<T: Decodable>(_ type: T.Type, of properties: Properties) -> T? {
    let json = JSON(properties)
    return decode(type, json) ?? json["value"].flatMap { decode(type, $0) }
  }

  static func decode<T: Decodable>(_ type: T.Type, _ json: JSON) -> T? {
    try? JSONDecoder().decode([T].self, from: Data(JSON.array([json]).text.utf8)).first
  }

  static func json(of value: some Encodable) throws -> JSON {
    let encoder = JSONEncoder()
    // In an array, so that a bare value is JSON too.
    return try JSON.parse([UInt8](encoder.encode([value]))).array?.first ?? .null
  }
}

import CoordinatorAPI
import DBusValues
import FoundationEssentials
import TextFormats

/// Converts `Codable` values to the types of the bus: ids to text, and values to dictionaries.
enum Coding {
  /// The text of an id: a string unchanged, a case without a payload by its name, anything else as JSON with sorted keys, so that
  /// equal ids have equal texts.
  /// - Parameter report: called if the id cannot be encoded, and its text is its description in Swift.
  static func id(of value: some Encodable, unencodable report: () -> Void) -> String {
    if let text = value as? String { return text }
    guard let json = try? json(of: value) else {
      report()
      return String(reflecting: value)
    }
    return json.string ?? caseName(json) ?? json.text
  }

  /// The name of an enum's case without a payload. Swift encodes it as an object whose only member is an empty object.
  private static func caseName(_ json: JSON) -> String? {
    guard let members = json.object, members.count == 1, let member = members.first,
      member.value.object?.isEmpty == true
    else { return nil }
    return member.key
  }

  /// A value as an item's dictionary: the members of a JSON object, or any other JSON value with the key `value`; nil if the value
  /// cannot be encoded, or D-Bus cannot represent it.
  static func properties(of value: some Encodable) -> Properties? { (try? json(of: value)).flatMap(properties) }

  /// Converts JSON in the same way; nil if D-Bus cannot represent it.
  static func properties(_ json: JSON) -> Properties? {
    let members = json.object ?? ["value": json]
    return (try? Value(.object(members), as: Properties.valueType)).flatMap { Properties(value: $0) }
  }

  /// Decodes the value of an item's dictionary; nil if it does not match the type.
  static func value<T: Decodable>(_ type: T.Type, of properties: Properties) -> T? {
    let json = JSON(properties)
    return decode(type, json) ?? json["value"].flatMap { decode(type, $0) }
  }

  /// Decodes an element of a path: its value, or its id, which then is the whole value.
  static func element<T: Decodable>(_ type: T.Type, id: String, _ value: Properties) -> T? {
    if !value.isEmpty, let decoded = self.value(type, of: value) { return decoded }
    return (try? JSON.parse(id)).flatMap { decode(type, $0) } ?? decode(type, .string(id))
  }

  static func decode<T: Decodable>(_ type: T.Type, _ json: JSON) -> T? {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity, negativeInfinity: "-" + infinity, nan: notANumber)
    return try? decoder.decode([T].self, from: Data(JSON.array([json]).text.utf8)).first
  }

  static func json(of value: some Encodable) throws -> JSON {
    let encoder = JSONEncoder()
    // JSON cannot represent these numbers.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity, negativeInfinity: "-" + infinity, nan: notANumber)
    // The value is encoded in an array, because the encoder accepts no fragments.
    return try JSON.parse([UInt8](encoder.encode([value]))).array?.first ?? .null
  }

  private static let (infinity, notANumber) = ("inf", "nan")
}

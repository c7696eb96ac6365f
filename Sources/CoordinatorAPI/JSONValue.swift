import DBusValues
import TextFormats

extension Value {
  /// Converts JSON to a D-Bus value without a declared type: integers become `x` (`t` above its range), reals `d`, strings `s`,
  /// booleans `b`, arrays `av`, and objects `a{sv}`.
  /// - Throws: `Mismatch` for null, and for text with U+0000.
  public init(_ json: JSON) throws(JSON.Mismatch) {
    switch json {
    case .null: throw JSON.Mismatch(why: "null cannot be sent over D-Bus; leave it out")
    case .boolean(let flag): self = .boolean(flag)
    case .integer(let number): self = .int64(number)
    case .unsigned(let number): self = .uint64(number)
    case .real(let number): self = .double(number)
    case .string(let text): self = .string(try text.withoutNUL())
    case .array: self = try Value(json, as: .array(.variant))
    case .object: self = try Value(json, as: .properties)
    }
  }

  /// Converts JSON to a D-Bus value of a declared type.
  ///
  /// `ay` is read from a string (its UTF-8) or an array of integers, `o` from a string or the number of a presentation, and `d` from
  /// any number.
  /// - Throws: `Mismatch` with the expected type, even if only a number is out of range.
  public init(_ json: JSON, as type: ValueType) throws(JSON.Mismatch) {
    try self.init(json, as: type, isTyped: false)
  }

  /// Converts a list of the signature and the content of a variant.
  private init(typed json: JSON) throws(JSON.Mismatch) {
    guard case .array(let parts) = json, parts.count == 2, case .string(let text) = parts[0],
      let types = Signature(text)?.types, types.count == 1
    else { throw JSON.Mismatch(why: "expected the signature of one type, and a value, found \(json.text)") }
    try self.init(parts[1], as: types[0], isTyped: true)
  }

  /// - Parameter isTyped: whether the JSON has what ``JSON/init(_:isTyped:)`` keeps.
  package init(_ json: JSON, as type: ValueType, isTyped: Bool) throws(JSON.Mismatch) {
    if let integer = type.integerType {
      self = try json.integer(integer).value
      return
    }
    switch (type, json) {
    case (.variant, _): self = .variant(isTyped ? try Value(typed: json) : try Value(json))
    case (.boolean, .boolean(let flag)): self = .boolean(flag)
    case (.double, .real(let number)): self = .double(number)
    case (.double, .integer(let number)): self = .double(Double(number))
    case (.double, .unsigned(let number)): self = .double(Double(number))
    case (.double, .string("inf")) where isTyped: self = .double(.infinity)
    case (.double, .string("-inf")) where isTyped: self = .double(-.infinity)
    case (.double, .string("nan")) where isTyped: self = .double(.nan)
    case (.string, .string(let text)): self = .string(try text.withoutNUL())
    case (.objectPath, .string(let text)):
      guard let path = ObjectPath(text) else { throw JSON.Mismatch(why: "expected an object path, found \(json.text)") }
      self = .objectPath(path)
    case (.objectPath, .integer), (.objectPath, .unsigned):
      guard let number = json.unsigned else {
        throw JSON.Mismatch(why: "expected the number of a presentation, found \(json.text)")
      }
      self = .objectPath(CoordinatorNames.presentation(number))
    case (.signature, .string(let text)):
      guard let signature = Signature(text) else {
        throw JSON.Mismatch(why: "expected a D-Bus signature, found \(json.text)")
      }
      self = .signature(signature)
    case (.array(.byte), .string(let text)): self = .bytes(Array(text.utf8))
    case (.array(.byte), .array(let elements)):
      var bytes: [UInt8] = []
      for (index, element) in elements.enumerated() {
        do throws(JSON.Mismatch) { bytes.append(try element.integer(UInt8.self)) } catch {
          throw error.inside(.element(index))
        }
      }
      self = .bytes(bytes)
    case (.array(let element), .array(let elements)):
      self = .array(element: element, try elements.values(isTyped) { _ in element })
    case (.structure(let fields), .array(let elements)):
      guard fields.count == elements.count else {
        throw JSON.Mismatch(why: "expected a list of \(fields.count) (\(type.signature)), found \(elements.count)")
      }
      self = .structure(try elements.values(isTyped) { fields[$0] })
    case (.dictionary(let keyType, let valueType), .object(let members)):
      var entries: [Value: Value] = [:]
      // Sorted, so that the first fault is always the same.
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        do throws(JSON.Mismatch) {
          let key = try Value(key: name, as: keyType)
          entries[key] = try Value(member, as: valueType, isTyped: isTyped)
        } catch {
          throw error.inside(.member(name))
        }
      }
      self.init(key: keyType, value: valueType, entries)
    default: throw JSON.Mismatch(why: "expected \(type.wanted) (\(type.signature)), found \(json.kind)")
    }
  }

  /// Converts the name of a member to the key of a dictionary.
  private init(key name: String, as type: ValueType) throws(JSON.Mismatch) {
    if type == .string {
      self = .string(try name.withoutNUL())
    } else if type == .double, let number = Double(name) {
      self = .double(number)
    } else {
      try self.init(argument: name, as: type)
    }
  }

  /// Converts an argument of a command line to a D-Bus value of a declared type. The text itself is the value for `s`, `o`, `g` and
  /// `ay`; for every other type, including `v`, it is JSON.
  /// - Throws: `Mismatch` with the expected type.
  public init(argument text: String, as type: ValueType) throws(JSON.Mismatch) {
    switch type {
    case .string, .objectPath, .signature, .array(.byte): self = try Value(.string(text), as: type)
    default:
      let json: JSON
      do throws(JSON.Mistake) { json = try JSON.parse(text) } catch {
        throw JSON.Mismatch(why: "expected \(type.wanted) (\(type.signature)) as JSON: \(error)")
      }
      self = try Value(json, as: type)
    }
  }
}

extension JSON {
  fileprivate func integer<T: FixedWidthInteger & ValueConvertible>(_: T.Type) throws(Mismatch) -> T {
    let number: T? =
      switch self {
      case .integer(let number): T(exactly: number)
      case .unsigned(let number): T(exactly: number)
      default: throw Mismatch(why: "expected \(T.valueType.wanted) (\(T.valueType.signature)), found \(kind)")
      }
    guard let number else {
      throw Mismatch(why: "expected \(T.min) to \(T.max) (\(T.valueType.signature)), found \(text)")
    }
    return number
  }
}

extension [JSON] {
  fileprivate func values(_ isTyped: Bool, as type: (Int) -> ValueType) throws(JSON.Mismatch) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    for (index, element) in enumerated() {
      do throws(JSON.Mismatch) { values.append(try Value(element, as: type(index), isTyped: isTyped)) } catch {
        throw error.inside(.element(index))
      }
    }
    return values
  }
}

extension String {
  /// Refuses a text with a NUL, since a D-Bus string would end there.
  fileprivate func withoutNUL() throws(JSON.Mismatch) -> String {
    guard !utf8.contains(0) else { throw JSON.Mismatch(why: "expected text without U+0000, which D-Bus cannot send") }
    return self
  }
}

extension ValueType {
  /// The expected JSON value, for messages.
  fileprivate var wanted: String {
    switch self {
    case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: "an integer"
    case .boolean: "true or false"
    case .double: "a number"
    case .string: "a string"
    case .objectPath: "an object path or a presentation's number"
    case .signature: "a D-Bus signature"
    case .variant: "a value"
    case .descriptor: "a descriptor, which JSON cannot hold,"
    case .array, .structure: "a list"
    case .dictionary: "an object"
    }
  }
}

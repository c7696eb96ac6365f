import CoordinatorAPI
import FoundationEssentials
import TextFormats

/// The values of a stack's path, of any types, from the bottom to the top. The path is encoded as a list of `{"type", "value"}`. A
/// decoded value stays JSON until its type has a destination. A value of a private or local type whose name another type has, too, cannot be
/// encoded: when decoded, it could not be distinguished from a value of that type.
///
///     var path = NavigationPath([1, 2])
///     path.append(Note(id: 7, text: "Milk"))
///     path.removeLast()
///     if path.count == 1, !path.isEmpty { model.mixedPath = path }
public struct NavigationPath: Hashable, Sendable, Codable {
  /// One value. Two elements are equal if their types and JSON are equal.
  struct Element: Hashable, Sendable, Codable {
    /// The full name of the type.
    let type: String
    /// The value as JSON; empty if it cannot be encoded.
    let value: String

    init(type: String, value: String) { (self.type, self.value) = (type, value) }

    init<Value: Codable>(_ value: Value) {
      self.init(type: TypeName.of(Value.self), value: (try? Coding.json(of: value))?.text ?? "")
    }

    func decoded<T: Decodable>(_ type: T.Type) -> T? {
      guard self.type == TypeName.of(type) else { return nil }
      return (try? JSON.parse(value)).flatMap { Coding.decode(type, $0) }
    }
  }

  var elements: [Element]

  init(elements: [Element]) { self.elements = elements }

  /// Creates an empty path.
  ///
  ///     model.mixedPath = NavigationPath()
  public init() { elements = [] }

  /// Creates a path of these values.
  ///
  ///     model.mixedPath = NavigationPath([1, 2])
  public init<Values: Sequence>(_ values: Values) where Values.Element: Hashable & Codable {
    self.init()
    for value in values { append(value) }
  }

  /// The number of values in the path.
  public var count: Int { elements.count }
  /// Whether the path has no values.
  public var isEmpty: Bool { elements.isEmpty }

  /// Appends a value at the top. A value that cannot be encoded is left out and reported as misuse.
  ///
  ///     model.mixedPath.append(Note(id: 7, text: "Milk"))
  public mutating func append<Value: Hashable & Codable>(
    _ value: Value, file: StaticString = #fileID, line: UInt = #line
  ) {
    let element = Element(value)
    guard !element.value.isEmpty else {
      return reportMisuse("\(value) cannot be encoded, so it can stand in no path", file: file, line: line)
    }
    elements.append(element)
  }

  /// Removes values from the top.
  ///
  ///     if !model.mixedPath.isEmpty { model.mixedPath.removeLast() }
  ///
  /// - Precondition: the path has at least `count` values.
  public mutating func removeLast(_ count: Int = 1) { elements.removeLast(count) }

  public init(from decoder: any Decoder) throws { elements = try [Element](from: decoder) }

  public func encode(to encoder: any Encoder) throws {
    if let element = elements.first(where: { TypeName.isOfThisRun($0.type) }) {
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription:
            "several private types have the name of \(element.type); give it another name, or a wider access"))
    }
    try elements.encode(to: encoder)
  }
}

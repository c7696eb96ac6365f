// Why this file exists: the path of a drill-down may hold values of many types, and be kept as JSON until somebody knows
// their types.

import CoordinatorAPI
import FoundationEssentials
import TextFormats

/// The values of a stack's path, of any types, the bottom first. As JSON it is a list of `{"type", "value"}`; what is decoded
/// stays JSON until there is a destination for its type.
public struct NavigationPath: Hashable, Sendable, Codable {
  /// One value; equal where type and JSON are.
  struct Element: Hashable, Sendable, Codable {
    /// The type's whole name.
    let type: String
    /// JSON.
    let value: String

    func decoded<T: Decodable>(_ type: T.Type) -> T? {
      guard self.type == typeName(type) else { return nil }
      return (try? JSON.parse(value)).flatMap { Coding.decode(type, $0) }
    }
  }

  var elements: [Element]

  /// An empty path: nothing is pushed.
  public init() { elements = [] }

  /// A path of these values.
  public init<Values: Sequence>(_ values: Values) where Values.Element: Hashable & Codable {
    self.init()
    for value in values { append(value) }
  }

  /// How many values stand in it.
  public var count: Int { elements.count }
  /// Whether nothing is pushed.
  public var isEmpty: Bool { elements.isEmpty }

  /// Puts a value on the top. What cannot be encoded is left out, and told as misuse.
  public mutating func append<Value: Hashable & Codable>(
    _ value: Value, file: StaticString = #fileID, line: UInt = #line
  ) {
    guard let json = try? Coding.json(of: value) else {
      return reportMisuse("\(value) cannot be encoded, so it can stand in no path", file: file, line: line)
    }
    elements.append(Element(type: typeName(Value.self), value: json.text))
  }

  /// Takes values from the top.
  /// - Precondition: there are so many.
  public mutating func removeLast(_ count: Int = 1) { elements.removeLast(count) }

  public init(from decoder: any Decoder) throws { elements = try [Element](from: decoder) }
  public func encode(to encoder: any Encoder) throws { try elements.encode(to: encoder) }
}

func typeName(_ type: Any.Type) -> String { String(reflecting: type) }

/// A path, whatever it is made of, as its stack sees it.
@MainActor
struct PathState {
  let read: () -> [NavigationPath.Element]
  /// The text of a value's identity.
  let id: (NavigationPath.Element) -> String
  /// Keeps so many from the bottom.
  let truncate: (Int) -> Void
  /// - Returns: false where a value of that type cannot stand in the path.
  let append: (any Hashable & Codable) -> Bool

  init<Element: Hashable & Codable>(_ path: Binding<[Element]>) {
    read = { NavigationPath(path.wrappedValue).elements }
    id = { (try? JSON.parse($0.value))?.string ?? $0.value }
    truncate = { count in
      if path.wrappedValue.count > count { path.wrappedValue.removeLast(path.wrappedValue.count - count) }
    }
    append = { value in
      guard let value = value as? Element else { return false }
      path.wrappedValue.append(value)
      return true
    }
  }

  init(_ path: Binding<NavigationPath>) {
    read = { path.wrappedValue.elements }
    // What is of another type is another, also where its JSON is the same.
    id = { "\($0.type) \($0.value)" }
    truncate = { count in
      if path.wrappedValue.count > count { path.wrappedValue.removeLast(path.wrappedValue.count - count) }
    }
    append = { value in
      path.wrappedValue.append(value)
      return true
    }
  }
}

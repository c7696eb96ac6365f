import DBusValues
import Testing

@testable import Navigation

/// The types of container values, and the names of their keys (V1).
@Suite @MainActor struct ContainerValueTests {
  private enum Level: String, Codable { case low, high }
  private enum Badge: Codable, Equatable { case dot, number(Int) }
  private struct Range: Codable, Equatable { var from = 1, to = 2 }

  private struct Flag: ContainerValueKey { static let defaultValue = false }
  private struct Count: ContainerValueKey { static let defaultValue = 0 }
  private struct Positive: ContainerValueKey { static let defaultValue: UInt = 0 }
  private struct Share: ContainerValueKey { static let defaultValue: Float = 0.5 }
  private struct Words: ContainerValueKey { static let defaultValue: [String] = [] }
  private struct Loudness: ContainerValueKey { static let defaultValue = Level.low }
  private struct Mark: ContainerValueKey { static let defaultValue: Badge? = nil }
  private struct Size: ContainerValueKey { static let defaultValue: Int? = 3 }
  private struct Bounds: ContainerValueKey { static let defaultValue = Range() }

  @Test("V1: a value has one type on the bus, as its default has, and is read as it was set")
  func value_ofAnyType_isReadAsItWasSet() throws {
    func check<Key: ContainerValueKey>(_ key: Key.Type, _ values: [Key.Value], _ type: ValueType) throws
    where Key.Value: Equatable {
      #expect(key.declaredDefault.type == type, "\(key)")
      for value in values + [key.defaultValue] {
        var all = ContainerValues()
        all[key] = value
        #expect(all.properties[key.name]?.type == type, "\(key): \(value)")
        #expect(ContainerValues(resolved: all.properties)[key] == value, "\(key)")
      }
      #expect(ContainerValues(resolved: [key.name: .objectPath(.root)])[key] == key.defaultValue)
    }
    try check(Flag.self, [true], .boolean)
    try check(Count.self, [-7, .max], .int64)
    try check(Positive.self, [7, .max], .uint64)
    try check(Share.self, [1, 0.1], .double)
    try check(Words.self, [["a", "b"]], .array(.string))
    try check(Loudness.self, [.high], .string)
    try check(Mark.self, [.dot, .number(3)], Properties.valueType)
    try check(Size.self, [nil, 4], Properties.valueType)
    try check(Bounds.self, [Range(from: 3, to: 4)], Properties.valueType)
  }

  @Test("V1: the name of a key has its module and its type, so that two programs do not share a key")
  func name_ofAKey_hasItsModule() {
    struct Local: ContainerValueKey { static let defaultValue = 0 }
    #expect(Count.name == "NavigationTests-ContainerValueTests-Count")
    #expect(Local.name == "NavigationTests-ContainerValueTests-Local")
    #expect(PublicKey.name == "NavigationTests-PublicKey")
  }

  @Test("A value that cannot be encoded like its default is reported, and not set")
  func value_thatIsNotLikeItsDefault_isReported() {
    let reports = MisuseLog()
    Misuse.reporting(to: { message, file, _ in reports.add(message, file) }) {
      var all = ContainerValues()
      all[Fickle.self] = Either(text: nil)
      #expect(all.properties.isEmpty)
    }
    #expect(reports.messages.count == 1 && reports.files(of: "Fickle") == ["NavigationTests/ContainerValueTests.swift"])
  }

  private struct Fickle: ContainerValueKey { static let defaultValue = Either(text: "a") }

  /// A value that is encoded as text or as a structure.
  private struct Either: Codable {
    var text: String?
    init(text: String?) { self.text = text }
    init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    func encode(to encoder: any Encoder) throws {
      if let text {
        var container = encoder.singleValueContainer()
        return try container.encode(text)
      }
      try ["a": 1].encode(to: encoder)
    }
  }
}

struct PublicKey: ContainerValueKey { static let defaultValue = 0 }

import DBusValues

/// The number of a presentation; never used twice.
public struct Handle: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (a: Handle, b: Handle) -> Bool { a.number < b.number }
  /// Fibonacci hashing: one multiplication spreads consecutive numbers. Clients do not choose handles, so they cannot make them
  /// collide.
  public func _rawHashValue(seed: Int) -> Int {
    let product = number &* 0x9e37_79b9_7f4a_7c15
    return Int(truncatingIfNeeded: product ^ product >> 32) ^ seed
  }
  public var description: String { String(number) }

  /// The parent of all presentations' object paths.
  public static let pathPrefix: ObjectPath = "/org/navd/Coordinator1/presentation"

  /// The object path of the presentation on the bus.
  public var path: ObjectPath { Self.pathPrefix.appending(number) }

  /// The handle for a presentation's object path; nil for every other path, `/` included.
  public init?(path: ObjectPath) {
    guard let number = path.number(below: Self.pathPrefix) else { return nil }
    self.init(number)
  }
}

/// The number of an event; one more than that of the event before (W1).
public struct Serial: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (a: Serial, b: Serial) -> Bool { a.number < b.number }
  public var description: String { String(number) }
}

/// A client of the coordinator, by its unique name on the bus.
public struct Client: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let name: String
  public init(_ name: String) { self.name = name }
  public static func < (a: Client, b: Client) -> Bool { a.name < b.name }
  public var description: String { name }
}

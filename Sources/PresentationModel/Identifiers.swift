// Why this file exists: a handle, a serial and a client are three things, and none of them is a number or a text that
// could be mixed up with another.

import DBusValues

/// Names one presentation; given out once and never again.
public struct Handle: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (a: Handle, b: Handle) -> Bool { a.number < b.number }
  /// For dictionaries: handles are given out by the machine, one after the other, so nobody can choose ones that collide,
  /// and to spread them takes a multiplication (Fibonacci hashing).
  public func _rawHashValue(seed: Int) -> Int {
    let product = number &* 0x9e37_79b9_7f4a_7c15
    return Int(truncatingIfNeeded: product ^ product >> 32) ^ seed
  }
  public var description: String { String(number) }

  /// The parent of all presentations' object paths.
  public static let pathPrefix: ObjectPath = "/org/navd/Coordinator1/presentation"

  /// The object path of the presentation on the bus.
  public var path: ObjectPath { Self.pathPrefix.appending(number) }

  /// The handle of a presentation's object path; nil for `/` and every other path.
  public init?(path: ObjectPath) {
    guard let number = path.number(below: Self.pathPrefix) else { return nil }
    self.init(number)
  }
}

/// Counts the differences between states; every event has one more than the event before it (W1).
public struct Serial: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (a: Serial, b: Serial) -> Bool { a.number < b.number }
  public var description: String { String(number) }
}

/// Whoever asks: on the bus, a unique name.
public struct Client: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let name: String
  public init(_ name: String) { self.name = name }
  public static func < (a: Client, b: Client) -> Bool { a.name < b.name }
  public var description: String { name }
}

// Why this file exists: a handle, a serial and a client are three things, and none of them is a number or a text that
// could be mixed up with another.

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

/// A point of a clock that only goes forward; the machine is told it and has no clock of its own.
public struct Instant: Hashable, Comparable, Sendable {
  public let nanoseconds: UInt64
  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }
  public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The point some milliseconds later; the end of time where that overflows.
  func after(milliseconds: UInt64) -> Instant {
    let (span, tooLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, tooLate) = nanoseconds.addingReportingOverflow(span)
    return Instant(nanoseconds: tooLong || tooLate ? .max : sum)
  }
}

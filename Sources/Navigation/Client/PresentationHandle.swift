// Why this file exists: one showing of one item has one name, which is never used again.

import CoordinatorAPI
import DBusValues

/// Names one presentation: one showing of one item, from the request until it is gone (docs/semantics.md, *Words*).
public struct PresentationHandle: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// As others call it: `navctl wait --presentation 42`.
  public let number: UInt64
  /// The handle of this number.
  public init(_ number: UInt64) { self.number = number }

  /// - Returns: nil for `/`, and for every path that is no presentation's.
  init?(optional path: ObjectPath) {
    guard let number = CoordinatorNames.number(of: path) else { return nil }
    self.number = number
  }

  /// A path that the coordinator says is a presentation's; one that is not names none.
  init(_ path: ObjectPath) { self.init(CoordinatorNames.number(of: path) ?? 0) }

  var path: ObjectPath { CoordinatorNames.presentation(number) }

  public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
  public var description: String { String(number) }
}

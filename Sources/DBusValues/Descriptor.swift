// Why this file exists: a descriptor that crosses the bus must be closed exactly once, by whoever holds it last.

import Glibc

/// A file descriptor, closed when the last copy of this value goes.
public struct Descriptor: Hashable, Sendable {
  private final class Owner: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { close(number) }
  }
  private let owner: Owner

  /// Takes over `number`.
  public init(owning number: Int32) { owner = Owner(number) }

  /// The number, for as long as a copy of this value is held.
  public var number: Int32 { owner.number }

  public static func == (a: Descriptor, b: Descriptor) -> Bool { a.owner === b.owner }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(owner)) }
}

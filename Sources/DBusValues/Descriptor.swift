import Glibc

/// A file descriptor, closed once, when the last copy of this value is destroyed.
public struct Descriptor: Hashable, Sendable {
  private final class Owner: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { close(number) }
  }
  private let owner: Owner

  /// - Parameter number: an open descriptor, which is now closed here and nowhere else.
  public init(owning number: Int32) { owner = Owner(number) }

  /// The descriptor's number, valid while a copy of this value exists.
  public var number: Int32 { owner.number }

  public static func == (a: Descriptor, b: Descriptor) -> Bool { a.owner === b.owner }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(owner)) }
}

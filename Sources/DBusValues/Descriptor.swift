import Glibc

/// A file descriptor. It is closed once, when the last copy of this value is destroyed.
public struct Descriptor: Hashable, Sendable {
  private final class Owner: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { close(number) }
  }
  private let owner: Owner

  /// - Parameter number: an open descriptor; from now on it is closed here and nowhere else.
  public init(owning number: Int32) { owner = Owner(number) }

  /// The number of the descriptor, which is valid while a copy of this value exists.
  public var number: Int32 { owner.number }

  public static func == (a: Descriptor, b: Descriptor) -> Bool { a.owner === b.owner }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(owner)) }
}

/// The documentation of a member, for readers of the contract. The text is made when it is read: a program that serves the interface
/// starts without it.
public struct Documentation: Hashable, Sendable {
  private let make: @Sendable () -> String

  init(_ make: @escaping @Sendable () -> String) { self.make = make }

  public var text: String { make() }

  public static func == (a: Documentation, b: Documentation) -> Bool { a.text == b.text }

  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

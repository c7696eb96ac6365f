// Why this file exists: how a change is to be carried out travels beside the change, without an argument in every
// function between who makes it and who shows it.

/// How a change of state is to be shown: what SwiftUI calls a transaction. Rule T2 is what navd makes of ``animated``.
///
/// Declare more of what it carries as SwiftUI does:
///
///     struct Haste: TransactionKey { static let defaultValue = 1.0 }
///     extension Transaction {
///       var haste: Double { get { self[Haste.self] } set { self[Haste.self] = newValue } }
///     }
public struct Transaction: Sendable {
  /// The one that changes are made in now.
  @TaskLocal public static var current = Transaction()

  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// One in which nothing is set.
  public init() {}

  /// - Parameter animated: see ``animated``.
  public init(animated: Bool) { self.animated = animated }

  /// The key's value: what was set, else its default.
  public subscript<Key: TransactionKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  /// Whether presenters animate the change; nil leaves it to them.
  public var animated: Bool? {
    get { self[Animated.self] }
    set { self[Animated.self] = newValue }
  }

  /// Whether nothing is set.
  public var isEmpty: Bool { values.isEmpty }

  /// This one, with what `inner` sets in its place.
  public func merging(_ inner: Transaction) -> Transaction {
    var merged = self
    merged.values.merge(inner.values) { $1 }
    return merged
  }

  private enum Animated: TransactionKey {
    static var defaultValue: Bool? { nil }
  }
}

/// Something that a ``Transaction`` can carry.
public protocol TransactionKey {
  /// What it is.
  associatedtype Value: Sendable
  /// What it is where nothing was set.
  static var defaultValue: Value { get }
}

/// Makes changes in a transaction. Nested ones are merged; where both set something, the inner wins.
/// - Throws: what `body` throws.
public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
  try Transaction.$current.withValue(Transaction.current.merging(transaction), operation: body)
}

/// Makes changes in a transaction in which one thing is set.
/// - Throws: what `body` throws.
public func withTransaction<Result, Value>(
  _ keyPath: WritableKeyPath<Transaction, Value>, _ value: Value, _ body: () throws -> Result
) rethrows -> Result {
  var transaction = Transaction()
  transaction[keyPath: keyPath] = value
  return try withTransaction(transaction, body)
}

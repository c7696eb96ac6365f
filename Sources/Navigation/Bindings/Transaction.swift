/// The way in which a change of state is presented, like SwiftUI's transaction. navd carries out
/// ``animated`` (T2) and ``isForced`` (P15).
///
/// Programs declare further values as in SwiftUI:
///
///     struct Haste: TransactionKey { static let defaultValue = 1.0 }
///     extension Transaction {
///       var haste: Double { get { self[Haste.self] } set { self[Haste.self] = newValue } }
///     }
public struct Transaction: Sendable {
  /// The transaction of the changes being made.
  @TaskLocal public static var current = Transaction()

  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Creates a transaction without values.
  public init() {}

  /// - Parameter animated: see ``animated``.
  public init(animated: Bool) { self.animated = animated }

  /// The value of a key: the value set, or its default.
  public subscript<Key: TransactionKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  /// Whether presenters animate the change; nil leaves the choice to them.
  public var animated: Bool? {
    get { self[Animated.self] }
    set { self[Animated.self] = newValue }
  }

  /// Whether no screen and no presenter may decline the requested dismissals (P15).
  public var isForced: Bool {
    get { self[Forced.self] }
    set { self[Forced.self] = newValue }
  }

  /// Whether no value is set.
  public var isEmpty: Bool { values.isEmpty }

  /// Returns this transaction with the values of `inner`, which override values of this one.
  public func merging(_ inner: Transaction) -> Transaction {
    var merged = self
    merged.values.merge(inner.values) { $1 }
    return merged
  }

  private enum Animated: TransactionKey {
    static var defaultValue: Bool? { nil }
  }

  private enum Forced: TransactionKey {
    static var defaultValue: Bool { false }
  }
}

/// A key of a value in a ``Transaction``.
public protocol TransactionKey {
  /// The type of the value.
  associatedtype Value: Sendable
  /// The value if none is set.
  static var defaultValue: Value { get }
}

/// Makes changes in a transaction. Nested transactions are merged; values of the inner one override those of the outer one.
/// - Throws: the error of `body`.
public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
  try Transaction.$current.withValue(Transaction.current.merging(transaction), operation: body)
}

/// Makes changes in a transaction with one value set.
/// - Throws: the error of `body`.
public func withTransaction<Result, Value>(
  _ keyPath: WritableKeyPath<Transaction, Value>, _ value: Value, _ body: () throws -> Result
) rethrows -> Result {
  var transaction = Transaction()
  transaction[keyPath: keyPath] = value
  return try withTransaction(transaction, body)
}

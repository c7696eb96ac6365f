import Synchronization

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
  /// The transaction of the changes being made: that of the body of ``withTransaction(_:isolation:_:)`` which is running. It ends with
  /// the body: nothing that the body starts has it, such as a task.
  ///
  ///     let isForced = Transaction.current.isForced
  public static var current: Transaction {
    guard let body, body.isRunning else { return Transaction() }
    return body.transaction
  }

  /// The innermost body. Tasks that it starts inherit this, too.
  @TaskLocal fileprivate static var body: TransactionBody?

  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Creates a transaction without values.
  ///
  ///     var transaction = Transaction()
  ///     transaction.isForced = true
  ///     withTransaction(transaction) { model.note = nil }
  public init() {}

  /// Creates a transaction whose changes are animated or not.
  ///
  ///     withTransaction(Transaction(animated: false)) { model.note = nil }
  ///
  /// - Parameter animated: see ``animated``.
  public init(animated: Bool) { self.animated = animated }

  /// The value of a key: the value set, or its default.
  public subscript<Key: TransactionKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  /// Whether presenters animate the change; nil leaves the choice to them.
  ///
  ///     withTransaction(\.animated, false) { model.path = [1, 2] }
  public var animated: Bool? {
    get { self[Animated.self] }
    set { self[Animated.self] = newValue }
  }

  /// Whether no screen and no presenter may decline the requested dismissals (P15).
  ///
  ///     withTransaction(\.isForced, true) { model.note = nil }
  public var isForced: Bool {
    get { self[Forced.self] }
    set { self[Forced.self] = newValue }
  }

  /// Whether no value is set.
  ///
  ///     if Transaction.current.isEmpty { print("changed as usual") }
  public var isEmpty: Bool { values.isEmpty }

  /// Returns this transaction with the values of `inner`, which override values of this one.
  ///
  ///     let transaction = Transaction.current.merging(Transaction(animated: false))
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
///
///     struct Haste: TransactionKey { static let defaultValue = 1.0 }
///     extension Transaction {
///       var haste: Double { get { self[Haste.self] } set { self[Haste.self] = newValue } }
///     }
public protocol TransactionKey {
  /// The type of the value.
  associatedtype Value: Sendable
  /// The value if none is set.
  static var defaultValue: Value { get }
}

/// Makes changes in a transaction. Nested transactions are merged; values of the inner one override those of the outer one.
///
///     withTransaction(\.isForced, true) { model.note = nil }
///
/// The transaction ends with the body. What a task of the body changes later has no transaction:
///
///     withTransaction(\.isForced, true) {
///       model.note = nil                   // Its screen is not asked.
///       Task { model.letter = nil }        // Its screen is asked.
///     }
///
/// A transaction may have several values:
///
///     var transaction = Transaction(animated: false)
///     transaction.isForced = true
///     withTransaction(transaction) { model.note = nil }
///
/// - Parameters:
///   - transaction: the values to set.
///   - isolation: the calling actor.
///   - body: makes the changes.
/// - Throws: the error of `body`.
public func withTransaction<Result>(
  _ transaction: Transaction, isolation: isolated (any Actor)? = #isolation, _ body: () throws -> Result
) rethrows -> Result {
  if transaction.isEmpty { return try body() }
  let running = TransactionBody(Transaction.current.merging(transaction))
  defer {
    let ends = running.end()
    // State of the main actor can be read here only by the main actor.
    if isolation === MainActor.shared { MainActor.assumeIsolated { for end in ends { end() } } }
  }
  return try Transaction.$body.withValue(running, operation: body)
}

/// Makes changes in a transaction with one value set.
///
///     withTransaction(\.animated, false) { model.isOpen = true }
///
/// - Parameters:
///   - keyPath: the value to set.
///   - value: its value in the transaction.
///   - isolation: the calling actor.
///   - body: makes the changes.
/// - Throws: the error of `body`.
public func withTransaction<Result, Value>(
  _ keyPath: WritableKeyPath<Transaction, Value>, _ value: Value, isolation: isolated (any Actor)? = #isolation,
  _ body: () throws -> Result
) rethrows -> Result {
  var transaction = Transaction()
  transaction[keyPath: keyPath] = value
  return try withTransaction(transaction, body)
}

/// One run of a body in a transaction. The body does not wait, so no other task runs in its place.
final class TransactionBody: Sendable {
  fileprivate let transaction: Transaction
  /// The task that runs the body; nil outside of tasks.
  private let task = TransactionBody.currentTask
  /// The functions to call at the end; nil after the end.
  private let ends = Mutex<[@MainActor @Sendable () -> Void]?>([])

  fileprivate init(_ transaction: Transaction) { self.transaction = transaction }

  /// Whether the body is running, and the caller is a part of it. A task that has inherited this object is none; after the end, it may
  /// have the address of the task that ran the body.
  fileprivate var isRunning: Bool { task == Self.currentTask && ends.withLock { $0 != nil } }

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// Calls a function at the end of the running body, if the main actor runs it.
  static func atEnd(_ body: @escaping @MainActor @Sendable () -> Void) {
    guard let running = Transaction.body, running.isRunning else { return }
    running.ends.withLock { $0?.append(body) }
  }

  /// Ends the transaction.
  /// - Returns: the functions to call now.
  fileprivate func end() -> [@MainActor @Sendable () -> Void] {
    ends.withLock { ends in
      defer { ends = nil }
      return ends ?? []
    }
  }
}

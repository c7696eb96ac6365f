import Observation
import Synchronization

/// Runs `apply` now, and again after changes of the observable properties that it read. It runs in the next turn of the calling
/// actor, at most once per turn, and in the transaction of the first change.
///
///     observe { print(model.count) }.store(in: &observings)
///
/// - Parameters:
///   - isolation: the calling actor, which need not be the main actor.
///   - apply: reads the properties.
/// - Returns: a handle that ends the observation when it is cancelled or released. `apply` is retained until then.
public func observe(isolation: isolated any Actor = #isolation, _ apply: @escaping () -> Void) -> Observing {
  let observing = Observing(apply)
  observing.run()
  return observing
}

/// Keeps two bindings equal. The second one gets the value of the first now; from then on, a change of either is written to the
/// other, in its transaction. If both change in one turn, the first one counts.
///
///     bind($model.text, to: $form.name).store(in: &observings)
///
/// - Returns: a handle that ends the connection when it is cancelled or released.
@MainActor
public func bind<Value: Equatable>(_ first: Binding<Value>, to second: Binding<Value>) -> Observing {
  var last: Value?
  return observe {
    // NaN does not equal itself.
    func isSame(_ one: Value, _ other: Value) -> Bool { one == other || one != one && other != other }
    let (one, other) = (first.wrappedValue, second.wrappedValue)
    let isSecondsTurn = last.map { isSame(one, $0) && !isSame(other, $0) } ?? false
    last = isSecondsTurn ? other : one
    if isSecondsTurn { first.wrappedValue = other } else if !isSame(one, other) { second.wrappedValue = one }
  }
}

/// An observation that ends with ``cancel()`` or when this handle is released.
///
///     let observing = observe { print(model.count) }
///     model.count += 1        // Printed in the next turn.
///     await Task.yield()
///     observing.cancel()
public final class Observing: Sendable {
  /// Runs only on the actor of the observation.
  private struct Body: @unchecked Sendable { let apply: () -> Void }

  /// The body; nil after the end.
  private let body: Mutex<Body?>
  /// The transaction of the change because of which the body runs again.
  private let transaction = Mutex(Transaction())
  private let end = ObservationEnd()

  init(_ apply: @escaping () -> Void) { body = Mutex(Body(apply: apply)) }

  deinit { end.reach() }

  /// Ends the observation. If this is called on its actor, the body does not run again.
  ///
  ///     let observing = observe { print(model.count) }
  ///     observing.cancel()
  public func cancel() {
    body.withLock { $0 = nil }
    end.reach()
  }

  /// Adds this handle to a collection, which retains it: `observe { … }.store(in: &observings)`.
  ///
  ///     observe { print(model.count) }.store(in: &observings)
  public func store(in observings: inout some RangeReplaceableCollection<Observing>) { observings.append(self) }

  /// Adds this handle to a set, which retains it.
  ///
  ///     var kept: Set<Observing> = []
  ///     observe { print(model.count) }.store(in: &kept)
  public func store(in observings: inout Set<Observing>) { observings.insert(self) }

  func run(in transaction: Transaction = Transaction(), isolation: isolated any Actor = #isolation) {
    guard let body = body.withLock({ $0 }) else { return }
    let again = inheritingIsolation { [weak self] in
      _ = isolation
      guard let self else { return }
      run(in: self.transaction.withLock { $0 })
    }
    withTransaction(transaction) {
      end.observing(body.apply) { [weak self] in
        self?.transaction.withLock { $0 = Transaction.current }
        // The task begins on the actor of the observation.
        Task(operation: again)
      }
    }
    // The body may have cancelled it.
    if self.body.withLock({ $0 == nil }) { end.reach() }
  }
}

/// Two handles are equal if they are the same.
extension Observing: Hashable {
  public static func == (one: Observing, other: Observing) -> Bool { one === other }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The end of observations. The runtime forgets an observation only when a part that it reads
/// changes: a model whose part never changes would keep the observation as long as it lives.
final class ObservationEnd: Observable, Sendable {
  private let registrar = ObservationRegistrar()

  /// Evaluates `read`, and calls `onChange` once: within the first change of a property read, or at the end.
  func observing<Result>(_ read: () -> Result, onChange: @escaping @Sendable () -> Void) -> Result {
    withObservationTracking(
      {
        registrar.access(self, keyPath: \.self)
        return read()
      }, onChange: onChange)
  }

  /// Ends all observations that have begun.
  func reach() { registrar.withMutation(of: self, keyPath: \.self) {} }
}

/// Returns a function with the isolation of its context. A task with it begins on that actor.
private func inheritingIsolation(
  @_inheritActorContext _ body: @escaping @isolated(any) @Sendable () async -> Void
) -> @isolated(any) @Sendable () async -> Void { body }

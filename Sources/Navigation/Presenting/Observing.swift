import Observation

/// Runs `apply` now, and again after changes of the observable properties that it read. It runs at most once per turn
/// of the main actor.
///
/// - Returns: a handle that ends this when it is cancelled or released. `apply` is retained until then.
@MainActor
public func observe(_ apply: @escaping @MainActor () -> Void) -> Observing {
  let observing = Observing(apply)
  observing.run()
  return observing
}

/// An observation that ends with ``cancel()`` or when this handle is released.
@MainActor
public final class Observing {
  private var apply: (@MainActor () -> Void)?
  private var isPlanned = false

  init(_ apply: @escaping @MainActor () -> Void) { self.apply = apply }

  /// Ends the observation.
  public func cancel() { apply = nil }

  fileprivate func run() {
    guard let apply else { return }
    track(apply) { [weak self] transaction in self?.plan(transaction) }
  }

  private func plan(_ transaction: Transaction) {
    guard !isPlanned else { return }
    isPlanned = true
    Task {
      isPlanned = false
      withTransaction(transaction) { run() }
    }
  }
}

/// Evaluates `read`, and calls `onChange` once, before the first change of a property read, with the transaction of the
/// change.
@MainActor
func track<Result>(_ read: () -> Result, onChange: @escaping @MainActor @Sendable (Transaction) -> Void) -> Result {
  withObservationTracking(read) {
    let transaction = Transaction.current
    Task { @MainActor in onChange(transaction) }
  }
}

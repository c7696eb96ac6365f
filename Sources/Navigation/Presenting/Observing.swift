// Why this file exists: a program says what is to be so; when what it read changes, it says it again.

import Observation

/// Runs `apply` now, and again after each change of what it read from observable models: once a turn of the main actor,
/// however many changes there were, with what is there then.
///
/// - Returns: what ends it, also by going away. What `apply` uses is used as long as that.
@MainActor
public func observe(_ apply: @escaping @MainActor () -> Void) -> Observing {
  let observing = Observing(apply)
  observing.run()
  return observing
}

/// Something that is being observed, until ``cancel()`` or until nobody holds this.
@MainActor
public final class Observing {
  private var apply: (@MainActor () -> Void)?
  private var isPlanned = false

  init(_ apply: @escaping @MainActor () -> Void) { self.apply = apply }

  /// `apply` is not run any more.
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

/// Reads, and tells once of the first change of what was read, before it is made, with the transaction that it is made in.
@MainActor
func track<Result>(_ read: () -> Result, onChange: @escaping @MainActor @Sendable (Transaction) -> Void) -> Result {
  withObservationTracking(read) {
    let transaction = Transaction.current
    Task { @MainActor in onChange(transaction) }
  }
}

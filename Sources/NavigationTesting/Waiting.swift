import Navigation

/// The error of a test that has waited for longer than its limit.
///
///     do { try await until { display.names.isEmpty } } catch let error as TimeLimitExceeded { print(error.description) }
public struct TimeLimitExceeded: Error, CustomStringConvertible {
  /// The condition that was not met, and the time limit.
  public let description: String
}

/// Waits until a condition on observable state holds. The condition is evaluated again when that state changes.
///
///     try await until { display.names == ["main"] }
///
/// - Parameters:
///   - limit: the time after which the wait fails.
///   - condition: the condition.
/// - Throws: ``TimeLimitExceeded``.
@MainActor
public func until(within limit: Duration = .seconds(10), _ condition: @escaping @MainActor () -> Bool) async throws {
  try await wait(limit, "the condition was not met") { end in
    let observing = observe { if condition() { end() } }
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    observing.cancel()
  }
}

extension Coordinator {
  /// Waits until a condition on the coordinator's state holds.
  ///
  ///     try await coordinator.until { $0.presentations.isEmpty }
  ///
  /// - Throws: ``TimeLimitExceeded``.
  @MainActor
  public func until(
    within limit: Duration = .seconds(10), _ condition: @escaping @MainActor (NavigationState) -> Bool
  ) async throws {
    try await wait(limit, "the condition on the coordinator's state was not met") { end in
      do {
        for try await _ in self.following where condition(try await self.state()) { return end() }
      } catch {
        // The time limit reports the failure.
      }
    }
  }
}

extension Navigator {
  /// Waits until all requests that follow from the state have been answered, all answers and events have reached the state, and no
  /// screen is appearing or disappearing. A screen that asks its user is not waited for (P16).
  ///
  ///     model.note = Note()
  ///     try await navigator.settle(within: .seconds(10))
  ///
  /// - Throws: ``TimeLimitExceeded`` with the bindings of the screens that are still appearing or disappearing.
  public func settle(within limit: Duration) async throws {
    do {
      try await wait(limit, "it has not settled") { end in
        while !Task.isCancelled {
          await self.settle()
          let (bindings, isCurrent, moment) = await self.underWay()
          if !bindings.isEmpty { await self.change(after: moment) } else if isCurrent { return end() }
        }
      }
    } catch let error as TimeLimitExceeded {
      throw TimeLimitExceeded(
        description: "\(error.description); appearing or disappearing: \(await underWay().bindings)")
    }
  }

  /// The screens that are visible: those that have appeared, and not disappeared or been closed, in the order of appearance.
  ///
  ///     try await navigator.settle(within: .seconds(10))
  ///     assert(navigator.screens.isEmpty)
  public var screens: [any Screen] { visible.compactMap(\.screen) }
}

/// Runs `body` until it calls its parameter.
/// - Throws: ``TimeLimitExceeded`` if a limit is over first; `body` is then cancelled, and not waited for.
@MainActor
private func wait(
  _ limit: Duration, _ what: String, _ body: @escaping @MainActor (_ end: @escaping @MainActor () -> Void) async -> Void
) async throws {
  let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
  let work = Task { await body { continuation.yield(true) } }
  let alarm = Task {
    try await Task.sleep(for: limit)
    continuation.yield(false)
  }
  defer {
    work.cancel()
    alarm.cancel()
  }
  for await isMet in stream {
    if isMet { return }
    break
  }
  throw TimeLimitExceeded(description: "\(what) within \(limit)")
}

// Why this file exists: many may follow one coordinator, each as fast as it reads, and each is told of the end.

import Synchronization

/// How many notices wait for who reads them slowly; then the oldest are dropped, and the state is asked for again.
let mostNotices = 4096

/// Those who listen to a service.
final class Listeners: Sendable {
  typealias Listener = AsyncStream<Notice>.Continuation

  private struct State {
    var all: [UInt64: Listener] = [:]
    var lastNumber: UInt64 = 0
    /// What everybody is told who comes after the end.
    var end: NavigationError?
  }

  private let state = Mutex(State())

  /// One more listener, until it lets its stream go.
  /// - Returns: nil as the listener where the service has ended; the stream says so.
  func add() -> (stream: AsyncStream<Notice>, listener: Listener?) {
    let (stream, listener) = AsyncStream.makeStream(of: Notice.self, bufferingPolicy: .bufferingNewest(mostNotices))
    let added: Result<UInt64, NavigationError> = state.withLock { state in
      if let end = state.end { return .failure(end) }
      state.lastNumber += 1
      state.all[state.lastNumber] = listener
      return .success(state.lastNumber)
    }
    switch added {
    case .success(let number):
      listener.onTermination = { [weak self] _ in self?.state.withLock { $0.all[number] = nil } }
      return (stream, listener)
    case .failure(let end):
      listener.yield(.failed(end))
      listener.finish()
      return (stream, nil)
    }
  }

  func tell(_ notice: Notice) {
    for listener in state.withLock({ Array($0.all.values) }) { listener.yield(notice) }
  }

  /// The service has ended: everybody is told, and whoever comes later.
  func end(_ error: NavigationError) {
    let all = state.withLock { state in
      state.end = state.end ?? error
      defer { state.all = [:] }
      return Array(state.all.values)
    }
    // Not while it is locked: a listener that ends wants to be forgotten.
    for listener in all {
      listener.yield(.failed(error))
      listener.finish()
    }
  }
}

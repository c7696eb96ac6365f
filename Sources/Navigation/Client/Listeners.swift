import Synchronization

/// The listeners of a coordinator. Each reads at its own speed.
final class Listeners: Sendable {
  /// The maximum number of unread notices of a listener. Above it, the oldest are dropped, and the listener reads the state again.
  static let maxNotices = 4096

  typealias Listener = AsyncStream<Notice>.Continuation

  private struct State {
    var all: [UInt64: Listener] = [:]
    var lastNumber: UInt64 = 0
    /// The error for listeners that are added after the end.
    var end: NavigationError?
  }

  private let state = Mutex(State())

  /// Adds a listener, which is removed when its stream ends.
  /// - Returns: nil as the listener if the coordinator has ended; the stream then contains only the error.
  func add() -> (stream: AsyncStream<Notice>, listener: Listener?) {
    let (stream, listener) = AsyncStream.makeStream(of: Notice.self, bufferingPolicy: .bufferingNewest(Self.maxNotices))
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

  func notify(_ notice: Notice) {
    for listener in state.withLock({ Array($0.all.values) }) {
      guard case .dropped(let dropped) = listener.yield(notice) else { continue }
      switch dropped {
      case .state, .missed: listener.yield(.missed)
      // The serials of later events show the gap.
      case .event, .failed: break
      }
    }
  }

  /// Ends the streams of all listeners with an error, and also the streams of later listeners.
  func end(_ error: NavigationError) {
    let all = state.withLock { state in
      state.end = state.end ?? error
      defer { state.all = [:] }
      return Array(state.all.values)
    }
    // The loop is outside of the lock, because `onTermination` takes it.
    for listener in all {
      listener.yield(.failed(error))
      listener.finish()
    }
  }
}

// Why this file exists: one descriptor's entry in the loop's epoll set, and the guarantee that a cancelled one stays silent.

/// What a ``Watch`` waits for. With nothing, the descriptor is out of the epoll set: not even a hang-up is told.
public struct Interest: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static let read = Interest(rawValue: 1)
  public static let write = Interest(rawValue: 2)
}

/// What is so of a descriptor. A hang-up and an error are told whatever the interest, until the handler ends them or
/// the watch (the loop is level-triggered).
public struct Readiness: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static let read = Readiness(rawValue: 1)
  public static let write = Readiness(rawValue: 2)
  public static let hangUp = Readiness(rawValue: 4)
  public static let error = Readiness(rawValue: 8)
}

/// A descriptor that an ``EventLoop`` watches, until it is cancelled; whether or not anybody holds this object.
/// The descriptor stays the caller's, who cancels the watch before closing it.
public final class Watch {
  public let descriptor: Int32
  /// What events carry instead of the descriptor: never used again, so that an event of a closed descriptor cannot
  /// be taken for one of its number's next owner.
  let token: UInt64
  /// Nil once cancelled, so that what the handler holds is let go even if the watch is kept.
  private(set) var handler: ((Readiness) -> Void)?
  private weak var loop: EventLoop?

  init(
    descriptor: Int32, token: UInt64, interest: Interest, loop: EventLoop, handler: @escaping (Readiness) -> Void
  ) {
    self.descriptor = descriptor
    self.token = token
    self.interest = interest
    self.loop = loop
    self.handler = handler
  }

  /// What is waited for. Should the kernel refuse a change (it is out of memory), the handler is called with `.error`
  /// in the next turn.
  public var interest: Interest {
    didSet { if interest != oldValue { loop?.interestChanged(of: self, from: oldValue) } }
  }

  public var isCancelled: Bool { handler == nil }

  /// After this the handler is not called, even if the descriptor was found ready in this very turn.
  public func cancel() {
    guard handler != nil else { return }
    handler = nil
    loop?.forget(self)
  }
}

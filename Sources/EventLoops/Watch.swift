import Glibc

/// The events that a ``Watch`` waits for. If the set is empty, the descriptor is not in the epoll set, and not even a hang-up is
/// reported.
public struct Interest: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static let read = Interest(rawValue: 1)
  public static let write = Interest(rawValue: 2)
}

/// The events of a descriptor. The loop is level-triggered: it calls the handler in each turn while they last. Any interest that is not
/// empty also reports a hang-up and an error.
public struct Readiness: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static let read = Readiness(rawValue: 1)
  public static let write = Readiness(rawValue: 2)
  public static let hangUp = Readiness(rawValue: 4)
  public static let error = Readiness(rawValue: 8)
}

/// A descriptor that an ``EventLoop`` watches until the watch is cancelled, whether or not this object is retained. The caller owns the
/// descriptor, and cancels the watch before closing it.
public final class Watch {
  public let descriptor: Int32
  /// The number that identifies the watch in events. It is never reused, so an event of a closed descriptor is not attributed to a
  /// later descriptor with the same number.
  let token: UInt64
  /// The handler; nil after cancellation, so that the values that it retains are released even if the watch is retained.
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

  /// The events to wait for. If the kernel refuses a change for want of memory, the handler is called with `.error` in the next turn.
  public var interest: Interest {
    didSet { if interest != oldValue { loop?.interestChanged(of: self, from: oldValue) } }
  }

  public var isCancelled: Bool { handler == nil }

  /// Cancels the watch. The handler is not called afterwards, even if the descriptor is ready in this turn.
  public func cancel() {
    guard handler != nil else { return }
    handler = nil
    loop?.forget(self)
  }

  /// Cancels the watch and closes the descriptor. Since there is no copy of the descriptor, this removes it from the epoll set.
  package func close() {
    guard handler != nil else { return }
    handler = nil
    loop?.forgetClosing(self)
    Glibc.close(descriptor)
  }
}

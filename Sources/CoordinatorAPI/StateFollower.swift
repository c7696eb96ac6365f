// Why this file exists: a watcher must be able to prove that it missed nothing (rules W1, W2), whatever navd, the bus
// and its own reader do in between.

import DBus
import DBusValues
import EventLoops
import PresentationModel

/// Follows navd's state over the bus: the whole state first, then each event, and the whole state again after a restart
/// of navd or a gap in the serials. Waits where there is no daemon, and starts none.
public final class StateFollower {
  /// The whole state; every event until the next call came after it.
  public var onState: ((_ state: Properties, _ serial: UInt64) -> Void)?
  /// The next event, without a gap.
  public var onEvent: ((StateEvent) -> Void)?
  /// It cannot go on. That the bus is gone, the connection tells.
  public var onFailure: ((DBusError) -> Void)?

  private let connection: Connection
  /// Of the last state or event handed on; nil while no state is known.
  private var serial: UInt64?
  /// Whether the state is being asked for.
  private var question: PendingCall?
  /// Events that came while it was.
  private var early: [StateEvent] = []
  /// More of them are forgotten: then the state is asked for once more.
  private static let mostEarly = 10_000

  public init(_ connection: Connection) {
    self.connection = connection
  }

  /// Begins. The handlers are called on the loop of the connection, as long as this object lives.
  public func start() {
    // The signals first: what changes before the state is asked for is in it, what changes after is told.
    connection.subscribe(
      MatchRule(sender: CoordinatorNames.bus, path: CoordinatorNames.object, interface: CoordinatorInterface.name)
    ) { [weak self] message in
      self?.receive(message)
    }
    _ = connection.watchName(CoordinatorNames.bus) { [weak self] owner in
      guard let self else { return }
      forget()
      if owner != nil { resynchronise() }
    }
  }

  /// Asks for the whole state, again where it was known.
  public func resynchronise() {
    guard question == nil else { return }
    forget()
    question = ask { [weak self] result in
      self?.question = nil
      switch result {
      case .success(let (state, serial)): self?.learned(state, serial)
      case .failure(let error): self?.failed(error)
      }
    }
  }

  /// Asks for the whole state beside the events, which go on; nil where it cannot be had.
  public func look(_ completion: @escaping ((state: Properties, serial: UInt64)?) -> Void) {
    _ = ask { result in
      completion((try? result.get()).map { ($0, $1) })
    }
  }

  private func ask(_ completion: @escaping (Result<(Properties, UInt64), DBusError>) -> Void) -> PendingCall {
    connection.call(
      CoordinatorInterface.getState, on: CoordinatorNames.bus, at: CoordinatorNames.object, (), autoStart: false,
      completion)
  }

  private func forget() {
    question?.cancel()
    question = nil
    serial = nil
    early = []
  }

  private func learned(_ state: Properties, _ serial: UInt64) {
    self.serial = serial
    onState?(state, serial)
    let events = early
    early = []
    for event in events { handle(event) }
  }

  private func failed(_ error: DBusError) {
    switch error.name {
    // The daemon went while it was asked: its successor will be.
    case .noReply, .nameHasNoOwner, .serviceUnknown: break
    case .timedOut: resynchronise()
    case let name where CoordinatorError.Name(name) == .shuttingDown: break
    default: onFailure?(error)
    }
  }

  private func receive(_ message: Message) {
    // What is not as the contract says is the gap that its serial leaves.
    guard let event = try? StateEvent(message) else { return }
    handle(event)
  }

  private func handle(_ event: StateEvent) {
    guard let serial else {
      if question != nil, early.count < Self.mostEarly { early.append(event) }
      return
    }
    guard event.serial > serial else { return }
    guard event.serial == serial + 1 else {
      resynchronise()
      return
    }
    self.serial = event.serial
    onEvent?(event)
  }
}

import DBus
import DBusValues
import EventLoops
import PresentationModel

/// Follows navd's state over the bus without a gap (W1, W2): first the whole state, then each event. The whole state follows again
/// after a restart of navd or a gap in the serials. While navd does not run, the follower waits; it never starts navd.
public final class StateFollower {
  /// Called with the whole state. The events until the next call follow it.
  public var onState: ((_ state: Properties, _ serial: UInt64) -> Void)?
  /// Called with the next event, without a gap.
  public var onEvent: ((StateEvent) -> Void)?
  /// Called when destinations have changed, by which groups may have other titles. That is no event, since no item is different.
  public var onDestinationsChanged: (() -> Void)?
  /// Called when the state cannot be read. The connection reports the end of the bus.
  public var onFailure: ((DBusError) -> Void)?

  private let connection: Connection
  /// The pending call of `GetState`.
  private var request: PendingCall?
  private var events = EventSequence<StateEvent>(maxEarly: 10_000)

  public init(_ connection: Connection) {
    self.connection = connection
  }

  /// Starts to follow. The handlers are called on the connection's loop for as long as this object exists.
  public func start() {
    // The subscription precedes the call of GetState, so that no change is missed in between.
    connection.subscribe(
      MatchRule(sender: CoordinatorNames.bus, path: CoordinatorNames.object, interface: CoordinatorInterface.name)
    ) { [weak self] message in
      self?.receive(message)
    }
    _ = connection.watchName(CoordinatorNames.bus) { [weak self] owner in
      guard let self else { return }
      forget()
      if owner != nil { resynchronize() }
    }
  }

  /// Reads the whole state again.
  public func resynchronize() {
    guard request == nil else { return }
    forget()
    request = readState { [weak self] result in
      self?.request = nil
      switch result {
      case .success(let (state, serial)): self?.received(state, serial)
      case .failure(let error): self?.failed(error)
      }
    }
  }

  /// Reads the whole state once, without effect on the events. The result is nil if that fails.
  public func look(_ completion: @escaping ((state: Properties, serial: UInt64)?) -> Void) {
    _ = readState { result in
      completion((try? result.get()).map { ($0, $1) })
    }
  }

  private func readState(_ completion: @escaping (Result<(Properties, UInt64), DBusError>) -> Void) -> PendingCall {
    connection.call(
      CoordinatorInterface.getState, on: CoordinatorNames.bus, at: CoordinatorNames.object, (), autoStart: false,
      completion)
  }

  private func forget() {
    request?.cancel()
    request = nil
    events.forget()
  }

  private func received(_ state: Properties, _ serial: UInt64) {
    let early = events.begin(at: serial)
    onState?(state, serial)
    for event in early { handle(event) }
  }

  private func failed(_ error: DBusError) {
    switch error.name {
    // The daemon stopped during the call. The next daemon gets another one.
    case .noReply, .nameHasNoOwner, .serviceUnknown: break
    case .timedOut: resynchronize()
    case let name where CoordinatorError.Name(name) == .shuttingDown: break
    default: onFailure?(error)
    }
  }

  private func receive(_ message: Message) {
    if message.kind == .signal, message.member == CoordinatorInterface.destinationsChanged.name {
      onDestinationsChanged?()
      return
    }
    // A signal that breaks the contract is dropped; its serial leaves a gap.
    guard let event = try? StateEvent(message) else { return }
    handle(event)
  }

  private func handle(_ event: StateEvent) {
    guard events.isBegun || request != nil else { return }
    switch events.place(event, event.serial) {
    case .next: onEvent?(event)
    case .early, .past: break
    case .afterGap: resynchronize()
    }
  }
}

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops

/// Receives the signals of the adapter for the window system: by the bus, or by a socket that the adapter has handed over, which is
/// sooner (`AcquireSignals`).
final class WindowSignals {
  private typealias Rows = WindowSystemInterface

  private enum Way {
    case none
    case bus(Subscription)
    case socket(SignalSocket)
  }

  private let connection: Connection
  private let receive: (Message) -> Void
  private let missed: () -> Void
  private var way = Way.none
  private var request: PendingCall?
  /// Whether this adapter has ended a socket. It is not asked for another one: it might do so again and again.
  private var hasEndedSocket = false

  /// - Parameters:
  ///   - receive: called with each signal of the adapter's object.
  ///   - missed: called when the signals come another way from now on, and some may have been missed.
  init(_ connection: Connection, receive: @escaping (Message) -> Void, missed: @escaping () -> Void) {
    self.connection = connection
    self.receive = receive
    self.missed = missed
  }

  var isReceiving: Bool { if case .none = way { false } else { true } }

  /// Receives signals from now on, by the bus. If it has done so already: those of another adapter.
  func begin() {
    hasEndedSocket = false
    receiveByBus()
  }

  /// Receives no signals any more.
  func end() { change(to: .none) }

  /// Asks the adapter for a socket. An adapter need not have one.
  func askForSocket(timeout: Duration) {
    guard case .bus = way, request == nil, !hasEndedSocket else { return }
    request = connection.call(
      Rows.acquireSignals, on: Rows.bus, at: Rows.object, (), timeout: timeout, autoStart: false
    ) { [weak self] result in
      guard let self else { return }
      request = nil
      guard let descriptor = try? result.get(), let socket = try? socket(descriptor) else { return }
      // What the bus brings from now on is in the socket, too.
      change(to: .socket(socket))
    }
  }

  /// Receives what is in the socket, if there is one. What the adapter has sent by the bus after that may be here already.
  func receiveWhatWasSent() {
    if case .socket(let socket) = way { socket.receive() }
  }

  private func socket(_ descriptor: Descriptor) throws(SystemError) -> SignalSocket {
    try SignalSocket(descriptor, on: connection.loop) { [unowned self] signal in
      if signal.path == Rows.object { receive(signal) }
    } onEnd: { [unowned self] in
      hasEndedSocket = true
      receiveByBus()
      missed()
    }
  }

  private func receiveByBus() {
    let rule = MatchRule(sender: Rows.bus, path: Rows.object)
    change(to: .bus(connection.subscribe(rule) { [unowned self] in receive($0) }))
  }

  private func change(to new: Way) {
    request?.cancel()
    request = nil
    switch way {
    case .none: break
    case .bus(let subscription): subscription.cancel()
    case .socket(let socket): socket.close()
    }
    way = new
  }
}

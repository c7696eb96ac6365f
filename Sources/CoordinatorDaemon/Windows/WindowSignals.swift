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
  /// Signals that the present or last socket has brought.
  private var signalCount = 0
  /// Whether this adapter has ended a socket that was of little use. It is not asked for another one: it might do so again and again.
  private var hasEndedUselessSocket = false
  /// Whether the socket is read for the first time.
  private var isNew = false
  /// Whether signals without a serial were left out then.
  private var hasLeftOut = false

  /// The number of signals for which a socket was worth reading all windows again.
  private static let worthwhileCount = 100

  /// - Parameters:
  ///   - receive: called with each signal of the adapter's object.
  ///   - missed: called when the signals come another way from now on, and some may have been missed.
  init(_ connection: Connection, receive: @escaping (Message) -> Void, missed: @escaping () -> Void) {
    self.connection = connection
    self.receive = receive
    self.missed = missed
  }

  var isReceiving: Bool { if case .none = way { false } else { true } }

  /// Receives signals from now on, by the bus.
  func begin() {
    hasEndedUselessSocket = false
    receiveByBus()
  }

  /// Receives what the adapter has sent at last, and then the signals of another one.
  func adapterChanged() {
    receiveWhatWasSent()
    request?.cancel()
    request = nil
    hasEndedUselessSocket = false
    if case .socket = way { receiveByBus() }
  }

  /// Receives no signals any more.
  func end() { change(to: .none) }

  /// Asks the adapter for a socket. An adapter need not have one.
  func askForSocket(timeout: Duration) {
    guard case .bus = way, request == nil, !hasEndedUselessSocket else { return }
    request = connection.call(
      Rows.acquireSignals, on: Rows.bus, at: Rows.object, (), timeout: timeout, autoStart: false
    ) { [weak self] result in
      guard let self else { return }
      request = nil
      guard let descriptor = try? result.get(), let socket = try? socket(descriptor) else { return }
      // What the bus brings from now on is in the socket, too; what it has brought may be.
      change(to: .socket(socket))
      receiveFirst(from: socket)
    }
  }

  /// Receives what is in the socket, if there is one. What the adapter has sent by the bus after that may be here already.
  func receiveWhatWasSent() {
    if case .socket(let socket) = way { socket.receive() }
  }

  /// Receives from a new socket only the signals with serials, which count once. Properties would get earlier values again than the bus
  /// has brought.
  private func receiveFirst(from socket: SignalSocket) {
    (signalCount, isNew, hasLeftOut) = (0, true, false)
    socket.receive()
    isNew = false
    if hasLeftOut { missed() }
  }

  private func socket(_ descriptor: Descriptor) throws(SystemError) -> SignalSocket {
    try SignalSocket(descriptor, on: connection.loop) { [unowned self] signal in
      guard signal.path == Rows.object else { return }
      signalCount += 1
      if isNew, signal.interface != Rows.name { hasLeftOut = true } else { receive(signal) }
    } onEnd: { [unowned self] in
      hasEndedUselessSocket = signalCount < Self.worthwhileCount
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

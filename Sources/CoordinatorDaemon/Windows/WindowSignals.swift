import CoordinatorAPI
import DBus
import DBusValues
import EventLoops

/// Receives the signals of the window-system adapter: by the bus, or faster by a socket that the adapter has handed over
/// (`AcquireSignals`).
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
  /// The number of signals from the present or last socket.
  private var signalCount = 0
  /// Whether the adapter has closed a socket before it had sent ``usefulCount`` signals. Then it is not asked for another one:
  /// after each closed socket all windows are read, and the adapter may close every socket.
  private var hasClosedEarly = false
  /// Whether the socket is read for the first time.
  private var isNew = false

  private static let usefulCount = 100

  /// - Parameters:
  ///   - receive: called with each signal of the adapter's object.
  ///   - missed: called when the signals come by another way from now on, and some may have been missed.
  init(_ connection: Connection, receive: @escaping (Message) -> Void, missed: @escaping () -> Void) {
    self.connection = connection
    self.receive = receive
    self.missed = missed
  }

  var isReceiving: Bool { if case .none = way { false } else { true } }

  /// Receives signals from now on, by the bus.
  func begin() {
    hasClosedEarly = false
    receiveByBus()
  }

  /// Receives the last signals of an adapter that has left. The next adapter's signals come by the bus at first.
  func adapterChanged() {
    receiveWhatWasSent()
    cancelRequest()
    hasClosedEarly = false
    if case .socket = way { receiveByBus() }
  }

  /// Stops receiving signals.
  func end() { change(to: .none) }

  /// Asks the adapter for a socket, which is optional for adapters.
  func askForSocket(timeout: Duration) {
    guard case .bus = way, request == nil, !hasClosedEarly else { return }
    request = connection.call(
      Rows.acquireSignals, on: Rows.bus, at: Rows.object, (), timeout: timeout, autoStart: false
    ) { [weak self] result in
      guard let self else { return }
      request = nil
      guard let descriptor = try? result.get(), let socket = try? socket(descriptor) else { return }
      // The socket has every signal that the bus brings from now on, and may have some that the bus has brought before.
      change(to: .socket(socket))
      receiveFirst(from: socket)
    }
  }

  /// Receives the content of the socket, if there is one. The adapter may have sent it before a message that was read first from the bus.
  func receiveWhatWasSent() {
    if case .socket(let socket) = way { socket.receive() }
  }

  /// Receives from a new socket only the signals with serials, which count once. Properties are read again instead, because the
  /// bus may have brought later values.
  private func receiveFirst(from socket: SignalSocket) {
    (signalCount, isNew) = (0, true)
    socket.receive()
    isNew = false
  }

  private func socket(_ descriptor: Descriptor) throws(SystemError) -> SignalSocket {
    try SignalSocket(descriptor, on: connection.loop) { [unowned self] signal in
      guard signal.path == Rows.object else { return }
      signalCount += 1
      if isNew, signal.interface != Rows.name { missed() } else { receive(signal) }
    } onEnd: { [unowned self] in
      hasClosedEarly = signalCount < Self.usefulCount
      receiveByBus()
      missed()
    }
  }

  private func receiveByBus() {
    let rule = MatchRule(sender: Rows.bus, path: Rows.object)
    change(to: .bus(connection.subscribe(rule) { [unowned self] in receive($0) }))
  }

  private func cancelRequest() {
    request?.cancel()
    request = nil
  }

  private func change(to new: Way) {
    cancelRequest()
    switch way {
    case .none: break
    case .bus(let subscription): subscription.cancel()
    case .socket(let socket): socket.close()
    }
    way = new
  }
}

import DBusValues
import EventLoops
import Glibc

/// Sockets on which clients receive the broadcast signals of a connection, bypassing the bus. Each packet is a message in the form in
/// which the bus would deliver it, but without a sender.
///
/// Without these sockets, the bus also has to wake up before a client gets a signal.
struct SignalSockets {
  /// The bytes of the largest packet. A client loses its socket if it would need a larger one.
  static let maxPacket = 64 << 10
  private static let maxCount = 16

  private final class Client {
    let socket: Descriptor
    var watch: Watch?

    init(_ socket: Descriptor) { self.socket = socket }

    deinit { watch?.cancel() }
  }

  private var clients: [Client] = []

  /// - Returns: the client's end of a new socket.
  /// - Throws: `LimitsExceeded` beyond 16 clients, or if the process has no more descriptors.
  fileprivate mutating func open(
    on loop: EventLoop, closed: @escaping (_ socket: Int32) -> Void
  ) throws(DBusError) -> Descriptor {
    guard clients.count < Self.maxCount else {
      throw DBusError(
        name: .limitsExceeded, message: "expected at most \(Self.maxCount) sockets for signals, found another request")
    }
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    do throws(SystemError) {
      try check("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
      let (client, other) = (Client(Descriptor(owning: ends[0])), Descriptor(owning: ends[1]))
      // Clients send nothing: if anything can be read, it is the end.
      client.watch = try loop.watch(ends[0], .read) { [socket = ends[0]] _ in closed(socket) }
      clients.append(client)
      return other
    } catch {
      throw DBusError(name: .limitsExceeded, message: "no socket can be opened: \(error.reason)")
    }
  }

  fileprivate mutating func close(_ socket: Int32) { clients.removeAll { $0.socket.number == socket } }

  /// Sends a signal to each client. A client whose socket is full loses the socket, since it must not miss a single signal.
  mutating func send(_ signal: OutgoingMessage) {
    guard !clients.isEmpty else { return }
    let packet = signal.numbered
    clients.removeAll { client in
      packet.count > Self.maxPacket
        || Glibc.send(client.socket.number, packet, packet.count, Int32(MSG_NOSIGNAL)) != packet.count
    }
  }
}

extension Connection {
  /// Opens a socket on which a client receives each signal that is broadcast from now on, before the bus does. The bus still receives
  /// the signal. The client reads signals by a ``SignalSocket``. The socket is closed when the client has closed its end, or has not
  /// read for so long that the kernel keeps no more.
  /// - Returns: the client's end, for a reply to the client.
  /// - Throws: `LimitsExceeded` beyond 16 sockets, or if the process has no more descriptors.
  public func openSignalSocket() throws(DBusError) -> Descriptor {
    try signalSockets.open(on: loop) { [weak self] in self?.signalSockets.close($0) }
  }
}

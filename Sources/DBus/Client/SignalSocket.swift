import DBusValues
import EventLoops
import Glibc

/// The client's end of a socket on which a service sends its signals directly (``Connection/openSignalSocket()``).
///
/// The service may be any program. So descriptors of other kinds are refused, and any data that are not a signal end the socket.
public final class SignalSocket {
  private static let packetsPerTurn = 64
  /// The largest number of packets that are received at once. The kernel keeps fewer for a socket, unless its limits were raised
  /// (`wmem_max`).
  private static let maxPackets = 1024

  private let socket: Descriptor
  private let onSignal: (Message) -> Void
  private let onEnd: () -> Void
  private var watch: Watch?

  /// - Parameters:
  ///   - socket: the socket from the service.
  ///   - onSignal: called with each signal, whose sender is not known.
  ///   - onEnd: called once when no more signals will come this way; not called for ``close()``.
  /// - Throws: `SystemError` with `ENOTSOCK` or `EPROTOTYPE` if it is not a socket of the type SOCK_SEQPACKET; other errors if it
  ///   cannot be watched.
  public init(
    _ socket: Descriptor, on loop: EventLoop, onSignal: @escaping (Message) -> Void, onEnd: @escaping () -> Void
  ) throws(SystemError) {
    self.socket = socket
    self.onSignal = onSignal
    self.onEnd = onEnd
    try Self.check(socket)
    watch = try loop.watch(socket.number, .read) { [weak self] _ in
      self?.receive(atMost: Self.packetsPerTurn)
    }
  }

  deinit { close() }

  /// Checks that a descriptor is a socket of the kind that ``Connection/openSignalSocket()`` makes. Sockets of other kinds may be ready
  /// without data to read.
  private static func check(_ socket: Descriptor) throws(SystemError) {
    for (option, expected) in [(SO_DOMAIN, AF_UNIX), (SO_TYPE, Int32(SOCK_SEQPACKET.rawValue))] {
      var found: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      try EventLoops.check("getsockopt") { getsockopt(socket.number, SOL_SOCKET, option, &found, &size) }
      guard found == expected else { throw SystemError(code: EPROTOTYPE, operation: "getsockopt") }
    }
  }

  /// Stops receiving.
  public func close() {
    watch?.cancel()
    watch = nil
  }

  /// Passes on the signals that have arrived. The loop does so too, with some of them in each turn. A caller that has heard of the
  /// service in another way gets all earlier signals by this call.
  public func receive() { receive(atMost: Self.maxPackets) }

  private func receive(atMost maximum: Int) {
    withUnsafeTemporaryAllocation(byteCount: SignalSockets.maxPacket, alignment: 8) { buffer in
      for _ in 0..<maximum where watch != nil {
        let count = recv(
          socket.number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT | MSG_TRUNC))
        if count < 0, [EAGAIN, EINTR].contains(errno) { return }
        guard 1...buffer.count ~= count,
          let message = Message(demarshalling: UnsafeRawBufferPointer(rebasing: buffer[..<count])),
          message.kind == .signal
        else {
          close()
          return onEnd()
        }
        onSignal(message)
      }
    }
  }
}

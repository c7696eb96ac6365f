import DBusValues
import EventLoops
import Glibc

/// The client's end of a socket on which a service sends its signals directly (``Connection/openSignalSocket()``).
///
/// The service may be any program, so another kind of descriptor is refused, and whatever comes that is no signal ends the socket.
public final class SignalSocket {
  private static let packetsPerTurn = 64
  /// More than the kernel keeps for a socket, unless somebody has raised its limits (`wmem_max`).
  private static let maxPackets = 1024

  private let socket: Descriptor
  private let onSignal: (Message) -> Void
  private let onEnd: () -> Void
  private var watch: Watch?

  /// - Parameters:
  ///   - socket: as the service has handed it over.
  ///   - onSignal: called with each signal; its sender is not known.
  ///   - onEnd: called once when no more signals will come this way; not called for ``close()``.
  /// - Throws: `SystemError` with `ENOTSOCK` or `EPROTOTYPE` if it is not a socket of the type SOCK_SEQPACKET; if it cannot be watched.
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

  /// Checks that a descriptor is a socket as ``Connection/openSignalSocket()`` makes it. Sockets of other kinds may be ready without
  /// anything to read.
  private static func check(_ socket: Descriptor) throws(SystemError) {
    for (option, expected) in [(SO_DOMAIN, AF_UNIX), (SO_TYPE, Int32(SOCK_SEQPACKET.rawValue))] {
      var found: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      try EventLoops.check("getsockopt") { getsockopt(socket.number, SOL_SOCKET, option, &found, &size) }
      guard found == expected else { throw SystemError(code: EPROTOTYPE, operation: "getsockopt") }
    }
  }

  /// Receives nothing any more.
  public func close() {
    watch?.cancel()
    watch = nil
  }

  /// Hands over the signals that are there. The loop does so, some in each turn; a caller that has heard of the service in another way
  /// calls it for all that was sent before.
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

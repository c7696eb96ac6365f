import DBusValues
import EventLoops
import Glibc

/// The client's end of a socket on which a service sends its signals directly (``Connection/openSignalSocket()``).
///
/// The service may be any program, so whatever comes that is no signal ends the socket.
public final class SignalSocket {
  private static let packetsPerTurn = 64

  private let socket: Descriptor
  private let onSignal: (Message) -> Void
  private let onEnd: () -> Void
  private var watch: Watch?

  /// - Parameters:
  ///   - socket: as the service has handed it over.
  ///   - onSignal: called with each signal; its sender is not known.
  ///   - onEnd: called once when no more signals will come this way; not called for ``close()``.
  /// - Throws: `SystemError` if it cannot be watched: it is a regular file, or the process has no memory for it.
  public init(
    _ socket: Descriptor, on loop: EventLoop, onSignal: @escaping (Message) -> Void, onEnd: @escaping () -> Void
  ) throws(SystemError) {
    self.socket = socket
    self.onSignal = onSignal
    self.onEnd = onEnd
    watch = try loop.watch(socket.number, .read) { [weak self] _ in self?.receive() }
  }

  deinit { close() }

  /// Receives nothing any more.
  public func close() {
    watch?.cancel()
    watch = nil
  }

  /// Hands over the signals that are there. The loop calls it; a caller that has heard of the service in another way calls it for
  /// what was sent before.
  public func receive() {
    withUnsafeTemporaryAllocation(byteCount: SignalSockets.maxPacket, alignment: 8) { buffer in
      for _ in 0..<Self.packetsPerTurn where watch != nil {
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

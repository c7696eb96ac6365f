import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel

/// Standard input, for a command to read (D16).
enum StandardInput {
  /// The longest silence of a pipe that the user has not mentioned: a program that starts navctl for a key may leave such a pipe open.
  private static let patience = Duration.seconds(10)

  /// Whether standard input is a pipe, which probably has content.
  static var isPipe: Bool {
    var status = stat()
    return fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Reads standard input to its end.
  /// - Parameter isMeant: whether the user asked for this. If not, the first byte, or the end, must come soon.
  /// - Throws: `Failure` if standard input cannot be read, does not come in time, or is larger than navd accepts.
  static func read(_ daemon: DaemonClient, isMeant: Bool) throws(Failure) -> [UInt8] {
    let limit = try maxBytes(daemon)
    let start = daemon.loop.now
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let silence = isMeant || !bytes.isEmpty ? nil : patience - (daemon.loop.now - start)
      guard waitForBytes([silence, daemon.timeLeft].compactMap(\.self).min()) else {
        if daemon.timeLeft == .zero {
          throw Failure(daemon.operation, "standard input has not ended in time", status: .timedOut)
        }
        throw Failure(
          daemon.operation,
          "standard input is a pipe on which nothing has come for \(patience.components.seconds) seconds",
          hint: "--no-stdin gives the program none of it, and --stdin waits for it")
      }
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        throw Failure(daemon.operation, SystemError("cannot read standard input").description)
      }
      bytes += buffer[..<count]
      guard bytes.count <= limit else {
        throw Failure(
          daemon.operation,
          "standard input: found more than \(limit) bytes, expected at most \(limit) (limit “value”)",
          hint: "give the program the name of a file", status: .refused)
      }
    }
  }

  /// The limit at which reading stops, because some inputs never end.
  private static func maxBytes(_ daemon: DaemonClient) throws(Failure) -> Int {
    let property = CoordinatorInterface.limits
    let value = try daemon.call(PropertyAccessing.get, (CoordinatorInterface.name.text, property.name.text))
    return Int(clamping: [String: UInt64](value: value)?["value"] ?? 0)
  }

  /// - Parameter time: the limit; nil for none.
  /// - Returns: whether a byte or the end has come within the time.
  private static func waitForBytes(_ time: Duration?) -> Bool {
    let end = time.map { MonotonicInstant.now + $0 }
    while true {
      var polled = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      let left = end.map { max(.zero, $0 - MonotonicInstant.now).saturatingMilliseconds } ?? -1
      let count = poll(&polled, 1, left)
      if count >= 0 { return count > 0 }
    }
  }
}

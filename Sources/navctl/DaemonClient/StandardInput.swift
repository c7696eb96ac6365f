import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel

/// Standard input, as what a command is to read (D16).
enum StandardInput {
  /// How long a pipe that nobody has mentioned may stay silent. A program that starts navctl for a key may have given it one that it never
  /// closes.
  private static let patience = Duration.seconds(10)

  /// Whether it is a pipe: so somebody has probably put something into it.
  static var isPipe: Bool {
    var status = stat()
    return fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Reads all of it.
  /// - Parameter isMeant: whether the user has said so. If not, its first byte, or its end, must come soon.
  /// - Throws: `Failure` if it cannot be read, or not in time, or if it is larger than navd takes.
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

  /// Reading stops there, since some inputs never end.
  private static func maxBytes(_ daemon: DaemonClient) throws(Failure) -> Int {
    let property = CoordinatorInterface.limits
    let value = try daemon.call(PropertyAccessing.get, (CoordinatorInterface.name.text, property.name.text))
    return Int(clamping: [String: UInt64](value: value)?["value"] ?? 0)
  }

  /// - Parameter time: nil for no limit.
  /// - Returns: whether something can be read, or the end has come, within the time.
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

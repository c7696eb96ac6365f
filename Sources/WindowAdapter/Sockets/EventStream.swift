import EventLoops
import Glibc

/// The lines that a compositor sends as events.
///
/// Compositors close the connection of a program that does not read fast enough, such as one that was stopped. So the stream connects
/// once more when the connection ends. If this is refused, the compositor has ended.
package final class EventStream {
  private let path: String
  private let request: String
  private let limit: Int
  private let loop: EventLoop
  private var socket: StreamSocket
  private var reader: LineReader
  private var connected: MonotonicInstant
  private var waiting: Timer?
  /// The shortest time between two connections.
  private static let pause = Duration.seconds(1)

  /// Called with each line; nil for a line that is too long.
  package var onLine: ((LineReader.Line) -> Void)?
  /// Called after another connection was made, and lines may be missing.
  var onGap: (() -> Void)?
  /// Called once, with the reason of the end.
  var onEnd: ((String) -> Void)?

  var peer: pid_t? { socket.peer }

  /// - Parameters:
  ///   - request: the request for events; empty if they come without one.
  ///   - limit: the limit in bytes of a line.
  /// - Throws: `SystemError` if nothing listens at the path.
  package init(_ path: String, request: String, limit: Int, _ loop: EventLoop) throws(SystemError) {
    self.path = path
    self.request = request
    self.limit = limit
    self.loop = loop
    socket = try StreamSocket(path, loop)
    reader = LineReader(limit: limit)
    connected = loop.now
  }

  package func start() {
    reader = LineReader(limit: limit)
    socket.onBytes = { [unowned self] in take($0) }
    socket.onEnd = { [unowned self] in connectAgain(after: $0) }
    if !request.isEmpty { socket.send(Array(request.utf8)) }
  }

  /// Passes on the lines that have arrived, in the middle of a turn.
  func readArrived() { socket.readArrived() }

  /// Ends the connection. No handler is called any more.
  func close() {
    socket.close()
    waiting?.cancel()
  }

  /// Connects again, because the known state may be wrong.
  func restart() {
    socket.close()
    connectAgain(after: nil)
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    reader.take(bytes)
    let socket = socket
    while socket.isOpen, let line = reader.next() { onLine?(line) }
  }

  /// Connects again, but waits if the last connection is recent.
  private func connectAgain(after error: SystemError?) {
    let earliest = connected + Self.pause
    guard earliest > loop.now else { return connect(after: error) }
    waiting = loop.timer(at: earliest) { [unowned self] in connect(after: error) }
  }

  private func connect(after error: SystemError?) {
    do throws(SystemError) {
      socket = try StreamSocket(path, loop)
    } catch let refused {
      let hasEnded = refused.code == ECONNREFUSED || refused.code == ENOENT
      let reason = hasEnded ? error : refused
      onEnd?(
        reason.map { "the connection to the compositor is lost: \($0)" } ?? "the compositor has closed its connection")
      return
    }
    connected = loop.now
    start()
    onGap?()
  }
}

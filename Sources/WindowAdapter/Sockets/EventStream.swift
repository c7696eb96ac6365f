import EventLoops
import Glibc

/// Takes the lines of an event stream.
package protocol EventStreamReader: AnyObject {
  /// - Parameter line: nil for a line that is too long.
  func take(_ line: LineReader.Line)
  /// Called after another connection was made, and lines may be missing.
  func linesAreMissing()
  /// Called once, with the reason of the end.
  func streamEnded(_ reason: String)
}

/// The lines that a compositor sends as events.
///
/// Compositors close the connection of a program that does not read fast enough, such as one that was stopped. So the stream connects
/// once more when the connection ends. If this is refused, the compositor has ended.
package final class EventStream: StreamSocketReader {
  private let path: String
  private let request: String
  private let limit: Int
  private let loop: EventLoop
  private var socket: StreamSocket
  private var lines: LineReader
  private var connected: MonotonicInstant
  private var waiting: Timer?
  /// The shortest time between two connections.
  private static let pause = Duration.seconds(1)

  private weak var reader: (any EventStreamReader)?

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
    lines = LineReader(limit: limit)
    connected = loop.now
  }

  package func start(for reader: any EventStreamReader) {
    self.reader = reader
    begin()
  }

  private func begin() {
    lines = LineReader(limit: limit)
    socket.reader = self
    if !request.isEmpty { socket.send(Array(request.utf8)) }
  }

  /// Passes on the lines that have arrived, in the middle of a turn.
  func readArrived() { socket.readArrived() }

  /// Ends the connection. Nothing is reported any more.
  func close() {
    socket.close()
    waiting?.cancel()
  }

  /// Connects again, because the known state may be wrong.
  func restart() {
    socket.close()
    connectAgain(after: nil)
  }

  func take(_ bytes: UnsafeRawBufferPointer) {
    lines.take(bytes)
    let socket = socket
    while socket.isOpen, let line = lines.next() { reader?.take(line) }
  }

  func socketEnded(_ error: SystemError?) { connectAgain(after: error) }

  /// Connects again, but waits if the last connection is recent.
  private func connectAgain(after error: SystemError?) {
    let earliest = connected + Self.pause
    guard earliest > loop.now else { return connect(after: error) }
    waiting = loop.timer(at: earliest, of: self) { $0.connect(after: error) }
  }

  private func connect(after error: SystemError?) {
    do throws(SystemError) {
      socket = try StreamSocket(path, loop)
    } catch let refused {
      let hasEnded = refused.code == ECONNREFUSED || refused.code == ENOENT
      let reason = hasEnded ? error : refused
      reader?.streamEnded(
        reason.map { "the connection to the compositor is lost: \($0)" } ?? "the compositor has closed its connection")
      return
    }
    connected = loop.now
    begin()
    reader?.linesAreMissing()
  }
}

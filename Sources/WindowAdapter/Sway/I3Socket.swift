import EventLoops
import Glibc
import PresentationModel
import TextFormats

/// Takes the events of i3 or sway.
package protocol I3EventReader: AnyObject {
  /// - Parameter content: nil if it cannot be read.
  func take(_ event: I3Message.Event?, _ content: JSON?)
  /// Called once, with the reason of the end.
  func windowManagerEnded(_ reason: String)
}

/// A connection to i3 or sway. Replies come in the order of the requests, and events come between them.
package final class I3Socket: StreamSocketReader {
  /// The limit of commands without a reply; further ones are refused. The adapter's own requests are few, and not counted.
  private static let maxCommands = 1024

  private let socket: StreamSocket
  private var reader = I3Reader()
  private var commands = 0
  private var requests: [(kind: I3Message.Kind, completion: (JSON?) -> Void)] = []
  package weak var eventReader: (any I3EventReader)?
  /// The process of the window manager; nil if it cannot be known.
  var peer: pid_t? { socket.peer }

  /// - Throws: `SystemError` if there is no window manager at the path.
  package init(_ path: String, _ loop: EventLoop) throws(SystemError) {
    socket = try StreamSocket(path, loop)
    socket.reader = self
  }

  /// Sends a request.
  /// - Parameter completion: called with the reply; nil if it cannot be read.
  package func send(_ kind: I3Message.Kind, _ payload: String = "", _ completion: @escaping (JSON?) -> Void)
    throws(Refusal)
  {
    guard kind != .command || commands < Self.maxCommands else {
      throw Refusal(
        .limitExceeded,
        "expected at most \(Self.maxCommands) requests that the window manager has not answered, found more")
    }
    if kind == .command { commands += 1 }
    requests.append((kind, completion))
    socket.send(I3Message.bytes(kind, payload))
  }

  func socketEnded(_ error: SystemError?) {
    eventReader?.windowManagerEnded(error?.description ?? "the window manager has closed its connection")
  }

  func take(_ bytes: UnsafeRawBufferPointer) {
    reader.take(bytes)
    do throws(I3Reader.Fault) {
      while socket.isOpen, let message = try reader.next() { take(message) }
    } catch {
      end("the window manager breaks its protocol: \(error)")
    }
  }

  private func take(_ message: I3Message) {
    if message.isEvent { return eventReader?.take(message.event, message.content) ?? () }
    guard let request = requests.first, request.kind.rawValue == message.type else {
      return end(
        "the window manager breaks its protocol: expected a reply of type \(requests.first?.kind.rawValue ?? 0), "
          + "found type \(message.type)")
    }
    requests.removeFirst()
    if request.kind == .command { commands -= 1 }
    request.completion(message.content)
  }

  private func end(_ reason: String) {
    guard socket.isOpen else { return }
    socket.close()
    eventReader?.windowManagerEnded(reason)
  }
}

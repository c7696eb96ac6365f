import EventLoops
import Glibc
import PresentationModel
import TextFormats

/// A connection to i3 or sway. Replies come in the order of the requests, and events come between them.
package final class I3Socket {
  /// The limit of commands without a reply; further ones are refused. The adapter's own requests are few, and not counted.
  private static let maxCommands = 1024

  private let socket: StreamSocket
  private var reader = I3Reader()
  private var commands = 0
  private var requests: [(kind: I3Message.Kind, completion: (JSON?) -> Void)] = []
  /// Called with the content; nil if it cannot be read.
  package var onEvent: ((I3Message.Event?, JSON?) -> Void)?
  /// Called once, with the reason of the end.
  var onEnd: ((String) -> Void)?
  /// The process of the window manager; nil if it cannot be known.
  var peer: pid_t? { socket.peer }

  /// - Throws: `SystemError` if there is no window manager at the path.
  package init(_ path: String, _ loop: EventLoop) throws(SystemError) {
    socket = try StreamSocket(path, loop)
    socket.onBytes = { [unowned self] in take($0) }
    socket.onEnd = { [unowned self] error in
      onEnd?(error?.description ?? "the window manager has closed its connection")
    }
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

  private func take(_ bytes: UnsafeRawBufferPointer) {
    reader.take(bytes)
    do throws(I3Reader.Fault) {
      while socket.isOpen, let message = try reader.next() { take(message) }
    } catch {
      end("the window manager breaks its protocol: \(error)")
    }
  }

  private func take(_ message: I3Message) {
    if message.isEvent { return onEvent?(message.event, message.content) ?? () }
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
    onEnd?(reason)
  }
}

import EventLoops
import Glibc
import PresentationModel
import TextFormats

/// A connection to i3 or sway. Replies come in the order of the requests, and events between them.
final class I3Socket {
  /// Commands without a reply; past that, none is sent. The adapter's own questions are few, and not counted.
  private static let maxCommands = 1024

  private let descriptor: Int32
  private var watch: Watch?
  private var reader = I3Reader()
  private var unsent: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)
  private var commands = 0
  private var requests: [(kind: I3Message.Kind, completion: (JSON?) -> Void)] = []
  /// Called with the content; nil if it cannot be read.
  var onEvent: ((I3Message.Event?, JSON?) -> Void)?
  /// Called once, with the reason.
  var onEnd: ((String) -> Void)?
  /// The process of the window manager; nil if it cannot be known.
  let peer: pid_t?

  /// - Throws: `SystemError` if there is no window manager at the path.
  init(_ path: String, _ loop: EventLoop) throws(SystemError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = try check("socket") { Glibc.socket(AF_UNIX, kind, 0) }
    descriptor = socket
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
      close(socket)
      throw SystemError(code: ENAMETOOLONG, operation: "connect \(path)")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      let error = SystemError("connect \(path)")
      close(socket)
      throw error
    }
    peer = peerProcess(of: socket)
    watch = try loop.watch(socket, .read) { [unowned self] readiness in
      if readiness.contains(.write) { write() }
      read()
    }
  }

  deinit {
    watch?.cancel()
    close(descriptor)
  }

  /// Sends a request.
  /// - Parameter completion: is called with the reply; nil if that cannot be read.
  func send(_ kind: I3Message.Kind, _ payload: String = "", _ completion: @escaping (JSON?) -> Void) throws(Refusal) {
    guard kind != .command || commands < Self.maxCommands else {
      throw Refusal(
        .limitExceeded,
        "expected at most \(Self.maxCommands) requests that the window manager has not answered, found more")
    }
    if kind == .command { commands += 1 }
    requests.append((kind, completion))
    unsent += I3Message.bytes(kind, payload)
    write()
  }

  private func write() {
    while !unsent.isEmpty {
      let count = Glibc.send(descriptor, unsent, unsent.count, Int32(MSG_NOSIGNAL))
      if count < 0 {
        if errno == EINTR { continue }
        // An error is found by reading, too.
        break
      }
      unsent.removeFirst(count)
    }
    watch?.interest = unsent.isEmpty ? .read : [.read, .write]
  }

  private func read() {
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    guard count > 0 else {
      return end(count == 0 ? "the window manager has closed its connection" : SystemError("read").description)
    }
    reader.take(buffer.prefix(count))
    do throws(I3Reader.Fault) {
      while watch?.isCancelled == false, let message = try reader.next() { take(message) }
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
    guard watch?.isCancelled == false else { return }
    watch?.cancel()
    onEnd?(reason)
  }
}

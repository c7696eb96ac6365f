import EventLoops
import Glibc

/// Takes what comes from a socket.
protocol StreamSocketReader: AnyObject {
  func take(_ bytes: UnsafeRawBufferPointer)
  /// Called once, when the other end has closed the connection, or with the reason of a failure.
  func socketEnded(_ error: SystemError?)
}

/// A connection to a socket of the compositor. Bytes are passed on as they arrive.
final class StreamSocket {
  private let descriptor: Int32
  private let path: String
  private var watch: Watch?
  private var unsent = UnwrittenBytes()
  private var isEnding = false
  private var buffer: [UInt8]
  weak var reader: (any StreamSocketReader)?
  /// The process at the other end; nil if it cannot be known.
  let peer: pid_t?

  /// - Parameter bufferSize: the number of bytes that are read at a time.
  /// - Throws: `SystemError` if nothing listens at the path.
  init(_ path: String, _ loop: EventLoop, bufferSize: Int = 256 << 10) throws(SystemError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = try check("socket") { Glibc.socket(AF_UNIX, kind, 0) }
    descriptor = socket
    self.path = path
    buffer = [UInt8](repeating: 0, count: bufferSize)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
      Glibc.close(socket)
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
      Glibc.close(socket)
      throw error
    }
    peer = peerProcess(of: socket)
    watch = try loop.watch(socket, .read, of: self) { socket, readiness in
      if readiness.contains(.write) { socket.write() }
      socket.read()
    }
  }

  deinit {
    close()
    Glibc.close(descriptor)
  }

  var isOpen: Bool { watch?.isCancelled == false }

  /// Ends the connection from this side. The reader gets no report.
  func close() { watch?.cancel() }

  func send(_ bytes: [UInt8]) {
    unsent.append(bytes)
    write()
  }

  /// Tells the other end that nothing follows the bytes sent so far.
  func endSending() {
    isEnding = true
    write()
  }

  private func write() {
    while !unsent.isEmpty {
      let count = unsent.write { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      // Reading will find the error, too.
      if count < 0, errno != EINTR { break }
    }
    if unsent.isEmpty, isEnding { shutdown(descriptor, Int32(SHUT_WR)) }
    watch?.interest = unsent.isEmpty ? .read : [.read, .write]
  }

  /// Passes on the bytes that have arrived, with a limit for the case of a fast writer.
  func readArrived() {
    for _ in 0..<64 where read() {}
  }

  /// - Returns: whether there were bytes to read.
  @discardableResult
  private func read() -> Bool {
    guard isOpen else { return false }
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    if count < 0, errno == EAGAIN || errno == EINTR { return false }
    guard count > 0 else {
      let error = count == 0 ? nil : SystemError("read \(path)")
      close()
      reader?.socketEnded(error)
      return false
    }
    buffer.withUnsafeBytes { reader?.take(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    return true
  }
}

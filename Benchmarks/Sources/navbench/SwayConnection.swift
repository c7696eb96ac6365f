import EventLoops
import Glibc
import TextFormats

/// A connection to sway's socket, as in sway-ipc(7): messages are `i3-ipc`, the length, the type, and JSON.
final class SwayConnection {
  /// The types of requests.
  enum Request: UInt32 {
    case subscribe = 2
    case tree = 4
  }

  private static let magic = Array("i3-ipc".utf8)
  private static let headerSize = 14

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var part = [UInt8](repeating: 0, count: 1 << 16)

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw BenchmarkError(failed: "socket") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw BenchmarkError(failed: path) }
  }

  deinit { close(descriptor) }

  /// Sends a request, and waits for the answer.
  func ask(_ request: Request, _ payload: String = "") throws -> JSON {
    var bytes = Self.magic
    for number in [UInt32(payload.utf8.count), request.rawValue] { withUnsafeBytes(of: number) { bytes += $0 } }
    bytes += payload.utf8
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw BenchmarkError(failed: "sway's socket") }
    guard let answer = try next(within: .seconds(20)) else { throw BenchmarkError("sway has not answered in 20 s") }
    return answer
  }

  /// The next message; nil if none comes in time.
  func next(within limit: Duration) throws -> JSON? {
    let end = MonotonicInstant.now + limit
    while true {
      if let message = try takeMessage() { return message }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, (end - .now).saturatingMilliseconds) > 0 else { return nil }
      let count = Glibc.read(descriptor, &part, part.count)
      guard count > 0 else { throw BenchmarkError("sway has closed its socket") }
      buffer += part[..<count]
    }
  }

  private func takeMessage() throws -> JSON? {
    guard buffer.count >= Self.headerSize else { return nil }
    let length = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: Self.magic.count, as: UInt32.self) }
    let end = Self.headerSize + Int(length)
    guard buffer.count >= end else { return nil }
    defer { buffer.removeSubrange(..<end) }
    return try JSON.parse(Array(buffer[Self.headerSize..<end]))
  }
}

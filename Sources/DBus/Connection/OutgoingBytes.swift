import CDBus
import DBusValues
import Glibc

/// The bytes that are not yet written to a socket.
///
/// libdbus-1 writes each message by its own system call, which wakes the bus each time. Here, the messages of a turn are written
/// together. libdbus-1 sends nothing after Hello, so only this code uses the outgoing side of the socket.
struct OutgoingBytes {
  enum Outcome {
    case written
    /// The socket's buffer is full.
    case blocked
    /// The connection has ended.
    case broken
  }

  /// The capacity that stays for the next messages. A larger one is freed, since a single large message would otherwise keep it.
  private static let mostKept = 64 << 10

  private var bytes: [UInt8] = []
  /// The number of `bytes` already written.
  private var written = 0
  /// The messages with descriptors, by their ranges in `bytes`.
  private var carriers: [(range: Range<Int>, descriptors: [Descriptor])] = []

  var count: Int { bytes.count - written }
  var isEmpty: Bool { written == bytes.count }
  /// The number of bytes for which there is memory.
  var capacity: Int { bytes.capacity }

  mutating func append(_ message: OutgoingMessage, serial: UInt32) {
    let start = bytes.count
    bytes.append(contentsOf: message.bytes)
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: serial, toByteOffset: start + OutgoingMessage.serialIndex, as: UInt32.self)
    }
    if !message.descriptors.isEmpty { carriers.append((start..<bytes.count, message.descriptors)) }
  }

  /// Writes as much as possible without blocking.
  mutating func write(to socket: Int32) -> Outcome {
    defer { discardWritten() }
    while written < bytes.count {
      // Descriptors are sent with the first byte of their message, and with no earlier byte.
      let carried = carriers.first.flatMap { $0.range.lowerBound == written ? $0 : nil }
      let end = carried?.range.upperBound ?? carriers.first?.range.lowerBound ?? bytes.count
      let numbers = carried?.descriptors.map(\.number) ?? []
      let count = bytes.withUnsafeBytes {
        dbus_socket_send(socket, $0.baseAddress! + written, end - written, numbers, numbers.count)
      }
      switch (count, errno) {
      case (0..., _):
        written += count
        if carried != nil { carriers.removeFirst() }
      case (_, EINTR): continue
      case (_, EAGAIN), (_, ENOBUFS), (_, ENOMEM): return .blocked
      // The kernel has too many descriptors in transit: the message is lost, as with libdbus-1.
      case (_, ETOOMANYREFS) where carried != nil:
        written = end
        carriers.removeFirst()
      default: return .broken
      }
    }
    return .written
  }

  /// Frees the written bytes if they are more than half of all bytes.
  private mutating func discardWritten() {
    guard written > bytes.count / 2 else { return }
    if isEmpty, capacity <= Self.mostKept {
      bytes.removeAll(keepingCapacity: true)
    } else {
      bytes = Array(bytes[written...])
    }
    for index in carriers.indices {
      let range = carriers[index].range
      carriers[index].range = range.lowerBound - written..<range.upperBound - written
    }
    written = 0
  }
}

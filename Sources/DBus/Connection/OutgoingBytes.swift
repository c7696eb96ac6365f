// Why this file exists: libdbus-1 writes every message by a system call of its own, and wakes the bus with each; what a
// turn has made goes out at once here. libdbus-1 is handed no message after its hello, so the socket's outgoing side is
// ours alone.

import CDBus
import DBusValues
import Glibc

/// What waits to be written to a socket.
struct OutgoingBytes {
  enum Outcome {
    /// Nothing is left.
    case written
    /// The socket takes no more by now.
    case blocked
    /// The socket takes nothing any more.
    case broken
  }

  private var bytes: [UInt8] = []
  /// How many of `bytes` have been written.
  private var written = 0
  /// The messages that carry descriptors, by where they stand in `bytes`.
  private var carriers: [(range: Range<Int>, descriptors: [Descriptor])] = []

  var count: Int { bytes.count - written }
  var isEmpty: Bool { written == bytes.count }

  mutating func append(_ message: OutgoingMessage, serial: UInt32) {
    let start = bytes.count
    bytes.append(contentsOf: message.bytes)
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: serial, toByteOffset: start + OutgoingMessage.serialIndex, as: UInt32.self)
    }
    if !message.descriptors.isEmpty { carriers.append((start..<bytes.count, message.descriptors)) }
  }

  /// Writes what the socket takes, without waiting.
  mutating func write(to socket: Int32) -> Outcome {
    defer { letGo() }
    while written < bytes.count {
      // Descriptors go with the first byte of their message, and with nothing before it.
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
      // So many descriptors are under way that the kernel refuses these: the message is lost, as with libdbus-1.
      case (_, ETOOMANYREFS) where carried != nil:
        written = end
        carriers.removeFirst()
      default: return .broken
      }
    }
    return .written
  }

  /// Lets go of what has been written, whenever it is the larger part.
  private mutating func letGo() {
    guard written > bytes.count / 2 else { return }
    if isEmpty, bytes.capacity <= 1 << 20 {
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

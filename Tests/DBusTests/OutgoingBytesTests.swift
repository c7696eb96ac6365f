import DBusValues
import Glibc
import Testing

@testable import DBus

// Outgoing messages on a socket: the bytes, the descriptors, slow readers and closed ones.

/// A connected pair of sockets.
private struct Sockets: ~Copyable {
  let ours: Int32
  let theirs: Int32

  init() {
    var pair: [Int32] = [-1, -1]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair)
    ours = pair[0]
    theirs = pair[1]
  }

  deinit {
    close(ours)
    close(theirs)
  }

  /// Reads the bytes, and the number of descriptors passed with them; at most the descriptors of one message at a time.
  func read() -> (bytes: [UInt8], descriptors: Int) {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    var control = [UInt8](repeating: 0, count: 4096)
    var header = msghdr()
    let count = bytes.withUnsafeMutableBytes { bytes in
      control.withUnsafeMutableBytes { control in
        var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        return withUnsafeMutablePointer(to: &vector) { vector in
          header.msg_iov = vector
          header.msg_iovlen = 1
          header.msg_control = control.baseAddress
          header.msg_controllen = control.count
          return recvmsg(theirs, &header, Int32(MSG_DONTWAIT))
        }
      }
    }
    // A cmsghdr begins with its length without padding.
    let length = control.withUnsafeBytes { $0.load(as: Int.self) }
    let isThere = count > 0 && header.msg_controllen >= MemoryLayout<cmsghdr>.size
    let descriptors = isThere ? (length - MemoryLayout<cmsghdr>.size) / MemoryLayout<Int32>.size : 0
    for index in 0..<descriptors {
      let number = control.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: MemoryLayout<cmsghdr>.size + 4 * index, as: Int32.self)
      }
      close(number)
    }
    return (Array(bytes.prefix(max(0, count))), descriptors)
  }
}

private func message(_ body: [Value]) throws -> OutgoingMessage {
  try .call("Member", of: "org.example.Interface", on: "org.example.Name", at: "/", body)
}

/// The bytes expected for the message.
private func bytes(_ message: OutgoingMessage, serial: UInt8) -> [UInt8] {
  var bytes = message.bytes
  bytes[OutgoingMessage.serialIndex] = serial
  return bytes
}

@Test func outgoing_messagesOfATurn_areWrittenTogetherInOrder() throws {
  let sockets = Sockets()
  let messages = [try message([.string("a")]), try message([.uint64(1)]), try message([])]
  var outgoing = OutgoingBytes()
  for (index, message) in messages.enumerated() { outgoing.append(message, serial: UInt32(index + 1)) }
  #expect(outgoing.write(to: sockets.ours) == .written)
  #expect(outgoing.isEmpty)
  let expected = messages.enumerated().flatMap { bytes($1, serial: UInt8($0 + 1)) }
  #expect(sockets.read().bytes == expected)
}

@Test func outgoing_descriptors_areSentWithTheFirstByteOfTheirMessage() throws {
  let sockets = Sockets()
  let descriptor = Descriptor(owning: open("/", O_RDONLY | O_CLOEXEC))
  let plain = try message([.string("plain")])
  let one = try message([.descriptor(descriptor)])
  let two = try message([.variant(.descriptor(descriptor)), .array(element: .descriptor, [.descriptor(descriptor)])])
  var outgoing = OutgoingBytes()
  for message in [plain, one, plain, two, plain] { outgoing.append(message, serial: 1) }
  #expect(outgoing.write(to: sockets.ours) == .written)
  // A read ends before the bytes that were sent with other descriptors.
  var received: [UInt8] = []
  var counts: [Int: Int] = [:]
  while case (let part, let count) = sockets.read(), !part.isEmpty {
    if count > 0 { counts[received.count] = count }
    received += part
  }
  let all = [plain, one, plain, two, plain].map { bytes($0, serial: 1) }
  #expect(received == all.flatMap { $0 })
  let starts = all.reduce(into: [0]) { $0.append($0.last! + $1.count) }
  #expect(counts.values.reduce(0, +) == 3)
  #expect(Set(counts.keys).isSubset(of: Set(starts)))
}

@Test func outgoing_slowReader_receivesEverything() throws {
  let sockets = Sockets()
  let messages = try (0..<40).map { try message([.bytes([UInt8](repeating: UInt8($0), count: 50_000 + $0))]) }
  var outgoing = OutgoingBytes()
  var received: [UInt8] = []
  var timesBlocked = 0
  for message in messages {
    outgoing.append(message, serial: 1)
    if outgoing.write(to: sockets.ours) == .blocked {
      timesBlocked += 1
      if timesBlocked % 3 == 0 { received += sockets.read().bytes }
    }
  }
  #expect(timesBlocked > 3)
  while !outgoing.isEmpty {
    received += sockets.read().bytes
    #expect(outgoing.write(to: sockets.ours) != .broken)
  }
  while case (let part, _) = sockets.read(), !part.isEmpty { received += part }
  #expect(received == messages.flatMap { bytes($0, serial: 1) })
}

@Test("L2: the memory of a large message is given back when it is written; that of small ones stays for the next")
func outgoing_largeMessage_leavesNoMemory() throws {
  let sockets = Sockets()
  let small = try message([.bytes([UInt8](repeating: 1, count: 1000))])
  let large = try message([.bytes([UInt8](repeating: 1, count: 100_000))])
  var outgoing = OutgoingBytes()
  outgoing.append(small, serial: 1)
  #expect(outgoing.write(to: sockets.ours) == .written)
  #expect(outgoing.capacity >= small.bytes.count)
  outgoing.append(large, serial: 1)
  #expect(outgoing.write(to: sockets.ours) == .written)
  #expect(outgoing.capacity < large.bytes.count)
}

@Test func outgoing_closedReader_isBrokenWithoutSIGPIPE() throws {
  var outgoing = OutgoingBytes()
  outgoing.append(try message([]), serial: 1)
  var pair: [Int32] = [-1, -1]
  socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair)
  close(pair[1])
  #expect(outgoing.write(to: pair[0]) == .broken)
  close(pair[0])
}

import Glibc

/// A client that writes raw bytes to a bus's socket, for messages that no library would send ("D-Bus Specification",
/// *Authentication Protocol*, *Message Format*).
public final class RawClient {
  public struct Closed: Error {}

  private let socket: Int32
  private var received: [UInt8] = []
  private var serial: UInt32 = 0

  /// Connects, authenticates and calls Hello.
  public init(_ bus: any SessionBus) throws {
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let result = withUnixAddress(bus.directory + "/bus") { connect(socket, $0, $1) }
    guard result == 0 else { throw Closed() }
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let uid = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
    try write(Array("\0AUTH EXTERNAL \(uid)\r\n".utf8))
    while !received.contains(UInt8(ascii: "\n")) { try fill() }
    received = []
    try write(Array("NEGOTIATE_UNIX_FD\r\n".utf8))
    while !received.contains(UInt8(ascii: "\n")) { try fill() }
    received = []
    try write(Array("BEGIN\r\n".utf8))
    try send(
      member: "Hello", interface: "org.freedesktop.DBus", to: "org.freedesktop.DBus", at: "/org/freedesktop/DBus")
    _ = try answer()
  }

  deinit { close(socket) }

  public func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Closed() }
      rest.removeFirst(count)
    }
  }

  /// Writes a message with `count` copies of a descriptor attached.
  public func write(_ bytes: [UInt8], descriptors count: Int) throws {
    let size = MemoryLayout<cmsghdr>.size + count * MemoryLayout<Int32>.size
    var control = [UInt8](repeating: 0, count: size)
    control.withUnsafeMutableBytes { buffer in
      // This is a cmsghdr: its length, SOL_SOCKET, SCM_RIGHTS.
      buffer.storeBytes(of: size, as: Int.self)
      buffer.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
      buffer.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
      for index in 0..<count {
        buffer.storeBytes(
          of: socket, toByteOffset: MemoryLayout<cmsghdr>.size + index * MemoryLayout<Int32>.size, as: Int32.self)
      }
    }
    var bytes = bytes
    let total = bytes.count
    let sent = bytes.withUnsafeMutableBytes { body in
      control.withUnsafeMutableBytes { control in
        var vector = iovec(iov_base: body.baseAddress, iov_len: body.count)
        return withUnsafeMutablePointer(to: &vector) { vector in
          var header = msghdr()
          header.msg_iov = vector
          header.msg_iovlen = 1
          header.msg_control = control.baseAddress
          header.msg_controllen = control.count
          return sendmsg(socket, &header, Int32(MSG_NOSIGNAL))
        }
      }
    }
    guard sent == total else { throw Closed() }
  }

  @discardableResult
  public func send(
    type: UInt8 = 1, flags: UInt8 = 0, member: String, interface: String?, to destination: String, at path: String,
    signature: String = "", body: [UInt8] = [], descriptors: Int = 0, trailing: [UInt8] = []
  ) throws -> UInt32 {
    serial += 1
    let bytes = Self.message(
      type: type, flags: flags, serial: serial, member: member, interface: interface, to: destination, at: path,
      signature: signature, body: body, descriptors: descriptors)
    if descriptors > 0 { try write(bytes, descriptors: descriptors) } else { try write(bytes) }
    return serial
  }

  public static func message(
    type: UInt8 = 1, flags: UInt8 = 0, serial: UInt32, member: String, interface: String?, to destination: String,
    at path: String, signature: String = "", body: [UInt8] = [], descriptors: Int = 0
  ) -> [UInt8] {
    var fields = Marshalled()
    func field(_ code: UInt8, _ type: String, _ text: String) {
      fields.align(8)
      fields.bytes += [code, 1, UInt8(ascii: type == "o" ? "o" : type == "g" ? "g" : "s"), 0]
      if type == "g" { fields.signature(text) } else { fields.string(text) }
    }
    field(1, "o", path)
    if let interface { field(2, "s", interface) }
    field(3, "s", member)
    field(6, "s", destination)
    if !signature.isEmpty { field(8, "g", signature) }
    if descriptors > 0 {
      fields.align(8)
      fields.bytes += [9, 1, UInt8(ascii: "u"), 0]
      fields.uint32(UInt32(descriptors))
    }
    return Marshalled.message(type, flags: flags, serial: serial, fields: fields, body: body)
  }

  /// Reads the next answer: its type, the serial of its call, and all of its bytes. Skips signals.
  public func answer() throws -> (type: UInt8, replySerial: UInt32, bytes: [UInt8]) {
    while true {
      while received.count < 16 { try fill() }
      let (_, size) = Marshalled.extent(of: received)
      while received.count < size { try fill() }
      let bytes = Array(received[..<size])
      received.removeFirst(size)
      guard bytes[1] == 2 || bytes[1] == 3 else { continue }
      return (bytes[1], try Self.replySerial(bytes), bytes)
    }
  }

  private static func replySerial(_ bytes: [UInt8]) throws -> UInt32 {
    // This is the field REPLY_SERIAL: code 5, signature "u", then the number.
    for offset in stride(from: 16, to: bytes.count - 8, by: 8)
    where Array(bytes[offset..<offset + 4]) == [5, 1, UInt8(ascii: "u"), 0] {
      return UInt32(Marshalled.number(in: bytes, at: offset + 4))
    }
    throw Closed()
  }

  /// Whether the bus has closed the connection. Blocks until it does, for 30 seconds at most.
  public func isThrownOut() -> Bool {
    do {
      while true { _ = try answer() }
    } catch {
      return true
    }
  }

  private func fill() throws {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = read(socket, &buffer, buffer.count)
    guard count > 0 else { throw Closed() }
    received += buffer[..<count]
  }
}

/// Values marshalled in little-endian order, aligned relative to the first byte.
public struct Marshalled {
  public var bytes: [UInt8] = []

  public init() {}

  public mutating func align(_ boundary: Int) { while bytes.count % boundary != 0 { bytes.append(0) } }
  public mutating func uint32(_ number: UInt32) {
    align(4)
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
  }
  public mutating func string(_ text: String) {
    uint32(UInt32(text.utf8.count))
    bytes += text.utf8
    bytes.append(0)
  }
  public mutating func signature(_ text: String) {
    bytes.append(UInt8(text.utf8.count))
    bytes += text.utf8
    bytes.append(0)
  }

  /// Builds a message from its header fields and its marshalled arguments.
  static func message(
    _ type: UInt8, flags: UInt8, serial: UInt32, fields: Marshalled, body: [UInt8]
  ) -> [UInt8] {
    var message = Marshalled()
    message.bytes = [UInt8(ascii: "l"), type, flags, 1]
    message.uint32(UInt32(body.count))
    message.uint32(serial)
    message.uint32(UInt32(fields.bytes.count))
    message.bytes += fields.bytes
    message.align(8)
    message.bytes += body
    return message.bytes
  }

  /// The little-endian number in four bytes.
  static func number(in bytes: [UInt8], at offset: Int) -> Int {
    bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// The beginning of a message's arguments, and the end of the message.
  /// - Precondition: the first 16 bytes are there.
  static func extent(of message: [UInt8]) -> (body: Int, end: Int) {
    let body = 16 + (number(in: message, at: 12) + 7) / 8 * 8
    return (body, body + number(in: message, at: 4))
  }
}

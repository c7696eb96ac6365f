import DBusValues

/// A message to be sent, as bytes. Its header is valid by construction.
public struct OutgoingMessage {
  /// The recipient; nil for a broadcast signal.
  public let destination: BusName?
  public let member: MemberName?
  /// The whole message, with 0 as its serial.
  let bytes: [UInt8]
  let descriptors: [Descriptor]

  static let serialIndex = 8

  /// The whole message with a serial, since a serial of 0 is invalid. For recipients that do not reply.
  var numbered: [UInt8] {
    var bytes = bytes
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: 1, toByteOffset: Self.serialIndex, as: UInt32.self) }
    return bytes
  }

  /// A call with arguments of their own types.
  /// - Parameter interface: the interface; nil to let the recipient find the method by its name alone.
  /// - Throws: an error if an argument cannot be sent: `InvalidArgs` for a string with an embedded NUL, a value that does not match its
  ///   declared type, a type that the specification forbids, and containers that are nested too deep; `LimitsExceeded` for a message
  ///   that is too large.
  public static func call(
    _ member: MemberName, of interface: InterfaceName?, on destination: BusName, at path: ObjectPath,
    _ body: [Value] = []
  ) throws(DBusError) -> OutgoingMessage {
    guard let signature = Signature(types: body.map(\.type)) else {
      throw DBusError(name: .invalidArgs, message: "the types of the arguments are not a valid signature")
    }
    let header = MessageHeader(
      kind: .methodCall, fields: HeaderFields(interface: interface, member: member, signature: signature), path: path,
      destination: destination)
    return try OutgoingMessage(header) { writer throws(DBusError) in
      for value in body { try writer.append(value) }
    }
  }

  /// - Parameter body: writes arguments of the types that the header declares; its error is rethrown.
  init(
    _ header: MessageHeader, _ body: (inout MessageWriter) throws(DBusError) -> Void
  ) throws(DBusError) {
    var writer = MessageWriter()
    try header.write(&writer)
    let start = writer.count
    try body(&writer)
    writer.set(UInt32(writer.count - start), at: MessageHeader.bodyLengthIndex)
    destination = header.destination
    member = header.fields.member
    descriptors = writer.descriptors
    let bytes = [UInt8](writer.bytes)
    self.bytes = descriptors.isEmpty ? bytes : MessageHeader.adding(descriptors.count, to: bytes, before: start)
    assert(!descriptors.isEmpty || LibDBus.isMessage(self), "libdbus-1 refuses the message")
  }
}

/// The header of a message ("D-Bus Specification", *Message Format*).
struct MessageHeader {
  enum Kind: UInt8 {
    case methodCall = 1
    case methodReturn, error, signal
  }

  struct Flags: OptionSet {
    let rawValue: UInt8
    static let noReplyExpected = Flags(rawValue: 1)
    static let noAutoStart = Flags(rawValue: 2)
  }

  var kind: Kind
  var flags: Flags = []
  var fields: HeaderFields
  var path: ObjectPath?
  var errorName: ErrorName?
  var replySerial: UInt32?
  var destination: BusName?

  fileprivate static let bodyLengthIndex = 4
  private static let fieldsLengthIndex = 12

  fileprivate func write(_ writer: inout MessageWriter) throws(DBusError) {
    let version: UInt32 = 1
    let order = UInt32(UInt8(ascii: 1.littleEndian == 1 ? "l" : "B"))
    // Four fields with one byte each.
    writer.integer((order | UInt32(kind.rawValue) << 8 | UInt32(flags.rawValue) << 16 | version << 24).littleEndian)
    // The length of the body and the serial are set later.
    writer.integer(UInt32(0))
    writer.integer(UInt32(0))
    try writer.array(alignment: 8) { writer throws(DBusError) in
      writer.copy(fields.bytes)
      try writer.headerField(.path, "o", path?.text)
      try writer.headerField(.destination, "s", destination?.text)
      try writer.headerField(.errorName, "s", errorName?.text)
      if let replySerial {
        writer.startHeaderField(.replySerial, "u")
        writer.integer(replySerial)
      }
    }
    writer.align(8)
  }

  /// Inserts the header field with the number of descriptors, which is known only after the body has been written. The field has 8
  /// bytes, so the alignment of the body does not change.
  fileprivate static func adding(_ count: Int, to bytes: [UInt8], before body: Int) -> [UInt8] {
    var field = MessageWriter()
    field.startHeaderField(.descriptorCount, "u")
    field.integer(UInt32(count))
    return inserting(&field, into: bytes, at: body)
  }

  private static func inserting(_ field: inout MessageWriter, into bytes: [UInt8], at body: Int) -> [UInt8] {
    // The length does not include the padding before the body.
    let length = UInt32(body + field.count - (fieldsLengthIndex + 4))
    field.align(8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + field.count)
    result += bytes[..<body]
    result += field.bytes
    result += bytes[body...]
    result.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: fieldsLengthIndex, as: UInt32.self) }
    return result
  }
}

/// The header fields that are the same in all messages of a member of a contract. They are written once.
struct HeaderFields: Sendable {
  let member: MemberName?
  /// The bytes of the first fields of a header.
  fileprivate let bytes: [UInt8]

  init(interface: InterfaceName? = nil, member: MemberName? = nil, signature: Signature) {
    self.member = member
    var writer = MessageWriter()
    // This cannot fail, since a name contains no NUL.
    try? writer.headerField(.interface, "s", interface?.text)
    try? writer.headerField(.member, "s", member?.text)
    if !signature.text.isEmpty {
      writer.startHeaderField(.signature, "g")
      writer.signature(signature.text)
    }
    bytes = [UInt8](writer.bytes)
  }
}

private enum HeaderField: UInt8 {
  case path = 1
  case interface, member, errorName, replySerial, destination, sender, signature, descriptorCount
}

extension MessageWriter {
  fileprivate mutating func startHeaderField(_ field: HeaderField, _ type: Unicode.Scalar) {
    align(8)
    // The code of the field, and a signature of one letter: its length, the letter and NUL.
    integer((UInt32(field.rawValue) | 1 << 8 | UInt32(UInt8(ascii: type)) << 16).littleEndian)
  }

  fileprivate mutating func headerField(
    _ field: HeaderField, _ type: Unicode.Scalar, _ text: String?
  ) throws(DBusError) {
    guard let text else { return }
    startHeaderField(field, type)
    try self.text(text)
  }
}

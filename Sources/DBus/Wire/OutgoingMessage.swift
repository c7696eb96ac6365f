// Why this file exists: a message that is to be sent is bytes, and its header is written in one place.

import DBusValues

/// A message to be sent. Its header is valid by the types that it is made of.
public struct OutgoingMessage {
  /// For whom it is; nil for a signal to whoever wants it.
  public let destination: BusName?
  public let member: MemberName?
  /// All of it, with a serial of 0.
  let bytes: [UInt8]
  let descriptors: [Descriptor]

  /// Where the header has the serial.
  static let serialIndex = 8

  /// A call, with arguments by their own types.
  /// - Parameter interface: nil lets the other end choose by the member's name.
  /// - Throws: where an argument cannot be sent: `InvalidArgs` for a string with an embedded NUL, for a value that is
  ///   not of the type it claims, for a type that the specification forbids and for containers nested too deep;
  ///   `LimitsExceeded` for more than a message holds.
  public static func call(
    _ member: MemberName, of interface: InterfaceName?, on destination: BusName, at path: ObjectPath,
    _ body: [Value] = []
  ) throws(DBusError) -> OutgoingMessage {
    guard let signature = Signature(types: body.map(\.type)) else {
      throw DBusError(name: .invalidArgs, message: "no message holds arguments of these types")
    }
    let header = MessageHeader(
      kind: .methodCall, fields: HeaderFields(interface: interface, member: member, signature: signature), path: path,
      destination: destination)
    return try OutgoingMessage(header) { writer throws(DBusError) in
      for value in body { try writer.append(value) }
    }
  }

  /// - Parameter body: writes arguments of the types that the header says.
  /// - Throws: what `body` throws.
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
    assert(!descriptors.isEmpty || LibDBus.isMessage(self), "libdbus-1 does not take what was written")
  }
}

/// What stands before the arguments ("D-Bus Specification", *Message Format*).
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
  /// What a contract says.
  var fields: HeaderFields
  var path: ObjectPath?
  var errorName: ErrorName?
  var replySerial: UInt32?
  var destination: BusName?

  fileprivate static let bodyLengthIndex = 4
  private static let fieldsLengthIndex = 12

  fileprivate func write(_ writer: inout MessageWriter) throws(DBusError) {
    let version: UInt8 = 1
    let isLittleEndian = 1.littleEndian == 1
    writer.integer(UInt8(ascii: isLittleEndian ? "l" : "B"))
    writer.integer(kind.rawValue)
    writer.integer(flags.rawValue)
    writer.integer(version)
    // The length of the body and the serial, which are not known yet.
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

  /// How many descriptors there are is known last, and stands in the header: 8 bytes more, so that all that follows
  /// stays aligned.
  fileprivate static func adding(_ count: Int, to bytes: [UInt8], before body: Int) -> [UInt8] {
    var field = MessageWriter()
    field.startHeaderField(.descriptorCount, "u")
    field.integer(UInt32(count))
    var bytes = bytes
    bytes.insert(contentsOf: field.bytes, at: body)
    let length = UInt32(body + field.count - (fieldsLengthIndex + 4))
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: fieldsLengthIndex, as: UInt32.self) }
    return bytes
  }
}

/// The fields of a header that are the same in every message of a row of a contract, written once.
struct HeaderFields: Sendable {
  let member: MemberName?
  /// As they stand at the beginning of a header's fields.
  fileprivate let bytes: [UInt8]

  init(interface: InterfaceName? = nil, member: MemberName? = nil, signature: Signature) {
    self.member = member
    var writer = MessageWriter()
    // Names hold no NUL, and nothing else would be refused.
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
    integer(field.rawValue)
    integer(UInt8(1))
    integer(UInt8(ascii: type))
    integer(UInt8(0))
  }

  fileprivate mutating func headerField(
    _ field: HeaderField, _ type: Unicode.Scalar, _ text: String?
  ) throws(DBusError) {
    guard let text else { return }
    startHeaderField(field, type)
    try self.text(text)
  }
}

import CDBus
import DBusValues

/// A received message, validated by libdbus-1.
public final class Message {
  public enum Kind: Sendable { case methodCall, methodReturn, error, signal, unknown }

  let raw: OpaquePointer

  /// - Parameter raw: a reference that this object now owns.
  init(adopting raw: OpaquePointer) { self.raw = raw }

  /// - Parameter bytes: the whole message, without descriptors.
  /// - Returns: nil if the bytes are not a valid message, or more than one.
  convenience init?(demarshalling bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
      dbus_message_demarshal_bytes_needed(start, Int32(bytes.count)) == bytes.count,
      let raw = dbus_message_demarshal(start, Int32(bytes.count), nil)
    else { return nil }
    self.init(adopting: raw)
  }

  deinit { dbus_message_unref(raw) }

  /// A copy without the serial, which does not count as received and not handled; nil without memory.
  var copy: Message? { dbus_message_copy(raw).map(Message.init(adopting:)) }

  /// The number of bytes; nil without memory for as many.
  var size: Int? {
    var bytes: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    guard dbus_message_marshal(raw, &bytes, &count) != 0 else { return nil }
    dbus_free(bytes)
    return Int(count)
  }

  // MARK: Header

  public var kind: Kind {
    switch dbus_message_get_type(raw) {
    case DBUS_MESSAGE_TYPE_METHOD_CALL: .methodCall
    case DBUS_MESSAGE_TYPE_METHOD_RETURN: .methodReturn
    case DBUS_MESSAGE_TYPE_ERROR: .error
    case DBUS_MESSAGE_TYPE_SIGNAL: .signal
    default: .unknown
    }
  }

  /// The number that the sender's connection assigned to the message.
  public var serial: UInt32 { dbus_message_get_serial(raw) }
  /// The serial of the call that this message answers; 0 if it is not a reply.
  public var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
  /// Whether this is a call whose sender wants a reply.
  public var expectsReply: Bool { kind == .methodCall && dbus_message_get_no_reply(raw) == 0 }

  public var sender: BusName? { text(dbus_message_get_sender(raw)).map(BusName.init(unchecked:)) }
  public var destination: BusName? { text(dbus_message_get_destination(raw)).map(BusName.init(unchecked:)) }
  public var path: ObjectPath? { text(dbus_message_get_path(raw)).map(ObjectPath.init(unchecked:)) }
  public var interface: InterfaceName? { text(dbus_message_get_interface(raw)).map(InterfaceName.init(unchecked:)) }
  public var member: MemberName? { text(dbus_message_get_member(raw)).map(MemberName.init(unchecked:)) }
  public var errorName: ErrorName? { text(dbus_message_get_error_name(raw)).map(ErrorName.init(unchecked:)) }
  public var signature: Signature { Signature(unchecked: text(dbus_message_get_signature(raw)) ?? "") }

  /// Whether the sender has attached descriptors. Each descriptor that is read is a duplicate; the message closes the originals.
  var hasDescriptors: Bool { dbus_message_contains_unix_fds(raw) != 0 }

  private func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map(String.init(cString:)) }

  func hasSignature(_ signature: Signature) -> Bool { dbus_message_has_signature(raw, signature.text) != 0 }

  // MARK: Body

  /// The arguments.
  /// - Throws: `LimitsExceeded` beyond ``MessageReader/defaultBudget``, `Failed` if a descriptor could not be received.
  public func body() throws(DBusError) -> [Value] {
    var reader = MessageReader(self)
    var values: [Value] = []
    for type in signature.types { values.append(try reader.next(type)) }
    return values
  }

  /// The error that this message reports; nil if the message is of another kind.
  public var error: DBusError? {
    guard kind == .error else { return nil }
    var reader = MessageReader(self)
    let text = signature.text.first == "s" ? try? reader.next(String.self) : nil
    return DBusError(name: errorName ?? .failed, message: text ?? "")
  }
}

import DBusValues

/// A signal of an interface, for senders and receivers; `Args` is the tuple of its arguments' Swift types.
///
///     static let updated = Signal(name, "Updated", Arg<String>("binding"), Arg<UInt64>("serial"), doc: "…")
///
/// A class, so that handing it on costs one reference, and no look-up of its generic type.
public final class Signal<Args>: InterfaceMember {
  public let interface: InterfaceName
  public let name: MemberName
  public let arguments: [ArgumentDescription]
  public let doc: Documentation
  public let annotations: [Annotation]

  let signature: Signature
  private let fields: HeaderFields
  let read: @Sendable (inout MessageReader) throws(DBusError) -> Args
  /// Takes the arguments inout, though it does not change them: a tuple by value would be taken apart, and the runtime would look up
  /// the types of its elements at each call.
  let write: @Sendable (_ arguments: inout Args, inout MessageWriter) throws(DBusError) -> Void

  public init<each A: ValueConvertible>(
    _ interface: InterfaceName, _ name: MemberName, _ arguments: repeat Arg<each A>,
    doc: @autoclosure @escaping @Sendable () -> String = "", annotations: [Annotation] = []
  ) where Args == (repeat each A) {
    var descriptions: [ArgumentDescription] = []
    repeat descriptions.append((each arguments).description)

    self.interface = interface
    self.name = name
    self.arguments = descriptions
    self.doc = Documentation(doc)
    self.annotations = annotations
    signature = descriptions.signature
    fields = HeaderFields(interface: interface, member: name, signature: signature)
    read = { reader throws(DBusError) in (repeat try reader.next((each A).self)) }
    write = { arguments, writer throws(DBusError) in repeat try writer.append(each arguments) }
  }

  public var member: MemberDescription { .signal(name, arguments, doc: doc, annotations: annotations) }

  /// - Throws: if an argument cannot be sent.
  func message(from path: ObjectPath, _ arguments: Args) throws(DBusError) -> OutgoingMessage {
    var arguments = arguments
    return try message(from: path) { writer throws(DBusError) in try write(&arguments, &writer) }
  }

  /// - Parameter body: writes the arguments; its error is rethrown.
  func message(
    from path: ObjectPath, _ body: (inout MessageWriter) throws(DBusError) -> Void
  ) throws(DBusError) -> OutgoingMessage {
    try OutgoingMessage(MessageHeader(kind: .signal, flags: .noReplyExpected, fields: fields, path: path), body)
  }

  /// The arguments of a received signal.
  /// - Throws: `InvalidArgs` if the message is another signal, or has other arguments.
  public func arguments(of message: Message) throws(DBusError) -> Args {
    guard message.member == name, message.interface == interface, message.hasSignature(signature) else {
      throw DBusError(
        name: .invalidArgs,
        message: "expected \(interface).\(name): \(arguments.mismatch(message.signature).message)")
    }
    var reader = MessageReader(message)
    return try read(&reader)
  }
}

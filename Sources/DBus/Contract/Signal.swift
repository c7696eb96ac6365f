import DBusValues

/// A signal of an interface, for senders and receivers. `Args` is the tuple of its arguments' Swift types.
///
///     static let updated = Signal(name, "Updated", Arg<String>("binding"), Arg<UInt64>("serial"), doc: "…")
///
/// A class, so that passing it on costs one reference count, and no look-up of its generic type.
public final class Signal<Args>: InterfaceMember {
  public let interface: InterfaceName
  public let name: MemberName
  public let doc: Documentation
  public let annotations: [Annotation]

  let list: ArgumentList<Args>
  private let fields: HeaderFields

  public init<each A: ValueConvertible>(
    _ interface: InterfaceName, _ name: MemberName, _ arguments: repeat Arg<each A>,
    doc: @autoclosure @escaping @Sendable () -> String = "", annotations: [Annotation] = []
  ) where Args == (repeat each A) {
    self.interface = interface
    self.name = name
    list = ArgumentList(repeat each arguments)
    self.doc = Documentation(doc)
    self.annotations = annotations
    fields = HeaderFields(interface: interface, member: name, signature: list.signature)
  }

  public var arguments: [ArgumentDescription] { list.descriptions }

  public var member: MemberDescription { .signal(name, arguments, doc: doc, annotations: annotations) }

  /// - Throws: `DBusError` if an argument cannot be sent.
  func message(from path: ObjectPath, _ arguments: consuming Args) throws(DBusError) -> OutgoingMessage {
    var arguments = arguments
    return try message(from: path) { writer throws(DBusError) in try list.write(&arguments, to: &writer) }
  }

  /// - Parameter body: writes the arguments; its error is rethrown.
  func message(
    from path: ObjectPath, _ body: (inout MessageWriter) throws(DBusError) -> Void
  ) throws(DBusError) -> OutgoingMessage {
    try OutgoingMessage(MessageHeader(kind: .signal, flags: .noReplyExpected, fields: fields, path: path), body)
  }

  /// Whether a received signal is this one, with its arguments.
  func matches(_ message: Message) -> Bool {
    message.member == name && message.interface == interface && message.hasSignature(list.signature)
  }

  /// The arguments of a received signal.
  /// - Throws: `InvalidArgs` if the message is another signal, or has other arguments.
  public func arguments(of message: Message) throws(DBusError) -> Args {
    guard matches(message) else {
      throw DBusError(
        name: .invalidArgs,
        message: "expected \(interface).\(name): \(list.mismatch(message.signature).message)")
    }
    var reader = MessageReader(message)
    return try list.read(&reader)
  }
}

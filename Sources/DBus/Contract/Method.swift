import DBusValues

/// A method of an interface, for callers and implementations. It checks types, and reads and writes messages.
///
/// `Input` and `Output` are the tuples of the arguments' Swift types: the type itself for one argument, and `Void` for none.
///
///     static let pop = Method(
///       name, "Pop", in: Arg<String>("stack"), Arg<UInt32>("count"), out: Arg<UInt32>("popped"), doc: "…")
///
/// The class is Sendable, since a subclass only adds constants of its own.
open class Method<Input, Output>: InterfaceMember, @unchecked Sendable {
  public final let interface: InterfaceName
  public final let name: MemberName
  public final let doc: Documentation
  public final let annotations: [Annotation]
  /// Whether a reply reports the state at its time, so that later changes are sent after it.
  final let isReading: Bool

  /// Whether a reply may contain an array or a value of any type.
  final let hasVariableReply: Bool

  final let inArguments: ArgumentList<Input>
  final let outArguments: ArgumentList<Output>
  final let callFields: HeaderFields
  final let replyFields: HeaderFields

  public convenience init<each I: ValueConvertible, each O: ValueConvertible>(
    _ interface: InterfaceName, _ name: MemberName, in inputs: repeat Arg<each I>, out outputs: repeat Arg<each O>,
    isReading: Bool = false,
    doc: @autoclosure @escaping @Sendable () -> String = "", annotations: [Annotation] = []
  ) where Input == (repeat each I), Output == (repeat each O) {
    self.init(
      interface, name, in: ArgumentList(repeat each inputs), out: ArgumentList(repeat each outputs),
      isReading: isReading, doc: doc(), annotations: annotations)
  }

  /// Makes a method of lists of arguments. A subclass calls this one: the compiler adds the designated initializers of a superclass to
  /// each subclass, and Swift 6.2 crashes if they have packs.
  package init(
    _ interface: InterfaceName, _ name: MemberName, in inputs: ArgumentList<Input>, out outputs: ArgumentList<Output>,
    isReading: Bool = false, doc: @autoclosure @escaping @Sendable () -> String, annotations: [Annotation] = []
  ) {
    self.interface = interface
    self.name = name
    inArguments = inputs
    outArguments = outputs
    self.doc = Documentation(doc)
    self.annotations = annotations
    self.isReading = isReading
    hasVariableReply = outArguments.signature.text.utf8.contains { $0 == UInt8(ascii: "a") || $0 == UInt8(ascii: "v") }
    callFields = HeaderFields(interface: interface, member: name, signature: inArguments.signature)
    replyFields = HeaderFields(signature: outArguments.signature)
  }

  public final var inputs: [ArgumentDescription] { inArguments.descriptions }
  public final var outputs: [ArgumentDescription] { outArguments.descriptions }

  public final var member: MemberDescription {
    .method(name, in: inputs, out: outputs, doc: doc, annotations: annotations)
  }

  /// - Parameter budget: the size that is allowed for the arguments. It is reduced by their size.
  /// - Throws: `InvalidArgs` with the argument at fault, and the errors of ``MessageReader``.
  final func input(of call: Message, budget: inout Int) throws(DBusError) -> Input {
    guard call.hasSignature(inArguments.signature) else { throw inArguments.mismatch(call.signature) }
    var reader = MessageReader(call, budget: budget, isChecked: true)
    defer { budget = reader.budget }
    do throws(DBusError) {
      return try inArguments.read(&reader)
    } catch {
      guard error.name == .invalidArgs, inputs.indices.contains(reader.position) else { throw error }
      let argument = "argument \(reader.position + 1), “\(inputs[reader.position].name)”"
      throw DBusError(name: .invalidArgs, message: "\(argument): \(error.message)")
    }
  }

  /// - Throws: `InvalidArgs` if the reply does not match the contract.
  final func output(of reply: Message) throws(DBusError) -> Output {
    guard reply.hasSignature(outArguments.signature) else {
      throw DBusError(
        name: .invalidArgs,
        message: "the reply to \(interface).\(name): \(outArguments.mismatch(reply.signature).message)")
    }
    var reader = MessageReader(reply)
    return try outArguments.read(&reader)
  }
}

import DBusValues

/// The recipient of a reply. The message of the call is not kept, since its bytes would count as received and not handled.
struct ReplyAddress {
  let caller: BusName
  let serial: UInt32
  let isWanted: Bool
}

extension ReplyAddress {
  /// - Returns: nil for a call without a sender, which no bus delivers.
  init?(_ call: Message) {
    guard let caller = call.sender else { return nil }
    self.caller = caller
    serial = call.serial
    isWanted = call.expectsReply
  }

  /// - Parameter body: writes arguments of the types declared in `fields`; its error is rethrown.
  func reply(
    _ fields: HeaderFields, _ body: (inout MessageWriter) throws(DBusError) -> Void
  ) throws(DBusError) -> OutgoingMessage {
    let header = MessageHeader(
      kind: .methodReturn, flags: .noReplyExpected, fields: fields, replySerial: serial, destination: caller)
    return try OutgoingMessage(header, body)
  }

  /// The reply, or an error if an argument cannot be sent.
  func replyOrError(
    _ fields: HeaderFields, _ body: (inout MessageWriter) throws(DBusError) -> Void
  ) -> OutgoingMessage? {
    do throws(DBusError) {
      return try reply(fields, body)
    } catch {
      return try? self.error(DBusError(name: .failed, message: "the reply cannot be sent: \(error.message)"))
    }
  }

  private static let errorFields = HeaderFields(signature: "s")

  func error(_ error: DBusError) throws(DBusError) -> OutgoingMessage {
    let header = MessageHeader(
      kind: .error, flags: .noReplyExpected, fields: Self.errorFields, errorName: error.name, replySerial: serial,
      destination: caller)
    return try OutgoingMessage(header) { writer throws(DBusError) in
      // A string cannot contain NUL, and this text is only for people.
      try writer.text(String(error.message.prefix { $0 != "\0" }))
    }
  }
}

extension Connection {
  /// Replies with an error, at the end of the turn.
  func fail(_ address: ReplyAddress, _ error: DBusError) {
    guard address.isWanted, let message = try? address.error(error) else { return }
    enqueue(.message(message))
  }
}

/// A received call. Reply to it once, now or later; if it is released without a reply, the caller receives an error.
public final class Call<Output> {
  public let sender: BusName
  public let path: ObjectPath
  private let address: ReplyAddress
  let connection: Connection
  private let fields: HeaderFields
  private let arguments: ArgumentList<Output>
  private let isReading: Bool
  private let isVariable: Bool
  private var isAnswered = false

  init<Input>(_ method: Method<Input, Output>, _ address: ReplyAddress, _ path: ObjectPath, _ connection: Connection) {
    sender = address.caller
    self.path = path
    self.address = address
    self.connection = connection
    fields = method.replyFields
    arguments = method.outArguments
    isReading = method.isReading
    isVariable = method.hasVariableReply
  }

  deinit {
    if !isAnswered { fail(DBusError(name: .failed, message: "the service dropped the call without a reply")) }
  }

  /// Whether the caller wants a reply. If not, replying has no effect.
  public var isReplyExpected: Bool { address.isWanted }

  /// Replies, at the end of the turn. If the reply cannot be sent (see ``OutgoingMessage/call(_:of:on:at:_:)``), the
  /// caller receives an error with the reason.
  /// - Precondition: the call has no reply yet.
  public func reply(_ output: Output) {
    reply(writing: { [arguments] writer throws(DBusError) in
      var output = output
      try arguments.write(&output, to: &writer)
    })
  }

  /// Replies with the arguments that `body` writes: at the end of the turn or, if the messages of the turn are many and the reply does
  /// not report the state, in a later round of the client.
  package func reply(writing body: @escaping (inout MessageWriter) throws(DBusError) -> Void) {
    markAnswered()
    guard address.isWanted else { return }
    // Very many calls may wait for one large answer. A reply that reports the state is made before the state changes again.
    if isVariable, !isReading, connection.isTurnFull {
      return enqueue(.laterReply(address, { [address, fields] in address.replyOrError(fields, body) }))
    }
    if let message = address.replyOrError(fields, body) { enqueue(.success(message, to: address)) }
  }

  private func enqueue(_ reply: Outbox.Entry) {
    if isReading { connection.enqueue(reading: reply) } else { connection.enqueue(reply) }
  }

  /// Replies with an error, at the end of the turn.
  /// - Precondition: the call has no reply yet.
  public func fail(_ error: DBusError) {
    markAnswered()
    connection.fail(address, error)
  }

  private func markAnswered() {
    precondition(!isAnswered, "the call already has a reply")
    isAnswered = true
  }
}

extension Signature {
  /// Whether the contract declares descriptors among the arguments.
  var hasDescriptors: Bool { text.contains("h") }
}

extension DBusError {
  /// The error for descriptors that the contract does not declare. A message can have many, and can refer to each of them any number of
  /// times, so they are refused before they are read.
  static func undeclaredDescriptors() -> DBusError {
    DBusError(name: .invalidArgs, message: "expected no file descriptors with the message, found some")
  }
}

extension Call {
  /// Replies with the output of `body`, or with its error.
  func reply(_ body: () throws(DBusError) -> Output) {
    do throws(DBusError) { reply(try body()) } catch { fail(error) }
  }
}

extension Call where Output == Void {
  public func reply() { reply(()) }
}

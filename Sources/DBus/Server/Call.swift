// Why this file exists: a caller gets exactly one answer, now or later, and none if it wants none.

import DBusValues

/// Where an answer goes. The call itself is let go at once: what is kept of it would count against what may be received.
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
}

extension ReplyAddress {
  /// - Parameter body: writes arguments of the types that the fields say.
  /// - Throws: what `body` throws.
  func reply(
    _ fields: HeaderFields, _ body: (inout MessageWriter) throws(DBusError) -> Void
  ) throws(DBusError) -> OutgoingMessage {
    let header = MessageHeader(
      kind: .methodReturn, flags: .noReplyExpected, fields: fields, replySerial: serial, destination: caller)
    return try OutgoingMessage(header, body)
  }

  private static let errorFields = HeaderFields(signature: "s")

  func error(_ error: DBusError) throws(DBusError) -> OutgoingMessage {
    let header = MessageHeader(
      kind: .error, flags: .noReplyExpected, fields: Self.errorFields, errorName: error.name, replySerial: serial,
      destination: caller)
    return try OutgoingMessage(header) { writer throws(DBusError) in
      // For people; a NUL in it is not worth failing for.
      try writer.text(String(error.message.prefix { $0 != "\0" }))
    }
  }
}

extension Connection {
  /// Answers with an error, at the end of the turn.
  func fail(_ address: ReplyAddress, _ error: DBusError) {
    guard address.isWanted, let message = try? address.error(error) else { return }
    enqueue(.reply(message))
  }
}

/// A call that is being served. It is answered once, when you like; one that is dropped without an answer is answered
/// with an error.
public final class Call<Output> {
  public let sender: BusName
  /// The object that was called.
  public let path: ObjectPath
  private let address: ReplyAddress
  private let connection: Connection
  private let fields: HeaderFields
  private let write: @Sendable (Output, inout MessageWriter) throws(DBusError) -> Void
  private var isAnswered = false

  init<Input>(_ method: Method<Input, Output>, _ address: ReplyAddress, _ path: ObjectPath, _ connection: Connection) {
    sender = address.caller
    self.path = path
    self.address = address
    self.connection = connection
    fields = method.replyFields
    write = method.writeOutput
  }

  deinit {
    if !isAnswered { fail(DBusError(name: .failed, message: "the call was given up without an answer")) }
  }

  /// Whether the caller wants an answer. Without, answering does nothing.
  public var isReplyExpected: Bool { address.isWanted }

  /// Answers, at the end of the turn. Where the answer cannot be sent (see ``OutgoingMessage/call(_:of:on:at:_:)``), the
  /// caller is told why.
  /// - Precondition: it was not answered before.
  public func reply(_ output: Output) {
    markAnswered()
    guard address.isWanted else { return }
    do throws(DBusError) {
      connection.enqueue(
        .reply(try address.reply(fields) { writer throws(DBusError) in try write(output, &writer) }, to: address))
    } catch {
      connection.fail(address, DBusError(name: .failed, message: "the answer cannot be sent: \(error.message)"))
    }
  }

  /// Answers with an error, at the end of the turn.
  /// - Precondition: it was not answered before.
  public func fail(_ error: DBusError) {
    markAnswered()
    connection.fail(address, error)
  }

  private func markAnswered() {
    precondition(!isAnswered, "a call is answered once")
    isAnswered = true
  }
}

extension Call where Output == Void {
  /// Answers with nothing but success.
  public func reply() { reply(()) }
}

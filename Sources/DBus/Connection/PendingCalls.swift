import DBusValues
import EventLoops

/// The timeout of calls, the same as in libdbus-1 and most other implementations.
public let defaultTimeout = Duration.seconds(25)

/// A call that waits for its reply, even if this object is not kept. It ends once: by the reply, the timeout, the end of
/// the connection or ``cancel()``.
public final class PendingCall {
  /// 0 until the call is sent.
  var serial: UInt32 = 0
  fileprivate let destination: BusName?
  fileprivate var timer: Timer?
  private var completion: ((Result<Message, DBusError>) -> Void)?
  private weak var connection: Connection?

  fileprivate init(
    _ connection: Connection, destination: BusName?, _ completion: @escaping (Result<Message, DBusError>) -> Void
  ) {
    self.connection = connection
    self.destination = destination
    self.completion = completion
  }

  var isDone: Bool { completion == nil }

  /// Ignores the reply. A call that is already sent is still carried out.
  public func cancel() {
    unregister()
    completion = nil
  }

  func finish(_ result: Result<Message, DBusError>) {
    unregister()
    let completion = self.completion
    self.completion = nil
    completion?(result)
  }

  private func unregister() {
    timer?.cancel()
    timer = nil
    if serial != 0 { connection?.pendingCalls[serial] = nil }
  }
}

extension Connection {
  /// Makes a call, at the end of the turn.
  /// - Parameters:
  ///   - timeout: counted from now; nil to wait forever.
  ///   - completion: called once, unless the call is cancelled: with the reply, the error in the reply, `Timeout` or
  ///     `Disconnected`.
  @discardableResult
  public func call(
    _ call: OutgoingMessage, timeout: Duration? = defaultTimeout,
    _ completion: @escaping (Result<Message, DBusError>) -> Void
  ) -> PendingCall {
    let pending = PendingCall(self, destination: call.destination, completion)
    guard isOpen else {
      loop.soon { pending.finish(.failure(.disconnected())) }
      return pending
    }
    if let timeout {
      pending.timer = loop.timer(after: timeout) { pending.finish(.failure(.timedOut(call, after: timeout))) }
    }
    enqueue(.call(call, pending))
    return pending
  }

  /// Calls a method of a contract, at the end of the turn.
  /// - Parameters:
  ///   - autoStart: whether the bus may start the program that is to own `destination`.
  ///   - completion: as above; also with `InvalidArgs` if the reply does not match the contract, or an argument cannot be
  ///     sent.
  @discardableResult
  public func call<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input,
    timeout: Duration? = defaultTimeout, autoStart: Bool = true,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) -> PendingCall {
    do throws(DBusError) {
      let message = try method.message(on: destination, at: path, input, autoStart ? [] : .noAutoStart)
      return call(message, timeout: timeout) { reply in
        completion(Result { () throws(DBusError) in try method.output(of: reply.get()) })
      }
    } catch {
      let pending = PendingCall(self, destination: destination) { _ in completion(.failure(error)) }
      loop.soon { pending.finish(.failure(error)) }
      return pending
    }
  }

  /// Makes a call without a reply; failures are not reported either.
  /// - Throws: if an argument cannot be sent.
  public func send<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input
  ) throws(DBusError) {
    let message = try method.message(on: destination, at: path, input, .noReplyExpected)
    enqueue(.call(message, nil))
  }

  /// Calls a method of a contract and blocks until its reply arrives; see ``callAndWait(_:timeout:)``.
  public func callAndWait<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input,
    timeout: Duration? = defaultTimeout, autoStart: Bool = true
  ) throws(DBusError) -> Output {
    let message = try method.message(on: destination, at: path, input, autoStart ? [] : .noAutoStart)
    return try method.output(of: callAndWait(message, timeout: timeout))
  }

  func completeCall(_ answer: Message) {
    guard let pending = pendingCalls[answer.replySerial], answer.isAnswer(from: pending.destination) else {
      unmatchedReplies += 1
      return
    }
    pending.finish(answer.error.map { .failure($0) } ?? .success(answer))
  }

  func failPendingCalls() {
    let failed = pendingCalls.values.sorted { $0.serial < $1.serial }
    for pending in failed { pending.finish(.failure(.disconnected())) }
  }
}

extension Method {
  fileprivate func message(
    on destination: BusName, at path: ObjectPath, _ input: Input, _ flags: MessageHeader.Flags
  ) throws(DBusError) -> OutgoingMessage {
    let header = MessageHeader(
      kind: .methodCall, flags: flags, fields: callFields, path: path, destination: destination)
    return try OutgoingMessage(header) { writer throws(DBusError) in try writeInput(input, &writer) }
  }
}

extension DBusError {
  static func disconnected() -> DBusError {
    DBusError(name: .disconnected, message: "the connection to the bus has ended")
  }

  static func timedOut(_ call: OutgoingMessage, after timeout: Duration?) -> DBusError {
    let method = "\(call.destination?.text ?? "?") \(call.member?.text ?? "?")"
    return DBusError(name: .timedOut, message: "\(method): no reply within \(timeout ?? .zero)")
  }
}

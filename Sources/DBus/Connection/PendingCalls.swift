// Why this file exists: a call of ours ends exactly once: by its answer, its time-out, the end of the connection, or our
// losing interest.

import DBusValues
import EventLoops

/// What libdbus-1 and most others wait for an answer.
public let defaultTimeout = Duration.seconds(25)

/// A call whose answer is awaited. It goes on whether or not anybody holds this object.
public final class PendingCall {
  /// 0 until it is sent.
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

  /// Nobody is told of the answer. What the call does, it does all the same, if it was sent.
  public func cancel() {
    forget()
    completion = nil
  }

  func finish(_ result: Result<Message, DBusError>) {
    forget()
    let completion = self.completion
    self.completion = nil
    completion?(result)
  }

  private func forget() {
    timer?.cancel()
    timer = nil
    if serial != 0 { connection?.pendingCalls[serial] = nil }
  }
}

extension Connection {
  /// Makes a call, at the end of the turn.
  /// - Parameters:
  ///   - timeout: counted from now; nil for ever.
  ///   - completion: called once, unless the call is cancelled: with the answer, the error that was answered, `Timeout`
  ///     or `Disconnected`.
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

  /// Makes a call by its contract row, at the end of the turn.
  /// - Parameters:
  ///   - autoStart: whether the bus may start who is to own `destination`.
  ///   - completion: as above; with `InvalidArgs` also where the answer is not what the row says, or an argument cannot
  ///     be sent.
  @discardableResult
  public func call<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input,
    timeout: Duration? = defaultTimeout, autoStart: Bool = true,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) -> PendingCall {
    let result: Result<OutgoingMessage, DBusError> = Result { () throws(DBusError) in
      try method.message(on: destination, at: path, input, autoStart ? [] : .noAutoStart)
    }
    switch result {
    case .success(let message):
      return call(message, timeout: timeout) { result in
        switch result {
        case .success(let reply): completion(Result { () throws(DBusError) in try method.output(of: reply) })
        case .failure(let error): completion(.failure(error))
        }
      }
    case .failure(let error):
      let pending = PendingCall(self, destination: destination) { _ in completion(.failure(error)) }
      loop.soon { pending.finish(.failure(error)) }
      return pending
    }
  }

  /// Makes a call and wants no answer, nor to hear of a failure.
  /// - Throws: where an argument cannot be sent.
  public func send<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input
  ) throws(DBusError) {
    let message = try method.message(on: destination, at: path, input, .noReplyExpected)
    enqueue(.call(message, nil))
  }

  /// Makes a call by its contract row, and waits; see ``callAndWait(_:timeout:)``.
  public func callAndWait<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input,
    timeout: Duration? = defaultTimeout, autoStart: Bool = true
  ) throws(DBusError) -> Output {
    let message = try method.message(on: destination, at: path, input, autoStart ? [] : .noAutoStart)
    return try method.output(of: callAndWait(message, timeout: timeout))
  }

  func completeCall(_ answer: Message) {
    guard let pending = pendingCalls[answer.replySerial], answer.isAnswer(from: pending.destination) else {
      answersWithoutCall += 1
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
    DBusError(name: .disconnected, message: "the connection to the bus is gone")
  }

  static func timedOut(_ call: OutgoingMessage, after timeout: Duration?) -> DBusError {
    let what = "\(call.destination?.text ?? "?") \(call.member?.text ?? "?")"
    return DBusError(name: .timedOut, message: "\(what): no answer within \(timeout ?? .zero)")
  }
}

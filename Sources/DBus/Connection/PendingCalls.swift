import DBusValues
import EventLoops

/// The default timeout of calls, the same as in libdbus-1 and most other implementations.
public let defaultTimeout = Duration.seconds(25)

/// A call that waits for its reply, even if this object is not kept. It ends once: with the reply, the timeout, the end of the
/// connection or ``cancel()``.
public final class PendingCall {
  fileprivate let destination: BusName?
  /// Whether the reply may have descriptors.
  fileprivate let takesDescriptors: Bool
  fileprivate var timer: Timer?
  private var completion: ((Result<Message, DBusError>) -> Void)?

  fileprivate init(
    destination: BusName?, takesDescriptors: Bool, _ completion: @escaping (Result<Message, DBusError>) -> Void
  ) {
    self.destination = destination
    self.takesDescriptors = takesDescriptors
    self.completion = completion
  }

  var isDone: Bool { completion == nil }

  /// Ignores the reply. A call that was already sent is still carried out.
  public func cancel() {
    timer?.cancel()
    timer = nil
    completion = nil
  }

  func finish(_ result: Result<Message, DBusError>) {
    let completion = self.completion
    cancel()
    completion?(result)
  }
}

/// The calls to other programs that wait for an answer, including those that were cancelled or timed out. The bus has an entry for each
/// until the program answers or leaves, and limits the number of entries of a connection.
struct OpenCalls {
  /// The calls by the serials of their messages.
  var pending: [UInt32: PendingCall] = [:]
  /// The number of replies without a call that waits: late, unexpected or forged.
  var unmatchedReplies = 0
  /// The number of calls, without those to the bus itself.
  private(set) var count = 0
  private var byDestination: [BusName: Int] = [:]

  subscript(destination: BusName) -> Int { byDestination[destination] ?? 0 }

  /// Counts one more call, or one less. The bus has no entries for calls to itself.
  fileprivate mutating func add(_ difference: Int, _ destination: BusName?) {
    guard let destination, destination != Bus.name else { return }
    count += difference
    let number = self[destination] + difference
    byDestination[destination] = number == 0 ? nil : number
  }
}

extension Connection {
  /// The number of unanswered calls to all other programs.
  public var openCallCount: Int { openCalls.count }

  /// The number of unanswered calls to a name.
  public func openCallCount(to destination: BusName) -> Int { openCalls[destination] }

  /// Makes a call, at the end of the turn.
  /// - Parameters:
  ///   - timeout: the time from now; nil to wait for ever.
  ///   - takesDescriptors: whether the reply may have descriptors. Replies of the bus itself always may.
  ///   - completion: called once, unless the call is cancelled: with the reply, the error in the reply, `Timeout` or `Disconnected`;
  ///     with `InvalidArgs` if the reply has descriptors that it must not have.
  @discardableResult
  public func call(
    _ call: OutgoingMessage, timeout: Duration? = defaultTimeout, takesDescriptors: Bool = false,
    _ completion: @escaping (Result<Message, DBusError>) -> Void
  ) -> PendingCall {
    let pending = PendingCall(
      destination: call.destination, takesDescriptors: takesDescriptors || call.destination == Bus.name, completion)
    guard isOpen else {
      loop.soon { pending.finish(.failure(.disconnected())) }
      return pending
    }
    if let timeout {
      pending.timer = loop.timer(after: timeout) { pending.finish(.failure(.timedOut(call, after: timeout))) }
    }
    openCalls.add(1, call.destination)
    enqueue(.call(call, pending))
    return pending
  }

  /// Calls a method of a contract, at the end of the turn.
  /// - Parameters:
  ///   - autoStart: whether the bus may start the program that is to own `destination`.
  ///   - completion: called as above; also with `InvalidArgs` if the reply does not match the contract, or if an argument cannot be
  ///     sent.
  @discardableResult
  public func call<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input,
    timeout: Duration? = defaultTimeout, autoStart: Bool = true,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) -> PendingCall {
    do throws(DBusError) {
      let message = try method.message(on: destination, at: path, input, autoStart ? [] : .noAutoStart)
      return call(message, timeout: timeout, takesDescriptors: method.outArguments.signature.hasDescriptors) { reply in
        completion(Result { () throws(DBusError) in try method.output(of: reply.get()) })
      }
    } catch {
      let pending = PendingCall(destination: destination, takesDescriptors: false) { _ in completion(.failure(error)) }
      loop.soon { pending.finish(.failure(error)) }
      return pending
    }
  }

  /// Makes a call without a reply. Failures are not reported.
  /// - Throws: `DBusError` if an argument cannot be sent.
  public func send<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input
  ) throws(DBusError) {
    let message = try method.message(on: destination, at: path, input, .noReplyExpected)
    enqueue(.message(message))
  }

  /// Calls two methods without arguments on one object, and blocks until both replies have arrived; see ``callAndWait(_:timeout:)``.
  public func callAndWait<First, Second>(
    _ first: Method<Void, First>, _ second: Method<Void, Second>, on destination: BusName, at path: ObjectPath
  ) throws(DBusError) -> (First, Second) {
    let replies = try callAndWait([
      first.message(on: destination, at: path, (), []), second.message(on: destination, at: path, (), []),
    ])
    return (try first.output(of: replies[0]), try second.output(of: replies[1]))
  }

  /// Calls a method of a contract and blocks until its reply arrives; see ``callAndWait(_:timeout:)``.
  public func callAndWait<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input,
    timeout: Duration? = defaultTimeout, autoStart: Bool = true
  ) throws(DBusError) -> Output {
    let message = try method.message(on: destination, at: path, input, autoStart ? [] : .noAutoStart)
    return try method.output(of: callAndWait([message], timeout: timeout)[0])
  }

  /// Calls a method of a contract, asks the bus meanwhile which names have an owner, and blocks
  /// until all replies have arrived; see ``callAndWait(_:timeout:)``. The question costs no further
  /// round trip.
  /// - Parameters:
  ///   - names: the names to ask for.
  ///   - timeout: as for ``callAndWait(_:timeout:)``.
  /// - Returns: the output of the method, and whether each name has an owner.
  /// - Throws: the first error in a reply, `Timeout` or `Disconnected`.
  public func callAndWait<Input, Output>(
    _ method: Method<Input, Output>, on destination: BusName, at path: ObjectPath, _ input: Input,
    askingFor names: [BusName], timeout: Duration? = defaultTimeout
  ) throws(DBusError) -> (Output, haveOwners: [Bool]) {
    var calls: [OutgoingMessage] = []
    for name in names { calls.append(try Bus.nameHasOwner.message(on: Bus.name, at: Bus.path, name.text, [])) }
    calls.append(try method.message(on: destination, at: path, input, .noAutoStart))
    let replies = try callAndWait(calls, timeout: timeout)
    var haveOwners: [Bool] = []
    for reply in replies.dropLast() { haveOwners.append(try Bus.nameHasOwner.output(of: reply)) }
    return (try method.output(of: replies[names.count]), haveOwners)
  }

  /// Calls a method of several peers at once, and runs the loop until each has answered or its time is over.
  /// - Parameters:
  ///   - timeout: the time that a peer has.
  ///   - autoStart: whether the bus may start the programs that are to own the destinations.
  /// - Returns: the outputs, or errors as for ``call(_:on:at:_:timeout:autoStart:_:)``, in the order of the destinations.
  public func callAllAndWait<Input, Output>(
    _ method: Method<Input, Output>, on destinations: [BusName], at path: ObjectPath, _ input: Input, timeout: Duration,
    autoStart: Bool = true
  ) -> [Result<Output, DBusError>] {
    var answers: [Int: Result<Output, DBusError>] = [:]
    for (index, destination) in destinations.enumerated() {
      call(method, on: destination, at: path, input, timeout: timeout, autoStart: autoStart) { [loop] answer in
        answers[index] = answer
        if answers.count == destinations.count { loop.stop() }
      }
    }
    if !destinations.isEmpty { loop.run() }
    return destinations.indices.compactMap { answers[$0] }
  }

  func completeCall(_ answer: Message) {
    guard let pending = openCalls.pending[answer.replySerial], answer.isAnswer(from: pending.destination) else {
      openCalls.unmatchedReplies += 1
      return
    }
    if pending.isDone { openCalls.unmatchedReplies += 1 }
    openCalls.pending[answer.replySerial] = nil
    openCalls.add(-1, pending.destination)
    guard pending.takesDescriptors || !answer.hasDescriptors else {
      return pending.finish(.failure(.undeclaredDescriptors()))
    }
    pending.finish(answer.error.map { .failure($0) } ?? .success(answer))
  }

  /// Sends a call, unless it was cancelled. If it cannot be sent, it fails in the next turn. The end of that turn records the
  /// consequences (``beforeFlush``).
  func send(_ call: OutgoingMessage, _ pending: PendingCall) {
    if !pending.isDone, let serial = transport.send(call) {
      openCalls.pending[serial] = pending
    } else {
      openCalls.add(-1, pending.destination)
      loop.soon { pending.finish(.failure(.disconnected())) }
    }
  }

  func failPendingCalls() {
    let failed = openCalls.pending.sorted { $0.key < $1.key }
    openCalls = OpenCalls()
    for (_, pending) in failed { pending.finish(.failure(.disconnected())) }
  }
}

extension Method {
  fileprivate func message(
    on destination: BusName, at path: ObjectPath, _ input: Input, _ flags: MessageHeader.Flags
  ) throws(DBusError) -> OutgoingMessage {
    let header = MessageHeader(
      kind: .methodCall, flags: flags, fields: callFields, path: path, destination: destination)
    var input = input
    return try OutgoingMessage(header) { writer throws(DBusError) in try inArguments.write(&input, to: &writer) }
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

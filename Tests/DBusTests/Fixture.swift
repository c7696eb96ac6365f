import DBusValues
import EventLoops
import TestSupport
import Testing

@testable import DBus

/// The interface of the echo service, with a method, a signal or a property of each kind that tests need.
enum Echo {
  static let name: InterfaceName = "org.example.Echo1"
  static let path: ObjectPath = "/org/example/Echo1"
  static let echo = Method(name, "Echo", in: Arg<Value>("value"), out: Arg<Value>("value"))
  static let join = Method(
    name, "Join", in: Arg<String>("first"), Arg<UInt32>("second"), Arg<Properties>("options"), out: Arg<String>("all"))
  /// A method to which the test replies when it wants to.
  static let later = Method(name, "Later", in: Arg<String>("key"), out: Arg<String>("value"))
  static let list = Method(name, "List", out: Arg<[String]>("all"), isReading: true)
  static let pass = Method(name, "Pass", in: Arg<Descriptor>("one"), out: Arg<Descriptor>("other"))
  static let happened = Signal(name, "Happened", Arg<String>("what"), Arg<UInt64>("serial"))
  static let count = Property<UInt32>(name, "Count")
  static let label = Property<String>(name, "Label", access: .readWrite)
  static let hint = Property<Value>(name, "Hint", emitsChanged: .invalidates)
  static let birth = Property<UInt64>(name, "Birth", emitsChanged: .const)
  static let interface = Interface(
    name, doc: "For tests.", members: [echo, join, later, list, pass, happened, count, label, hint, birth])
}

/// A private bus with an echo service and a client, both on one loop: for tests of both ends of a connection.
final class Fixture {
  let bus: PrivateBus
  let loop: EventLoop
  let service: Connection
  let client: Connection
  let implementation = ImplementedInterface(Echo.interface)
  var waiting: [Call<String>] = []
  var count: UInt32 = 0
  var label = "first"

  init(serviceLimits: Connection.Limits = .init()) throws {
    bus = try PrivateBus()
    loop = try EventLoop()
    service = try .open(address: bus.address, loop: loop, limits: serviceLimits)
    client = try .open(address: bus.address, loop: loop)
    implementation.implement(Echo.echo) { value, call in call.reply(value) }
    implementation.implement(Echo.join) { input, call in
      let (first, second, options) = input
      call.reply("\(first) \(second) \(options.keys.sorted())")
    }
    implementation.implement(Echo.later) { [unowned self] _, call in waiting.append(call) }
    implementation.implement(Echo.pass) { descriptor, call in call.reply(descriptor) }
    implementation.implement(Echo.count) { [unowned self] _ in count }
    implementation.implement(
      Echo.label, get: { [unowned self] _ in label },
      set: { [unowned self] new, path throws(DBusError) in
        guard !new.isEmpty else { throw DBusError(name: .invalidArgs, message: "empty") }
        label = new
        service.propertyChanged(path, Echo.label)
      })
    implementation.implement(Echo.hint) { _ in .variant(.int32(7)) }
    implementation.implement(Echo.birth) { _ in 1 }
    service.export(Echo.path, [implementation])
  }

  /// Makes a call from the client to the echo service, without waiting.
  @discardableResult
  func start<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, timeout: Duration? = nil,
    _ completion: @escaping (Result<Output, DBusError>) -> Void
  ) -> PendingCall {
    client.call(method, on: service.uniqueName, at: Echo.path, input, timeout: timeout, completion)
  }

  /// Makes a call from the client and waits for its result.
  func call<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, at path: ObjectPath = Echo.path, on destination: BusName? = nil
  ) throws -> Output {
    var result: Result<Output, DBusError>?
    client.call(method, on: destination ?? service.uniqueName, at: path, input, timeout: nil) { result = $0 }
    #expect(loop.turn { result != nil })
    return try #require(result).get()
  }

  /// Makes any call from the client and waits for the arguments of the reply.
  func call(
    _ member: MemberName, of interface: InterfaceName?, at path: ObjectPath = Echo.path, _ body: [Value] = []
  ) throws -> [Value] {
    let message = try OutgoingMessage.call(member, of: interface, on: service.uniqueName, at: path, body)
    var result: Result<Message, DBusError>?
    client.call(message, timeout: nil) { result = $0 }
    #expect(loop.turn { result != nil })
    return try #require(result).get().body()
  }

  /// The error of a call that the client makes.
  func error(
    _ member: MemberName, of interface: InterfaceName?, at path: ObjectPath = Echo.path, _ body: [Value] = []
  ) -> DBusError? {
    #expect(throws: DBusError.self) { try call(member, of: interface, at: path, body) }
  }

  /// Runs the loop until all messages that both ends have sent so far have arrived.
  /// - Parameter other: a client to make the call with, if calls of the usual one are suspended.
  func settle(by other: Connection? = nil) throws {
    _ = try call(Bus.getID, (), at: Bus.path, on: Bus.name)
    guard let other else { return _ = try call(Echo.echo, .boolean(true)) }
    var isAnswered = false
    other.call(Echo.echo, on: service.uniqueName, at: Echo.path, .boolean(true), timeout: nil) { _ in
      isAnswered = true
    }
    #expect(loop.turn { isAnswered })
  }

  /// Opens another connection, sends `message` as it is and waits until the client has received it.
  func forge(_ message: Outbox.Entry) throws {
    let forger = try Connection.open(address: bus.address, loop: loop)
    forger.enqueue(message)
    var isDelivered = false
    forger.call(Bus.getID, on: Bus.name, at: Bus.path, ()) { _ in isDelivered = true }
    try #require(loop.turn { isDelivered })
    try settle()
  }
}

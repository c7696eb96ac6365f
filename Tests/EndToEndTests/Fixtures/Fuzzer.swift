import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TestSupport

/// Clients that call every method of navd with random arguments from a seed, and check every answer.
final class Fuzzer {
  /// A call, as described in the report of a fault.
  private struct Made: CustomStringConvertible {
    let path: ObjectPath
    let member: String
    let body: [Value]
    var description: String { "\(path) \(member) \(String(describing: body).prefix(1000))" }
  }

  /// The errors that navd may return.
  private static let errors: Set<String> = Set(
    [ErrorName.invalidArgs, .unknownMethod, .unknownObject, .unknownInterface, .unknownProperty, .propertyReadOnly].map(
      \.text) + CoordinatorError.Name.allCases.map(\.errorName.text))

  private let session: Session
  private var arguments: RandomArguments
  private var clients: [Connection] = []
  /// The latest serial that each client received.
  private var serials: [BusName: UInt64] = [:]
  private var objects: [(path: ObjectPath, methods: [Introspected.Method])] = []
  /// The introspection data already parsed, by its text.
  private var documents: [String: Introspected] = [:]
  private var pending = 0
  /// The number of calls of Wait that were not answered yet.
  private var waiting = 0
  private var recent: [Made] = []

  /// The number of times that a call was chosen.
  private var steps = 0

  /// The number of calls, and of each error returned; "" counts successes.
  private(set) var calls = 0
  private(set) var answers: [String: Int] = [:]
  /// The violations of the contract by navd, each with its call.
  private(set) var faults: [String] = []
  /// The methods that were called with arguments of the right types.
  private(set) var called: Set<Introspected.Method> = []

  /// - Parameter longestTransaction: the maximum number of requests in a transaction; nil for one more than the limit.
  init(_ session: Session, seed: UInt64, longestTransaction: Int? = nil, clients count: Int = 6) throws {
    self.session = session
    arguments = RandomArguments(seed: seed)
    arguments.limits = try session.limits()
    if let longestTransaction { arguments.limits["transaction"] = longestTransaction }
    for _ in 0..<count { try connect() }
    try discover()
  }

  // MARK: Clients

  private func connect() throws {
    let client = try session.connect()
    client.export("/bar", [presenter(PresenterInterface.present, PresenterInterface.dismiss)])
    // The answers of this presenter have other types than the contract.
    let present = Method(
      PresenterInterface.name, "Present", in: Arg<ObjectPath>("presentation"), Arg<String>("binding"),
      Arg<String>("id"), Arg<Properties>("item"), out: Arg<String>("thanks"))
    let dismiss = Method(
      PresenterInterface.name, "Dismiss", in: Arg<ObjectPath>("presentation"), Arg<String>("reason"),
      Arg<Bool>("animated"), out: Arg<UInt32>("result"))
    let liar = ImplementedInterface(Interface(PresenterInterface.name, members: [present, dismiss]))
    liar.implement(present) { _, call in call.reply("thanks") }
    liar.implement(dismiss) { _, call in call.reply(7) }
    client.export("/liar", [liar])
    for name in ["bar", "liar"] {
      try session.call(
        CoordinatorInterface.registerPresenter,
        (name, ObjectPath("/" + name) ?? .root, ["start-timeout": .uint64(200), "grace": .uint64(100)]), by: client)
    }
    clients.append(client)
  }

  /// A presenter that usually behaves as it should.
  private func presenter(
    _ present: Method<(ObjectPath, String, String, Properties), Void>,
    _ dismiss: Method<(ObjectPath, String, Properties), Properties>
  ) -> ImplementedInterface {
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(present) { [unowned self] _, call in
      if arguments.numbers.chance(0.9) { call.reply() } else { call.fail(DBusError(name: .failed, message: "no")) }
    }
    object.implement(dismiss) { [unowned self] _, call in
      if arguments.numbers.chance(0.3) {
        call.fail(DBusError(name: CoordinatorError.Name.declined.errorName, message: "no"))
      } else {
        call.reply(arguments.numbers.chance(0.5) ? [:] : ["x": arguments.anyValue()])
      }
    }
    return object
  }

  /// Closes all clients.
  func leave() {
    for client in clients { client.close() }
    clients = []
  }

  // MARK: Discovery

  /// Finds all objects by introspection from the root, as a client would.
  private func discover() throws {
    objects = []
    var open: [ObjectPath] = [.root]
    var presentations: [ObjectPath] = [.root]
    while let path = open.popLast() {
      let document: String
      do {
        document = try session.call(Introspection.introspect, (), at: path)
      } catch let error as DBusError where error.name == .unknownObject {
        // The object has disappeared in the meantime.
        continue
      }
      if documents.count > 1000 { documents = [:] }
      guard let found = documents[document] ?? Introspected(document) else {
        faults.append("\(path) has no introspection data: \(document.prefix(500))")
        continue
      }
      documents[document] = found
      objects.append((path, found.methods))
      // A sample of the presentations suffices.
      let children =
        path == CoordinatorNames.presentations
        ? Array(found.children.shuffled(using: &arguments.numbers).prefix(10)) : found.children
      for child in children {
        guard let below = ObjectPath(path == .root ? "/\(child)" : "\(path)/\(child)") else {
          faults.append("\(path) has a child “\(child)”")
          continue
        }
        open.append(below)
        if CoordinatorNames.number(of: below) != nil { presentations.append(below) }
      }
    }
    // Some of these no longer exist, and one never does.
    arguments.presentations = presentations + arguments.presentations.suffix(8) + [CoordinatorNames.presentation(0)]
  }

  /// The interfaces and methods of the objects found.
  var known: Set<Introspected.Method> { Set(objects.flatMap(\.methods)) }

  // MARK: Calls

  /// Makes `count` calls, and waits for the answers to all of them except Wait.
  /// - Parameters:
  ///   - arbitrariness: the probability that an argument is arbitrary.
  ///   - burst: the maximum number of calls without an answer.
  func run(_ count: Int, arbitrariness: Double, burst: Int = 1) throws {
    for _ in 0..<count {
      steps += 1
      if steps % 250 == 0 { try discover() }
      if arguments.numbers.chance(0.002) { try exchangeClient() }
      // The bus disconnects clients that exceed its limits, for example of descriptors.
      while let gone = clients.firstIndex(where: { !$0.isOpen }) {
        clients.remove(at: gone)
        try connect()
      }
      arguments.arbitrariness = arbitrariness
      try callSomething()
      if pending >= burst || arguments.numbers.chance(0.2) {
        try settle()
      }
    }
    try settle()
  }

  /// Waits for all answers except those of Wait.
  private func settle() throws {
    guard !session.loop.turn(until: { pending == 0 }, within: Session.limit) else { return }
    throw Session.Failure(
      "\(pending) calls were not answered; the last were:\n\(trace)\n\(session.navd?.errorText ?? "")")
  }

  private var trace: String { recent.suffix(30).map(\.description).joined(separator: "\n") }

  private func exchangeClient() throws {
    // The other calls are answered first, so that the closed client has no calls left to count.
    try settle()
    clients.remove(at: Int.random(in: 0..<clients.count, using: &arguments.numbers)).close()
    try connect()
  }

  private var firstUncalled: (ObjectPath, Introspected.Method)? {
    for (path, methods) in objects {
      if let method = methods.first(where: { $0.name != "Quit" && !called.contains($0) }) { return (path, method) }
    }
    return nil
  }

  private func callSomething() throws {
    let (path, methods) = arguments.numbers.pick(objects)
    guard !methods.isEmpty else { return }
    // The coordinator's own object is called most often, because it matters most.
    let isMain = arguments.numbers.chance(0.6)
    var object = isMain ? CoordinatorNames.object : path
    var method = arguments.numbers.pick(isMain ? objects.first { $0.path == object }?.methods ?? methods : methods)
    // Each method is called at least once, even if only few objects have it.
    if arguments.numbers.chance(0.1), let (path, uncalled) = firstUncalled { (object, method) = (path, uncalled) }
    let isMismatched = arguments.numbers.chance(arguments.arbitrariness / 2)
    let body = isMismatched ? arguments.mismatched(for: method) : arguments.inputs(of: method)
    let isRight = body.map(\.type) == method.inputs.map(\.type)
    // Quit would end navd and the run.
    if method.name == "Quit", isRight { return }
    if isRight { called.insert(method) }
    let at =
      arguments.numbers.chance(arguments.arbitrariness / 20) ? arguments.numbers.pick(arguments.presentations) : object
    let interface = arguments.numbers.chance(0.9) ? InterfaceName(method.interface) : nil
    guard let member = MemberName(method.name),
      let message = try? OutgoingMessage.call(member, of: interface, on: CoordinatorNames.bus, at: at, body)
    else { return }
    let made = Made(path: at, member: method.name, body: body)
    recent.append(made)
    if recent.count > 100 { recent.removeFirst(50) }
    calls += 1
    let isWait = method.name == "Wait"
    if isWait { waiting += 1 } else { pending += 1 }
    let client = arguments.numbers.pick(clients)
    client.call(message, timeout: nil) { [weak self, name = client.uniqueName] result in
      guard let self else { return }
      if isWait { waiting -= 1 } else { pending -= 1 }
      take(result, of: made, by: name)
    }
  }

  private func take(_ result: Result<Message, DBusError>, of call: Made, by client: BusName) {
    switch result {
    case .success(let reply):
      answers["", default: 0] += 1
      guard reply.signature.text.hasSuffix("t"), let body = try? reply.body(), case .uint64(let serial)? = body.last
      else { return }
      // A hold that was ended in place of a new one has no number (H1).
      if serial == 0, call.member == "Hold" { return }
      // W2: the serials that one client receives never decrease.
      if let last = serials[client], serial < last { faults.append("the serial \(serial) came after \(last): \(call)") }
      serials[client] = serial
      arguments.serial = max(arguments.serial, serial)
      if case .objectPath(let path)? = body.first, path != .root { arguments.presentations.append(path) }
      if arguments.presentations.count > 100 { arguments.presentations.removeFirst(50) }
    case .failure(let error):
      // The client was closed before the answer.
      if error.name == .disconnected { return }
      answers[error.name.text, default: 0] += 1
      if !Self.errors.contains(error.name.text) { faults.append("\(error) was the answer to \(call)") }
      if error.message.isEmpty || error.message.utf8.count > 4096 {
        faults.append("\(error.name) says \(error.message.utf8.count) bytes: \(call)")
      }
    }
  }

  /// Whether all calls are answered, including Wait.
  var isAnswered: Bool { pending == 0 && waiting == 0 }
}

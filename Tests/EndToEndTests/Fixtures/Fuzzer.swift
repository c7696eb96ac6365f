// Why this file exists: clients that ask for everything that there is, with everything that can be sent, and hold every
// answer against what may be answered.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TestSupport

/// Some clients of a session's navd that do whatever comes to their minds, from a seed.
final class Fuzzer {
  /// A call, as it is told where something is wrong with its answer.
  private struct Made: CustomStringConvertible {
    let path: ObjectPath
    let member: String
    let body: [Value]
    var description: String { "\(path) \(member) \(String(describing: body).prefix(1000))" }
  }

  /// What navd may say to a request that it does not carry out.
  private static let errors: Set<String> = Set(
    [ErrorName.invalidArgs, .unknownMethod, .unknownObject, .unknownInterface, .unknownProperty, .propertyReadOnly].map(
      \.text) + CoordinatorError.Name.allCases.map(\.errorName.text))

  private let session: Session
  private var arguments: Arguments
  private var clients: [Connection] = []
  /// The last serial that each of them was told.
  private var serials: [BusName: UInt64] = [:]
  private var objects: [(path: ObjectPath, methods: [Introspected.Method])] = []
  /// Documents that have been read.
  private var documents: [String: Introspected] = [:]
  private var pending = 0
  /// Calls that wait for the end of something.
  private var waiting = 0
  private var recent: [Made] = []

  /// How many calls were made, and how often each error was the answer; "" is none.
  private(set) var calls = 0
  private(set) var answers: [String: Int] = [:]
  /// What navd must not do, with the calls before it.
  private(set) var faults: [String] = []
  /// The methods that were called with arguments of the right types.
  private(set) var called: Set<Introspected.Method> = []

  init(_ session: Session, seed: UInt64, clients count: Int = 6) throws {
    self.session = session
    arguments = Arguments(seed: seed)
    for _ in 0..<count { try connect() }
    try discover()
  }

  // MARK: Clients

  private func connect() throws {
    let client = try session.connect()
    client.export("/bar", [presenter(PresenterInterface.present, PresenterInterface.dismiss)])
    // What it answers is not what the contract says.
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

  /// A presenter that does mostly what it should.
  private func presenter(
    _ present: Method<(ObjectPath, String, String, Properties), Void>,
    _ dismiss: Method<(ObjectPath, String, Bool), Properties>
  ) -> ImplementedInterface {
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(present) { [unowned self] _, call in
      if arguments.numbers.chance(0.9) { call.reply() } else { call.fail(DBusError(name: .failed, message: "no")) }
    }
    object.implement(dismiss) { [unowned self] _, call in
      call.reply(arguments.numbers.chance(0.5) ? [:] : ["x": arguments.anything()])
    }
    return object
  }

  /// All of them leave.
  func leave() {
    for client in clients { client.close() }
    clients = []
  }

  // MARK: What there is

  /// Finds every object that there is now, by introspection from the root, as a client would.
  private func discover() throws {
    objects = []
    var open: [ObjectPath] = [.root]
    var presentations: [ObjectPath] = [.root]
    while let path = open.popLast() {
      let document: String
      do {
        document = try session.call(Introspection.introspect, (), at: path)
      } catch let error as DBusError where error.name == .unknownObject {
        // It has gone in the meantime.
        continue
      }
      if documents.count > 1000 { documents = [:] }
      guard let found = documents[document] ?? Introspected(document) else {
        faults.append("\(path) has no introspection data: \(document.prefix(500))")
        continue
      }
      documents[document] = found
      objects.append((path, found.methods))
      // Of what is presented some are enough.
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
    // Some that are gone by now, or will never be, too.
    arguments.presentations = presentations + arguments.presentations.suffix(8) + [CoordinatorNames.presentation(0)]
  }

  /// The interfaces and methods that there are now.
  var known: Set<Introspected.Method> { Set(objects.flatMap(\.methods)) }

  // MARK: Calls

  /// Makes so many calls, and waits for the answers to all but those that wait themselves.
  /// - Parameters:
  ///   - wildness: how likely each argument is anything at all.
  ///   - burst: how many are under way at most.
  func run(_ count: Int, wildness: Double, burst: Int = 1) throws {
    for index in 0..<count {
      if index % 250 == 249 { try discover() }
      if arguments.numbers.chance(0.002) { try exchangeClient() }
      // The bus throws out whom it has no room for: many descriptors at once, for example.
      while let gone = clients.firstIndex(where: { !$0.isOpen }) {
        clients.remove(at: gone)
        try connect()
      }
      arguments.wildness = wildness
      try callSomething()
      if pending >= burst || arguments.numbers.chance(0.2) {
        try settle()
      }
    }
    try settle()
  }

  /// Waits for the answers that are due.
  private func settle() throws {
    guard !session.loop.turn(until: { pending == 0 }, within: Session.limit) else { return }
    throw Session.Failure(
      "\(pending) calls were not answered; the last were:\n\(trace)\n\(session.navd?.errorText ?? "")")
  }

  private var trace: String { recent.suffix(30).map(\.description).joined(separator: "\n") }

  private func exchangeClient() throws {
    // Not one whose calls would have to be taken off the count.
    try settle()
    clients.remove(at: Int.random(in: 0..<clients.count, using: &arguments.numbers)).close()
    try connect()
  }

  private func callSomething() throws {
    let (path, methods) = arguments.numbers.pick(objects)
    guard !methods.isEmpty else { return }
    // The coordinator's own are most of all, and what matters.
    let isMain = arguments.numbers.chance(0.6)
    let object = isMain ? CoordinatorNames.object : path
    let method = arguments.numbers.pick(isMain ? objects.first { $0.path == object }?.methods ?? methods : methods)
    let isMistaken = arguments.numbers.chance(arguments.wildness / 2)
    let body = isMistaken ? arguments.mistaken(for: method) : arguments.inputs(of: method)
    let isRight = body.map(\.type) == method.inputs.map(\.type)
    // Which would be the end of it.
    if method.name == "Quit", isRight { return }
    if isRight { called.insert(method) }
    let at =
      arguments.numbers.chance(arguments.wildness / 20) ? arguments.numbers.pick(arguments.presentations) : object
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
      // W2: what one client is told never goes back.
      if let last = serials[client], serial < last { faults.append("the serial \(serial) came after \(last): \(call)") }
      serials[client] = serial
      arguments.serial = max(arguments.serial, serial)
      if case .objectPath(let path)? = body.first, path != .root { arguments.presentations.append(path) }
      if arguments.presentations.count > 100 { arguments.presentations.removeFirst(50) }
    case .failure(let error):
      // Its client left while it waited.
      if error.name == .disconnected { return }
      answers[error.name.text, default: 0] += 1
      if !Self.errors.contains(error.name.text) { faults.append("\(error) was the answer to \(call)") }
      if error.message.isEmpty || error.message.utf8.count > 4096 {
        faults.append("\(error.name) says \(error.message.utf8.count) bytes: \(call)")
      }
    }
  }

  /// Whether every call has been answered, those that waited too.
  var isAnswered: Bool { pending == 0 && waiting == 0 }
}

import CoordinatorAPI
import CoordinatorCore
import DBus
import DBusValues
import PresentationModel
import PresentationRules
import TestSupport
import Testing

/// A call whose answer is kept for the test.
final class ScriptedCall<Output>: ServiceCall {
  let client: Client
  let isReplyExpected: Bool
  private let onAnswer: () -> Void
  /// The answer; nil while there is none.
  private(set) var result: Result<Output, Refusal>?

  init(_ client: Client = Client("anna"), isReplyExpected: Bool = true, onAnswer: @escaping () -> Void = {}) {
    self.client = client
    self.isReplyExpected = isReplyExpected
    self.onAnswer = onAnswer
  }

  func reply(_ output: Output) { finish(.success(output)) }

  func fail(_ refusal: Refusal) { finish(.failure(refusal)) }

  private func finish(_ result: Result<Output, Refusal>) {
    if self.result != nil { Issue.record("the call was answered twice") }
    self.result = result
    onAnswer()
  }

  /// The output. Fails the test where there is no answer or a refusal.
  func output() throws -> Output { try #require(result).get() }

  var refusal: Refusal? { if case .failure(let refusal) = result { refusal } else { nil } }
}

/// A binder that keeps the methods and properties which the service binds, so that a test can call them.
final class ScriptedBinder: ServiceBinder {
  fileprivate final class Body<Input, Output> {
    let serve: (Input, any ServiceCall<Output>) -> Void
    init(_ serve: @escaping (Input, any ServiceCall<Output>) -> Void) { self.serve = serve }
  }

  /// The names of the bound members, in the order of binding.
  private(set) var names: [MemberName] = []
  fileprivate var methods: [MemberName: AnyObject] = [:]
  private(set) var properties: [MemberName: () -> Value] = [:]

  func bind<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ body: @escaping (Input, any ServiceCall<Output>) -> Void
  ) {
    names.append(method.name)
    methods[method.name] = Body(body)
  }

  func bind<T>(_ property: Property<T>, _ get: @escaping () -> T) {
    names.append(property.name)
    properties[property.name] = { get().value }
  }
}

/// A service in which the test is everything else: clocks, clients, presenters and the record.
///
/// The destination `screen` is on the bus, and the test answers for its presenter by reports.
final class ServiceFixture: CoordinatorHost {
  enum Decision {
    case allow
    case refuse(Refusal)
    /// An authorization that the test decides with ``ServiceFixture/decide(_:)``.
    case later
  }

  private(set) var service: CoordinatorService<ServiceFixture>!
  let binder = ScriptedBinder()

  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  var wallClock: UInt64 { 1_700_000_000_000_000 + now.nanoseconds / 1000 }
  let limits: [String: UInt64] = ["request": 7]
  let diagnosis = Diagnosis(["pid": .uint64(1)])

  var decision = Decision.allow
  private var undecided: [(Refusal?) -> Void] = []
  /// The trust in a client. A request that needs trust asks for it a second time, and is then told `verdict`.
  var trust = Trust.trusted
  var verdict = Trust.trusted
  /// The refusal of every change, as if the record could not be written.
  var recordRefusal: Refusal?
  var reloadRefusal: Refusal?
  /// The destinations of files that have changed and were not read; nil if no file has changed.
  var changedFiles: [Destination]?
  /// The presentations of which every client counts as the presenter.
  var presented: Set<Handle> = []
  /// The report that answers a command while it is carried out.
  var answerAtOnce: ((PresenterCommand) -> Report?)?

  /// Announcements, commands and answers in their order.
  private(set) var log: [String] = []
  private(set) var events: [StateEvent] = []
  private(set) var alarms: [Instant] = []
  private(set) var followed: [Client] = []
  private(set) var identified: [Client] = []
  private(set) var quits = 0

  init(limits: Limits = Limits(), holds: [String: HoldAction] = [:]) {
    service = CoordinatorService(StateMachine(limits: limits), host: self)
    service.bindProperties(to: binder)
    service.load(
      [
        Destination(
          name: "screen", presenter: .bus(name: "org.example.Screen", path: "/presenter"), source: .file(path: "screen")
        )
      ], holds: holds)
    log = []
  }

  /// Moves the clocks. The test calls `expire` itself.
  func pass(milliseconds: UInt64) { now = Instant(nanoseconds: now.nanoseconds + milliseconds * 1_000_000) }

  /// Decides about the calls that were to be decided later.
  func decide(_ refusal: Refusal? = nil) {
    let all = undecided
    undecided = []
    for decide in all { decide(refusal) }
  }

  func taken() -> [String] {
    defer { log = [] }
    return log
  }

  // MARK: Calls

  func call<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, by client: String = "anna", isReplyExpected: Bool = true
  ) -> ScriptedCall<Output> {
    let call = ScriptedCall<Output>(Client(client), isReplyExpected: isReplyExpected) { [unowned self] in
      log.append("answer \(method.name)")
    }
    if binder.methods[method.name] == nil, let known = CoordinatorMethod(rawValue: method.name.text) {
      service.bind(known, to: binder)
    }
    guard let body = binder.methods[method.name] as? ScriptedBinder.Body<Input, Output> else {
      Issue.record("\(method.name) is not bound")
      return call
    }
    body.serve(input, call)
    return call
  }

  /// Presents an item, which may be state only.
  @discardableResult
  func present(
    _ binding: String, _ id: String = "", _ options: Properties = [:], by client: String = "anna"
  ) throws -> Handle {
    let options = Properties.state.merging(options) { $1 }
    let output = try call(CoordinatorInterface.present, (binding, id, options), by: client).output()
    return try #require(Handle(path: output.0))
  }

  func dismiss(_ binding: String, by client: String = "anna") throws {
    _ = try call(CoordinatorInterface.dismiss, (binding, [:]), by: client).output()
  }

  func wait(
    _ handle: Handle, _ phase: String = "gone", by client: String = "anna", isReplyExpected: Bool = true
  ) -> ScriptedCall<(String, Properties)> {
    call(CoordinatorInterface.wait, (handle.path, phase), by: client, isReplyExpected: isReplyExpected)
  }

  func entry(_ binding: String) throws -> StateEntry {
    StateEntry(try call(CoordinatorInterface.get, binding).output().1)
  }

  /// The remembered endings, the latest first.
  func history() throws -> [EndingEntry] {
    try call(CoordinatorInterface.history, (0, [:])).output().map { EndingEntry($0) }
  }

  var bindings: [String] { service.machine.allPresentations.map(\.binding.text) }

  // MARK: The host

  func authorize<Output>(
    _ requests: [Request], isTransaction: Bool, _ call: some ServiceCall<Output>,
    _ body: @escaping (Trust, [Request]) throws(Refusal) -> Output?
  ) throws(Refusal) {
    if case .refuse(var refusal) = decision {
      refusal.index = isTransaction ? 0 : nil
      throw refusal
    }
    authorize(.registeringPresenters, call) { [unowned self] () throws(Refusal) in
      do throws(Refusal) { return try body(trust, requests) } catch {
        guard error.needsTrust, trust == .unknown else { throw error }
        log.append("find out")
        return try body(verdict, requests)
      }
    }
  }

  func authorize<Output>(
    _ privilege: ServicePrivilege, _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output?
  ) {
    switch decision {
    case .allow: answer(call, body)
    case .refuse(let refusal): call.fail(refusal)
    case .later: undecided.append { refusal in if let refusal { call.fail(refusal) } else { answer(call, body) } }
    }
  }

  func requireRecord() throws(Refusal) { if let recordRefusal { throw recordRefusal } }

  func reload() throws(Refusal) { if let reloadRefusal { throw reloadRefusal } }

  func takeInChanges() {
    guard let destinations = changedFiles else { return }
    changedFiles = nil
    log.append("read files")
    service.load(destinations)
  }

  func willQuit() {
    quits += 1
    log.append("quit")
  }

  func follow(_ client: Client) { followed.append(client) }

  func identify(_ client: Client) { identified.append(client) }

  func isPresenter(_ client: Client, of handle: Handle) -> Bool { presented.contains(handle) }

  func platform(of handle: Handle) -> Properties { ["pid": .uint64(handle.number + 1000)] }

  func carryOut(_ commands: [PresenterCommand]) {
    for command in commands {
      switch command {
      case .present(let handle): log.append("command present \(handle)")
      case .update(let handle, _): log.append("command update \(handle)")
      case .dismiss(let handle, let reason, _, _): log.append("command dismiss \(handle) \(reason.rawValue)")
      case .kill(let handle): log.append("command kill \(handle)")
      case .abandon(let handle): log.append("command abandon \(handle)")
      case .raise(let handle): log.append("command raise \(handle)")
      case .bring(let handle, _): log.append("command bring \(handle)")
      case .move(let handle): log.append("command move \(handle)")
      case .endParked(let program, _): log.append("command end parked \(program)")
      case .releaseParked(let program): log.append("command release parked \(program)")
      }
    }
    for command in commands { if let report = answerAtOnce?(command) { service.report(report) } }
  }

  func announceCreation(of handle: Handle) { log.append("created \(handle)") }

  func announce(_ event: StateEvent, _ change: Change) {
    events.append(event)
    switch event.kind {
    case .presented(let subject, _): log.append("presented \(subject.binding)")
    case .updated(let subject, _): log.append("updated \(subject.binding)")
    case .phase(let subject, let phase): log.append("\(phase.rawValue) \(subject.binding)")
    case .dismissed(let subject, let reason): log.append("dismissed \(subject.binding) \(reason.rawValue)")
    case .declined(let subject, let message): log.append("declined \(subject.binding) \(message)")
    case .asking(let subject, let message): log.append("asking \(subject.presentation) \(message ?? "no more")")
    case .action(let subject, let action, _): log.append("action \(subject.binding) \(action)")
    case .selection(let group, let tag): log.append("selection \(group) \(tag ?? "-")")
    case .group(let group, _, _): log.append("group \(group)")
    case .path(let stack, _): log.append("path \(stack)")
    case .hold(let name, let isInForce): log.append("hold \(name) \(isInForce)")
    case .parked(let parked): log.append("parked \(parked.count)")
    case .requested(let items): log.append("requested \(items.count)")
    }
  }

  func announceDestinations() { log.append("destinations") }

  func setAlarm(at time: Instant) { alarms.append(time) }
}

// Why this file exists: what goes wrong once in a million requests, or grows by a little with each, shows only after many
// of all kinds.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import Processes
import TextFormats

/// A mixed load for some time: many clients that use everything there is as it should be used, so that every error is
/// one of navd's.
final class Soak {
  private typealias Rows = CoordinatorInterface

  /// What navd may have more at the end than at the start: this share, and what buffers come to.
  private static let growth = (share: 0.1, bytes: 2 << 20)
  /// How long anything may take that is to come to an end.
  private static let limit = Duration.seconds(60)

  private let peers: Peers
  private let duration: Duration
  private let navd: UInt32
  private let watcher: SoakWatcher
  private let presenter: Connection
  private var workers: [SoakWorker] = []
  fileprivate var tally = SoakTally()
  /// Whether new things are begun.
  fileprivate private(set) var isRunning = false

  init(_ peers: Peers, duration: Duration, clients: Int) throws {
    self.peers = peers
    self.duration = duration
    navd = try peers.process(of: CoordinatorNames.bus)
    presenter = try Connection.session(loop: peers.loop)
    watcher = try SoakWatcher(try Connection.session(loop: peers.loop))
    try register()
    for number in 0..<clients { workers.append(SoakWorker(self, number, try connect())) }
  }

  func connect() throws(DBusError) -> Connection { try Connection.session(loop: peers.loop) }

  private func register() throws {
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(PresenterInterface.present) { _, call in call.reply() }
    object.implement(PresenterInterface.update) { _, call in call.reply() }
    object.implement(PresenterInterface.dismiss) { _, call in call.reply(["answer": .string("yes")]) }
    presenter.export("/soak", [object])
    _ = try presenter.callAndWait(
      Rows.declareContainerValue, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("badge", .string("")))
    _ = try presenter.callAndWait(
      Rows.registerPresenter, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("soak", "/soak", [:]))
  }

  // MARK: Running

  func run() throws -> SoakReport {
    // Until all that is kept for the next time has been made.
    try load(for: min(duration / 5, .seconds(20)))
    let start = vitals
    tally = SoakTally()
    try load(for: duration)
    let end = vitals
    tally.faults += watcher.faults
    if Double(end.memory) > Double(start.memory) * (1 + Self.growth.share) + Double(Self.growth.bytes) {
      tally.faults.append("navd's memory grew from \(start.memory >> 10) KiB to \(end.memory >> 10) KiB")
    }
    if end.descriptors > start.descriptors {
      tally.faults.append("navd's descriptors grew from \(start.descriptors) to \(end.descriptors)")
    }
    return SoakReport(duration: duration, tally: tally, events: watcher.count, start: start, end: end)
  }

  /// Has all clients work for some time, and ends all that they have begun.
  private func load(for time: Duration) throws {
    isRunning = true
    let end = peers.loop.now + time
    for worker in workers { worker.goOn() }
    while peers.loop.now < end { peers.loop.turn(wait: end - peers.loop.now) }
    isRunning = false
    try wait("all is answered") { workers.allSatisfy(\.isIdle) }
    _ = try peers.connection.callAndWait(
      Rows.dismissAll, on: CoordinatorNames.bus, at: CoordinatorNames.object, ["all": .boolean(true)])
    try wait("all has ended") {
      try peers.connection.callAndWait(Rows.members, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("all", ""))
        .isEmpty
        && peers.connection.callAndWait(
          ObjectManagement.getManagedObjects, on: CoordinatorNames.bus, at: CoordinatorNames.object, ()
        ).isEmpty
    }
    try wait("all who waited are answered") { workers.allSatisfy { $0.waiting == 0 } }
    try fillMemory()
  }

  /// Has navd remember as many endings as it ever does, whatever the load was, so that start and end can be compared.
  private func fillMemory() throws {
    let limits = try peers.connection.callAndWait(
      PropertyAccessing.get, on: CoordinatorNames.bus, at: CoordinatorNames.object, (Rows.name.text, "Limits"))
    let endings = [String: UInt64](value: limits)?["endings"] ?? 0
    var answers = 0
    for number in 0...endings {
      peers.connection.call(
        Rows.present, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("soak.fill", String(number), [:]),
        timeout: nil
      ) { _ in answers += 1 }
    }
    try wait("its memory is full") { answers > endings }
    _ = try peers.connection.callAndWait(
      Rows.dismiss, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("soak.fill", [:]))
  }

  private func wait(_ what: String, until condition: () throws -> Bool) throws {
    let end = peers.loop.now + Self.limit
    while try !condition() {
      guard peers.loop.now < end else {
        throw MeasuringFailure(description: "waited \(Self.limit) in vain until \(what)")
      }
      peers.loop.turn(wait: .milliseconds(5))
    }
  }

  private var vitals: Vitals { Vitals(of: navd) }
}

/// What a process has.
struct Vitals {
  /// Bytes for itself alone.
  let memory: Int
  let descriptors: Int

  init(of process: UInt32) {
    memory = Self.privateMemory(of: process)
    var count = 0
    if let directory = opendir("/proc/\(process)/fd") {
      defer { closedir(directory) }
      while let entry = readdir(directory) { if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 } }
    }
    descriptors = count
  }

  private static func privateMemory(of process: UInt32) -> Int {
    for line in ProcessTable.read("/proc/\(process)/status")?.split(separator: UInt8(ascii: "\n")) ?? [] {
      let text = String(decoding: line, as: UTF8.self)
      guard text.hasPrefix("RssAnon:") else { continue }
      return (Int(text.filter(\.isNumber)) ?? 0) << 10
    }
    return 0
  }
}

/// What came of the requests.
struct SoakTally {
  var operations = 0
  /// Errors that were answered, answers that were not as they must be, and what else should not be.
  var faults: [String] = []
  /// How long each answer took, in microseconds.
  var answers: [UInt32] = []
}

/// Follows all that navd tells.
private final class SoakWatcher {
  let connection: Connection
  private(set) var count = 0
  private(set) var faults: [String] = []
  private var serial: UInt64?

  init(_ connection: Connection) throws {
    self.connection = connection
    connection.subscribe(MatchRule(sender: CoordinatorNames.bus, path: CoordinatorNames.object)) { [unowned self] in
      guard let event = try? CoordinatorEvent($0) else { return }
      count += 1
      if let serial, event.serial != serial + 1 { faults.append("event \(event.serial) came after \(serial)") }
      serial = event.serial
    }
    _ = try connection.callAndWait(
      CoordinatorInterface.getState, on: CoordinatorNames.bus, at: CoordinatorNames.object, ())
  }
}

/// One client: does one thing after the other, with bindings of its own.
private final class SoakWorker {
  private typealias Rows = CoordinatorInterface

  /// Calls that wait for the end of something.
  private(set) var waiting = 0
  private(set) var isIdle = true
  private unowned let soak: Soak
  private let connection: Connection
  private let root: String
  private var count = 0

  init(_ soak: Soak, _ number: Int, _ connection: Connection) {
    self.soak = soak
    self.connection = connection
    root = "soak[\(number)]"
  }

  func goOn() {
    guard soak.isRunning else {
      isIdle = true
      return
    }
    isIdle = false
    count += 1
    let id = String(count)
    switch Int.random(in: 0..<100) {
    case 0..<14: present("note", id, ["value": value.value, "title": .string(id)])
    case 14..<20: call(Rows.update, ("\(root).note", ["n": .int64(Int64(count))], [:]), mayLack: true)
    case 20..<26: call(Rows.toggle, ("\(root).toggle", "", [:]))
    case 26..<32: call(Rows.dismiss, ("\(root).note", [:]))
    case 32..<36: present("window", id, ["command": ["sleep", "1000"].value])
    case 36..<38: present("short", id, ["command": ["true"].value], ending: ["closed", "replaced", "dismissed"])
    case 38..<42: present("shown", id, ["destination": .string("soak")])
    case 42..<45: present("timed", id, ["timeout": .uint64(5)], ending: ["expired", "replaced", "dismissed"])
    case 45..<48: present("queued", id, ["group": .string("soak.queue"), "if-busy": .string("queue")])
    case 48..<50: call(Rows.dismiss, ("\(root).queued", [:]))
    case 50..<55: call(Rows.select, ("\(root).group", ["one", "two", "three"][count % 3], [:]))
    case 55..<58: call(Rows.toggleSelection, ("\(root).group", "one", [:]))
    case 58..<60: call(Rows.deselect, ("\(root).group", "", [:]))
    case 60..<64: call(Rows.push, ("\(root).stack", "\(root).screen[\(count % 5)]", "", [:]), mayBeInStack: true)
    case 64..<66: call(Rows.pop, ("\(root).stack", 1, [:]))
    case 66..<68: call(Rows.setPath, ("\(root).path", (0..<count % 4).map { Structure("", "\($0)", [:]) }, [:]))
    case 68..<74: transaction(id)
    case 74..<76: act(id)
    case 76..<79: visit()
    case 79..<80: call(Rows.reload, ())
    default: read()
    }
  }

  private var value: Properties {
    ["n": .int64(Int64(count)), "text": .string(String(repeating: "x", count: count % 500))]
  }

  // MARK: What it does

  /// - Parameter ending: what may be said to one who waits for its end; nil: nobody does.
  private func present(_ name: String, _ id: String, _ options: Properties, ending: Set<String>? = nil) {
    request(Rows.present, ("\(root).\(name)", id, options)) { [self] output in
      if let ending, let output { wait(for: output.0, ending) }
      goOn()
    }
  }

  private func wait(for presentation: ObjectPath, _ ending: Set<String>) {
    waiting += 1
    connection.call(
      Rows.wait, on: CoordinatorNames.bus, at: CoordinatorNames.object, (presentation, "gone"), timeout: nil
    ) { [self] result in
      waiting -= 1
      soak.tally.operations += 1
      switch result {
      case .success(let (reason, _)):
        if !ending.contains(reason) { soak.tally.faults.append("\(presentation) ended as \(reason)") }
      case .failure(let error): soak.tally.faults.append("Wait: \(error)")
      }
    }
  }

  /// Both or neither.
  private func transaction(_ id: String) {
    let requests = [
      Structure("Present", [Value.string("\(root).left"), .string(id), ([:] as Properties).value]),
      Structure(
        "Present",
        [.string("\(root).left.right"), .string(id), ["container-values": ["badge": Value.string(id)].value].value]),
    ]
    call(Rows.apply, (requests, [:]))
  }

  /// Something is done in what is shown, and then it is closed.
  private func act(_ id: String) {
    request(Rows.present, ("\(root).dialog", id, [:])) { [self] output in
      guard let path = output?.0 else { return goOn() }
      request(Rows.act, (path, "pressed", ["n": .int64(Int64(count))])) { [self] _ in
        call(Rows.closed, (path, ["answer": .string("ok")]))
      }
    }
  }

  /// Another client comes, watches, registers a presenter, owns something, and leaves.
  private func visit() {
    do throws(DBusError) {
      let visitor = try soak.connect()
      visitor.subscribe(MatchRule(sender: CoordinatorNames.bus)) { _ in }
      visitor.call(
        Rows.registerPresenter, on: CoordinatorNames.bus, at: CoordinatorNames.object, ("visitors", "/x", [:]),
        timeout: nil
      ) { [self] result in
        soak.tally.operations += 1
        if case .failure(let error) = result { soak.tally.faults.append("a visitor's RegisterPresenter: \(error)") }
      }
      let slot = "\(root).visitor"
      visitor.call(
        Rows.present, on: CoordinatorNames.bus, at: CoordinatorNames.object,
        (slot, String(count), ["owned": .boolean(true)]), timeout: nil
      ) { [self] result in
        soak.tally.operations += 1
        switch result {
        case .success(let (presentation, _, _)): wait(for: presentation, ["owner", "replaced", "dismissed"])
        case .failure(let error): soak.tally.faults.append("a visitor's Present: \(error)")
        }
        // Not within its own call.
        soak.later { [self] in
          visitor.close()
          goOn()
        }
      }
    } catch {
      soak.tally.faults.append("a visitor: \(error)")
      soak.later { [self] in goOn() }
    }
  }

  private func read() {
    switch count % 10 {
    case 0: call(Rows.getState, ())
    case 1: call(Rows.members, ("all", ""))
    case 2: call(Rows.members, ("stack", "\(root).stack"))
    case 3: call(Rows.history, (20, [:]))
    case 4: call(Rows.destinations, ())
    case 5: call(Rows.containerValue, ("", "badge"))
    case 6: call(PropertyAccessing.getAll, Rows.name.text)
    case 7: call(Introspection.introspect, ())
    case 8: call(ObjectManagement.getManagedObjects, ())
    default: call(Rows.get, "\(root).note")
    }
  }

  // MARK: Calls

  private func call<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, mayLack: Bool = false, mayBeInStack: Bool = false
  ) {
    let allowed: Set<CoordinatorError.Name> = mayLack ? [.notPresented] : mayBeInStack ? [.alreadyInStack] : []
    request(method, input, allowed) { [self] _ in goOn() }
  }

  private func request<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, _ allowed: Set<CoordinatorError.Name> = [],
    _ completion: @escaping (Output?) -> Void
  ) {
    let start = connection.loop.now
    connection.call(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: nil) {
      [self] result in
      let nanoseconds = (connection.loop.now - start).saturatingNanoseconds
      soak.tally.answers.append(UInt32(clamping: nanoseconds / 1000))
      soak.tally.operations += 1
      switch result {
      case .success(let output): completion(output)
      case .failure(let error):
        if CoordinatorError.Name(error.name).map(allowed.contains) != true {
          soak.tally.faults.append("\(method.name): \(error)")
        }
        completion(nil)
      }
    }
  }
}

extension Soak {
  /// Does something in another turn of the loop.
  fileprivate func later(_ work: @escaping () -> Void) { peers.loop.soon(work) }
}

/// What a soak has shown.
struct SoakReport {
  let duration: Duration
  let tally: SoakTally
  let events: Int
  let start: Vitals
  let end: Vitals

  var text: String {
    var lines = [
      "duration     \(duration / .seconds(1)) s",
      "operations   \(tally.operations) (\(Int(Double(tally.operations) / (duration / .seconds(1)))) a second), \(events) events",
      "errors       \(tally.faults.count)",
      "memory       \(start.memory >> 10) KiB at the start, \(end.memory >> 10) KiB at the end",
      "descriptors  \(start.descriptors) at the start, \(end.descriptors) at the end",
      "answers      median \(answer(0.5)) µs, 99.9 % within \(answer(0.999)) µs, the worst \(answer(1)) µs",
    ]
    for fault in tally.faults.prefix(20) { lines.append("error: \(fault)") }
    return lines.joined(separator: "\n")
  }

  var json: JSON {
    [
      "seconds": .real(duration / .seconds(1)), "operations": JSON(tally.operations), "events": JSON(events),
      "errors": .array(tally.faults.map(JSON.string)), "memory-at-start": JSON(start.memory),
      "memory-at-end": JSON(end.memory), "descriptors-at-start": JSON(start.descriptors),
      "descriptors-at-end": JSON(end.descriptors), "median-answer-us": JSON(answer(0.5)),
      "worst-answer-us": JSON(answer(1)),
    ]
  }

  private let sorted: [UInt32]

  init(duration: Duration, tally: SoakTally, events: Int, start: Vitals, end: Vitals) {
    self.duration = duration
    self.tally = tally
    self.events = events
    self.start = start
    self.end = end
    sorted = tally.answers.sorted()
  }

  /// Within how many microseconds that share of the answers came.
  private func answer(_ share: Double) -> UInt32 {
    sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}

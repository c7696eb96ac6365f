import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import Processes
import TextFormats

/// A mixed load for some time. Many clients use the whole interface correctly, so every error is a mistake of navd. The load reveals
/// rare errors, and memory or descriptors that grow with each request.
final class Soak {
  private typealias Rows = CoordinatorInterface

  /// The permitted growth of navd's memory: a share, and bytes for buffers.
  private static let growth = (share: 0.1, bytes: 2 << 20)
  /// The longest time for navd to finish the requests of a load.
  private static let timeout = Duration.seconds(60)

  private let harness: Harness
  private let duration: Duration
  private let idle: Duration
  private let navd: UInt32
  private let watcher: SoakWatcher
  private let presenter: Connection
  private var workers: [SoakWorker] = []
  fileprivate var tally = SoakTally()
  /// Whether the clients start new requests.
  fileprivate private(set) var isRunning = false

  /// - Parameter idle: the time to watch navd without requests, after the load.
  init(_ harness: Harness, duration: Duration, idle: Duration, clients: Int) throws {
    self.harness = harness
    self.duration = duration
    self.idle = idle
    navd = try harness.process(of: CoordinatorNames.bus)
    presenter = try Connection.session(loop: harness.loop)
    watcher = try SoakWatcher(try Connection.session(loop: harness.loop))
    try register()
    for number in 0..<clients { workers.append(SoakWorker(self, number, try connect())) }
  }

  func connect() throws(DBusError) -> Connection { try Connection.session(loop: harness.loop) }

  private func register() throws {
    let object = ImplementedInterface(PresenterInterface.interface)
    object.implement(PresenterInterface.present) { _, call in call.reply() }
    object.implement(PresenterInterface.update) { _, call in call.reply() }
    object.implement(PresenterInterface.dismiss) { _, call in call.reply(["answer": .string("yes")]) }
    presenter.export("/soak", [object])
    _ = try presenter.callNavdAndWait(Rows.declareContainerValue, ("badge", .string("")))
    _ = try presenter.callNavdAndWait(Rows.registerPresenter, ("soak", "/soak", [:]))
  }

  // MARK: Running

  func run() throws -> SoakReport {
    // This fills navd's caches.
    try load(for: min(duration / 5, .seconds(20)))
    let start = ResourceUsage(of: navd)
    tally = SoakTally()
    try load(for: duration)
    let end = ResourceUsage(of: navd)
    tally.latencies.sort()
    tally.errors += watcher.errors
    if Double(end.memory) > Double(start.memory) * (1 + Self.growth.share) + Double(Self.growth.bytes) {
      tally.errors.append("navd's memory grew from \(start.memory >> 10) KiB to \(end.memory >> 10) KiB")
    }
    // One more is the connection that navd opens after its first 4 MiB, to ask for the bytes that the bus keeps for clients.
    if end.descriptors > start.descriptors + 1 {
      tally.errors.append("navd's descriptors grew from \(start.descriptors) to \(end.descriptors)")
    }
    let wakeUps = try countWakeUps()
    // The event loop sets its timer again only when it goes off, which saves a system call for each request.
    if wakeUps > 1 { tally.errors.append("navd woke up \(wakeUps) times in \(idle) without a request") }
    return SoakReport(
      duration: duration, idle: idle, wakeUps: wakeUps, tally: tally, events: watcher.count, start: start, end: end)
  }

  /// Counts how often navd wakes up while 100 presentations are open and no client calls it.
  private func countWakeUps() throws -> Int {
    for number in 0..<100 {
      let options: (UInt64) -> [String: Value] = {
        ["group": .string("soak.idle.group\(number % 10)"), "timeout": .uint64($0)]
      }
      // The first timeout no longer holds when its time has come.
      for timeout in [UInt64(idle / .milliseconds(2)), 86_400_000] {
        _ = try harness.call(Rows.present, ("soak.idle[\(number)]", "open", options(timeout)))
      }
    }
    return harness.countWakeUps(of: navd, in: idle)
  }

  /// Runs all clients for some time, and then ends all presentations.
  private func load(for time: Duration) throws {
    isRunning = true
    let end = harness.loop.now + time
    for worker in workers { worker.next() }
    while harness.loop.now < end { harness.loop.turn(wait: end - harness.loop.now) }
    isRunning = false
    try wait("all requests have replies") { workers.allSatisfy(\.isIdle) }
    _ = try harness.call(Rows.dismissAll, ["all": .boolean(true)])
    try wait("all presentations have ended") {
      try harness.call(Rows.members, ("all", "")).isEmpty
        && harness.call(ObjectManagement.getManagedObjects, ()).keys.allSatisfy { Handle(path: $0) == nil }
    }
    try wait("all calls of Wait have replies") { workers.allSatisfy { $0.waiting == 0 } }
    try fillHistory()
  }

  /// Fills navd's record of endings to its limit, so that its memory at the start and at the end can be compared.
  private func fillHistory() throws {
    let limits = try harness.call(PropertyAccessing.get, (Rows.name.text, "Limits"))
    let endings = [String: UInt64](value: limits)?["endings"] ?? 0
    var replies = 0
    for number in 0...endings {
      harness.connection.callNavd(Rows.present, ("soak.fill", String(number), [:])) { _ in replies += 1 }
    }
    try wait("navd's record of endings is full") { replies > endings }
    _ = try harness.call(Rows.dismiss, ("soak.fill", [:]))
  }

  /// - Parameter goal: the rest of an error, as in `not all presentations have ended`.
  private func wait(_ goal: String, until condition: () throws -> Bool) throws {
    let end = harness.loop.now + Self.timeout
    while try !condition() {
      guard harness.loop.now < end else {
        throw BenchmarkError(description: "waited \(Self.timeout) until \(goal), in vain")
      }
      harness.loop.turn(wait: .milliseconds(5))
    }
  }
}

extension Harness {
  /// Counts how often a process wakes up while nothing happens.
  func countWakeUps(of process: UInt32, in duration: Duration) -> Int {
    // The last answer arrives before the process has gone to sleep, and on a busy machine it may wait long for a processor.
    var start: Int
    repeat {
      start = ResourceUsage.wakeUps(of: process)
      loop.turn(wait: .milliseconds(50))
    } while !ResourceUsage.isAsleep(process) || ResourceUsage.wakeUps(of: process) != start
    let end = loop.now + duration
    while loop.now < end { loop.turn(wait: end - loop.now) }
    return ResourceUsage.wakeUps(of: process) - start
  }
}

/// The memory and descriptors of a process.
struct ResourceUsage {
  /// Private memory in bytes.
  let memory: Int
  let descriptors: Int

  init(of process: UInt32) {
    memory = Self.privateMemory(of: process)
    descriptors = (try? directoryEntries("/proc/\(process)/fd".utf8))?.count ?? 0
  }

  private static func privateMemory(of process: UInt32) -> Int { number("RssAnon", of: process) << 10 }

  /// The number of times that a single-threaded process has begun to wait.
  static func wakeUps(of process: UInt32) -> Int { number("voluntary_ctxt_switches", of: process) }

  /// Whether a process waits for something other than a processor.
  static func isAsleep(_ process: UInt32) -> Bool { status("State", of: process).contains("S (sleeping)") }

  private static func number(_ name: String, of process: UInt32) -> Int {
    Int(status(name, of: process).filter(\.isNumber)) ?? 0
  }

  private static func status(_ name: String, of process: UInt32) -> Substring {
    let text = String(decoding: ProcessTable.read("/proc/\(process)/status") ?? [], as: UTF8.self)
    return text.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
  }
}

/// The results of the requests.
struct SoakTally {
  var operations = 0
  /// Errors in replies, unexpected replies and missing events.
  var errors: [String] = []
  /// The time to each reply, in microseconds.
  var latencies: [UInt32] = []
}

/// Receives all of navd's events and checks that none is missing.
private final class SoakWatcher {
  let connection: Connection
  private(set) var count = 0
  private(set) var errors: [String] = []
  private var serial: UInt64?

  init(_ connection: Connection) throws {
    self.connection = connection
    connection.subscribe(MatchRule(sender: CoordinatorNames.bus, path: CoordinatorNames.object)) { [unowned self] in
      guard let event = try? StateEvent($0) else { return }
      count += 1
      if let serial, event.serial != serial + 1 {
        errors.append("expected event \(serial + 1), found \(event.serial)")
      }
      serial = event.serial
    }
    _ = try connection.callNavdAndWait(CoordinatorInterface.getState, ())
  }
}

/// A client that makes one random request after another, with its own bindings.
private final class SoakWorker {
  private typealias Rows = CoordinatorInterface

  /// The number of pending calls of Wait.
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

  func next() {
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

  // MARK: Operations

  /// - Parameter ending: the permitted reasons of the presentation's end; nil not to wait for its end.
  private func present(_ name: String, _ id: String, _ options: Properties, ending: Set<String>? = nil) {
    request(Rows.present, ("\(root).\(name)", id, options)) { [self] output in
      if let ending, let output { wait(for: output.0, ending) }
      next()
    }
  }

  private func wait(for presentation: ObjectPath, _ ending: Set<String>) {
    waiting += 1
    connection.callNavd(Rows.wait, (presentation, "gone")) { [self] result in
      waiting -= 1
      soak.tally.operations += 1
      switch result {
      case .success(let (reason, _)):
        if !ending.contains(reason) {
          soak.tally.errors.append("\(presentation): expected the reason \(ending.sorted()), found \(reason)")
        }
      case .failure(let error): soak.tally.errors.append("Wait: \(error)")
      }
    }
  }

  private func transaction(_ id: String) {
    let requests = [
      TransactionRequest.present("\(root).left", id),
      .present("\(root).left.right", id, [Options.containerValues.name: ["badge": Value.string(id)].value]),
    ]
    call(Rows.apply, (requests, [:]))
  }

  /// Presents a dialog, reports an action in it, and closes it.
  private func act(_ id: String) {
    request(Rows.present, ("\(root).dialog", id, [:])) { [self] output in
      guard let path = output?.0 else { return next() }
      request(Rows.act, (path, "pressed", ["n": .int64(Int64(count))])) { [self] _ in
        call(Rows.closed, (path, ["answer": .string("ok")]))
      }
    }
  }

  /// Connects another client, which subscribes, registers a presenter, presents an item that it owns, and disconnects.
  private func visit() {
    do throws(DBusError) {
      let visitor = try soak.connect()
      visitor.subscribe(MatchRule(sender: CoordinatorNames.bus)) { _ in }
      visitor.callNavd(Rows.registerPresenter, ("visitors", "/x", [:])) { [self] result in
        soak.tally.operations += 1
        if case .failure(let error) = result { soak.tally.errors.append("a visitor's RegisterPresenter: \(error)") }
      }
      let item: Properties = ["owned": .boolean(true)]
      visitor.callNavd(Rows.present, ("\(root).visitor", String(count), item)) { [self] result in
        soak.tally.operations += 1
        switch result {
        case .success(let (presentation, _, _)): wait(for: presentation, ["owner", "replaced", "dismissed"])
        case .failure(let error): soak.tally.errors.append("a visitor's Present: \(error)")
        }
        // A connection cannot be closed in the completion of its own call.
        soak.later { [self] in
          visitor.close()
          next()
        }
      }
    } catch {
      soak.tally.errors.append("a visitor: \(error)")
      soak.later { [self] in next() }
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
    request(method, input, allowed) { [self] _ in next() }
  }

  private func request<Input, Output>(
    _ method: Method<Input, Output>, _ input: Input, _ allowed: Set<CoordinatorError.Name> = [],
    _ completion: @escaping (Output?) -> Void
  ) {
    let start = connection.loop.now
    connection.callNavd(method, input) { [self] result in
      let nanoseconds = (connection.loop.now - start).saturatingNanoseconds
      soak.tally.latencies.append(UInt32(clamping: nanoseconds / 1000))
      soak.tally.operations += 1
      switch result {
      case .success(let output): completion(output)
      case .failure(let error):
        if CoordinatorError.Name(error.name).map(allowed.contains) != true {
          soak.tally.errors.append("\(method.name): \(error)")
        }
        completion(nil)
      }
    }
  }
}

extension Soak {
  /// Runs `work` in another turn of the loop.
  fileprivate func later(_ work: @escaping () -> Void) { harness.loop.soon(work) }
}

struct SoakReport {
  let duration: Duration
  let idle: Duration
  /// The number of times that navd woke up while it was idle.
  let wakeUps: Int
  /// The results, with sorted latencies.
  let tally: SoakTally
  let events: Int
  let start: ResourceUsage
  let end: ResourceUsage

  var text: String {
    var lines = [
      "duration     \(duration / .seconds(1)) s",
      "operations   \(tally.operations) (\(Int(Double(tally.operations) / (duration / .seconds(1)))) a second), \(events) events",
      "errors       \(tally.errors.count)",
      "memory       \(start.memory >> 10) KiB at the start, \(end.memory >> 10) KiB at the end",
      "descriptors  \(start.descriptors) at the start, \(end.descriptors) at the end",
      "wake-ups     \(wakeUps) in \(idle / .seconds(1)) s without a request",
      "replies      median \(latency(0.5)) µs, 99.9 % within \(latency(0.999)) µs, the slowest \(latency(1)) µs",
    ]
    for error in tally.errors.prefix(20) { lines.append("error: \(error)") }
    return lines.joined(separator: "\n")
  }

  var json: JSON {
    [
      "seconds": .real(duration / .seconds(1)), "operations": JSON(tally.operations), "events": JSON(events),
      "errors": .array(tally.errors.map(JSON.string)), "memory-at-start": JSON(start.memory),
      "memory-at-end": JSON(end.memory), "idle-seconds": .real(idle / .seconds(1)), "wake-ups": JSON(wakeUps),
      "descriptors-at-start": JSON(start.descriptors),
      "descriptors-at-end": JSON(end.descriptors), "median-answer-us": JSON(latency(0.5)),
      "worst-answer-us": JSON(latency(1)),
    ]
  }

  /// The time in microseconds within which a share of the replies arrived.
  private func latency(_ share: Double) -> UInt32 {
    let latencies = tally.latencies
    return latencies.isEmpty ? 0 : latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))]
  }
}

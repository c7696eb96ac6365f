import DBusValues
import Glibc
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// States at the limits: the cost of each input is proportionate to the number of items (L2).
@Suite(.serialized) struct CeilingTests {
  /// An input, and the state before it.
  enum Ceiling: String, CaseIterable, Sendable {
    case release, releaseOfGroups, releaseOfQueue, releaseForFallback, hold, holdersExpire, holdersOfClientLeft
    case clientLeft, parentEnds, chainEnds, stackPopped, stackPoppedByForce, stackReplaced, stackDeclined,
      stackOfParents
    case applyPresents, applyQueues, applyInterrupts, applySelects, applyDismissesQueue, applyEdits, applyScopes,
      applyPushes
    case dismissAll, presentersLeave, presentersReturn, presentersStayAway, answers, ends, restarts
    case expireAtOnce, expireInTurn, focusLost, starts, quit, resume, destinations, registrationsLeave, record

    /// The greatest number of items: those of two clients, or those of one request.
    var count: Int {
      switch self {
      case .releaseOfQueue, .releaseForFallback, .holdersExpire, .holdersOfClientLeft, .clientLeft, .stackPopped,
        .stackPoppedByForce, .stackReplaced, .stackDeclined, .stackOfParents, .applyPresents, .applyQueues,
        .applyInterrupts, .applySelects, .applyDismissesQueue, .applyEdits, .applyScopes, .applyPushes, .destinations,
        .registrationsLeave, .starts:
        1024
      default: 2048
      }
    }
  }

  private static let now = Instant(nanoseconds: 1_000_000_000)

  /// A state machine at a limit.
  private struct World: ~Copyable {
    var machine = StateMachine()
    var cookie: UInt64 = 0

    init(fallbacks: [BindingID: String] = [:]) {
      func destination(
        _ name: String, _ presenter: Destination.Presenter = .none, _ change: (inout ItemSettings) -> Void
      )
        -> Destination
      {
        var settings = ItemSettings()
        change(&settings)
        return Destination(
          name: name, presenter: presenter, source: RulesFixture.file(name), itemSettings: Shared(settings))
      }
      _ = machine.load([
        destination("postponed") { $0.holds = ["dnd": .postpone] },
        destination("dismissed") { $0.holds = ["dnd": .dismiss] },
        destination("kept") { $0.restoresAtLogin = true },
        destination("restarting", .command([[1]])) { $0.restart = RestartRule(.always) },
        destination("home") { _ in },
        Destination(name: "cmd", presenter: .command([[1]]), source: RulesFixture.file("cmd")),
        Destination(
          name: "window", presenter: .command([[1]]), source: RulesFixture.file("window"),
          window: WindowFollowing(endsUnfocused: true)),
        RulesFixture.bus("bus"),
      ])
      machine.load(groups: fallbacks.mapValues { GroupSettings(fallback: $0) })
    }

    /// Carries out requests, some in each transaction, half of them for each of two clients.
    mutating func ask(_ count: Int, _ request: (Int) throws -> Request.Operation) throws {
      for start in stride(from: 0, to: count, by: 512) {
        let requests = try (start..<min(count, start + 512)).map { Request(try request($0)) }
        _ = try machine.perform(requests, by: start < count / 2 ? "anna" : "bert", at: CeilingTests.now)
      }
    }

    mutating func show(_ count: Int) {
      for number in 1...count {
        _ = machine.report(.presentAnswered(Handle(UInt64(number)), error: nil), at: CeilingTests.now)
      }
    }

    mutating func hold() throws {
      cookie = try machine.hold(HoldRequest("dnd"), by: "anna", at: CeilingTests.now).cookie
    }

    mutating func report(_ count: Int, _ report: (Handle) -> Report) {
      for number in 1...count { _ = machine.report(report(Handle(UInt64(number))), at: CeilingTests.now) }
    }
  }

  private static func later(_ milliseconds: UInt64) -> Instant { now.after(milliseconds: milliseconds) }

  /// The processor time of an input with a number of items.
  private func cost(of ceiling: Ceiling, _ count: Int) throws -> Duration {
    let now = Self.now
    func name(_ number: Int, _ root: String = "i") -> BindingID { try! BindingID("\(root)[\(number)]") }
    func measure(_ world: inout World, _ body: (inout StateMachine) throws -> Void) rethrows -> Duration {
      let start = ProcessorTime.now
      try body(&world.machine)
      return ProcessorTime.now - start
    }
    func path(_ count: Int, _ id: String) -> [RequestedElement] {
      (0..<count).map { _ in RequestedElement(binding: nil, id: id) }
    }
    func requests(_ count: Int, _ operation: (Int) -> Request.Operation) -> [Request] {
      (0..<count).map { Request(operation($0)) }
    }
    var world = World(fallbacks: ceiling == .releaseForFallback ? ["g": "home"] : [:])
    switch ceiling {
    case .release, .releaseOfGroups, .releaseOfQueue, .releaseForFallback:
      try world.hold()
      if ceiling == .releaseOfQueue { try world.ask(1) { .present(name($0, "first"), id: "", .with(group: "g")) } }
      try world.ask(count) { number in
        let group = ceiling == .release ? nil : ceiling == .releaseOfGroups ? name(number / 4, "g") : "g"
        return .present(name(number), id: "", .with(to: "postponed", group: group, ifBusy: group == nil ? nil : .queue))
      }
      let cookie = world.cookie
      return measure(&world) { _ = $0.releaseHold("dnd", cookie: cookie, at: now) }
    case .hold:
      try world.ask(count) { .present(name($0), id: "", .with(to: "dismissed")) }
      return try measure(&world) { _ = try $0.hold(HoldRequest("dnd"), by: "anna", at: now) }
    case .holdersExpire, .holdersOfClientLeft:
      for _ in 0..<count {
        _ = try world.machine.hold(HoldRequest("dnd", isOwned: true, timeout: 1000), by: "anna", at: now)
      }
      return measure(&world) {
        _ = ceiling == .holdersExpire ? $0.expire(at: Self.later(1000)) : $0.clientLeft("anna", at: now)
      }
    case .clientLeft:
      try world.ask(count) { .present(name($0), id: "", .with(group: name($0, "g"), owned: true)) }
      return measure(&world) {
        _ = $0.clientLeft("anna", at: now)
        _ = $0.clientLeft("bert", at: now)
      }
    case .parentEnds, .chainEnds:
      try world.ask(count) { number in
        let from = ceiling == .parentEnds ? 0 : number - 1
        return .present(name(number), id: "", .with(from: number == 0 ? nil : name(from, "i")))
      }
      return try measure(&world) { _ = try $0.perform(Request(.dismiss(name(0, "i"))), by: "anna", at: now) }
    case .stackPopped, .stackPoppedByForce, .stackReplaced, .stackDeclined, .stackOfParents:
      let destination = ceiling == .stackPoppedByForce || ceiling == .stackDeclined ? "bus" : nil
      try world.ask(count) { .push("s", name($0, "s"), id: "a", .with(to: destination)) }
      world.show(ceiling == .stackPoppedByForce ? count / 2 : count)
      if ceiling == .stackOfParents {
        try world.ask(count) { .present(name($0, "child"), id: "", .with(from: name($0, "s"))) }
      }
      if ceiling == .stackDeclined {
        _ = try world.machine.perform(Request(.popTo("s", nil)), by: "anna", at: now)
        return measure(&world) { _ = $0.report(.declined(Handle(UInt64(count)), message: ""), at: now) }
      }
      let request: Request =
        switch ceiling {
        case .stackPopped: Request(.pop("s", count: UInt32(count)))
        case .stackPoppedByForce: Request(.popTo("s", nil), isForced: true)
        default: Request(.setPath("s", path(count, "b")))
        }
      return try measure(&world) { _ = try $0.perform(request, by: "anna", at: now) }
    case .applyPresents, .applyInterrupts, .applySelects:
      let all = requests(count) {
        switch ceiling {
        case .applyPresents: .present(name($0), id: "", .with(to: "bus"))
        case .applyInterrupts: .present(name($0), id: "", .with(group: "g", ifBusy: .interrupt))
        default: .select("g", tag: "t\($0)", binding: nil, id: nil, .with())
        }
      }
      return try measure(&world) { _ = try $0.perform(all, by: "anna", at: now) }
    case .applyQueues, .applyDismissesQueue:
      try world.ask(1) { .present(name($0, "first"), id: "", .with(group: "g")) }
      let all = requests(count - 1) {
        .present(name($0), id: "", .with(group: "g", ifBusy: .queue, priority: Int32($0 % 7)))
      }
      if ceiling == .applyQueues { return try measure(&world) { _ = try $0.perform(all, by: "anna", at: now) } }
      _ = try world.machine.perform(all, by: "anna", at: now)
      let dismissals = requests(count - 1) { .dismiss(name($0, "i")) }
      return try measure(&world) { _ = try $0.perform(dismissals, by: "anna", at: now) }
    case .applyEdits:
      let value: Properties = Dictionary(uniqueKeysWithValues: (0..<30 * count).map { ("k\($0)", .int32(1)) })
      try world.ask(1) { .present(name($0, "i"), id: "", .with(value: value)) }
      let all = requests(count) {
        .update(name(0, "i"), value: ["n": .int32(Int32($0))], remove: ["k\($0)"], containerValues: nil, timeout: nil)
      }
      return try measure(&world) { _ = try $0.perform(all, by: "anna", at: now) }
    case .applyScopes:
      try world.ask(count) { .present(name($0, "i"), id: "", .with()) }
      let all = (0..<count).map { Request(.dismissAll($0 % 2 == 0 ? .everything : .root("i")), isForced: true) }
      return try measure(&world) { _ = try $0.perform(all, by: "anna", at: now) }
    case .applyPushes:
      let all = requests(count) { .push("s", name($0, "i"), id: "", .with()) }
      return try measure(&world) { _ = try $0.perform(all, by: "anna", at: now) }
    case .dismissAll:
      try world.ask(count) {
        .present(name($0), id: "", .with(to: $0 % 2 == 0 ? "bus" : nil, group: name($0 / 2, "g")))
      }
      return try measure(&world) { _ = try $0.perform(Request(.dismissAll(.everything)), by: "anna", at: now) }
    case .presentersLeave, .presentersReturn, .presentersStayAway:
      try world.ask(count) { .present(name($0), id: "", .with(to: "bus")) }
      world.show(count)
      if ceiling == .presentersLeave {
        return measure(&world) { machine in
          for number in 1...count { _ = machine.report(.presenterLeft(Handle(UInt64(number))), at: now) }
        }
      }
      world.report(count) { .presenterLeft($0) }
      return try measure(&world) {
        if ceiling == .presentersReturn {
          _ = try $0.register(RulesFixture.bus("bus", source: .client("bar")), by: "bar", at: now)
        } else {
          _ = $0.expire(at: Self.later(2000))
        }
      }
    case .answers, .ends, .restarts:
      try world.ask(count) { .present(name($0), id: "", .with(to: ceiling == .restarts ? "restarting" : "cmd")) }
      if ceiling != .answers { world.show(count) }
      return measure(&world) { machine in
        for number in 1...count {
          let handle = Handle(UInt64(number))
          let report: Report =
            ceiling == .answers ? .presentAnswered(handle, error: nil) : .ended(handle, failed: true, result: [:])
          _ = machine.report(report, at: now)
        }
      }
    case .expireAtOnce, .expireInTurn:
      try world.ask(count) {
        .present(name($0), id: "", .with(timeout: ceiling == .expireAtOnce ? 1000 : 1000 + UInt64($0)))
      }
      return measure(&world) { machine in
        while let due = machine.nextDeadline { _ = machine.expire(at: due) }
      }
    case .focusLost:
      try world.ask(count) { number in
        .present(name(number), id: "", .with(to: "window", from: number == 0 ? nil : name(number - 1, "i")))
      }
      world.show(count)
      _ = world.machine.report(.focused(Handle(UInt64(count)), isOwn: false), at: now)
      return measure(&world) { _ = $0.report(.focused(nil, isOwn: false), at: now) }
    case .starts:
      try world.ask(count) { .present(name($0), id: "a", .with(to: "cmd")) }
      world.show(count)
      try world.ask(count) { .present(name($0), id: "b", .with(to: "cmd")) }
      return measure(&world) { machine in
        for number in 1...count { _ = machine.report(.dismissAnswered(Handle(UInt64(number)), result: [:]), at: now) }
      }
    case .quit:
      try world.ask(count) { .present(name($0), id: "", .with(to: "cmd", group: name($0, "g"))) }
      return measure(&world) { _ = $0.shutDown(by: "anna", at: now) }
    case .resume, .record:
      let empty = try StateMachine(restoring: RecordedState())
      world.machine = empty
      try world.ask(count) {
        .present(name($0), id: "", .with(group: name($0 / 2, "g"), owned: true, ifBusy: .queue, command: ["x"]))
      }
      var disk = RecordedState()
      if ceiling == .record { return measure(&world) { disk.apply($0.takeUnrecorded()) } }
      disk.apply(world.machine.takeUnrecorded())
      return try measure(&world) {
        $0 = try StateMachine(restoring: disk)
        let survivals = $0.survivors.map { ($0.handle, Survival.toBeShown) }
        _ = $0.resume(Dictionary(uniqueKeysWithValues: survivals), absent: ["anna"], at: now)
      }
    case .destinations:
      let files = (0..<count).map {
        Destination(name: "d\($0)", presenter: .none, group: "g", source: RulesFixture.file("d\($0)"))
      }
      return measure(&world) { for _ in 0..<2 { _ = $0.load(files) } }
    case .registrationsLeave:
      for number in 0..<count {
        let destination = RulesFixture.bus("d\(number)", group: "g", source: .client("bar"))
        _ = try world.machine.register(destination, by: "bar", at: now)
      }
      return measure(&world) { _ = $0.clientLeft("bar", at: now) }
    }
  }

  @Test("L2: the cost of an input at the limits is proportionate to the number of items", arguments: Ceiling.allCases)
  func input_atTheLimit_costsInProportion(_ ceiling: Ceiling) throws {
    // States of half the size in an ordinary run: setting them up takes most of the time.
    let many = getenv("NAVD_TEST_THOROUGH") != nil ? ceiling.count : ceiling.count / 2
    let few = many / 4
    // The lowest of several costs is that without other programs. A cost that grows with the square would be sixteen times as much.
    var (ofMany, ofFew) = (Duration.seconds(1000), Duration.seconds(1000))
    for _ in 0..<8 {
      ofMany = min(ofMany, try cost(of: ceiling, many))
      ofFew = min(ofFew, try cost(of: ceiling, few))
      if ofMany < ofFew * 6 { break }
    }
    print("ceiling \(ceiling.rawValue): \(many) items \(ofMany), \(few) items \(ofFew), ratio \(ofMany / ofFew)")
    #expect(ofMany < ofFew * 8, "\(ofMany) for \(many), \(ofFew) for \(few)")
  }
}

/// The processor time of the thread.
private enum ProcessorTime {
  static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

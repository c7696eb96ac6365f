import CoordinatorAPI
import DBus
import DBusValues
import EventLoops

/// Requests over the bus, compared with the cheapest services that send the same messages.
struct BusBenchmark {
  private typealias Rows = CoordinatorInterface
  let harness: Harness
  let rounds: Int
  /// The number of calls in a round.
  let calls: Int
  /// The time for which a watcher stops reading.
  let stall: Duration

  func run(into report: inout Report) throws {
    try measureFlight(into: &report)
    try measureTransaction(into: &report)
    try measureReading(into: &report)
    try measureFresh(into: &report)
    try measureWatched(into: &report)
    try measureStall(into: &report)
  }

  // MARK: Presenting

  /// Measures Present beside the echo and the bare echo, with more and more watchers.
  private func measureWatched(into report: inout Report) throws {
    for count in [0, 1, 10, 100] {
      let watchers = count == 0 ? nil : try harness.startWatchers(count)
      let time = { (call: (Int) throws -> Void) in
        count == 0
          ? try medianNanoseconds(of: calls, call)
          : try harness.meanNanoseconds(of: calls, watchedBy: count, call)
      }
      let results = try alternating(
        rounds,
        [
          { try time { try present($0, CoordinatorNames.bus) } },
          { try time { try present($0, BareEcho.name) } },
          { try time(echo) },
        ])
      let audience = count == 0 ? "no watcher" : count == 1 ? "1 watcher" : "\(count) watchers"
      let subject = "Present, another id each time, \(audience)"
      if count <= 1 {
        report.compare(
          subject, with: "dbus-test-tool echo", results[0], results[2], goal: .atMost(count == 0 ? 1.7 : 1.6))
        report.compare("the bare echo's Present, \(audience)", with: "dbus-test-tool echo", results[1], results[2])
      }
      report.compare(
        subject, with: "the bare echo", results[0], results[1], goal: .atMost(1.25, onOneProcessor: true))
      if let watchers { harness.stop(watchers) }
    }
  }

  /// Measures Present in an empty slot: no item is replaced, so there is one signal less. The slots are emptied between rounds.
  private func measureFresh(into report: inout Report) throws {
    let results = try alternating(
      rounds,
      [
        {
          defer { _ = try? harness.call(Rows.dismissAll, ["all": .boolean(true)]) }
          return try medianNanoseconds(of: calls) { index in
            try roundTrip("Present", [.string("bench.fresh[\(index)]"), .string(""), Properties().value])
          }
        },
        { () throws in try medianNanoseconds(of: calls, echo) },
      ])
    report.compare(
      "Present, another binding each time, no watcher", with: "dbus-test-tool echo", results[0], results[1],
      goal: .atMost(1.7))
  }

  /// Measures many pending requests at a time, without watchers.
  private func measureFlight(into report: inout Report) throws {
    let atATime = 64
    let results = try alternating(
      rounds,
      [
        { () throws in try callsPerSecond(atATime) { try Self.presenting($0, CoordinatorNames.bus) } },
        { () throws in try callsPerSecond(atATime) { try Self.presenting($0, Harness.echo) } },
      ])
    report.compare(
      "Present, \(atATime) under way, no watcher", with: "dbus-test-tool echo", results[0], results[1],
      unit: .perSecond, goal: .atLeast(0.5))
  }

  private func callsPerSecond(_ atATime: Int, _ message: (Int) throws -> OutgoingMessage) throws -> Double {
    let total = max(calls, 4 * atATime)
    var (started, done) = (0, 0)
    var failure: (any Error)?
    let time = try nanoseconds {
      while done < total, failure == nil {
        while started < total, started - done < atATime {
          harness.connection.call(try message(started), timeout: nil) { result in
            if case .failure(let error) = result { failure = error }
            done += 1
          }
          started += 1
        }
        harness.loop.turn(wait: .seconds(10))
      }
    }
    if let failure { throw failure }
    return Double(total) / time * 1e9
  }

  /// Measures one transaction that replaces a thousand items.
  private func measureTransaction(into report: inout Report) throws {
    var id = 0
    let apply = { (service: BusName) in
      id += 1
      let requests = (0..<1000).map { TransactionRequest.present("bench.list[\($0)]", "\(id)") }
      return try nanoseconds {
        _ = try harness.connection.callAndWait(
          Rows.apply, on: service, at: CoordinatorNames.object, (requests, [:]))
      }
    }
    let results = try alternating(rounds, [{ try apply(CoordinatorNames.bus) }, { try apply(BareEcho.name) }])
    report.compare("Apply of 1 000 requests", with: "the bare echo", results[0], results[1], goal: .atMost(1.15))
    _ = try harness.call(Rows.dismissAll, ["all": .boolean(true)])
  }

  // MARK: Reading

  private func measureReading(into report: inout Report) throws {
    for index in 0..<10 { _ = try harness.call(Rows.present, ("bench.other[\(index)]", "", [:])) }
    let results = try alternating(
      rounds,
      [
        { try medianNanoseconds(of: calls) { _ in try roundTrip("Get", [.string("bench.other[3]")]) } },
        { try medianNanoseconds(of: calls, echo) },
      ])
    report.compare("Get", with: "dbus-test-tool echo", results[0], results[1], goal: .atMost(1.1))
    try measureState("10", into: &report)
    try harness.fill(10_000) { .present("bench.item[\($0)]") }
    try measureState("10 000", into: &report)
    _ = try harness.call(Rows.dismissAll, ["all": .boolean(true)])
  }

  /// Measures the whole state, beside a service that sends as many bytes.
  private func measureState(_ count: String, into report: inout Report) throws {
    _ = try harness.connection.callAndWait(Rows.reload, on: BareEcho.name, at: CoordinatorNames.object, ())
    let states = { (service: BusName) in
      try medianNanoseconds(of: count == "10" ? calls : 10) { _ in
        try roundTrip(Self.message("GetState", service, []))
      }
    }
    let results = try alternating(rounds, [{ try states(CoordinatorNames.bus) }, { try states(BareEcho.name) }])
    report.compare(
      "GetState, \(count) presentations", with: "the bare echo", results[0], results[1], goal: .atMost(1.25))
  }

  // MARK: Stalled watcher

  private func measureStall(into report: inout Report) throws {
    let watchers = try harness.startWatchers(1)
    var (before, during): ([Double], [Double]) = ([], [])
    for _ in 0..<rounds { before.append(try medianNanoseconds(of: calls) { try present($0, CoordinatorNames.bus) }) }
    harness.stall(watchers)
    let end = MonotonicInstant.now + stall
    repeat {
      during.append(try medianNanoseconds(of: calls) { try present($0, CoordinatorNames.bus) })
    } while MonotonicInstant.now < end || during.count < rounds
    harness.stop(watchers)
    let middle = median(before)
    report.compare(
      "Present while a watcher reads nothing for \(stall.components.seconds) s", with: "before that", during,
      during.map { _ in middle }, goal: .atMost(1.1))
  }

  // MARK: Calls

  private func present(_ id: Int, _ service: BusName) throws { try roundTrip(Self.presenting(id, service)) }

  /// Sends the same arguments to a service that only replies.
  private func echo(_ id: Int) throws { try roundTrip(Self.presenting(id, Harness.echo)) }

  private func roundTrip(_ method: MemberName, _ arguments: [Value]) throws {
    try roundTrip(Self.message(method, CoordinatorNames.bus, arguments))
  }

  /// Makes a call without reading the reply, so that the client's part is the same for all services.
  private func roundTrip(_ call: OutgoingMessage) throws { _ = try harness.connection.callAndWait(call) }

  private static func presenting(_ id: Int, _ service: BusName) throws -> OutgoingMessage {
    try message("Present", service, [.string("bench.fact"), .string(String(id)), Properties().value])
  }

  private static func message(
    _ method: MemberName, _ service: BusName, _ arguments: [Value]
  ) throws -> OutgoingMessage {
    try .call(method, of: Rows.name, on: service, at: CoordinatorNames.object, arguments)
  }
}

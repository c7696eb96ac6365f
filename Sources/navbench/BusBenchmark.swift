// Why this file exists: what a request costs over the bus, beside the cheapest answers that the bus can carry.

import CoordinatorAPI
import DBus
import DBusValues
import EventLoops

/// Round trips of calls.
struct BusBenchmark {
  private typealias Rows = CoordinatorInterface
  private let peers: Peers
  private let rounds: Int
  private let calls: Int
  private let stall: Duration

  /// - Parameter stall: for how long a watcher reads nothing.
  init(_ peers: Peers, rounds: Int, calls: Int, stall: Duration) {
    self.peers = peers
    self.rounds = rounds
    self.calls = calls
    self.stall = stall
  }

  func run(into report: inout Report) throws {
    try measureFlight(into: &report)
    try measureTransaction(into: &report)
    try measureReading(into: &report)
    try measureFresh(into: &report)
    try measureWatched(into: &report)
    try measureStall(into: &report)
  }

  // MARK: Presenting

  /// Present, beside the echo and the bare echo, with more and more watchers.
  private func measureWatched(into report: inout Report) throws {
    for count in [0, 1, 10, 100] {
      let watchers = count == 0 ? nil : try peers.startWatchers(count)
      let results = try alternating(
        rounds,
        [
          { () throws in try medianNanoseconds(of: calls) { try present($0, CoordinatorNames.bus) } },
          { () throws in try medianNanoseconds(of: calls) { try present($0, BareEcho.name) } },
          { () throws in try medianNanoseconds(of: calls, echo) },
        ])
      let audience = count == 0 ? "no watcher" : count == 1 ? "1 watcher" : "\(count) watchers"
      let subject = "Present, another id each time, \(audience)"
      if count <= 1 {
        report.add(
          Comparison(
            subject: subject, peer: "dbus-test-tool echo", subjects: results[0], peers: results[2],
            target: .atMost(count == 0 ? 1.7 : 1.6)))
        report.add(
          Comparison(
            subject: "the bare echo's Present, \(audience)", peer: "dbus-test-tool echo", subjects: results[1],
            peers: results[2]))
      }
      report.add(
        Comparison(
          subject: subject, peer: "the bare echo, the same watchers", subjects: results[0], peers: results[1],
          target: .atMost(1.15)))
      if let watchers { peers.stop(watchers) }
    }
  }

  /// A slot that held nothing: nothing has to go, so it is told of one thing less. The slots are emptied between rounds.
  private func measureFresh(into report: inout Report) throws {
    let results = try alternating(
      rounds,
      [
        {
          defer { _ = try? peers.call(Rows.dismissAll, ["all": .boolean(true)]) }
          return try medianNanoseconds(of: calls) { index in
            try roundTrip("Present", [.string("bench.fresh[\(index)]"), .string(""), Properties().value])
          }
        },
        { () throws in try medianNanoseconds(of: calls, echo) },
      ])
    report.add(
      Comparison(
        subject: "Present, another binding each time, no watcher", peer: "dbus-test-tool echo", subjects: results[0],
        peers: results[1], target: .atMost(1.7)))
  }

  /// Many requests under way at a time, nobody watching.
  private func measureFlight(into report: inout Report) throws {
    let atATime = 64
    let results = try alternating(
      rounds,
      [
        { () throws in try callsPerSecond(atATime) { try Self.presenting($0, CoordinatorNames.bus) } },
        { () throws in try callsPerSecond(atATime) { try Self.presenting($0, Peers.echo) } },
      ])
    report.add(
      Comparison(
        subject: "Present, \(atATime) under way, no watcher", peer: "dbus-test-tool echo", unit: .perSecond,
        subjects: results[0], peers: results[1], target: .atLeast(0.5)))
  }

  private func callsPerSecond(_ atATime: Int, _ message: (Int) throws -> OutgoingMessage) throws -> Double {
    let total = max(calls, 4 * atATime)
    var (begun, done) = (0, 0)
    var failure: (any Error)?
    let time = try nanoseconds {
      while done < total, failure == nil {
        while begun < total, begun - done < atATime {
          peers.connection.call(try message(begun), timeout: nil) { result in
            if case .failure(let error) = result { failure = error }
            done += 1
          }
          begun += 1
        }
        peers.loop.turn(wait: .seconds(10))
      }
    }
    if let failure { throw failure }
    return Double(total) / time * 1e9
  }

  private func measureTransaction(into report: inout Report) throws {
    let count = 1000
    let binding = { (index: Int) in "bench.list[\(index)]" }
    var id = 0
    let results = try alternating(
      rounds,
      [
        {
          id += 1
          return try nanoseconds {
            for index in 0..<count { _ = try peers.call(Rows.present, (binding(index), "\(id)", [:])) }
          }
        },
        {
          id += 1
          let requests: [Structure<String, [Value]>] = (0..<count).map {
            Structure("Present", [.string(binding($0)), .string("\(id)"), Properties().value])
          }
          return try nanoseconds { _ = try peers.call(Rows.apply, (requests, [:])) }
        },
      ])
    report.add(
      Comparison(
        subject: "1 000 Present, one after another", peer: "Apply of 1 000 requests", subjects: results[0],
        peers: results[1], target: .atLeast(20)))
    _ = try peers.call(Rows.dismissAll, ["all": .boolean(true)])
  }

  // MARK: Reading

  private func measureReading(into report: inout Report) throws {
    for index in 0..<10 { _ = try peers.call(Rows.present, ("bench.other[\(index)]", "", [:])) }
    let results = try alternating(
      rounds,
      [
        { try medianNanoseconds(of: calls) { _ in try roundTrip("Get", [.string("bench.other[3]")]) } },
        { try medianNanoseconds(of: calls) { _ in try roundTrip("GetState", []) } },
        { try medianNanoseconds(of: calls, echo) },
      ])
    for (index, subject, target) in [(0, "Get", 1.1), (1, "GetState, ten presentations", 1.25)] {
      report.add(
        Comparison(
          subject: subject, peer: "dbus-test-tool echo", subjects: results[index], peers: results[2],
          target: .atMost(target)))
    }
    _ = try peers.call(Rows.dismissAll, ["all": .boolean(true)])
  }

  // MARK: A watcher that does not read

  private func measureStall(into report: inout Report) throws {
    let watchers = try peers.startWatchers(1)
    var (before, during): ([Double], [Double]) = ([], [])
    for _ in 0..<rounds { before.append(try medianNanoseconds(of: calls) { try present($0, CoordinatorNames.bus) }) }
    peers.stall(watchers)
    let end = MonotonicInstant.now + stall
    repeat {
      during.append(try medianNanoseconds(of: calls) { try present($0, CoordinatorNames.bus) })
    } while MonotonicInstant.now < end || during.count < rounds
    peers.stop(watchers)
    let middle = median(before)
    report.add(
      Comparison(
        subject: "Present while a watcher reads nothing for \(stall.components.seconds) s", peer: "before that",
        subjects: during, peers: during.map { _ in middle }, target: .atMost(1.1)))
  }

  // MARK: Calls

  private func present(_ id: Int, _ service: BusName) throws { try roundTrip(Self.presenting(id, service)) }

  /// The same arguments to somebody who only answers.
  private func echo(_ id: Int) throws { try roundTrip(Self.presenting(id, Peers.echo)) }

  private func roundTrip(_ method: MemberName, _ arguments: [Value]) throws {
    try roundTrip(Self.message(method, CoordinatorNames.bus, arguments))
  }

  /// Whoever answers, the client does the same: what an answer holds is not looked at.
  private func roundTrip(_ call: OutgoingMessage) throws { _ = try peers.connection.callAndWait(call) }

  private static func presenting(_ id: Int, _ service: BusName) throws -> OutgoingMessage {
    try message("Present", service, [.string("bench.fact"), .string(String(id)), Properties().value])
  }

  private static func message(
    _ method: MemberName, _ service: BusName, _ arguments: [Value]
  ) throws -> OutgoingMessage {
    try .call(method, of: Rows.name, on: service, at: CoordinatorNames.object, arguments)
  }
}

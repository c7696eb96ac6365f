// Why this file exists: what a request costs over the bus, beside the cheapest answer that the bus can carry.

import CoordinatorAPI
import DBus
import DBusValues

/// Round trips of single calls.
struct BusBenchmark {
  private let peers: Peers
  private let rounds: Int
  private let calls: Int

  init(_ peers: Peers, rounds: Int, calls: Int) {
    self.peers = peers
    self.rounds = rounds
    self.calls = calls
  }

  func run(into report: inout Report) throws {
    let another = try compare {
      try present(id: $0)
    } with: {
      try echo(id: $0)
    }
    report.comparisons.append(
      Comparison(
        subject: "Present, state only, another id each time", peer: "dbus-test-tool echo",
        subjectMedians: another.subject, peerMedians: another.peer, target: 1.7))
    let state = try compare { _ in
      try getState()
    } with: {
      try echo(id: $0)
    }
    report.comparisons.append(
      Comparison(
        subject: "GetState, one presentation", peer: "dbus-test-tool echo", subjectMedians: state.subject,
        peerMedians: state.peer, target: nil))
    for index in 1..<10 {
      _ = try call(CoordinatorInterface.present, ("bench.other[\(index)]", "", [:]))
    }
    let ten = try compare { _ in
      try getState()
    } with: {
      try echo(id: $0)
    }
    report.comparisons.append(
      Comparison(
        subject: "GetState, ten presentations", peer: "dbus-test-tool echo", subjectMedians: ten.subject,
        peerMedians: ten.peer, target: nil))
  }

  private func compare(
    _ subject: (Int) throws -> Void, with peer: (Int) throws -> Void
  ) throws -> (subject: [Double], peer: [Double]) {
    _ = try medianNanoseconds(of: calls / 4 + 1, subject)
    var medians: (subject: [Double], peer: [Double]) = ([], [])
    for _ in 0..<rounds {
      medians.peer.append(try medianNanoseconds(of: calls, peer))
      medians.subject.append(try medianNanoseconds(of: calls, subject))
    }
    return medians
  }

  private func present(id: Int) throws {
    _ = try call(CoordinatorInterface.present, ("bench.fact", String(id), [:]))
  }

  private func getState() throws { _ = try call(CoordinatorInterface.getState, ()) }

  /// The same arguments to somebody who only answers.
  private func echo(id: Int) throws {
    try peers.connection.callAndWait(
      Self.echoed, on: Peers.echo, at: CoordinatorNames.object, ("bench.fact", String(id), [:]))
  }

  private static let echoed = Method(
    "org.navd.Bench", "Present", in: Arg<String>("binding"), Arg<String>("id"), Arg<Properties>("options"))

  private func call<Input, Output>(_ method: Method<Input, Output>, _ input: Input) throws -> Output {
    try peers.connection.callAndWait(method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input)
  }
}

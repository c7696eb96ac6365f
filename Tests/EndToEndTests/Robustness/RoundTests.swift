import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import TestSupport
import Testing

// Clients that ask for as much as they can, without a pause, with as many items as there may be: others are served in between (L2).

private typealias Rows = CoordinatorInterface

/// The calls that an attacker keeps unanswered.
private let callsAtOnce = 8
/// An attacker's answers while one honest call waits, at most: those on their way before it, those to the calls that navd had read before it,
/// and one of its round.
private let mostAnswers = 2 * callsAtOnce + 1

/// A client that keeps some calls unanswered, and makes another one for each answer.
private final class Attacker {
  let client: Connection
  private(set) var answers = 0
  private var isStopped = false
  private let call: (Connection, @escaping () -> Void) -> Void

  init<Input, Output>(
    _ session: Session, _ method: Method<Input, Output>, _ input: Input
  ) throws {
    client = try session.connect()
    call = { client, completion in
      client.call(
        method, on: CoordinatorNames.bus, at: CoordinatorNames.object, input, timeout: nil
      ) { _ in completion() }
    }
    for _ in 0..<callsAtOnce { begin() }
  }

  private func begin() {
    guard !isStopped else { return }
    call(client) { [weak self] in
      self?.answers += 1
      self?.begin()
    }
  }

  func stop() { isStopped = true }
}

extension Session {
  /// Presents as many state-only items as a client may have, by two clients.
  fileprivate func presentManyItems(_ options: Properties = .state) throws {
    for number in 0..<2 {
      let client = try connect()
      for start in stride(from: 0, to: 1000, by: 250) {
        let requests = (start..<start + 250).map { index -> TransactionRequest in
          TransactionRequest("Present", [.string("many[\(number * 1000 + index)]"), .string(""), options.value])
        }
        try call(Rows.apply, (requests, [:]), by: client)
      }
    }
  }

  /// Has an honest client make small calls, one after the other.
  /// - Returns: the most answers that the attacker got while one of them waited, and the longest wait.
  fileprivate func measure(beside attacker: Attacker, calls: Int = 20) throws -> (answers: Int, longest: Duration) {
    let honest = try connect()
    var (most, longest) = (0, Duration.zero)
    for _ in 0..<calls {
      let (answers, start) = (attacker.answers, loop.now)
      let pending = begin(Rows.get, "nothing", by: honest)
      try wait("the honest client is answered") { pending.result != nil }
      most = max(most, attacker.answers - answers)
      longest = max(longest, loop.now - start)
    }
    attacker.stop()
    return (most, longest)
  }
}

@Suite struct RoundTests {
  @Test("L2: beside a client that asks for the whole state without a pause, another is served in each round")
  func rounds_clientInLoopOfGetState_leavesOthersTheirTurn() throws {
    let session = try Session()
    try session.presentManyItems()
    let attacker = try Attacker(session, Rows.getState, ())
    let (answers, longest) = try session.measure(beside: attacker)
    print("GetState: the attacker got \(answers) answers during an honest call, which took \(longest) at most")
    #expect(answers <= mostAnswers)
  }

  @Test("L2: beside a client that asks for all objects without a pause, another is served in each round")
  func rounds_clientInLoopOfGetManagedObjects_leavesOthersTheirTurn() throws {
    let session = try Session()
    try session.presentManyItems()
    let attacker = try Attacker(session, ObjectManagement.getManagedObjects, ())
    let (answers, longest) = try session.measure(beside: attacker)
    print("GetManagedObjects: the attacker got \(answers) answers during an honest call, which took \(longest) at most")
    #expect(answers <= mostAnswers)
  }

  @Test("L2: beside a client that holds and releases what 2000 items wait for, another is served in each round")
  func rounds_holdersOfManyItems_leaveOthersTheirTurn() throws {
    let session = try Session()
    try session.write("state = true\nholds = { dnd = \"postpone\", other = \"postpone\" }\n", toDestination: "held")
    try session.call(Rows.reload, ())
    let first = try session.call(Rows.hold, ("dnd", [:]))
    try session.presentManyItems(["destination": .string("held")])
    // Each is a second holder, for all items.
    let attacker = try Attacker(session, Rows.hold, ("other", ["owned": .boolean(true)]))
    let (answers, longest) = try session.measure(beside: attacker)
    print("Hold: the attacker got \(answers) answers during an honest call, which took \(longest) at most")
    #expect(answers <= mostAnswers)
    // All holders leave in one turn. The items still wait for the first.
    attacker.client.close()
    #expect(try session.call(Rows.get, "many[0]").1[StateEntry.keys.phase] == "waiting")
    let release = session.begin(Rows.releaseHold, ("dnd", first))
    let honest = try session.connect()
    let start = session.loop.now
    _ = try session.call(Rows.get, "nothing", by: honest)
    print("ReleaseHold: an honest call took \(session.loop.now - start)")
    _ = try session.answer(to: release)
    try session.poll("the items are there") {
      try session.call(Rows.get, "many[1999]").1[StateEntry.keys.phase] == "presented"
    }
  }
}

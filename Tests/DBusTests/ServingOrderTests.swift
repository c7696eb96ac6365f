import DBusValues
import EventLoops
import Testing

@testable import DBus

/// The order in which calls of several clients are served (L2), without a bus.
@Suite struct ServingOrderTests {
  /// The output of a connection, as a test wants it.
  private final class Output: ServingOutput {
    var isOpen = true
    var outgoingSize = 0
    var turnSize = 0
    var isCongested = false
    var isQuiet = true
    var stalled: Set<BusName> = []
    func isStalled(_ client: BusName) -> Bool { stalled.contains(client) }
  }

  private static let anna: BusName = ":1.1"
  private static let bert: BusName = ":1.2"
  private static let refusal = DBusError(name: "org.example.TooMuch", message: "too much")

  private final class World {
    private final class Clock { var now = MonotonicInstant.now }

    let output = Output()
    let order: ServingOrder
    var served: [String] = []
    private let loop: EventLoop
    private let clock = Clock()

    init(_ limits: Connection.Limits = Connection.Limits()) throws {
      loop = try EventLoop(clock: { [clock] in clock.now })
      order = ServingOrder(loop: loop, limits: limits, output: output)
    }

    /// Lets time pass.
    func pass(_ time: Duration) { clock.now = clock.now + time }

    /// A call arrives. It takes some time, and makes some output.
    func call(_ name: String, by client: BusName, taking time: Duration = .zero, making size: Int = 0) {
      let serve = {
        self.served.append(name)
        self.pass(time)
        self.output.turnSize += size
      }
      order.yieldingToOthers(client) {
        do throws(DBusError) {
          try order.withArguments(by: client, { budget throws(DBusError) in budget -= 100 }) { _, held in
            if let held { held.append(serve) } else { serve() }
          }
        } catch {
          served.append("\(name) refused")
        }
      }
    }

    /// A call with a large reply arrives.
    func callLarge(_ name: String, by client: BusName) {
      order.serveAlone(client, preparing: nil, refuse: { _ in self.served.append("\(name) refused") }) {
        self.served.append(name)
        self.output.outgoingSize = 1 << 20
      }
    }

    /// A turn ends, and the next one begins.
    func turn() {
      order.serveNext()
      output.turnSize = 0
      loop.turn(wait: .zero)
    }
  }

  @Test("P9: held calls wait in their order until their client was released as often as it was held")
  func hold_twice_waitsForTwoReleases() throws {
    let world = try World()
    for _ in 0..<2 { world.order.hold(Self.anna, refusing: Self.refusal) }
    world.call("a1", by: Self.anna)
    world.call("a2", by: Self.anna)
    world.call("b1", by: Self.bert)
    world.order.release(Self.anna)
    world.turn()
    #expect(world.served == ["b1"])
    world.order.release(Self.anna)
    #expect(world.served == ["b1", "a1", "a2"])
  }

  @Test("L1: held calls beyond the limit of a client are refused, and those of others are not")
  func hold_beyondTheLimit_isRefused() throws {
    var limits = Connection.Limits()
    limits.requestBytes = 900
    let world = try World(limits)
    for client in [Self.anna, Self.bert] { world.order.hold(client, refusing: Self.refusal) }
    for number in 1...3 { world.call("a\(number)", by: Self.anna) }
    world.call("b1", by: Self.bert)
    #expect(world.served == ["a3 refused"])
    for client in [Self.anna, Self.bert] { world.order.release(client) }
    #expect(world.served == ["a3 refused", "a1", "a2", "b1"])
    #expect(world.order.heldBytes == 0)
  }

  @Test("L2: held calls are served over several turns, between the calls of others")
  func release_manyCalls_takesSeveralTurns() throws {
    var limits = Connection.Limits()
    limits.messagesPerTurn = 2
    let world = try World(limits)
    world.order.hold(Self.anna, refusing: Self.refusal)
    for number in 1...5 { world.call("a\(number)", by: Self.anna) }
    world.order.release(Self.anna)
    world.call("b1", by: Self.bert)
    #expect(world.served == ["a1", "a2", "b1"])
    world.turn()
    world.call("b2", by: Self.bert)
    #expect(world.served == ["a1", "a2", "b1", "a3", "a4", "b2"])
    world.turn()
    #expect(world.served.last == "a5")
  }

  @Test("W3: held calls wait while the bus does not read")
  func release_congested_waitsForRoom() throws {
    let world = try World()
    world.order.hold(Self.anna, refusing: Self.refusal)
    world.call("a1", by: Self.anna)
    world.output.isCongested = true
    world.order.release(Self.anna)
    world.turn()
    #expect(world.served == [])
    world.output.isCongested = false
    world.turn()
    #expect(world.served == ["a1"])
  }

  @Test("L2: after a call that took long, the client's next calls wait for those of others", arguments: [true, false])
  func longCall_nextCalls_areOvertaken(isSlow: Bool) throws {
    let world = try World()
    world.call("a1", by: Self.anna, taking: .milliseconds(isSlow ? 3 : 0), making: isSlow ? 0 : 64 << 10)
    world.call("a2", by: Self.anna)
    world.call("b1", by: Self.bert)
    #expect(world.served == ["a1", "b1"])
    for _ in 0..<4 { world.turn() }
    #expect(world.served == ["a1", "b1", "a2"])
  }

  @Test("L2: large replies are made one after the other, each when the last one has left; readers come first")
  func largeReplies_severalClients_areMadeOneByOne() throws {
    let world = try World()
    let carl: BusName = ":1.3"
    world.callLarge("a1", by: Self.anna)
    world.callLarge("b1", by: Self.bert)
    world.callLarge("c1", by: carl)
    world.output.stalled = [Self.bert]
    for _ in 0..<2 { world.turn() }
    #expect(world.served == ["a1"])
    world.output.outgoingSize = 0
    for _ in 0..<2 { world.turn() }
    #expect(world.served == ["a1", "c1"])
    world.output.stalled = []
    world.output.outgoingSize = 0
    for _ in 0..<2 { world.turn() }
    #expect(world.served == ["a1", "c1", "b1"])
  }

  @Test("The calls of a client that leaves are forgotten, and give their room back")
  func drop_heldClient_isForgotten() throws {
    let world = try World()
    world.order.hold(Self.anna, refusing: Self.refusal)
    world.call("a1", by: Self.anna)
    #expect(world.order.heldBytes > 0)
    world.order.drop(Self.anna)
    #expect(world.order.heldBytes == 0)
    world.call("a2", by: Self.anna)
    #expect(world.served == ["a2"])
  }
}

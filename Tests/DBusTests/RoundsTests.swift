import DBusValues
import Testing

@testable import DBus

/// The order in which calls of several clients are served (L2), and how much may wait (L1), without a bus.
@Suite struct RoundsTests {
  private static let anna: BusName = ":1.1"
  private static let bert: BusName = ":1.2"
  private static let carl: BusName = ":1.3"

  private func rounds(all: Int = 32 << 20) -> Rounds<String> { Rounds(.init(all: all)) }

  private func serveAll(_ rounds: inout Rounds<String>) -> [String] {
    var served: [String] = []
    while let call = rounds.next() { served.append(call) }
    return served
  }

  @Test("L2: calls are served in rounds, one of each client in a round")
  func next_severalClients_servesOneOfEachInARound() {
    var rounds = rounds()
    for number in 1...4 { rounds.append("a\(number)", of: Self.anna, size: 0) }
    for number in 1...2 { rounds.append("b\(number)", of: Self.bert, size: 0) }
    rounds.append("c1", of: Self.carl, size: 0)
    #expect(serveAll(&rounds) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"])
    #expect(rounds.isEmpty && rounds.size == 0)
  }

  @Test("L2: a call waits for k calls of each other client at most, if it is the kth of its own, whatever comes later")
  func next_randomArrivals_keepTheInvariant() {
    var generator = SplitMix(state: 7)
    let names = (1...6).map { BusName(":1.\($0)")! }
    var rounds = Rounds<(client: Int, number: Int)>(.init(all: 32 << 20))
    /// For each waiting call, the calls of each client that were served since it came, and how many of its own were before it.
    var waiting: [Int: (client: Int, ahead: Int, served: [Int])] = [:]
    var counts = names.map { _ in 0 }
    for number in 0..<5000 {
      let client = Int(generator.next() % 6)
      if generator.next() % 100 < 52 {
        rounds.append((client, number), of: names[client], size: 0)
        waiting[number] = (client, counts[client] + 1, names.map { _ in 0 })
        counts[client] += 1
      } else if let (client, number) = rounds.next() {
        let (_, ahead, served) = waiting.removeValue(forKey: number)!
        counts[client] -= 1
        for (other, count) in served.enumerated() where other != client { #expect(count <= ahead) }
        for key in waiting.keys { waiting[key]!.served[client] += 1 }
      }
    }
  }

  @Test("P9: the calls of a client wait in their order until it was resumed as often as it was suspended")
  func suspend_twice_waitsForTwoResumes() {
    var rounds = rounds()
    rounds.append("a1", of: Self.anna, size: 0)
    for _ in 0..<2 { rounds.suspend(Self.anna) }
    rounds.append("a2", of: Self.anna, size: 0)
    rounds.append("b1", of: Self.bert, size: 0)
    #expect(!rounds.isInLine(Self.anna) && rounds.isInLine(Self.bert))
    #expect(serveAll(&rounds) == ["b1"])
    #expect(!rounds.isEmpty)
    #expect(serveAll(&rounds) == [])
    rounds.resume(Self.anna)
    #expect(serveAll(&rounds) == [])
    rounds.resume(Self.anna)
    #expect(serveAll(&rounds) == ["a1", "a2"])
    #expect(rounds.isEmpty)
  }

  @Test("P9: a call that is served may suspend the client again")
  func suspend_whileServed_keepsTheRest() {
    var rounds = rounds()
    for number in 1...2 { rounds.append("a\(number)", of: Self.anna, size: 0) }
    #expect(rounds.next() == "a1")
    rounds.suspend(Self.anna)
    #expect(rounds.next() == nil)
    rounds.resume(Self.anna)
    #expect(rounds.next() == "a2")
  }

  @Test("L1: the calls of a client that wait have at most half of the size that those of others leave")
  func room_ofOneClient_isHalfOfWhatOthersLeave() {
    var rounds = rounds(all: 200_000)
    #expect(rounds.room(for: Self.anna) == 100_000 - 256)
    rounds.append("a1", of: Self.anna, size: 60_000 - 256)
    #expect(rounds.room(for: Self.anna) == 40_000 - 256)
    #expect(rounds.room(for: Self.bert) == 70_000 - 256)
    rounds.append("b1", of: Self.bert, size: 70_000 - 256)
    #expect(rounds.room(for: Self.anna) == 5000 - 256)
    _ = serveAll(&rounds)
    #expect(rounds.room(for: Self.anna) == 100_000 - 256)
  }

  @Test("L1: a client has at most half of what others leave, and always some, however many others there are")
  func room_manyClients_isNeverNothing() {
    var rounds = rounds()
    for number in 1...500 {
      let name = BusName(":2.\(number)")!
      let room = rounds.room(for: name)
      #expect(room >= (16 << 10) - 256)
      rounds.append("x", of: name, size: room)
    }
    #expect(rounds.size <= (32 << 20) + 500 * (16 << 10))
    #expect(rounds.room(for: Self.anna) == (16 << 10) - 256)
    rounds.append("a1", of: Self.anna, size: 100)
    #expect(rounds.room(for: Self.anna) < 0)
  }

  @Test("The calls of a client that leaves are forgotten, and give their room back")
  func drop_suspendedClient_isForgotten() {
    var rounds = rounds()
    rounds.suspend(Self.anna)
    rounds.append("a1", of: Self.anna, size: 1000)
    rounds.drop(Self.anna)
    #expect(rounds.isEmpty && rounds.size == 0)
    rounds.resume(Self.anna)
    #expect(rounds.isEmpty)
  }
}

/// The same numbers in each run.
private struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var result = state
    result = (result ^ (result >> 30)) &* 0xbf58_476d_1ce4_e5b9
    result = (result ^ (result >> 27)) &* 0x94d0_49bb_1331_11eb
    return result ^ (result >> 31)
  }
}

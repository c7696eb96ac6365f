// Why this file exists: the rules of owners and timeouts, O1 and O2.

import DBusValues
import HeapModule
import Testing

@testable import PresentationRules

@Suite struct OwnerAndTimeoutTests {
  let desk = Desk()

  // MARK: O1

  @Test("O1: when its owner leaves the bus, the slot becomes nil")
  func leave_owner_slotNil() throws {
    try desk.show("a", "1", .with(to: "cmd", owned: true), by: "bert")
    try desk.show("b", "1", .with(to: "cmd"), by: "bert")
    #expect(desk.owners == ["bert"])
    desk.leave("carl")
    #expect(desk.taken() == [])
    desk.leave("bert")
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 owner"])
    #expect(desk.shown == ["b=1"])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 owner"])
    #expect(desk.machine.state.ownedBy["bert"] == nil)
    try desk.clearAway()
  }

  @Test("O1: who comes to own something has to be followed, and is told of once for as long as it owns something")
  func own_first_isTold() throws {
    try desk.show("a", "1", .with(to: "cmd"), by: "bert")
    #expect(desk.owners == [])
    for id in ["1", "2"] { try desk.show("b", id, .with(owned: true), by: "bert") }
    try desk.show("a", "1", .with(owned: true), by: "carl")
    #expect(desk.owners == ["bert", "carl"])
    try desk.ask(.dismiss("b"))
    try desk.show("b", "3", .with(owned: true), by: "bert")
    #expect(desk.owners == ["bert", "carl", "bert"])
  }

  @Test("O1: what a client of many items owned can end in parts, the latest first, and ends all the same")
  func owner_leavingInParts_endsAll() throws {
    let desk = Desk()
    for index in 0..<5 { try desk.present(BindingID(stringLiteral: "n[\(index)]"), "", .with(owned: true), by: "bert") }
    var ended: [Int] = []
    while desk.machine.ownsItem("bert") {
      let before = desk.machine.count
      _ = desk.machine.clientLeft("bert", at: Instant(nanoseconds: 1), most: 2)
      ended.append(before - desk.machine.count)
    }
    #expect(ended == [2, 2, 1])
    #expect(desk.machine.history.map(\.handle) == [4, 5, 2, 3, 1])
    #expect(desk.machine.history.allSatisfy { $0.reason == .owner })
    #expect(desk.machine.state.ownedBy["bert"] == nil)
  }

  @Test("O1: everything that it owns goes at once, children before their parents, each for the owner's sake")
  func leave_ownerOfSeveral_allGo() throws {
    try desk.show("a", "", .with(to: "cmd", owned: true))
    try desk.show("a.b", "", .with(to: "cmd", owned: true))
    try desk.show("a.c")
    try desk.ask(.setPath("s", [.at("x", "", .with(owned: true)), .at("y", "", .with(owned: true)), .at("z")]))
    _ = desk.taken()
    desk.leave("anna")
    #expect(
      desk.taken() == [
        "path s", "dismissed z popped", "dismissed y owner", "dismissed x owner", "dismissing a", "dismissing a.b",
        "dismissing a.c", "dismiss 2 owner", "dismiss 3 parent",
      ])
    try desk.clearAway()
  }

  @Test("O1: what waits, presents, or is queued goes too")
  func leave_ownerOfUnshown_go() throws {
    try desk.show("m", "", .with(to: "cmd", group: "g"))
    try desk.show("w", "1")
    _ = desk.taken()
    try desk.present("q", "", .with(group: "g", owned: true, ifBusy: .queue), by: "bert")
    try desk.present("w", "2", .with(to: "cmd", owned: true), by: "bert")
    try desk.present("p", "1", .with(to: "cmd", owned: true), by: "bert")
    _ = desk.taken()
    desk.leave("bert")
    #expect(
      desk.taken() == [
        "group g m q ·", "dismissed q owner", "dismissed w 2 owner", "dismissing p 1", "dismiss 5 owner",
      ])
    #expect(desk.shown == ["m"])
    try desk.clearAway()
  }

  @Test("O1: a later request with `owned` makes its sender the owner; with `owned` = false, nobody")
  func present_ownedAgain_ownerChanges() throws {
    try desk.present("a", "1", .with(owned: true), by: "anna")
    #expect(try desk.present("a", "1", .with(owned: true), by: "bert") == .presentation(1, changed: true))
    #expect(desk.item("a")?.owner == "bert")
    try desk.present("a", "1", .with(title: "T"), by: "carl")
    #expect(desk.item("a")?.owner == "bert", "one that says nothing of it leaves the owner")
    desk.leave("anna")
    #expect(desk.shown == ["a=1"])
    try desk.present("a", "1", .with(owned: false), by: "carl")
    #expect(desk.item("a")?.owner == nil)
    desk.leave("bert")
    #expect(desk.shown == ["a=1"])
    #expect(desk.machine.state.ownedBy.isEmpty)
    try desk.present("a", "1", .with(owned: true), by: "carl")
    desk.leave("carl")
    #expect(desk.shown == [])
    #expect(desk.leftovers == [])
  }

  @Test("O1: what is replaced is owned no more, what replaces it only if it says so")
  func present_otherID_ownerIsItsOwn() throws {
    try desk.present("a", "1", .with(owned: true), by: "anna")
    try desk.present("a", "2", by: "bert")
    desk.leave("anna")
    #expect(desk.shown == ["a=2"])
    try desk.clearAway()
  }

  @Test("O1: toggling, selecting and pushing can own too")
  func otherVerbs_owned_go() throws {
    try desk.ask(.toggle("a", id: "", .with(owned: true), anyID: false))
    try desk.ask(.select("g", tag: "t", binding: nil, id: nil, .with(owned: true)))
    try desk.ask(.push("s", "p", id: "", .with(owned: true)))
    desk.leave("anna")
    #expect(desk.shown == [])
    #expect(desk.leftovers == [])
  }

  @Test("O1: an owner's leaving does not end what is going already")
  func leave_whileGoing_reasonStays() throws {
    try desk.show("a", "1", .with(to: "cmd", owned: true))
    try desk.dismiss("a")
    _ = desk.taken()
    desk.leave("anna")
    #expect(desk.taken() == [])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 dismissed"])
    #expect(desk.leftovers == [])
  }

  // MARK: O2

  @Test("O2: a timeout starts when presented, and ends it as expired")
  func timeout_presented_expires() throws {
    try desk.present("a", "1", .with(to: "cmd", timeout: 1000))
    desk.pass(5000)
    desk.shows(1)
    _ = desk.taken()
    desk.pass(999)
    #expect(desk.taken() == [])
    desk.pass(1)
    #expect(desk.taken() == ["dismissing a 1", "dismiss 1 expired"])
    #expect(desk.shown == [])
    desk.goes(1)
    #expect(desk.taken() == ["dismissed a 1 expired"])
    #expect(desk.machine.nextDeadline.map { $0 > desk.now } != false)
    try desk.clearAway()
  }

  @Test("O2: a request that names a timeout starts it again, even if nothing else changes")
  func timeout_givenAgain_restarts() throws {
    try desk.present("a", "1", .with(value: ["level": .byte(100)], timeout: 1000))
    for _ in 0..<5 {
      desk.pass(900)
      #expect(
        try desk.present("a", "1", .with(value: ["level": .byte(100)], timeout: 1000))
          == .presentation(1, changed: false))
    }
    _ = desk.taken()
    desk.pass(999)
    #expect(desk.taken() == [])
    desk.pass(1)
    #expect(desk.taken() == ["dismissed a 1 expired"])
    #expect(desk.leftovers == [])
  }

  @Test("O2: an update that names a timeout starts it again, one that names none leaves it running")
  func update_timeout_restarts() throws {
    func update(_ value: UInt8, _ timeout: UInt64?) throws {
      try desk.ask(.update("a", value: ["x": .byte(value)], remove: [], containerValues: nil, timeout: timeout))
    }
    try desk.present("a", "1", .with(timeout: 1000))
    desk.pass(900)
    try update(1, 1000)
    desk.pass(900)
    try update(2, nil)
    try desk.present("a", "1", .with(title: "T"))
    #expect(desk.shown == ["a=1"])
    desk.pass(100)
    #expect(desk.shown == [])
    try desk.clearAway()
  }

  @Test("O2: while presenting, a timeout given again counts from `presented` on")
  func timeout_givenWhilePresenting_startsWhenPresented() throws {
    try desk.present("a", "1", .with(to: "cmd"))
    #expect(try desk.present("a", "1", .with(timeout: 100)) == .presentation(1, changed: false))
    desk.pass(1000)
    desk.shows(1)
    desk.pass(99)
    #expect(desk.shown == ["a=1"])
    desk.pass(1)
    #expect(desk.shown == [])
    try desk.clearAway()
  }

  @Test("O2: a timeout of 0 takes it away")
  func timeout_zero_never() throws {
    try desk.present("a", "1", .with(timeout: 1000))
    try desk.present("a", "1", .with(timeout: 0))
    desk.pass(100_000)
    #expect(desk.shown == ["a=1"] && desk.item("a")?.timeout == nil)
    try desk.present("b", "1", .with(timeout: 0))
    desk.pass(1)
    #expect(desk.shown == ["a=1", "b=1"])
    try desk.clearAway()
  }

  @Test("O2: the longest timeout is no trap")
  func timeout_longest_never() throws {
    try desk.present("a", "1", .with(timeout: .max))
    desk.pass(1_000_000_000)
    #expect(desk.shown == ["a=1"])
    try desk.clearAway()
  }

  @Test("O2: a timeout of what was replaced does not close the replacement")
  func timeout_replaced_replacementStays() throws {
    try desk.present("a", "1", .with(timeout: 1000))
    try desk.present("a", "2")
    desk.pass(2000)
    #expect(desk.shown == ["a=2"])
    try desk.present("b", "1", .with(timeout: 100))
    try desk.dismiss("b")
    try desk.present("b", "1", .with(timeout: 1000))
    desk.pass(500)
    #expect(desk.shown == ["a=2", "b=1"])
    try desk.clearAway()
  }

  @Test("O2: the value at the maximum does not pile up timers")
  func timeout_givenOften_noPile() throws {
    for step: UInt64 in [0, 1] {
      for _ in 0..<500 {
        try desk.present("a", "1", .with(timeout: 1000))
        desk.pass(step)
      }
      #expect(desk.machine.state.deadlines.count < 100)
    }
    try desk.clearAway()
  }

  @Test("O2: several that expire at once end as one change, each as expired, children first")
  func timeout_severalAtOnce_eachEnds() throws {
    try desk.present("a", "", .with(timeout: 1000))
    try desk.present("a.b", "", .with(timeout: 1000))
    try desk.present("g", "", .with(group: "g", timeout: 1000))
    try desk.present("h", "", .with(group: "g", timeout: 1000, ifBusy: .queue))
    try desk.ask(.setPath("s", [.at("x", "", .with(timeout: 1000)), .at("y", "", .with(timeout: 1000)), .at("z")]))
    _ = desk.taken()
    desk.pass(1000)
    #expect(
      desk.taken() == [
        "selection g h", "group g g h ·", "path s", "dismissed z popped", "dismissed y expired",
        "dismissed a.b expired",
        "dismissed g expired", "dismissed x expired", "dismissed a expired", "presented h",
      ])
    desk.pass(1000)
    #expect(desk.taken() == ["selection g -", "dismissed h expired"])
    #expect(desk.leftovers == [])
  }
}

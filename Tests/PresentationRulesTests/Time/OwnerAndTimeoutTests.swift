import DBusValues
import HeapModule
import PresentationModel
import Testing

@testable import PresentationRules

/// Owners that leave, and timeouts that pass (O1, O2).
@Suite struct OwnerAndTimeoutTests {
  let fixture = RulesFixture()

  // MARK: O1

  @Test("O1: when its owner leaves the bus, the slot becomes nil")
  func leave_owner_slotNil() throws {
    try fixture.show("a", "1", .with(to: "cmd", owned: true), by: "bert")
    try fixture.show("b", "1", .with(to: "cmd"), by: "bert")
    #expect(fixture.owners == ["bert"])
    fixture.leave("carl")
    #expect(fixture.taken() == [])
    fixture.leave("bert")
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 owner forced"])
    #expect(fixture.shown == ["b=1"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 owner"])
    #expect(fixture.machine.state.ownedBy["bert"] == nil)
    try fixture.clearAway()
  }

  @Test("O1: a new owner is reported once for as long as it owns something")
  func own_first_isTold() throws {
    try fixture.show("a", "1", .with(to: "cmd"), by: "bert")
    #expect(fixture.owners == [])
    for id in ["1", "2"] { try fixture.show("b", id, .with(owned: true), by: "bert") }
    try fixture.show("a", "1", .with(owned: true), by: "carl")
    #expect(fixture.owners == ["bert", "carl"])
    try fixture.ask(.dismiss("b"))
    try fixture.show("b", "3", .with(owned: true), by: "bert")
    #expect(fixture.owners == ["bert", "carl", "bert"])
  }

  @Test("O1: all items of an owner end together, children before their parents, each with the reason owner")
  func leave_ownerOfSeveral_allGo() throws {
    try fixture.show("a", "", .with(to: "cmd", owned: true))
    try fixture.show("a.b", "", .with(to: "cmd", owned: true))
    try fixture.show("a.c")
    try fixture.ask(.setPath("s", [.at("x", "", .with(owned: true)), .at("y", "", .with(owned: true)), .at("z")]))
    _ = fixture.taken()
    fixture.leave("anna")
    #expect(
      fixture.taken() == [
        "path s", "dismissed z popped", "dismissed y owner", "dismissed x owner", "dismissing a", "dismissing a.b",
        "dismissing a.c", "dismiss 2 owner forced", "dismiss 3 parent forced",
      ])
    try fixture.clearAway()
  }

  @Test("O1: waiting, presenting and queued items end, too")
  func leave_ownerOfUnshown_go() throws {
    try fixture.show("m", "", .with(to: "cmd", group: "g"))
    try fixture.show("w", "1")
    _ = fixture.taken()
    try fixture.present("q", "", .with(group: "g", owned: true, ifBusy: .queue), by: "bert")
    try fixture.present("w", "2", .with(to: "cmd", owned: true), by: "bert")
    try fixture.present("p", "1", .with(to: "cmd", owned: true), by: "bert")
    _ = fixture.taken()
    fixture.leave("bert")
    #expect(
      fixture.taken() == [
        "group g m ·", "dismissed q owner", "dismissed w 2 owner", "dismissing p 1", "dismiss 5 owner forced",
      ])
    #expect(fixture.shown == ["m"])
    try fixture.clearAway()
  }

  @Test("O1: a later request with `owned` makes its sender the owner; with `owned` = false, the item has none")
  func present_ownedAgain_ownerChanges() throws {
    try fixture.present("a", "1", .with(owned: true), by: "anna")
    #expect(try fixture.present("a", "1", .with(owned: true), by: "bert") == .presentation(1, changed: true))
    #expect(fixture.item("a")?.owner == "bert")
    try fixture.present("a", "1", .with(title: "T"), by: "carl")
    #expect(fixture.item("a")?.owner == "bert", "one that says nothing of it leaves the owner")
    fixture.leave("anna")
    #expect(fixture.shown == ["a=1"])
    try fixture.present("a", "1", .with(owned: false), by: "carl")
    #expect(fixture.item("a")?.owner == nil)
    fixture.leave("bert")
    #expect(fixture.shown == ["a=1"])
    #expect(fixture.machine.state.ownedBy.isEmpty)
    try fixture.present("a", "1", .with(owned: true), by: "carl")
    fixture.leave("carl")
    #expect(fixture.shown == [])
    #expect(fixture.leftovers == [])
  }

  @Test("O1: a replaced item is no longer owned; its replacement only if the request says so")
  func present_otherID_ownerIsItsOwn() throws {
    try fixture.present("a", "1", .with(owned: true), by: "anna")
    try fixture.present("a", "2", by: "bert")
    fixture.leave("anna")
    #expect(fixture.shown == ["a=2"])
    try fixture.clearAway()
  }

  @Test("O1: toggling, selecting and pushing can own too")
  func otherVerbs_owned_go() throws {
    try fixture.ask(.toggle("a", id: "", .with(owned: true), anyID: false))
    try fixture.ask(.select("g", tag: "t", binding: nil, id: nil, .with(owned: true)))
    try fixture.ask(.push("s", "p", id: "", .with(owned: true)))
    fixture.leave("anna")
    #expect(fixture.shown == [])
    #expect(fixture.leftovers == [])
  }

  @Test("O1: an owner that leaves does not change dismissals under way")
  func leave_whileGoing_reasonStays() throws {
    try fixture.show("a", "1", .with(to: "cmd", owned: true))
    try fixture.dismiss("a")
    _ = fixture.taken()
    fixture.leave("anna")
    #expect(fixture.taken() == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 dismissed"])
    #expect(fixture.leftovers == [])
  }

  // MARK: O2

  @Test("O2, W1: what was due at different times is not one change, however late the caller is")
  func expire_late_oneTimeInEachCall() throws {
    try fixture.present("late", "", .with(timeout: 200))
    for binding: BindingID in ["a", "b"] { try fixture.present(binding, "", .with(timeout: 100)) }
    _ = fixture.taken()
    let now = fixture.now.after(milliseconds: 1000)
    fixture.take(fixture.machine.expire(at: now))
    #expect(fixture.taken() == ["dismissed a expired", "dismissed b expired"])
    #expect(fixture.machine.nextDeadline.map { $0 < now } == true)
    fixture.take(fixture.machine.expire(at: now))
    #expect(fixture.taken() == ["dismissed late expired"])
  }

  @Test("O2: a timeout starts when presented, and ends it as expired")
  func timeout_presented_expires() throws {
    try fixture.present("a", "1", .with(to: "cmd", timeout: 1000))
    fixture.pass(5000)
    fixture.shows(1)
    _ = fixture.taken()
    fixture.pass(999)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissing a 1", "dismiss 1 expired"])
    #expect(fixture.shown == [])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a 1 expired"])
    #expect(fixture.machine.nextDeadline.map { $0 > fixture.now } != false)
    try fixture.clearAway()
  }

  @Test("O2: a request that names a timeout starts it again, even if nothing else changes")
  func timeout_givenAgain_restarts() throws {
    try fixture.present("a", "1", .with(value: ["level": .byte(100)], timeout: 1000))
    for _ in 0..<5 {
      fixture.pass(900)
      #expect(
        try fixture.present("a", "1", .with(value: ["level": .byte(100)], timeout: 1000))
          == .presentation(1, changed: false))
    }
    _ = fixture.taken()
    fixture.pass(999)
    #expect(fixture.taken() == [])
    fixture.pass(1)
    #expect(fixture.taken() == ["dismissed a 1 expired"])
    #expect(fixture.leftovers == [])
  }

  @Test("O2: an update that names a timeout starts it again, one that names none leaves it running")
  func update_timeout_restarts() throws {
    func update(_ value: UInt8, _ timeout: UInt64?) throws {
      try fixture.ask(.update("a", value: ["x": .byte(value)], remove: [], containerValues: nil, timeout: timeout))
    }
    try fixture.present("a", "1", .with(timeout: 1000))
    fixture.pass(900)
    try update(1, 1000)
    fixture.pass(900)
    try update(2, nil)
    try fixture.present("a", "1", .with(title: "T"))
    #expect(fixture.shown == ["a=1"])
    fixture.pass(100)
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test("O2: while presenting, a timeout given again counts from `presented` on")
  func timeout_givenWhilePresenting_startsWhenPresented() throws {
    try fixture.present("a", "1", .with(to: "cmd"))
    #expect(try fixture.present("a", "1", .with(timeout: 100)) == .presentation(1, changed: false))
    fixture.pass(1000)
    fixture.shows(1)
    fixture.pass(99)
    #expect(fixture.shown == ["a=1"])
    fixture.pass(1)
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test("O2: a timeout of 0 removes the timeout")
  func timeout_zero_never() throws {
    try fixture.present("a", "1", .with(timeout: 1000))
    try fixture.present("a", "1", .with(timeout: 0))
    fixture.pass(100_000)
    #expect(fixture.shown == ["a=1"] && fixture.item("a")?.timeout == nil)
    try fixture.present("b", "1", .with(timeout: 0))
    fixture.pass(1)
    #expect(fixture.shown == ["a=1", "b=1"])
    try fixture.clearAway()
  }

  @Test("O2: the longest timeout does not overflow")
  func timeout_longest_never() throws {
    try fixture.present("a", "1", .with(timeout: .max))
    fixture.pass(1_000_000_000)
    #expect(fixture.shown == ["a=1"])
    try fixture.clearAway()
  }

  @Test("O2: the timeout of a replaced item does not end the replacement")
  func timeout_replaced_replacementStays() throws {
    try fixture.present("a", "1", .with(timeout: 1000))
    try fixture.present("a", "2")
    fixture.pass(2000)
    #expect(fixture.shown == ["a=2"])
    try fixture.present("b", "1", .with(timeout: 100))
    try fixture.dismiss("b")
    try fixture.present("b", "1", .with(timeout: 1000))
    fixture.pass(500)
    #expect(fixture.shown == ["a=2", "b=1"])
    try fixture.clearAway()
  }

  @Test("O2: a timeout that is given many times does not pile up timers")
  func timeout_givenOften_noPile() throws {
    for step: UInt64 in [0, 1] {
      for _ in 0..<500 {
        try fixture.present("a", "1", .with(timeout: 1000))
        fixture.pass(step)
      }
      #expect(fixture.machine.state.deadlines.count < 100)
    }
    try fixture.clearAway()
  }

  @Test("O2: several that expire at once end as one change, each as expired, children first")
  func timeout_severalAtOnce_eachEnds() throws {
    try fixture.present("a", "", .with(timeout: 1000))
    try fixture.present("a.b", "", .with(timeout: 1000))
    try fixture.present("g", "", .with(group: "g", timeout: 1000))
    try fixture.present("h", "", .with(group: "g", timeout: 1000, ifBusy: .queue))
    try fixture.ask(.setPath("s", [.at("x", "", .with(timeout: 1000)), .at("y", "", .with(timeout: 1000)), .at("z")]))
    _ = fixture.taken()
    fixture.pass(1000)
    #expect(
      fixture.taken() == [
        "selection g h", "group g h ·", "path s", "dismissed z popped", "dismissed y expired",
        "dismissed a.b expired",
        "dismissed g expired", "dismissed x expired", "dismissed a expired", "presented h",
      ])
    fixture.pass(1000)
    #expect(fixture.taken() == ["selection g -", "group g ·", "dismissed h expired"])
    #expect(fixture.leftovers == [])
  }
}

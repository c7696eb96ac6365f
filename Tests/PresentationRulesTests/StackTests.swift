// Why this file exists: the rules of stacks, S1 to S8.

import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

@Suite struct StackTests {
  let desk = Desk()

  /// Sets the stack `s` to plain values that commands show.
  private func setPath(_ ids: String...) throws -> [Handle?] {
    guard case .path(let handles) = try desk.ask(.setPath("s", ids.map { .at(nil, $0, .with(to: "cmd")) })) else {
      return []
    }
    return handles
  }

  /// Lets every presenter do what it was told to, in the order in which it was, until nobody is told any more.
  private func play() {
    var told = 0
    while told < desk.log.count {
      let words = desk.log[told].split(separator: " ")
      told += 1
      guard words.count > 1, let number = UInt64(words[1]) else { continue }
      let handle = Handle(number)
      if words[0] == "present" { desk.shows(handle) }
      if words[0] == "dismiss" { desk.goes(handle) }
    }
  }

  // MARK: S1

  @Test("S1: pushing appends to the path, and watchers see exactly it")
  func push_appends() throws {
    #expect(try desk.ask(.push("s", "a", id: "1", .with())) == .presentation(1, changed: true))
    #expect(desk.taken() == ["path s a=1", "presented a 1"])
    try desk.ask(.push("s", "b", id: "", .with(to: "cmd")))
    #expect(desk.taken() == ["path s a=1 b", "presenting b", "present 2 b"])
    try desk.present("c", "2", .with(stack: "s"))
    #expect(desk.taken() == ["path s a=1 b c=2", "waiting c 2"])
    desk.shows(2)
    #expect(desk.taken() == ["presented b", "presented c 2"])
    #expect(
      desk.machine.path(of: "s")
        == [PathElement(binding: "a", id: "1"), PathElement(binding: "b", id: ""), PathElement(binding: "c", id: "2")])
    try desk.clearAway()
  }

  @Test("S1: an edit of a screen is no change of the path")
  func update_pathUnchanged() throws {
    try desk.ask(.push("s", "a", id: "1", .with()))
    _ = desk.taken()
    try desk.present("a", "1", .with(title: "T"))
    #expect(desk.taken() == ["updated a 1"])
    try desk.clearAway()
  }

  @Test("S1: what is going is in the path no more")
  func pop_pathAtOnce() throws {
    _ = try setPath("1", "2")
    desk.shows(1, 2)
    _ = desk.taken()
    try desk.ask(.pop("s", count: 1))
    #expect(desk.taken() == ["path s s[0]=1", "dismissing s[1] 2", "dismiss 2 popped"])
    try desk.clearAway()
  }

  // MARK: S2

  @Test("S2: taking the k-th away takes everything above it first, from the top, each acknowledged before the next")
  func dismiss_middle_aboveFirst() throws {
    _ = try setPath("1", "2", "3", "4")
    desk.shows(1, 2, 3, 4)
    _ = desk.taken()
    try desk.dismiss("s[1]")
    #expect(
      desk.taken() == [
        "path s s[0]=1", "dismissing s[3] 4", "dismissing s[2] 3", "dismissing s[1] 2", "dismiss 4 popped",
      ])
    #expect(desk.shown == ["s[0]=1"], "every slot concerned is nil")
    desk.goes(4)
    #expect(desk.taken() == ["dismissed s[3] 4 popped", "dismiss 3 popped"])
    desk.goes(3)
    #expect(desk.taken() == ["dismissed s[2] 3 popped", "dismiss 2 dismissed"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed s[1] 2 dismissed"])
    try desk.clearAway()
  }

  @Test(
    "S2: what pop, pop n, pop to and set path take away ends popped",
    arguments: ["pop", "pop 2", "pop to", "pop all", "set path"])
  func pop_reasons(verb: String) throws {
    _ = try setPath("1", "2", "3")
    play()
    _ = desk.taken()
    let popped: [UInt64]
    switch verb {
    case "pop":
      #expect(try desk.ask(.pop("s", count: 1)) == .count(1))
      popped = [3]
    case "pop 2":
      #expect(try desk.ask(.pop("s", count: 2)) == .count(2))
      popped = [3, 2]
    case "pop to":
      #expect(try desk.ask(.popTo("s", "s[0]")) == .count(2))
      popped = [3, 2]
    case "pop all":
      #expect(try desk.ask(.popTo("s", nil)) == .count(3))
      popped = [3, 2, 1]
    default:
      #expect(try desk.ask(.setPath("s", [])) == .path([]))
      popped = [3, 2, 1]
    }
    play()
    #expect(
      desk.taken().filter { $0.hasPrefix("dismiss ") || $0.hasPrefix("dismissed ") }
        == popped.flatMap { ["dismiss \($0) popped", "dismissed s[\($0 - 1)] \($0) popped"] })
    try desk.clearAway()
  }

  @Test("S2: popping more than there is pops what there is, popping 0 nothing")
  func pop_counts() throws {
    _ = try setPath("1", "2")
    play()
    _ = desk.taken()
    #expect(try desk.ask(.pop("s", count: 0)) == .count(0))
    #expect(desk.taken() == [])
    #expect(try desk.ask(.pop("s", count: .max)) == .count(2))
    #expect(try desk.ask(.pop("s", count: 1)) == .count(0))
    #expect(try desk.ask(.pop("r", count: 1)) == .count(0))
    #expect(try desk.ask(.popTo("r", nil)) == .count(0))
    try desk.clearAway()
  }

  @Test("S2: pop to the top pops nothing; to what is not in the stack is refused")
  func popTo_edges() throws {
    _ = try setPath("1", "2")
    #expect(try desk.ask(.popTo("s", "s[1]")) == .count(0))
    try desk.present("x")
    try desk.ask(.push("r", "y", id: "", .with()))
    for binding: BindingID in ["x", "y", "z", "s[2]"] {
      #expect(desk.refusal(.popTo("s", binding)) == .notPresented)
    }
    try desk.clearAway()
  }

  @Test("S2: dismissing the stack dismisses them all, from the top")
  func dismissAll_stack() throws {
    _ = try setPath("1", "2", "3")
    play()
    _ = desk.taken()
    #expect(try desk.ask(.dismissAll(.stack("s"))) == .count(3))
    play()
    #expect(
      desk.taken() == [
        "path s", "dismissing s[2] 3", "dismissing s[1] 2", "dismissing s[0] 1", "dismiss 3 dismissed",
        "dismissed s[2] 3 dismissed", "dismiss 2 dismissed", "dismissed s[1] 2 dismissed", "dismiss 1 dismissed",
        "dismissed s[0] 1 dismissed",
      ])
    #expect(desk.leftovers == [])
  }

  @Test("S2: the children of a screen go before it, and after what is above it there is no need to wait for them")
  func pop_children_first() throws {
    _ = try setPath("1", "2")
    play()
    try desk.show("s[0].x")
    _ = desk.taken()
    try desk.dismiss("s[0]")
    #expect(
      desk.taken() == [
        "path s", "dismissing s[1] 2", "dismissing s[0] 1", "dismissing s[0].x", "dismiss 2 popped", "dismiss 3 parent",
      ])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed s[1] 2 popped"])
    desk.goes(3)
    #expect(desk.taken() == ["dismissed s[0].x parent", "dismiss 1 dismissed"])
    try desk.clearAway()
  }

  @Test("S2: one that does not acknowledge delays those below it no longer than its grace")
  func pop_silent_graceEach() throws {
    try desk.ask(.setPath("s", [.at("a", "", .with(to: "bus")), .at("b", "", .with(to: "bus"))]))
    play()
    _ = desk.taken()
    try desk.ask(.popTo("s", nil))
    desk.pass(Destination.standardGrace)
    #expect(desk.taken().suffix(3) == ["dismissed b popped", "abandon 2", "dismiss 1 popped"])
    desk.pass(Destination.standardGrace)
    #expect(desk.taken() == ["dismissed a popped", "abandon 1"])
    #expect(desk.leftovers == [])
  }

  // MARK: S3

  @Test("S3: the user closes the second of five: what is above it goes from the top, then it is told")
  func ended_secondOfFive_aboveGo() throws {
    _ = try setPath("1", "2", "3", "4", "5")
    play()
    _ = desk.taken()
    desk.ends(2)
    #expect(
      desk.taken() == [
        "path s s[0]=1", "dismissing s[4] 5", "dismissing s[3] 4", "dismissing s[2] 3", "dismissing s[1] 2",
        "dismiss 5 popped",
      ])
    desk.goes(5)
    desk.goes(4)
    #expect(
      desk.taken() == ["dismissed s[4] 5 popped", "dismiss 4 popped", "dismissed s[3] 4 popped", "dismiss 3 popped"])
    desk.goes(3)
    #expect(desk.taken() == ["dismissed s[2] 3 popped", "dismissed s[1] 2 closed"])
    #expect(desk.path("s") == ["s[0]=1"] && desk.phase(1) == "presented")
    try desk.clearAway()
  }

  @Test("S3: a farewell of a screen that is already gone, or going, changes nothing")
  func ended_popped_nothing() throws {
    _ = try setPath("1", "2", "3")
    play()
    try desk.ask(.pop("s", count: 2))
    _ = desk.taken()
    desk.ends(2)
    #expect(desk.taken() == [], "it has gone out of turn, and is told in its turn")
    desk.ends(3)
    #expect(desk.taken() == ["dismissed s[2] 3 popped", "dismissed s[1] 2 popped"])
    desk.ends(3)
    desk.ends(2)
    #expect(desk.taken() == [])
    #expect(desk.path("s") == ["s[0]=1"])
    try desk.clearAway()
  }

  @Test("S3: the top closed by its user is popped off, with reason closed")
  func ended_top_closed() throws {
    _ = try setPath("1", "2")
    play()
    _ = desk.taken()
    desk.ends(2)
    #expect(desk.taken() == ["path s s[0]=1", "dismissed s[1] 2 closed"])
    try desk.clearAway()
  }

  // MARK: S4

  @Test("S4: the k-th item's id changes: what is above it is popped, it is dismissed, and presented again as the top")
  func present_otherID_middle() throws {
    _ = try setPath("1", "2", "3")
    play()
    _ = desk.taken()
    #expect(try desk.present("s[1]", "9", .with(to: "cmd")) == .presentation(4, changed: true))
    #expect(
      desk.taken() == [
        "path s s[0]=1 s[1]=9", "dismissing s[2] 3", "dismissing s[1] 2", "waiting s[1] 9", "dismiss 3 popped",
      ])
    desk.goes(3)
    #expect(desk.taken() == ["dismissed s[2] 3 popped", "dismiss 2 replaced"])
    desk.goes(2)
    #expect(desk.taken() == ["dismissed s[1] 2 replaced", "presenting s[1] 9", "present 4 s[1]"])
    try desk.clearAway()
  }

  @Test("S4: pushing the top's binding with another id is the same")
  func push_topOtherID_replaced() throws {
    _ = try setPath("1", "2")
    play()
    _ = desk.taken()
    try desk.ask(.push("s", "s[1]", id: "9", .with(to: "cmd")))
    #expect(desk.taken() == ["path s s[0]=1 s[1]=9", "dismissing s[1] 2", "waiting s[1] 9", "dismiss 2 replaced"])
    try desk.clearAway()
  }

  @Test("S4: the id changes again while the first change is under way: the one between is never shown")
  func present_otherIDTwice_betweenNeverShown() throws {
    _ = try setPath("1", "2")
    play()
    _ = desk.taken()
    try desk.present("s[0]", "8", .with(to: "cmd"))
    try desk.present("s[0]", "9", .with(to: "cmd"))
    #expect(
      desk.taken() == [
        "path s s[0]=8", "dismissing s[1] 2", "dismissing s[0] 1", "waiting s[0] 8", "dismiss 2 popped",
        "path s s[0]=9", "dismissed s[0] 8 replaced", "waiting s[0] 9",
      ])
    play()
    desk.goes(2)
    desk.goes(1)
    #expect(
      desk.taken() == [
        "dismissed s[1] 2 popped", "dismiss 1 replaced", "dismissed s[0] 1 replaced", "presenting s[0] 9",
        "present 4 s[0]",
      ])
    try desk.clearAway()
  }

  // MARK: S5

  @Test("S5: [1,2,3,4] → [4,1,3,2] → [1,2] → [] → [1,1]")
  func setPath_sequence() throws {
    #expect(try setPath("1", "2", "3", "4") == [1, 2, 3, 4])
    #expect(
      desk.taken() == [
        "path s s[0]=1 s[1]=2 s[2]=3 s[3]=4", "presenting s[0] 1", "waiting s[1] 2", "waiting s[2] 3", "waiting s[3] 4",
        "present 1 s[0]",
      ])
    desk.shows(1)
    #expect(desk.taken() == ["presented s[0] 1", "presenting s[1] 2", "present 2 s[1]"])
    desk.shows(2)
    desk.shows(3)
    desk.shows(4)
    #expect(
      desk.taken() == [
        "presented s[1] 2", "presenting s[2] 3", "present 3 s[2]", "presented s[2] 3", "presenting s[3] 4",
        "present 4 s[3]", "presented s[3] 4",
      ])

    #expect(try setPath("4", "1", "3", "2") == [5, 6, 7, 8])
    play()
    #expect(
      desk.taken() == [
        "path s s[0]=4 s[1]=1 s[2]=3 s[3]=2", "dismissing s[3] 4", "dismissing s[2] 3", "dismissing s[1] 2",
        "dismissing s[0] 1", "waiting s[0] 4", "waiting s[1] 1", "waiting s[2] 3", "waiting s[3] 2", "dismiss 4 popped",
        "dismissed s[3] 4 popped", "dismiss 3 popped", "dismissed s[2] 3 popped", "dismiss 2 popped",
        "dismissed s[1] 2 popped", "dismiss 1 popped", "dismissed s[0] 1 popped",
        "presenting s[0] 4", "present 5 s[0]", "presented s[0] 4", "presenting s[1] 1", "present 6 s[1]",
        "presented s[1] 1", "presenting s[2] 3", "present 7 s[2]", "presented s[2] 3", "presenting s[3] 2",
        "present 8 s[3]", "presented s[3] 2",
      ])

    #expect(try setPath("1", "2") == [9, 10])
    play()
    #expect(
      desk.taken() == [
        "path s s[0]=1 s[1]=2", "dismissing s[3] 2", "dismissing s[2] 3", "dismissing s[1] 1", "dismissing s[0] 4",
        "waiting s[0] 1", "waiting s[1] 2", "dismiss 8 popped", "dismissed s[3] 2 popped", "dismiss 7 popped",
        "dismissed s[2] 3 popped", "dismiss 6 popped", "dismissed s[1] 1 popped", "dismiss 5 popped",
        "dismissed s[0] 4 popped", "presenting s[0] 1", "present 9 s[0]", "presented s[0] 1", "presenting s[1] 2",
        "present 10 s[1]", "presented s[1] 2",
      ])

    #expect(try setPath() == [])
    play()
    #expect(
      desk.taken() == [
        "path s", "dismissing s[1] 2", "dismissing s[0] 1", "dismiss 10 popped", "dismissed s[1] 2 popped",
        "dismiss 9 popped", "dismissed s[0] 1 popped",
      ])
    #expect(desk.leftovers == [])

    #expect(try setPath("1", "1") == [11, 12])
    play()
    #expect(
      desk.taken() == [
        "path s s[0]=1 s[1]=1", "presenting s[0] 1", "waiting s[1] 1", "present 11 s[0]", "presented s[0] 1",
        "presenting s[1] 1", "present 12 s[1]", "presented s[1] 1",
      ])
    try desk.clearAway()
  }

  @Test("S5: by bindings, [1,2,3,4] → [4,1,3,2]: all are popped, and pushed in their new order")
  func setPath_bindingsReordered() throws {
    func path(_ bindings: BindingID...) -> Request.Operation {
      .setPath("s", bindings.map { .at($0, "", .with(to: "cmd")) })
    }
    try desk.ask(path("a", "b", "c", "d"))
    play()
    _ = desk.taken()
    #expect(try desk.ask(path("d", "a", "c", "b")) == .path([5, 6, 7, 8]))
    play()
    #expect(
      desk.taken() == [
        "path s d a c b", "dismissing d", "dismissing c", "dismissing b", "dismissing a", "waiting d", "waiting a",
        "waiting c", "waiting b", "dismiss 4 popped", "dismissed d popped", "dismiss 3 popped", "dismissed c popped",
        "dismiss 2 popped", "dismissed b popped", "dismiss 1 popped", "dismissed a popped", "presenting d",
        "present 5 d", "presented d", "presenting a", "present 6 a", "presented a", "presenting c", "present 7 c",
        "presented c", "presenting b", "present 8 b", "presented b",
      ])
    try desk.clearAway()
  }

  @Test("S5: the longest common beginning stays on screen, and takes over what is given")
  func setPath_commonBeginning_stays() throws {
    _ = try setPath("1", "2", "3")
    play()
    _ = desk.taken()
    let path: [RequestedElement] = [.at(nil, "1", .with(title: "T")), .at(nil, "2"), .at(nil, "4"), .at(nil, "5")]
    #expect(try desk.ask(.setPath("s", path)) == .path([1, 2, 4, 5]))
    #expect(
      desk.taken() == [
        "updated s[0] 1", "path s s[0]=1 s[1]=2 s[2]=4 s[3]=5", "dismissing s[2] 3", "waiting s[2] 4", "waiting s[3] 5",
        "dismiss 3 popped",
      ])
    try desk.clearAway()
  }

  @Test("S5: growing and shrinking leave the beginning alone")
  func setPath_growAndShrink() throws {
    _ = try setPath("1", "2")
    play()
    _ = desk.taken()
    #expect(try setPath("1", "2", "3") == [1, 2, 3])
    #expect(desk.taken() == ["path s s[0]=1 s[1]=2 s[2]=3", "presenting s[2] 3", "present 3 s[2]"])
    #expect(try setPath("1", "2", "3") == [1, 2, 3])
    #expect(desk.taken() == [])
    #expect(try setPath("1") == [1])
    #expect(desk.taken() == ["path s s[0]=1", "dismissing s[2] 3", "dismissing s[1] 2", "dismiss 3 popped"])
    try desk.clearAway()
  }

  @Test("S5: a path of plain values past the longest binding is refused")
  func setPath_longName_refused() throws {
    let stack = try BindingID("s" + String(repeating: "x", count: 251))
    #expect(desk.refusal(.setPath(stack, (0..<11).map { .at(nil, "\($0)") })) == .invalidBinding)
    try desk.ask(.setPath(stack, (0..<10).map { .at(nil, "\($0)") }))
    try desk.clearAway()
  }

  @Test("S5: elements may have parents and groups of their own")
  func setPath_elementsWithParents() throws {
    try desk.ask(.setPath("s", [.at("a"), .at("a.b", "", .with(group: "g")), .at("c", "", .with(from: "a.b"))]))
    #expect(desk.parent("a.b") == 1 && desk.parent("c") == 2)
    #expect(desk.machine.selection(of: "g") == "a.b")
    try desk.ask(.deselect("g", tag: nil))
    #expect(desk.path("s") == ["a"])
    #expect(desk.ending(3)?.reason == .popped && desk.ending(2)?.reason == .deselected)
    try desk.clearAway()
  }

  // MARK: S6

  @Test("S6: a path in which one element cannot be accepted is refused whole")
  func setPath_oneWrong_nothing() throws {
    _ = try setPath("1", "2")
    play()
    _ = desk.taken()
    try desk.ask(.push("r", "y", id: "", .with()))
    try desk.present("m", "", .with(group: "g"))
    try desk.present("x", "1")
    let wrong: [(RequestedElement, ErrorCode)] = [
      (.at(nil, "5", .with(to: "nobody")), .unknownDestination), (.at("y", "2"), .alreadyInStack),
      (.at("n", "", .with(group: "g", ifBusy: .refuse)), .busy), (.at("n", "", .with(from: "nobody")), .notPresented),
      (.at("n", "", .with(containerValues: ["k": .byte(1)])), .unknownContainerValue),
      (.at("n", "", .with(stack: "r")), .invalidArgument), (.at("x", "1"), .invalidArgument),
      (.at("s[0]", "1"), .alreadyInStack), (.at("n", "", .with(value: ["a b": .byte(1)])), .invalidArgument),
    ]
    for (element, code) in wrong {
      #expect(desk.refusal(.setPath("s", [.at(nil, "1"), element, .at(nil, "7")])) == code)
    }
    #expect(desk.path("s") == ["s[0]=1", "s[1]=2"])
    try desk.clearAway()
  }

  @Test("S6: the refusal says which element")
  func setPath_refusal_names() throws {
    do throws(Refusal) {
      try desk.ask(.setPath("s", [.at(nil, "1"), .at(nil, "2"), .at(nil, "3", .with(to: "nobody"))]))
      Issue.record("was taken")
    } catch { #expect(error.message.contains("element 2") && error.message.contains("nobody")) }
  }

  // MARK: S7

  @Test("S7: the same binding may not stand twice in a stack, nor in two")
  func push_inStackAlready_refused() throws {
    try desk.ask(.setPath("s", [.at("a"), .at("b")]))
    #expect(desk.refusal(.push("s", "a", id: "", .with())) == .alreadyInStack)
    #expect(desk.refusal(.push("s", "a", id: "2", .with())) == .alreadyInStack)
    #expect(desk.refusal(.push("r", "a", id: "", .with())) == .alreadyInStack)
    #expect(desk.refusal(.push("r", "b", id: "2", .with())) == .alreadyInStack)
    #expect(desk.refusal(.present("b", id: "2", .with(stack: "r"))) == .alreadyInStack)
    #expect(desk.refusal(.setPath("r", [.at("b", "2")])) == .alreadyInStack)
    #expect(desk.refusal(.setPath("s", [.at("c"), .at("c", "2")])) == .alreadyInStack)
    #expect(desk.path("s") == ["a", "b"])
    try desk.clearAway()
  }

  @Test("S7: pushing what is on the top already is presenting it again")
  func push_top_again() throws {
    try desk.ask(.push("s", "a", id: "", .with(to: "bus")))
    desk.shows(1)
    _ = desk.taken()
    #expect(try desk.ask(.push("s", "a", id: "", .with())) == .presentation(1, changed: false))
    #expect(desk.taken() == [])
    #expect(try desk.ask(.push("s", "a", id: "", .with(title: "T"))) == .presentation(1, changed: true))
    #expect(desk.taken() == ["updated a", "update 1 by anna"])
    try desk.clearAway()
  }

  @Test("S7: what is presented outside a stack is not pushed by the same id; by another it is")
  func push_presented_sameIDRefused() throws {
    try desk.present("a", "1")
    #expect(desk.refusal(.push("s", "a", id: "1", .with())) == .invalidArgument)
    try desk.ask(.push("s", "a", id: "2", .with()))
    #expect(desk.path("s") == ["a=2"])
    try desk.clearAway()
  }

  @Test("S7: a stack exists while it is not empty")
  func stack_empty_noMore() throws {
    #expect(desk.machine.stackNames == [])
    _ = try setPath("1")
    #expect(desk.machine.stackNames == ["s"])
    desk.shows(1)
    try desk.ask(.pop("s", count: 1))
    #expect(desk.machine.stackNames == [])
    desk.goes(1)
    #expect(desk.leftovers == [])
    try desk.ask(.setPath("r", []))
    #expect(desk.leftovers == [])
  }

  @Test("S7: an option that names another stack than the push is refused")
  func push_otherStackOption_refused() throws {
    #expect(desk.refusal(.push("s", "a", id: "", .with(stack: "r"))) == .invalidArgument)
    try desk.ask(.push("s", "a", id: "", .with(stack: "s")))
    try desk.clearAway()
  }

  // MARK: S8

  @Test("S8: two programs drive one stack: each one's screens stay while the other pushes and pops above them")
  func twoPrograms_oneStack() throws {
    try desk.ask(.push("s", "a1", id: "", .with(to: "cmd")), by: "anna")
    try desk.ask(.push("s", "b1", id: "", .with(to: "cmd")), by: "bert")
    try desk.ask(.push("s", "a2", id: "", .with(to: "cmd")), by: "anna")
    play()
    _ = desk.taken()
    try desk.dismiss("a2")
    try desk.ask(.push("s", "b2", id: "", .with(to: "cmd")), by: "bert")
    play()
    #expect(desk.path("s") == ["a1", "b1", "b2"])
    #expect(
      desk.taken() == [
        "path s a1 b1", "dismissing a2", "dismiss 3 dismissed", "path s a1 b1 b2", "waiting b2",
        "dismissed a2 dismissed",
        "presenting b2", "present 4 b2", "presented b2",
      ])
    try desk.ask(.popTo("s", "b1"), by: "bert")
    play()
    #expect(desk.phase(1) == "presented" && desk.phase(2) == "presented")
    try desk.clearAway()
  }

  @Test("S8: pushing while popping: the new one waits for what goes, and is popped again without having been shown")
  func push_whilePopping_waits() throws {
    _ = try setPath("1", "2", "3")
    play()
    try desk.ask(.pop("s", count: 2))
    _ = desk.taken()
    try desk.ask(.push("s", "x", id: "", .with(to: "cmd")))
    #expect(desk.taken() == ["path s s[0]=1 x", "waiting x"])
    try desk.ask(.push("s", "y", id: "", .with(to: "cmd")))
    try desk.ask(.pop("s", count: 1))
    #expect(desk.taken() == ["path s s[0]=1 x y", "waiting y", "path s s[0]=1 x", "dismissed y popped"])
    desk.goes(3)
    #expect(desk.taken() == ["dismissed s[2] 3 popped", "dismiss 2 popped"])
    try desk.ask(.pop("s", count: 1))
    #expect(desk.taken() == ["path s s[0]=1", "dismissed x popped"])
    try desk.ask(.push("s", "z", id: "", .with(to: "cmd")))
    desk.goes(2)
    #expect(
      desk.taken() == [
        "path s s[0]=1 z", "waiting z", "dismissed s[1] 2 popped", "presenting z", "present 6 z",
      ])
    try desk.clearAway()
  }

  @Test("S8: popping further while popping: from the top still, one at a time")
  func pop_whilePopping_inOrder() throws {
    _ = try setPath("1", "2", "3", "4")
    play()
    try desk.ask(.pop("s", count: 1))
    try desk.ask(.pop("s", count: 2))
    try desk.ask(.push("s", "x", id: "", .with(to: "cmd")))
    try desk.ask(.popTo("s", nil))
    _ = desk.taken()
    desk.goes(4)
    #expect(desk.taken() == ["dismissed s[3] 4 popped", "dismiss 3 popped"])
    desk.goes(3)
    desk.goes(2)
    #expect(
      desk.taken() == ["dismissed s[2] 3 popped", "dismiss 2 popped", "dismissed s[1] 2 popped", "dismiss 1 popped"])
    desk.goes(1)
    #expect(desk.leftovers == [])
  }

  @Test("S8: within one stack popped goes before parent as a reason")
  func end_poppedBeforeParent() throws {
    try desk.ask(.setPath("s", [.at("a"), .at("b", "", .with(from: "a")), .at("c", "", .with(from: "a"))]))
    try desk.dismiss("a")
    #expect(
      desk.ending(1)?.reason == .dismissed && desk.ending(2)?.reason == .popped && desk.ending(3)?.reason == .popped)

    try desk.present("p")
    try desk.ask(.setPath("s", [.at("d", "", .with(from: "p")), .at("e", "", .with(from: "p")), .at("f")]))
    try desk.dismiss("p")
    #expect(desk.ending(5)?.reason == .parent && desk.ending(6)?.reason == .popped && desk.ending(7)?.reason == .popped)

    // The upper one loses its parent first.
    try desk.present("p")
    try desk.present("q")
    try desk.ask(.setPath("s", [.at("g", "", .with(from: "q")), .at("h", "", .with(from: "p"))]))
    try desk.apply(.dismiss("p"), .dismiss("q"))
    #expect(desk.ending(10)?.reason == .parent && desk.ending(11)?.reason == .popped)
    try desk.clearAway()
  }

  @Test("S8: what was pushed onto a screen is not presented from it: only the stack ties them")
  func push_noParent() throws {
    try desk.ask(.setPath("s", [.at("a"), .at("b")]))
    #expect(desk.parent("b") == nil)
    try desk.present("b", "2")
    #expect(desk.shown == ["a", "b=2"])
    try desk.clearAway()
  }

  @Test("S8: screens of one stack may come from a parent in another")
  func stacks_acrossParents_goTogether() throws {
    try desk.ask(.setPath("s", [.at("a", "", .with(to: "cmd")), .at("b", "", .with(to: "cmd"))]))
    desk.shows(1, 2)
    try desk.ask(.setPath("r", [.at("c", "", .with(to: "cmd", from: "b")), .at("d", "", .with(to: "cmd"))]))
    desk.shows(3, 4)
    _ = desk.taken()
    try desk.dismiss("a")
    #expect(
      desk.taken() == [
        "path r", "path s", "dismissing b", "dismissing a", "dismissing d", "dismissing c", "dismiss 4 popped",
      ])
    play()
    desk.goes(4)
    desk.goes(3)
    desk.goes(2)
    #expect(
      desk.taken() == [
        "dismissed d popped", "dismiss 3 parent", "dismissed c parent", "dismiss 2 popped", "dismissed b popped",
        "dismiss 1 dismissed",
      ])
    try desk.clearAway()
  }

  @Test("S8: one of a path that cannot be shown takes what is above it along")
  func fail_middle_aboveNeverShown() throws {
    _ = try setPath("1", "2", "3")
    desk.shows(1)
    _ = desk.taken()
    desk.fails(2)
    #expect(desk.taken() == ["path s s[0]=1", "dismissed s[2] 3 popped", "dismissed s[1] 2 failed"])
    try desk.clearAway()
  }
}

import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Stacks: pushing, popping, ends, paths, and stacks of several programs (S1 to S8).
@Suite struct StackTests {
  let fixture = RulesFixture()

  /// Sets the path of the stack `s` to plain values that commands show.
  private func setPath(_ ids: String...) throws -> [Handle?] { try setPath(ids) }

  private func setPath(_ ids: [String]) throws -> [Handle?] {
    guard case .path(let handles) = try fixture.ask(.setPath("s", ids.map { .at(nil, $0, .with(to: "cmd")) })) else {
      return []
    }
    return handles
  }

  /// Answers all commands in their order, until there are no more.
  private func play() {
    var told = 0
    while told < fixture.log.count {
      let words = fixture.log[told].split(separator: " ")
      told += 1
      guard words.count > 1, let number = UInt64(words[1]) else { continue }
      let handle = Handle(number)
      if words[0] == "present" { fixture.shows(handle) }
      if words[0] == "dismiss" { fixture.goes(handle) }
    }
  }

  @Test("S4, C3: the lowest item of a stack is replaced though it has children, which end with it")
  func present_lowestWithChildren_isReplaced() throws {
    try fixture.ask(.push("s", "a", id: "1", .with()))
    try fixture.present("a.child")
    try fixture.present("a", "2")
    #expect(fixture.shown == ["a=2"] && fixture.path("s") == ["a=2"])
    try fixture.clearAway()
  }

  // MARK: S1

  @Test("S1: pushing appends to the path, and watchers see exactly it")
  func push_appends() throws {
    #expect(try fixture.ask(.push("s", "a", id: "1", .with())) == .presentation(1, changed: true))
    #expect(fixture.taken() == ["path s a=1", "presented a 1"])
    try fixture.ask(.push("s", "b", id: "", .with(to: "cmd")))
    #expect(fixture.taken() == ["path s a=1 b", "presenting b", "present 2 b"])
    try fixture.present("c", "2", .with(stack: "s"))
    #expect(fixture.taken() == ["path s a=1 b c=2", "waiting c 2"])
    fixture.shows(2)
    #expect(fixture.taken() == ["presented b", "presented c 2"])
    #expect(
      fixture.machine.path(of: "s")
        == [PathElement(binding: "a", id: "1"), PathElement(binding: "b", id: ""), PathElement(binding: "c", id: "2")])
    try fixture.clearAway()
  }

  @Test("S1: an edit of an item does not change the path")
  func update_pathUnchanged() throws {
    try fixture.ask(.push("s", "a", id: "1", .with()))
    _ = fixture.taken()
    try fixture.present("a", "1", .with(title: "T"))
    #expect(fixture.taken() == ["updated a 1"])
    try fixture.clearAway()
  }

  @Test("S1: a dismissed item is no longer in the path")
  func pop_pathAtOnce() throws {
    _ = try setPath("1", "2")
    fixture.shows(1, 2)
    _ = fixture.taken()
    try fixture.ask(.pop("s", count: 1))
    #expect(fixture.taken() == ["path s s[0]=1", "dismissing s[1] 2", "dismiss 2 popped"])
    try fixture.clearAway()
  }

  // MARK: S2

  @Test("S2: removing the k-th element first removes those above it, from the top, each acknowledged before the next")
  func dismiss_middle_aboveFirst() throws {
    _ = try setPath("1", "2", "3", "4")
    fixture.shows(1, 2, 3, 4)
    _ = fixture.taken()
    try fixture.dismiss("s[1]")
    #expect(
      fixture.taken() == [
        "path s s[0]=1", "dismissing s[3] 4", "dismissing s[2] 3", "dismissing s[1] 2", "dismiss 4 popped",
      ])
    #expect(fixture.shown == ["s[0]=1"], "every slot concerned is nil")
    fixture.goes(4)
    #expect(fixture.taken() == ["dismissed s[3] 4 popped", "dismiss 3 popped"])
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed s[2] 3 popped", "dismiss 2 dismissed"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed s[1] 2 dismissed"])
    try fixture.clearAway()
  }

  @Test(
    "S2: items removed by pop, pop n, pop to and set path end as popped",
    arguments: ["pop", "pop 2", "pop to", "pop all", "set path"])
  func pop_reasons(verb: String) throws {
    _ = try setPath("1", "2", "3")
    play()
    _ = fixture.taken()
    let popped: [UInt64]
    switch verb {
    case "pop":
      #expect(try fixture.ask(.pop("s", count: 1)) == .count(1))
      popped = [3]
    case "pop 2":
      #expect(try fixture.ask(.pop("s", count: 2)) == .count(2))
      popped = [3, 2]
    case "pop to":
      #expect(try fixture.ask(.popTo("s", "s[0]")) == .count(2))
      popped = [3, 2]
    case "pop all":
      #expect(try fixture.ask(.popTo("s", nil)) == .count(3))
      popped = [3, 2, 1]
    default:
      #expect(try fixture.ask(.setPath("s", [])) == .path([]))
      popped = [3, 2, 1]
    }
    play()
    #expect(
      fixture.taken().filter { $0.hasPrefix("dismiss ") || $0.hasPrefix("dismissed ") }
        == popped.flatMap { ["dismiss \($0) popped", "dismissed s[\($0 - 1)] \($0) popped"] })
    try fixture.clearAway()
  }

  @Test("S2: popping more items than the stack has pops all; popping 0 pops none")
  func pop_counts() throws {
    _ = try setPath("1", "2")
    play()
    _ = fixture.taken()
    #expect(try fixture.ask(.pop("s", count: 0)) == .count(0))
    #expect(fixture.taken() == [])
    #expect(try fixture.ask(.pop("s", count: .max)) == .count(2))
    #expect(try fixture.ask(.pop("s", count: 1)) == .count(0))
    #expect(try fixture.ask(.pop("r", count: 1)) == .count(0))
    #expect(try fixture.ask(.popTo("r", nil)) == .count(0))
    try fixture.clearAway()
  }

  @Test("S2: pop to the top pops nothing; pop to a binding outside the stack is refused")
  func popTo_edges() throws {
    _ = try setPath("1", "2")
    #expect(try fixture.ask(.popTo("s", "s[1]")) == .count(0))
    try fixture.present("x")
    try fixture.ask(.push("r", "y", id: "", .with()))
    for binding: BindingID in ["x", "y", "z", "s[2]"] {
      #expect(fixture.refusal(.popTo("s", binding)) == .notPresented)
    }
    try fixture.clearAway()
  }

  @Test("S2: dismissing the stack dismisses them all, from the top")
  func dismissAll_stack() throws {
    _ = try setPath("1", "2", "3")
    play()
    _ = fixture.taken()
    #expect(try fixture.ask(.dismissAll(.stack("s"))) == .count(3))
    play()
    #expect(
      fixture.taken() == [
        "path s", "dismissing s[2] 3", "dismissing s[1] 2", "dismissing s[0] 1", "dismiss 3 dismissed",
        "dismissed s[2] 3 dismissed", "dismiss 2 dismissed", "dismissed s[1] 2 dismissed", "dismiss 1 dismissed",
        "dismissed s[0] 1 dismissed",
      ])
    #expect(fixture.leftovers == [])
  }

  @Test("S2: the children of an item end before it; those of items above need not be waited for")
  func pop_children_first() throws {
    _ = try setPath("1", "2")
    play()
    try fixture.show("s[0].x")
    _ = fixture.taken()
    try fixture.dismiss("s[0]")
    #expect(
      fixture.taken() == [
        "path s", "dismissing s[1] 2", "dismissing s[0] 1", "dismissing s[0].x", "dismiss 2 popped", "dismiss 3 parent",
      ])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed s[1] 2 popped"])
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed s[0].x parent", "dismiss 1 dismissed"])
    try fixture.clearAway()
  }

  @Test("S2: an element that does not acknowledge delays those below it no longer than its grace")
  func pop_silent_graceEach() throws {
    try fixture.ask(.setPath("s", [.at("a", "", .with(to: "bus")), .at("b", "", .with(to: "bus"))]))
    play()
    _ = fixture.taken()
    try fixture.ask(.popTo("s", nil))
    fixture.pass(Destination.defaultGrace)
    #expect(fixture.taken().suffix(3) == ["dismissed b popped", "abandon 2", "dismiss 1 popped"])
    fixture.pass(Destination.defaultGrace)
    #expect(fixture.taken() == ["dismissed a popped", "abandon 1"])
    #expect(fixture.leftovers == [])
  }

  // MARK: S3

  @Test("S3: the user closes the second of five: those above it are dismissed from the top, then its end is announced")
  func ended_secondOfFive_aboveGo() throws {
    _ = try setPath("1", "2", "3", "4", "5")
    play()
    _ = fixture.taken()
    fixture.ends(2)
    #expect(
      fixture.taken() == [
        "path s s[0]=1", "dismissing s[4] 5", "dismissing s[3] 4", "dismissing s[2] 3", "dismissing s[1] 2",
        "dismiss 5 popped forced",
      ])
    fixture.goes(5)
    fixture.goes(4)
    #expect(
      fixture.taken() == [
        "dismissed s[4] 5 popped", "dismiss 4 popped forced", "dismissed s[3] 4 popped", "dismiss 3 popped forced",
      ])
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed s[2] 3 popped", "dismissed s[1] 2 closed"])
    #expect(fixture.path("s") == ["s[0]=1"] && fixture.phase(1) == "presented")
    try fixture.clearAway()
  }

  @Test("S3: a report for an item that has ended, or is being dismissed, changes nothing")
  func ended_popped_nothing() throws {
    _ = try setPath("1", "2", "3")
    play()
    try fixture.ask(.pop("s", count: 2))
    _ = fixture.taken()
    fixture.ends(2)
    #expect(fixture.taken() == [], "it has gone out of turn, and is told in its turn")
    fixture.ends(3)
    #expect(fixture.taken() == ["dismissed s[2] 3 popped", "dismissed s[1] 2 popped"])
    fixture.ends(3)
    fixture.ends(2)
    #expect(fixture.taken() == [])
    #expect(fixture.path("s") == ["s[0]=1"])
    try fixture.clearAway()
  }

  @Test("S3: the top closed by its user is popped off, with reason closed")
  func ended_top_closed() throws {
    _ = try setPath("1", "2")
    play()
    _ = fixture.taken()
    fixture.ends(2)
    #expect(fixture.taken() == ["path s s[0]=1", "dismissed s[1] 2 closed"])
    try fixture.clearAway()
  }

  // MARK: S4

  @Test("S4: another id for the k-th item pops those above it and presents the new item on top")
  func present_otherID_middle() throws {
    _ = try setPath("1", "2", "3")
    play()
    _ = fixture.taken()
    #expect(try fixture.present("s[1]", "9", .with(to: "cmd")) == .presentation(4, changed: true))
    #expect(
      fixture.taken() == [
        "path s s[0]=1 s[1]=9", "dismissing s[2] 3", "dismissing s[1] 2", "waiting s[1] 9", "dismiss 3 popped",
      ])
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed s[2] 3 popped", "dismiss 2 replaced"])
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed s[1] 2 replaced", "presenting s[1] 9", "present 4 s[1]"])
    try fixture.clearAway()
  }

  @Test("S4: pushing the top's binding with another id is the same")
  func push_topOtherID_replaced() throws {
    _ = try setPath("1", "2")
    play()
    _ = fixture.taken()
    try fixture.ask(.push("s", "s[1]", id: "9", .with(to: "cmd")))
    #expect(fixture.taken() == ["path s s[0]=1 s[1]=9", "dismissing s[1] 2", "waiting s[1] 9", "dismiss 2 replaced"])
    try fixture.clearAway()
  }

  @Test("S4: if the id changes again in the meantime, the item in between is never shown")
  func present_otherIDTwice_betweenNeverShown() throws {
    _ = try setPath("1", "2")
    play()
    _ = fixture.taken()
    try fixture.present("s[0]", "8", .with(to: "cmd"))
    try fixture.present("s[0]", "9", .with(to: "cmd"))
    #expect(
      fixture.taken() == [
        "path s s[0]=8", "dismissing s[1] 2", "dismissing s[0] 1", "waiting s[0] 8", "dismiss 2 popped",
        "path s s[0]=9", "dismissed s[0] 8 replaced", "waiting s[0] 9",
      ])
    play()
    fixture.goes(2)
    fixture.goes(1)
    #expect(
      fixture.taken() == [
        "dismissed s[1] 2 popped", "dismiss 1 replaced", "dismissed s[0] 1 replaced", "presenting s[0] 9",
        "present 4 s[0]",
      ])
    try fixture.clearAway()
  }

  // MARK: S5

  @Test("S5: each item of a new path is presented when the one below it is on the screen")
  func setPath_ofNewItems_arePresentedOneAfterTheOther() throws {
    #expect(try setPath("1", "2", "3", "4") == [1, 2, 3, 4])
    #expect(
      fixture.taken() == [
        "path s s[0]=1 s[1]=2 s[2]=3 s[3]=4", "presenting s[0] 1", "waiting s[1] 2", "waiting s[2] 3", "waiting s[3] 4",
        "present 1 s[0]",
      ])
    fixture.shows(1)
    #expect(fixture.taken() == ["presented s[0] 1", "presenting s[1] 2", "present 2 s[1]"])
    fixture.shows(2)
    fixture.shows(3)
    fixture.shows(4)
    #expect(
      fixture.taken() == [
        "presented s[1] 2", "presenting s[2] 3", "present 3 s[2]", "presented s[2] 3", "presenting s[3] 4",
        "present 4 s[3]", "presented s[3] 4",
      ])
    try fixture.clearAway()
  }

  /// A path of ids after that of the step before: the presentations, and everything that happens when each call is answered.
  private struct Step {
    let ids: [String]
    let handles: [Handle?]
    let log: [String]
  }

  private static let steps = [
    Step(
      ids: ["4", "1", "3", "2"], handles: [5, 6, 7, 8],
      log: [
        "path s s[0]=4 s[1]=1 s[2]=3 s[3]=2", "dismissing s[3] 4", "dismissing s[2] 3", "dismissing s[1] 2",
        "dismissing s[0] 1", "waiting s[0] 4", "waiting s[1] 1", "waiting s[2] 3", "waiting s[3] 2", "dismiss 4 popped",
        "dismissed s[3] 4 popped", "dismiss 3 popped", "dismissed s[2] 3 popped", "dismiss 2 popped",
        "dismissed s[1] 2 popped", "dismiss 1 popped", "dismissed s[0] 1 popped",
        "presenting s[0] 4", "present 5 s[0]", "presented s[0] 4", "presenting s[1] 1", "present 6 s[1]",
        "presented s[1] 1", "presenting s[2] 3", "present 7 s[2]", "presented s[2] 3", "presenting s[3] 2",
        "present 8 s[3]", "presented s[3] 2",
      ]),
    Step(
      ids: ["1", "2"], handles: [9, 10],
      log: [
        "path s s[0]=1 s[1]=2", "dismissing s[3] 2", "dismissing s[2] 3", "dismissing s[1] 1", "dismissing s[0] 4",
        "waiting s[0] 1", "waiting s[1] 2", "dismiss 8 popped", "dismissed s[3] 2 popped", "dismiss 7 popped",
        "dismissed s[2] 3 popped", "dismiss 6 popped", "dismissed s[1] 1 popped", "dismiss 5 popped",
        "dismissed s[0] 4 popped", "presenting s[0] 1", "present 9 s[0]", "presented s[0] 1", "presenting s[1] 2",
        "present 10 s[1]", "presented s[1] 2",
      ]),
    Step(
      ids: [], handles: [],
      log: [
        "path s", "dismissing s[1] 2", "dismissing s[0] 1", "dismiss 10 popped", "dismissed s[1] 2 popped",
        "dismiss 9 popped", "dismissed s[0] 1 popped",
      ]),
    Step(
      ids: ["1", "1"], handles: [11, 12],
      log: [
        "path s s[0]=1 s[1]=1", "presenting s[0] 1", "waiting s[1] 1", "present 11 s[0]", "presented s[0] 1",
        "presenting s[1] 1", "present 12 s[1]", "presented s[1] 1",
      ]),
  ]

  @Test("S5: [1,2,3,4] → [4,1,3,2] → [1,2] → [] → [1,1]")
  func setPath_severalInTurn_popFromTheTopAndPresentFromTheBottom() throws {
    #expect(try setPath("1", "2", "3", "4") == [1, 2, 3, 4])
    play()
    _ = fixture.taken()
    for step in Self.steps {
      #expect(try setPath(step.ids) == step.handles)
      play()
      #expect(fixture.taken() == step.log)
      if step.ids.isEmpty { #expect(fixture.leftovers == []) }
    }
    try fixture.clearAway()
  }

  @Test("S5: by bindings, [1,2,3,4] → [4,1,3,2]: all are popped, and pushed in their new order")
  func setPath_bindingsReordered() throws {
    func path(_ bindings: BindingID...) -> Request.Operation {
      .setPath("s", bindings.map { .at($0, "", .with(to: "cmd")) })
    }
    try fixture.ask(path("a", "b", "c", "d"))
    play()
    _ = fixture.taken()
    #expect(try fixture.ask(path("d", "a", "c", "b")) == .path([5, 6, 7, 8]))
    play()
    #expect(
      fixture.taken() == [
        "path s d a c b", "dismissing d", "dismissing c", "dismissing b", "dismissing a", "waiting d", "waiting a",
        "waiting c", "waiting b", "dismiss 4 popped", "dismissed d popped", "dismiss 3 popped", "dismissed c popped",
        "dismiss 2 popped", "dismissed b popped", "dismiss 1 popped", "dismissed a popped", "presenting d",
        "present 5 d", "presented d", "presenting a", "present 6 a", "presented a", "presenting c", "present 7 c",
        "presented c", "presenting b", "present 8 b", "presented b",
      ])
    try fixture.clearAway()
  }

  @Test("S5: the longest common beginning stays on screen, and takes over the given options")
  func setPath_commonBeginning_stays() throws {
    _ = try setPath("1", "2", "3")
    play()
    _ = fixture.taken()
    let path: [RequestedElement] = [.at(nil, "1", .with(title: "T")), .at(nil, "2"), .at(nil, "4"), .at(nil, "5")]
    #expect(try fixture.ask(.setPath("s", path)) == .path([1, 2, 4, 5]))
    #expect(
      fixture.taken() == [
        "updated s[0] 1", "path s s[0]=1 s[1]=2 s[2]=4 s[3]=5", "dismissing s[2] 3", "waiting s[2] 4", "waiting s[3] 5",
        "dismiss 3 popped",
      ])
    try fixture.clearAway()
  }

  @Test("S5: growing and shrinking leave the beginning alone")
  func setPath_growAndShrink() throws {
    _ = try setPath("1", "2")
    play()
    _ = fixture.taken()
    #expect(try setPath("1", "2", "3") == [1, 2, 3])
    #expect(fixture.taken() == ["path s s[0]=1 s[1]=2 s[2]=3", "presenting s[2] 3", "present 3 s[2]"])
    #expect(try setPath("1", "2", "3") == [1, 2, 3])
    #expect(fixture.taken() == [])
    #expect(try setPath("1") == [1])
    #expect(fixture.taken() == ["path s s[0]=1", "dismissing s[2] 3", "dismissing s[1] 2", "dismiss 3 popped forced"])
    try fixture.clearAway()
  }

  @Test("S5: a path of plain values past the longest binding is refused")
  func setPath_longName_refused() throws {
    let stack = try BindingID("s" + String(repeating: "x", count: 251))
    #expect(fixture.refusal(.setPath(stack, (0..<11).map { .at(nil, "\($0)") })) == .invalidBinding)
    try fixture.ask(.setPath(stack, (0..<10).map { .at(nil, "\($0)") }))
    try fixture.clearAway()
  }

  @Test("S5: elements may have parents and groups of their own")
  func setPath_elementsWithParents() throws {
    try fixture.ask(.setPath("s", [.at("a"), .at("a.b", "", .with(group: "g")), .at("c", "", .with(from: "a.b"))]))
    #expect(fixture.parent("a.b") == 1 && fixture.parent("c") == 2)
    #expect(fixture.machine.selection(of: "g") == "a.b")
    try fixture.ask(.deselect("g", tag: nil))
    #expect(fixture.path("s") == ["a"])
    #expect(fixture.ending(3)?.reason == .popped && fixture.ending(2)?.reason == .deselected)
    try fixture.clearAway()
  }

  // MARK: S6

  @Test("S6: a path with one invalid element is refused as a whole")
  func setPath_oneWrong_nothing() throws {
    _ = try setPath("1", "2")
    play()
    _ = fixture.taken()
    try fixture.ask(.push("r", "y", id: "", .with()))
    try fixture.present("m", "", .with(group: "g"))
    try fixture.present("x", "1")
    let wrong: [(RequestedElement, ErrorCode)] = [
      (.at(nil, "5", .with(to: "nobody")), .unknownDestination), (.at("y", "2"), .alreadyInStack),
      (.at("n", "", .with(group: "g", ifBusy: .refuse)), .busy), (.at("n", "", .with(from: "nobody")), .notPresented),
      (.at("n", "", .with(containerValues: ["k": .byte(1)])), .unknownContainerValue),
      (.at("n", "", .with(stack: "r")), .invalidArgument), (.at("x", "1"), .invalidArgument),
      (.at("s[0]", "1"), .alreadyInStack), (.at("n", "", .with(value: ["a b": .byte(1)])), .invalidArgument),
    ]
    for (element, code) in wrong {
      #expect(fixture.refusal(.setPath("s", [.at(nil, "1"), element, .at(nil, "7")])) == code)
    }
    #expect(fixture.path("s") == ["s[0]=1", "s[1]=2"])
    try fixture.clearAway()
  }

  @Test("S6: the refusal says which element")
  func setPath_refusal_names() throws {
    do throws(Refusal) {
      try fixture.ask(.setPath("s", [.at(nil, "1"), .at(nil, "2"), .at(nil, "3", .with(to: "nobody"))]))
      Issue.record("was taken")
    } catch { #expect(error.message.contains("element 2") && error.message.contains("nobody")) }
  }

  // MARK: S7

  @Test("S7: a binding cannot be in a stack twice, nor in two stacks")
  func push_inStackAlready_refused() throws {
    try fixture.ask(.setPath("s", [.at("a"), .at("b")]))
    #expect(fixture.refusal(.push("s", "a", id: "", .with())) == .alreadyInStack)
    #expect(fixture.refusal(.push("s", "a", id: "2", .with())) == .alreadyInStack)
    #expect(fixture.refusal(.push("r", "a", id: "", .with())) == .alreadyInStack)
    #expect(fixture.refusal(.push("r", "b", id: "2", .with())) == .alreadyInStack)
    #expect(fixture.refusal(.present("b", id: "2", .with(stack: "r"))) == .alreadyInStack)
    #expect(fixture.refusal(.setPath("r", [.at("b", "2")])) == .alreadyInStack)
    let twice = fixture.refusal(of: .setPath("s", [.at("c"), .at("c", "2")]))
    #expect(twice?.code == .alreadyInStack && twice?.message.contains("“c” is in the path twice") == true)
    #expect(fixture.path("s") == ["a", "b"])
    try fixture.clearAway()
  }

  @Test("S7: pushing the topmost binding presents it again")
  func push_top_again() throws {
    try fixture.ask(.push("s", "a", id: "", .with(to: "bus")))
    fixture.shows(1)
    _ = fixture.taken()
    #expect(try fixture.ask(.push("s", "a", id: "", .with())) == .presentation(1, changed: false))
    #expect(fixture.taken() == [])
    #expect(try fixture.ask(.push("s", "a", id: "", .with(title: "T"))) == .presentation(1, changed: true))
    #expect(fixture.taken() == ["updated a", "update 1 by anna"])
    try fixture.clearAway()
  }

  @Test("S7: an item outside a stack is not pushed by a request with the same id; with another id it is")
  func push_presented_sameIDRefused() throws {
    try fixture.present("a", "1")
    #expect(fixture.refusal(.push("s", "a", id: "1", .with())) == .invalidArgument)
    try fixture.ask(.push("s", "a", id: "2", .with()))
    #expect(fixture.path("s") == ["a=2"])
    try fixture.clearAway()
  }

  @Test("S7: a stack exists while it is not empty")
  func stack_empty_noMore() throws {
    #expect(fixture.machine.stackNames == [])
    _ = try setPath("1")
    #expect(fixture.machine.stackNames == ["s"])
    fixture.shows(1)
    try fixture.ask(.pop("s", count: 1))
    #expect(fixture.machine.stackNames == [])
    fixture.goes(1)
    #expect(fixture.leftovers == [])
    try fixture.ask(.setPath("r", []))
    #expect(fixture.leftovers == [])
  }

  @Test("S7: an option that names another stack than the push is refused")
  func push_otherStackOption_refused() throws {
    #expect(fixture.refusal(.push("s", "a", id: "", .with(stack: "r"))) == .invalidArgument)
    try fixture.ask(.push("s", "a", id: "", .with(stack: "s")))
    try fixture.clearAway()
  }

  // MARK: S8

  @Test("S8: two programs drive one stack: each one's screens stay while the other pushes and pops above them")
  func twoPrograms_oneStack() throws {
    try fixture.ask(.push("s", "a1", id: "", .with(to: "cmd")), by: "anna")
    try fixture.ask(.push("s", "b1", id: "", .with(to: "cmd")), by: "bert")
    try fixture.ask(.push("s", "a2", id: "", .with(to: "cmd")), by: "anna")
    play()
    _ = fixture.taken()
    try fixture.dismiss("a2")
    try fixture.ask(.push("s", "b2", id: "", .with(to: "cmd")), by: "bert")
    play()
    #expect(fixture.path("s") == ["a1", "b1", "b2"])
    #expect(
      fixture.taken() == [
        "path s a1 b1", "dismissing a2", "dismiss 3 dismissed", "path s a1 b1 b2", "waiting b2",
        "dismissed a2 dismissed",
        "presenting b2", "present 4 b2", "presented b2",
      ])
    try fixture.ask(.popTo("s", "b1"), by: "bert")
    play()
    #expect(fixture.phase(1) == "presented" && fixture.phase(2) == "presented")
    try fixture.clearAway()
  }

  @Test("S8: an item pushed while another is dismissed waits for it, and is popped without having been shown")
  func push_whilePopping_waits() throws {
    _ = try setPath("1", "2", "3")
    play()
    try fixture.ask(.pop("s", count: 2))
    _ = fixture.taken()
    try fixture.ask(.push("s", "x", id: "", .with(to: "cmd")))
    #expect(fixture.taken() == ["path s s[0]=1 x", "waiting x"])
    try fixture.ask(.push("s", "y", id: "", .with(to: "cmd")))
    try fixture.ask(.pop("s", count: 1))
    #expect(fixture.taken() == ["path s s[0]=1 x y", "waiting y", "path s s[0]=1 x", "dismissed y popped"])
    fixture.goes(3)
    #expect(fixture.taken() == ["dismissed s[2] 3 popped", "dismiss 2 popped"])
    try fixture.ask(.pop("s", count: 1))
    #expect(fixture.taken() == ["path s s[0]=1", "dismissed x popped"])
    try fixture.ask(.push("s", "z", id: "", .with(to: "cmd")))
    fixture.goes(2)
    #expect(
      fixture.taken() == [
        "path s s[0]=1 z", "waiting z", "dismissed s[1] 2 popped", "presenting z", "present 6 z",
      ])
    try fixture.clearAway()
  }

  @Test("S8: elements popped while others are being popped still end from the top, one at a time")
  func pop_whilePopping_inOrder() throws {
    _ = try setPath("1", "2", "3", "4")
    play()
    try fixture.ask(.pop("s", count: 1))
    try fixture.ask(.pop("s", count: 2))
    try fixture.ask(.push("s", "x", id: "", .with(to: "cmd")))
    try fixture.ask(.popTo("s", nil))
    _ = fixture.taken()
    fixture.goes(4)
    #expect(fixture.taken() == ["dismissed s[3] 4 popped", "dismiss 3 popped"])
    fixture.goes(3)
    fixture.goes(2)
    #expect(
      fixture.taken() == ["dismissed s[2] 3 popped", "dismiss 2 popped", "dismissed s[1] 2 popped", "dismiss 1 popped"])
    fixture.goes(1)
    #expect(fixture.leftovers == [])
  }

  @Test("S8: within one stack, the reason popped has precedence over parent")
  func end_poppedBeforeParent() throws {
    try fixture.ask(.setPath("s", [.at("a"), .at("b", "", .with(from: "a")), .at("c", "", .with(from: "a"))]))
    try fixture.dismiss("a")
    #expect(
      fixture.ending(1)?.reason == .dismissed && fixture.ending(2)?.reason == .popped
        && fixture.ending(3)?.reason == .popped)

    try fixture.present("p")
    try fixture.ask(.setPath("s", [.at("d", "", .with(from: "p")), .at("e", "", .with(from: "p")), .at("f")]))
    try fixture.dismiss("p")
    #expect(
      fixture.ending(5)?.reason == .parent && fixture.ending(6)?.reason == .popped
        && fixture.ending(7)?.reason == .popped)

    // The upper element loses its parent first.
    try fixture.present("p")
    try fixture.present("q")
    try fixture.ask(.setPath("s", [.at("g", "", .with(from: "q")), .at("h", "", .with(from: "p"))]))
    try fixture.apply(.dismiss("p"), .dismiss("q"))
    #expect(fixture.ending(10)?.reason == .parent && fixture.ending(11)?.reason == .popped)
    try fixture.clearAway()
  }

  @Test("S8: an element that ends with its parent, above one that the transaction changes, is not popped")
  func end_aboveChanged_parent() throws {
    try fixture.present("p")
    try fixture.ask(.push("s", "a", id: "", .with()))
    try fixture.ask(.push("s", "b", id: "", .with(from: "p")))
    _ = fixture.taken()
    try fixture.apply(.present("a", id: "", .with(title: "A")), .dismiss("p"))
    #expect(fixture.ending(3)?.reason == .parent && fixture.item("a")?.title == "A")
    try fixture.clearAway()
  }

  @Test("S8: an item is not presented from the one below it: only the stack relates them")
  func push_noParent() throws {
    try fixture.ask(.setPath("s", [.at("a"), .at("b")]))
    #expect(fixture.parent("b") == nil)
    try fixture.present("b", "2")
    #expect(fixture.shown == ["a", "b=2"])
    try fixture.clearAway()
  }

  @Test("S8: items of one stack may have a parent in another")
  func stacks_acrossParents_goTogether() throws {
    try fixture.ask(.setPath("s", [.at("a", "", .with(to: "cmd")), .at("b", "", .with(to: "cmd"))]))
    fixture.shows(1, 2)
    try fixture.ask(.setPath("r", [.at("c", "", .with(to: "cmd", from: "b")), .at("d", "", .with(to: "cmd"))]))
    fixture.shows(3, 4)
    _ = fixture.taken()
    try fixture.dismiss("a")
    #expect(
      fixture.taken() == [
        "path r", "path s", "dismissing b", "dismissing a", "dismissing d", "dismissing c", "dismiss 4 popped",
      ])
    play()
    fixture.goes(4)
    fixture.goes(3)
    fixture.goes(2)
    #expect(
      fixture.taken() == [
        "dismissed d popped", "dismiss 3 parent", "dismissed c parent", "dismiss 2 popped", "dismissed b popped",
        "dismiss 1 dismissed",
      ])
    try fixture.clearAway()
  }

  @Test("S8: an item that cannot be shown ends those above it")
  func fail_middle_aboveNeverShown() throws {
    _ = try setPath("1", "2", "3")
    fixture.shows(1)
    _ = fixture.taken()
    fixture.fails(2)
    #expect(fixture.taken() == ["path s s[0]=1", "dismissed s[2] 3 popped", "dismissed s[1] 2 failed"])
    try fixture.clearAway()
  }
}

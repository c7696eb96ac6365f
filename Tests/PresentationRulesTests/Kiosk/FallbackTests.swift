import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules
@testable import Simulation

/// Fallbacks, which groups show while they have nothing else: when they come, give way and return (K1).
struct FallbackTests {
  private let fixture = RulesFixture(
    destinations: [
      Destination(name: "board", presenter: .command([Array("board".utf8)]), source: RulesFixture.file("board"))
    ], fallbacks: ["main": "board"])

  private func member(ifBusy: BusyPolicy? = nil, timeout: UInt64? = nil) -> ItemOptions {
    .with(to: "bare", group: "main", timeout: timeout, ifBusy: ifBusy)
  }

  private var selection: String? { fixture.machine.selection(of: "main") }

  /// Starts the clock, and shows the fallback.
  private func start() {
    fixture.pass(0)
    fixture.report(.updateAnswered(1))
    if let board = fixture.handle("board") { fixture.shows(board) }
  }

  @Test("K1: a group with nothing selected shows its fallback, also at the start")
  func start_emptyGroup_showsIt() throws {
    start()
    #expect(fixture.shown == ["board"])
    #expect(selection == "board")
    #expect(fixture.phase(1) == "presented")
  }

  @Test("K1: the fallback gives way to a member that is presented, and returns in the turn in which that ends")
  func member_ends_fallbackReturns() throws {
    start()
    try fixture.present("alarm", "", member(timeout: 100))
    #expect(selection == "alarm")
    fixture.goes(1)
    _ = fixture.taken()
    fixture.pass(100)
    #expect(
      fixture.taken() == [
        "selection main -", "group main board ·", "dismissed alarm expired", "selection main board",
        "presenting board", "present 3 board",
      ])
  }

  @Test(
    "W1: a fallback that returns after a restart, and gives way to the queue at once, is announced before its end"
  )
  func resume_queueWaits_fallbackIsToldOf() throws {
    var settings = ItemSettings()
    settings.holds = ["dnd": .postpone]
    fixture.load(
      ["board", "bare", "held"].map { name in
        Destination(
          name: name, presenter: name == "board" ? .command([Array("board".utf8)]) : .none,
          source: RulesFixture.file(name), itemSettings: name == "held" ? Shared(settings) : nil)
      })
    start()
    try fixture.present("a", "", member())
    fixture.goes(1)
    try fixture.hold("dnd", owned: true, by: "berta")
    try fixture.present("b", "", .with(to: "held", group: "main", ifBusy: .queue))
    try fixture.present("board", "", .with(group: "main"))
    let board = try #require(fixture.handle("board"))
    fixture.shows(board)
    // The fallback ends first; only then the end of the hold lets the queue go on.
    let events = fixture.machine.resume([:], absent: ["berta"], at: fixture.now).changes.map(\.event.shown)
    let again = Handle(board.number + 1)
    #expect(events.first == "dismissed \(board) board= lost")
    let (told, ended) = (
      events.firstIndex(of: "waiting \(again) board="), events.firstIndex(of: "dismissed \(again) board= deselected")
    )
    #expect(told != nil && ended != nil && told! < ended!, "\(events)")
    #expect(selection == "b")
  }

  @Test("K1: the fallback counts as nothing for if-busy, queues come before it, and it neither waits nor interrupts")
  func queue_beforeFallback_isServed() throws {
    start()
    try fixture.present("a", "", member(ifBusy: .refuse))
    #expect(selection == "a")
    fixture.goes(1)
    try fixture.present("b", "", member(ifBusy: .queue))
    for policy in [BusyPolicy.queue, .interrupt] {
      #expect(fixture.refusal(.present("board", id: "", .with(group: "main", ifBusy: policy))) == .invalidArgument)
    }
    try fixture.dismiss("a")
    #expect(selection == "b")
    try fixture.dismiss("b")
    #expect(selection == "board")
    fixture.shows(try #require(fixture.handle("board")))
    try fixture.present("c", "", member(ifBusy: .queue))
    #expect(selection == "c")
    #expect(fixture.machine.queuedTags(of: "main") == [])
  }

  @Test(
    "K1: a dismissed fallback is there again at once; one that ended by itself returns after K3's delay, without a limit"
  )
  func fallback_ends_returns() throws {
    start()
    try fixture.dismiss("board")
    #expect(fixture.shown == ["board"])
    fixture.goes(1)
    #expect(fixture.phase(2) == "presenting")
    for (number, seconds) in zip(UInt64(2)..., [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]) {
      fixture.fails(Handle(number))
      fixture.pass(UInt64(seconds) * 1000 - 1)
      #expect(fixture.phase(Handle(number + 1)) == "waiting")
      fixture.pass(1)
      #expect(fixture.phase(Handle(number + 1)) == "presenting")
    }
  }

  @Test("K1: a queue in which a member may come is served at once, whoever selects the fallback")
  func fallback_selectedWhileQueueWaits_isNeverShown() throws {
    start()
    try fixture.present("a", "", member())
    fixture.goes(1)
    try fixture.present("b", "", member(ifBusy: .queue))
    _ = fixture.taken()
    try fixture.ask(.select("main", tag: "board", binding: nil, id: nil, ItemOptions()))
    #expect(
      fixture.taken() == [
        "selection main b", "group main b ·", "dismissed a deselected", "presented b",
      ])
  }

  @Test("K1: a member that becomes the fallback gives way to the queue")
  func member_becomesFallback_givesWay() throws {
    let fixture = RulesFixture()
    try fixture.present("home", "", .with(group: "main"))
    try fixture.present("film", "", .with(group: "main", ifBusy: .queue))
    fixture.machine.load(groups: ["main": GroupSettings(fallback: "home")])
    fixture.report(.updateAnswered(1))
    #expect(fixture.machine.selection(of: "main") == "film")
  }

  /// A fallback that has declined to give way to “b” and “c”, which wait in the queue.
  private func declining() throws -> (fixture: RulesFixture, board: Handle) {
    let fixture = RulesFixture(destinations: [RulesFixture.bus("board")], fallbacks: ["main": "board"])
    fixture.report(.updateAnswered(1))
    let board = try #require(fixture.handle("board"))
    fixture.shows(board)
    try fixture.present("a", "", .with(group: "main"))
    for name: BindingID in ["b", "c"] { try fixture.present(name, "", .with(group: "main", ifBusy: .queue)) }
    try fixture.dismiss("a")
    fixture.declines(board)
    #expect(fixture.machine.selection(of: "main") == "board")
    #expect(fixture.machine.queuedTags(of: "main") == ["b", "c"])
    _ = fixture.taken()
    return (fixture, board)
  }

  @Test(
    "K1, P15: a fallback that has declined to give way is asked again only by a request or at the end of a hold"
  )
  func fallback_hasDeclined_isAskedByRequests() throws {
    let (fixture, board) = try declining()
    try fixture.dismiss("c")
    #expect(fixture.machine.selection(of: "main") == "board")
    try fixture.ask(.select("main", tag: "b", binding: nil, id: nil, ItemOptions()))
    fixture.declines(board)
    try fixture.present("d", "", .with(group: "main"))
    fixture.goes(board)
    #expect(fixture.shown == ["d"])
    let (other, otherBoard) = try declining()
    try other.release(try other.hold("dnd"))
    other.goes(otherBoard)
    #expect(other.shown == ["b", "c"])
  }

  @Test("K1, P15: a member of another group that declines, too, has nobody ask the fallback again")
  func fallback_hasDeclined_isNotAskedForOthers() throws {
    let (fixture, board) = try declining()
    let other = try fixture.show("other", "", .with(to: "bus", group: "side", tag: "board"))
    try fixture.dismiss("other")
    fixture.declines(other)
    try fixture.dismiss("c")
    #expect(fixture.phase(board) == "presented" && fixture.machine.selection(of: "main") == "board")
  }

  @Test("K1, P15: a new presentation of a fallback that has declined gives way at once")
  func fallback_presentedAnewAfterDeclining_givesWay() throws {
    let (fixture, board) = try declining()
    try fixture.dismiss("c")
    #expect(fixture.machine.selection(of: "main") == "board")
    try fixture.present("board", "2", .with(to: "board", group: "main"))
    fixture.goes(board)
    #expect(fixture.machine.selection(of: "main") == "b")
  }

  @Test("K1: when the fallback ends by itself, the queue comes before it")
  func fallback_endsWhileQueueWaits_queueIsServed() throws {
    let (fixture, board) = try declining()
    fixture.ends(board, failed: true)
    #expect(fixture.shown == ["b", "c"] && fixture.machine.selection(of: "main") == "b")
    try fixture.dismiss("b")
    try fixture.dismiss("c")
    #expect(fixture.machine.selection(of: "main") == "board")
  }

  @Test("K1: while the fallback waits for its delay, others come at once")
  func fallback_waiting_givesWay() throws {
    start()
    fixture.ends(1, failed: true)
    try fixture.present("a", "", member())
    #expect(fixture.phase(try #require(fixture.handle("a"))) == "presented")
  }

  @Test("K1: a fallback that cannot be selected is tried again later, and takes nothing away")
  func fallback_refused_isTriedAgain() throws {
    let fixture = RulesFixture(fallbacks: ["main": "board"])
    fixture.pass(0)
    fixture.report(.updateAnswered(1))
    #expect(fixture.refusedFallbacks.count == 1)
    #expect(fixture.refusedFallbacks.first?.hasPrefix("there is no destination “board”") == true)
    fixture.pass(10_000)
    #expect(fixture.refusedFallbacks.count == 1)
    try fixture.present("board", "mine")
    fixture.load([Destination(name: "board", presenter: .none, source: RulesFixture.file("board"))])
    fixture.pass(60_000)
    #expect(
      fixture.refusedFallbacks.last == "“board” is presented already, in no group; dismiss it, or use another fallback")
    #expect(fixture.shown == ["board=mine"])
    try fixture.dismiss("board")
    fixture.pass(60_000)
    #expect(fixture.machine.selection(of: "main") == "board")
  }

  @Test(
    "K1: a fallback that cannot be selected is tried again only after the delay, whatever happens; the log says why once"
  )
  func fallback_refusedWhileOthersFlap_isTriedAfterTheDelay() throws {
    let fixture = RulesFixture(fallbacks: ["main": "board"])
    fixture.pass(0)
    fixture.report(.updateAnswered(1))
    fixture.load([Destination(name: "board", presenter: .none, source: RulesFixture.file("board"))])
    for number in 1...200 {
      try fixture.present("other", "\(number)")
      fixture.pass(4)
      try fixture.dismiss("other")
      #expect(fixture.machine.selection(of: "main") == nil)
    }
    #expect(fixture.refusedFallbacks.count == 1)
    fixture.pass(200)
    #expect(fixture.machine.selection(of: "main") == "board")
  }

  @Test("K1, W1: when a presenter gets its whole time again, no fallback is selected unannounced")
  func fallback_dueAtRestartOfAnswer_isAnnouncedByTheNextInput() throws {
    let fixture = RulesFixture(fallbacks: ["main": "board"])
    fixture.pass(0)
    fixture.report(.updateAnswered(1))
    try fixture.present("other", "", .with(to: "cmd"))
    fixture.load([Destination(name: "board", presenter: .none, source: RulesFixture.file("board"))])
    _ = fixture.taken()
    let later = fixture.now.after(milliseconds: 2000)
    fixture.machine.restartAnswer(of: 1, at: later)
    #expect(fixture.machine.presentation(1)?.answerDue == later.after(milliseconds: Destination.defaultStartTimeout))
    fixture.pass(2000)
    #expect(fixture.taken() == ["selection main board", "group main board ·", "presented board"])
  }

  @Test("K1, R5: during a Quit of several turns, no fallback gives way to the queue")
  func quit_inTurns_fallbackGivesWayToNobody() throws {
    start()
    fixture.machine.setHolds(["dnd": .postpone])
    try fixture.hold("dnd", owned: true, by: "berta")
    try fixture.present("a", "", member(ifBusy: .queue))
    let ends = fixture.machine.beginShutDown()
    fixture.leave("berta")
    #expect(fixture.phase(1) == "presented")
    fixture.take(fixture.machine.end(ends, by: nil, at: fixture.now))
    fixture.goes(1)
    #expect(fixture.ending(1)?.reason == .shutdown)
  }

  @Test("K1: no fallback comes during Quit")
  func quit_everything_ends() throws {
    start()
    fixture.shutDown()
    fixture.goes(1)
    #expect(fixture.machine.allPresentations == [])
  }
}

/// Fallbacks that the clock chooses (K7).
struct TimedFallbackTests {
  private let fixture = RulesFixture(
    destinations: ["menu", "board"].map { name in
      Destination(name: name, presenter: .command([Array(name.utf8)]), source: RulesFixture.file(name))
    })

  private var selection: String? { fixture.machine.selection(of: "main") }

  /// Makes a destination the fallback, or none.
  private func turn(to fallback: String?, _ replacement: Replacement = .sequential) {
    let others = Set(["menu", "board"]).subtracting([fallback].compactMap(\.self))
    fixture.machine.load(
      groups: ["main": GroupSettings(fallback: fallback, otherFallbacks: others, replacement: replacement)])
    fixture.report(.updateAnswered(99))
  }

  private func show(_ name: String) throws { fixture.shows(try #require(fixture.handle(BindingID(name)))) }

  /// Makes the menu the fallback and then the board, which cannot be selected, since its binding holds something else. The menu stays.
  private func keepMenu() throws {
    turn(to: "menu")
    if fixture.phase(1) == "presenting" { try show("menu") }
    try fixture.present("board", "other", .with(to: "bare"))
    turn(to: "board")
    #expect(selection == "menu")
  }

  @Test("K7: a fallback that navd has selected goes when the clock makes another one the fallback")
  func otherFallback_takesItsPlace() throws {
    turn(to: "menu")
    try show("menu")
    turn(to: "board")
    #expect(selection == "board" && fixture.phase(1) == "dismissing" && fixture.phase(2) == "waiting")
    fixture.goes(1)
    #expect(fixture.ending(1)?.reason == .deselected)
    try show("board")
    #expect(fixture.shown == ["board"])
  }

  @Test("K7: a fallback whose time is over goes, even if no other one follows")
  func noFallback_endsIt() throws {
    turn(to: "menu")
    try show("menu")
    turn(to: nil)
    fixture.goes(1)
    #expect(selection == nil && fixture.shown == [])
    turn(to: "menu")
    #expect(selection == "menu")
  }

  @Test("K7: what somebody has asked for stays, even if it is a fallback at other times")
  func requestedItem_stays() throws {
    turn(to: "menu")
    try show("menu")
    try fixture.present("alarm", "", .with(to: "bare", group: "main"))
    fixture.goes(1)
    turn(to: "board")
    #expect(selection == "alarm")
    try fixture.present("menu", "", .with(to: "menu", group: "main"))
    try show("menu")
    turn(to: "board")
    #expect(selection == "menu")
  }

  @Test(
    "K7: a fallback that somebody asks for while it is there stays, even if the request changes nothing",
    arguments: ["present", "select", "dismiss"])
  func shownFallback_isAskedFor_stays(how: String) throws {
    turn(to: "menu")
    try show("menu")
    let options = ItemOptions.with(to: "menu", group: "main")
    switch how {
    case "present": try fixture.present("menu", "", options)
    case "select": try fixture.ask(.select("main", tag: "menu", binding: nil, id: nil, .with()))
    default: try fixture.apply(.dismiss("menu"), .present("menu", id: "", options))
    }
    turn(to: "board")
    #expect(selection == "menu" && fixture.phase(1) == "presented")
    turn(to: nil)
    #expect(selection == "menu" && fixture.phase(1) == "presented")
  }

  @Test("K7: a request that edits the value of a fallback does not ask for it")
  func shownFallback_isEdited_goes() throws {
    turn(to: "menu")
    try show("menu")
    try fixture.ask(.update("menu", value: ["soup": .string("leek")], remove: [], containerValues: nil, timeout: nil))
    turn(to: "board")
    #expect(selection == "board")
  }

  @Test("K2, K7: a former fallback that waits since it was interrupted stays if somebody asks for it")
  func interruptedFallback_isAskedFor_stays() throws {
    try keepMenu()
    try fixture.present("film", "", .with(to: "bare", group: "main", ifBusy: .interrupt))
    fixture.goes(1)
    #expect(fixture.machine.queuedTags(of: "main") == ["menu"])
    turn(to: nil)
    try fixture.present("menu", "", .with(to: "menu", group: "main"))
    let menu = try #require(fixture.handle("menu"))
    fixture.shows(menu)
    turn(to: nil)
    #expect(selection == "menu" && fixture.phase(menu) == "presented")
  }

  @Test("H4, K7: a former fallback that is held waits in the queue once somebody asks for it, and is no parent there")
  func heldFallback_isAskedFor_isQueued() throws {
    var settings = ItemSettings()
    settings.holds = ["dnd": .postpone]
    fixture.load(
      ["menu", "board", "bare"].map { name in
        Destination(
          name: name, presenter: .none, source: RulesFixture.file(name),
          itemSettings: name == "menu" ? Shared(settings) : nil)
      })
    try fixture.hold("dnd")
    try keepMenu()
    try fixture.present("menu.soup", "", .with(to: "bare"))
    #expect(fixture.parent("menu.soup") == fixture.handle("menu"))
    try fixture.present("menu", "", .with(to: "menu", group: "main"))
    #expect(selection == nil)
    #expect(fixture.machine.queuedTags(of: "main") == ["menu"])
    #expect(fixture.shown == ["board=other", "menu"])
    try fixture.release("dnd")
    turn(to: "board")
    #expect(selection == "menu")
  }

  @Test("K7, G10: in an overlapping group the former fallback stays until the next one is there")
  func overlap_formerFallback_staysUntilTheNextIsThere() throws {
    turn(to: "menu", .overlap)
    try show("menu")
    turn(to: "board", .overlap)
    #expect(fixture.phase(1) == "dismissing" && fixture.phase(2) == "presenting")
    try show("board")
    fixture.goes(1)
    #expect(fixture.shown == ["board"])
  }

  @Test("K7: one that declines to give way is not asked again until the clock changes the fallback once more")
  func declining_isNotAskedAgain() throws {
    turn(to: "menu")
    try show("menu")
    turn(to: "board")
    fixture.report(.declined(1, message: "unsaved"))
    #expect(selection == "menu")
    fixture.pass(1)
    #expect(selection == "menu")
    turn(to: "board")
    #expect(selection == "board")
  }

  @Test("K1, K7: a member that waits when the clock makes it the fallback comes after all others in the queue")
  func waitingMember_becomesTheFallback_comesLast() throws {
    turn(to: "menu")
    try show("menu")
    try fixture.present("alarm", "", .with(to: "bare", group: "main"))
    fixture.goes(1)
    try fixture.present("board", "", .with(to: "board", group: "main", ifBusy: .queue))
    let board = try #require(fixture.handle("board"))
    try fixture.present("film", "", .with(to: "bare", group: "main", ifBusy: .queue))
    turn(to: "board")
    try fixture.dismiss("alarm")
    #expect(selection == "film")
    #expect(fixture.machine.queuedTags(of: "main") == ["board"])
    try fixture.dismiss("film")
    #expect(selection == "board")
    #expect(fixture.machine.queuedTags(of: "main") == [])
    #expect(fixture.handle("board") == board)
  }
}

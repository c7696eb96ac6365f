import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// Groups and destinations whose next item is presented while the one before is still there (G10).
struct OverlapTests {
  private let fixture: RulesFixture

  init() {
    var page = Destination(name: "page", presenter: .command([Array("sleep".utf8)]), source: RulesFixture.file("page"))
    var settings = ItemSettings()
    settings.replacement = .overlap
    page.itemSettings = Shared(settings)
    var restarted = Destination(
      name: "restarted", presenter: .command([Array("sleep".utf8)]), source: RulesFixture.file("restarted"))
    var restarts = ItemSettings()
    restarts.restart = RestartRule(.always, delay: 1000, limit: 1)
    restarted.itemSettings = Shared(restarts)
    fixture = RulesFixture(destinations: [
      page, restarted,
      Destination(name: "home", presenter: .command([Array("sleep".utf8)]), source: RulesFixture.file("home")),
    ])
    fixture.machine.load(groups: ["g": GroupSettings(replacement: .overlap)])
  }

  private func member(
    _ ifBusy: BusyPolicy? = nil, to destination: String = "cmd", timeout: UInt64? = nil
  ) -> ItemOptions {
    .with(to: destination, group: "g", timeout: timeout, ifBusy: ifBusy)
  }

  private var selection: String? { fixture.machine.selection(of: "g") }
  private func phases(_ handles: Handle...) -> [String?] { handles.map(fixture.phase) }

  @Test("G10: the next member is presented first, and then the one before is asked to go")
  func select_next_comesBeforeTheOtherGoes() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    #expect(
      fixture.taken() == [
        "selection g b", "group g b ·", "dismissing a", "presenting b", "present 2 b",
      ])
    fixture.shows(2)
    #expect(fixture.taken() == ["presented b", "dismiss 1 deselected"])
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a deselected"])
    try fixture.clearAway()
  }

  @Test("G10: a member that fails leaves the one before, and its result says so")
  func next_fails_formerStays() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    _ = fixture.taken()
    fixture.fails(2)
    #expect(
      fixture.taken() == [
        "selection g a", "group g a ·", "declined a ““b” has not come”", "dismissed b failed",
      ])
    #expect(fixture.ending(2)?.result[PresentationResult.keys.kept] == "a")
    #expect(phases(1) == ["presented"])
    try fixture.clearAway()
  }

  @Test(
    "G10: a third member takes the place of the second, which ends unseen; the first stays until the third is there")
  func third_selected_firstStaysUntilItIsThere() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    try fixture.present("c", "", member())
    #expect(phases(1, 2, 3) == ["dismissing", "dismissing", "waiting"])
    #expect(fixture.taken().last == "dismiss 2 deselected forced")
    fixture.goes(2)
    #expect(phases(1, 3) == ["dismissing", "presenting"])
    _ = fixture.taken()
    fixture.shows(3)
    #expect(fixture.taken() == ["presented c", "dismiss 1 deselected"])
    try fixture.clearAway()
  }

  @Test("G10: while the first is asked to go, the second stays for the third, which waits")
  func third_whileFirstGoes_waits() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    fixture.shows(2)
    try fixture.present("c", "", member())
    #expect(phases(1, 2, 3) == ["dismissing", "dismissing", "waiting"])
    _ = fixture.taken()
    fixture.goes(1)
    #expect(fixture.taken() == ["dismissed a deselected", "presenting c", "present 3 c"])
    fixture.shows(3)
    #expect(fixture.taken() == ["presented c", "dismiss 2 deselected"])
    try fixture.clearAway()
  }

  @Test("G10, P15: a member that declines stays, and the second ends as declined")
  func former_declines_nextEnds() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    fixture.shows(2)
    fixture.declines(1, "unsaved")
    #expect(selection == "a")
    #expect(phases(1, 2) == ["presented", "dismissing"])
    fixture.goes(2)
    #expect(fixture.ending(2)?.reason == .declined)
    try fixture.clearAway()
  }

  @Test("G10, P15: a member that declines while a third waits stays, and both others end")
  func former_declinesBesideTwo_bothEnd() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    fixture.shows(2)
    try fixture.present("c", "", member())
    _ = fixture.taken()
    fixture.declines(1)
    #expect(fixture.taken().last == "dismiss 2 deselected")
    #expect(fixture.ending(3)?.reason == .declined)
    fixture.goes(2)
    #expect(fixture.shown == ["a"])
    try fixture.clearAway()
  }

  @Test("G10: who deselects or dismisses the next member wants neither")
  func next_dismissed_formerGoes() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    try fixture.dismiss("b")
    #expect(fixture.taken().suffix(2) == ["dismiss 1 deselected", "dismiss 2 dismissed forced"])
    fixture.goes(1, 2)
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test("G10: another id at the same binding comes before the one before goes")
  func sameBinding_otherID_comesFirst() throws {
    try fixture.show("a", "1", member())
    try fixture.present("a", "2", member())
    #expect(phases(1, 2) == ["dismissing", "presenting"])
    try fixture.present("a", "3", member())
    #expect(phases(1, 2, 3) == ["dismissing", "dismissing", "waiting"])
    fixture.goes(2)
    fixture.fails(3)
    #expect(fixture.shown == ["a=1"])
    #expect(phases(1) == ["presented"])
    try fixture.clearAway()
  }

  @Test("G10: a destination overlaps with a change of its id, and with nothing else")
  func destination_otherID_comesFirst() throws {
    try fixture.show("page", "1", .with())
    try fixture.present("page", "2", .with())
    #expect(phases(1, 2) == ["dismissing", "presenting"])
    fixture.fails(2)
    #expect(fixture.shown == ["page=1"])
    try fixture.present("page", "3", .with(to: "cmd"))
    #expect(phases(1, 3) == ["dismissing", "waiting"])
    try fixture.clearAway()
  }

  @Test("G10, G9: an item whose time is over goes when the next one of the queue has come")
  func former_expires_goesWhenNextIsThere() throws {
    try fixture.show("a", "", member(timeout: 1000))
    try fixture.present("b", "", member(.queue))
    _ = fixture.taken()
    fixture.pass(1000)
    #expect(phases(1, 2) == ["dismissing", "presenting"])
    fixture.shows(2)
    #expect(fixture.taken().last == "dismiss 1 expired")
    try fixture.clearAway()
  }

  @Test("G10, G9: if the next one of the queue fails, the one after it comes, and the former stays until then")
  func queue_nextFails_followingComes() throws {
    try fixture.show("a", "", member(timeout: 1000))
    try fixture.present("b", "", member(.queue))
    try fixture.present("c", "", member(.queue))
    fixture.pass(1000)
    fixture.fails(2)
    #expect(phases(1, 3) == ["dismissing", "presenting"])
    fixture.shows(3)
    #expect(fixture.taken().last == "dismiss 1 expired")
    try fixture.clearAway()
  }

  @Test("G10, K1: a fallback is there until the next member has come, and the last one until the fallback has come")
  func fallback_staysUntilNextIsThere() throws {
    fixture.machine.load(groups: ["g": GroupSettings(fallback: "home", replacement: .overlap)])
    fixture.pass(0)
    fixture.take(fixture.machine.expire(at: fixture.now))
    fixture.shows(1)
    try fixture.present("a", "", member())
    #expect(phases(1, 2) == ["dismissing", "presenting"])
    fixture.shows(2)
    fixture.goes(1)
    try fixture.dismiss("a")
    #expect(phases(2, 3) == ["dismissing", "presenting"])
    fixture.shows(3)
    fixture.goes(2)
    #expect(fixture.shown == ["home"])
    fixture.machine.load(groups: [:])
    try fixture.clearAway()
  }

  @Test("G10, K2: a member that was interrupted by what does not come stays, and begins again neither now nor later")
  func interruption_fails_formerStays() throws {
    try fixture.show("film", "", member())
    try fixture.present("alarm", "", member(.interrupt))
    #expect(fixture.machine.queuedTags(of: "g") == ["film"])
    fixture.fails(3)
    #expect(selection == "film")
    #expect(fixture.machine.queuedTags(of: "g") == [])
    #expect(phases(1) == ["presented"])
    try fixture.clearAway()
  }

  @Test(
    "G10, K3: an item that is presented again after a failure keeps the former one on the screen; when it is given up, that stays"
  )
  func restart_ofNext_formerStays() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member(to: "restarted"))
    fixture.fails(2)
    #expect(selection == "b")
    #expect(phases(1) == ["dismissing"])
    fixture.pass(1000)
    let again = try #require(fixture.handle("b"))
    #expect(phases(1, again) == ["dismissing", "presenting"])
    fixture.fails(again)
    #expect(selection == "a")
    #expect(phases(1) == ["presented"])
    try fixture.clearAway()
  }

  @Test("G10, H3: an item that a hold dismisses goes at once")
  func hold_dismisses_goesAtOnce() throws {
    var held = Destination(name: "held", presenter: .command([Array("sleep".utf8)]), source: RulesFixture.file("held"))
    var settings = ItemSettings()
    settings.holds = ["night": .dismiss]
    held.itemSettings = Shared(settings)
    let page = fixture.machine.destinations
    fixture.load(page + [held])
    try fixture.show("a", "", member(to: "held"))
    try fixture.present("b", "", member(.queue))
    _ = fixture.taken()
    try fixture.hold("night")
    #expect(fixture.taken().contains("dismiss 1 held"))
    try fixture.clearAway()
  }

  @Test("G10, C3: what is presented from a member ends as soon as another one is selected")
  func children_endAtOnce() throws {
    try fixture.show("a", "", member())
    try fixture.show("a.dialog", "", .with(to: "cmd"))
    try fixture.present("b", "", member())
    #expect(phases(1, 2, 3) == ["dismissing", "dismissing", "presenting"])
    #expect(fixture.taken().contains("dismiss 2 parent"))
    fixture.shows(3)
    #expect(fixture.taken() == ["presented b"])
    fixture.goes(2)
    #expect(fixture.taken().last == "dismiss 1 deselected")
    try fixture.clearAway()
  }

  @Test("G10: a member that ends by itself in the meantime leaves the next one alone")
  func former_closed_nextStays() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    fixture.ends(1)
    fixture.shows(2)
    #expect(fixture.shown == ["b"])
    #expect(fixture.machine.presentation(1) == nil)
    try fixture.clearAway()
  }

  @Test("G10: a group whose setting is taken back lets go what it kept")
  func setting_takenBack_formerGoes() throws {
    try fixture.show("a", "", member())
    try fixture.present("b", "", member())
    _ = fixture.taken()
    fixture.machine.load(groups: [:])
    fixture.take(fixture.machine.expire(at: fixture.now))
    #expect(fixture.taken() == ["dismiss 1 deselected"])
    fixture.goes(1)
    fixture.shows(2)
    try fixture.clearAway()
  }

  @Test("G10: one that has handed over goes, although it could not be asked at once, and the third waits for that")
  func third_whileFirstWaitsForItsChild_firstGoes() throws {
    try fixture.show("a", "", member())
    try fixture.show("a.dialog", "", .with(to: "cmd"))
    try fixture.present("b", "", member())
    fixture.shows(3)
    try fixture.present("c", "", member())
    _ = fixture.taken()
    fixture.goes(2)
    #expect(fixture.taken() == ["dismissed a.dialog parent", "dismiss 1 deselected"])
    fixture.goes(1)
    #expect(fixture.taken().last == "present 4 c")
    try fixture.clearAway()
  }

  @Test("G10: the next member comes once no other item waits for the slot of the one before")
  func slotOfFormer_isFree_nextComes() throws {
    try fixture.show("a", "1", member())
    try fixture.show("a.dialog", "", .with(to: "cmd"))
    try fixture.present("a", "2", .with(to: "cmd", group: "other"))
    try fixture.present("b", "", member())
    #expect(phases(1, 3, 4) == ["dismissing", "waiting", "waiting"])
    try fixture.ask(.deselect("other", tag: nil))
    #expect(phases(1, 4) == ["dismissing", "presenting"])
    fixture.goes(2)
    fixture.shows(4)
    fixture.goes(1)
    #expect(fixture.shown == ["b"])
    try fixture.clearAway()
  }

  @Test("G10, G9: what has stayed for the next member goes once a queued item at its binding is selected")
  func queuedAtBindingOfFormer_selected_formerGoes() throws {
    try fixture.show("a", "1", member())
    try fixture.show("x", "", .with(to: "cmd", group: "other"))
    try fixture.present("b", "", member())
    try fixture.present("a", "2", .with(to: "cmd", group: "other", ifBusy: .queue))
    #expect(phases(1, 3, 4) == ["dismissing", "presenting", "waiting"])
    _ = fixture.taken()
    try fixture.dismiss("x")
    #expect(fixture.taken().suffix(2) == ["dismiss 2 dismissed", "dismiss 1 deselected"])
    fixture.goes(1, 2)
    #expect(phases(3, 4) == ["presenting", "presenting"])
    try fixture.clearAway()
  }

  @Test("G10: a member that comes for two, one of its group and one at its binding, leaves both if it fails")
  func next_ofTwoFails_bothStay() throws {
    try fixture.show("a", "", member())
    try fixture.show("b", "1", .with(to: "page"))
    try fixture.present("b", "2", member(to: "page"))
    #expect(phases(1, 2, 3) == ["dismissing", "dismissing", "presenting"])
    fixture.fails(3)
    #expect(phases(1, 2) == ["presented", "presented"])
    #expect(selection == "a")
    #expect(fixture.ending(3)?.result[PresentationResult.keys.kept] == "a")
    try fixture.clearAway()
  }

  @Test(
    "G10: a member that comes for two, one of its group and one at its binding, has both go, and the third waits for that"
  )
  func next_ofTwoCame_bothGo() throws {
    try fixture.show("a", "", member())
    try fixture.show("b", "1", .with(to: "page"))
    try fixture.show("b.dialog", "", .with(to: "cmd"))
    try fixture.present("b", "2", member(to: "page"))
    fixture.shows(4)
    fixture.goes(1)
    try fixture.present("b", "3", member(to: "page"))
    fixture.goes(3)
    #expect(phases(2, 4, 5) == ["dismissing", "dismissing", "waiting"])
    fixture.goes(2)
    #expect(phases(4, 5) == ["dismissing", "presenting"])
    fixture.shows(5)
    fixture.goes(4)
    #expect(fixture.shown == ["b=3"])
    try fixture.clearAway()
  }

  @Test("G10, C3: nothing stays whose parent ends, too")
  func parent_dismissed_nothingStays() throws {
    try fixture.show("p", "", .with(to: "cmd"))
    try fixture.show("p.a", "1", member())
    try fixture.present("p.a", "2", member())
    try fixture.dismiss("p")
    #expect(phases(1, 2, 3) == ["dismissing", "dismissing", "dismissing"])
    fixture.goes(2, 3)
    fixture.goes(1)
    #expect(fixture.shown == [])
    try fixture.clearAway()
  }

  @Test("G10: the state tells which one a presentation replaces, until that one is gone")
  func replacing_isTold_whileBothAreThere() throws {
    func replaced(by handle: Handle) -> Handle? {
      fixture.machine.presentation(handle).flatMap { fixture.machine.replaced(by: $0) }
    }
    try fixture.show("a", "", member())
    #expect(replaced(by: 1) == nil)
    try fixture.present("b", "", member())
    #expect(replaced(by: 1) == nil)
    #expect(replaced(by: 2) == 1)
    fixture.shows(2)
    #expect(replaced(by: 2) == 1)
    fixture.goes(1)
    #expect(replaced(by: 2) == nil)
    try fixture.clearAway()
  }
}

import PresentationModel
import Testing

@testable import PresentationRules

/// Protected destinations, whose items end only by themselves (D12).
struct ProtectionTests {
  private static let lock = Destination(
    name: "lock", presenter: .command([Array("swaylock".utf8)]), group: "g", source: RulesFixture.file("lock"),
    isProtected: true)

  private let fixture = RulesFixture(destinations: [ProtectionTests.lock])

  @Test(
    "D12: no request ends a protected item that is shown",
    arguments: [
      .dismiss("lock"), .toggle("lock", id: "", ItemOptions(), anyID: true), .dismissAll(.everything),
      .dismissAll(.group("g")), .dismissAll(.root("lock")), .present("lock", id: "2", ItemOptions()),
      .present("y", id: "", .with(group: "g")), .deselect("g", tag: nil),
      .select("g", tag: "y", binding: nil, id: nil, ItemOptions()),
      .toggleSelection("g", tag: "lock", binding: nil, id: nil, ItemOptions()),
    ] as [Request.Operation])
  func protected_request_isRefused(_ operation: Request.Operation) throws {
    try fixture.show("lock", "", ItemOptions())
    try fixture.present("other")
    let refusal = try #require(fixture.refusal(of: .dismiss("other"), operation))
    #expect(refusal.code == .accessDenied)
    #expect(refusal.index == 1)
    #expect(refusal.message == "“lock” is protected by its destination, and ends only by itself: no request can end it")
    #expect(fixture.shown == ["lock", "other"])
  }

  @Test("D12: a protected item ends by itself, and its group goes on")
  func protected_ownEnd_endsIt() throws {
    try fixture.show("lock", "", ItemOptions())
    try fixture.present("y", "", .with(group: "g", ifBusy: .queue))
    fixture.ends(1)
    #expect(fixture.shown == ["y"])
    #expect(fixture.ending(1)?.reason == .closed)
  }

  @Test("D12, D11: no client reports a protected item as closed, except its presenter")
  func protected_reportedClosed_isRefused() throws {
    let lock = try fixture.show("lock", "", ItemOptions())
    let refusal = #expect(throws: Refusal.self) { try fixture.closed(lock) }
    #expect(refusal?.code == .accessDenied && fixture.shown == ["lock"])
    #expect(try fixture.closed(lock, byPresenter: true))
    #expect(fixture.shown == [])
  }

  @Test("D12: an option that would end a protected item later is refused, too")
  func protected_optionsThatWouldEndIt_areRefused() throws {
    try fixture.present("p")
    for options: ItemOptions in [
      .with(from: "p"), .with(stack: "s"), .with(timeout: 1), .with(owned: true),
    ] {
      #expect(fixture.refusal(.present("lock", id: "", options)) == .accessDenied)
    }
    try fixture.show("p.lock", "", .with(to: "lock"))
    #expect(fixture.parent("p.lock") == nil)
    #expect(fixture.refusal(.present("p.lock", id: "", .with(timeout: 5))) == .accessDenied)
    #expect(
      fixture.refusal(.update("p.lock", value: [:], remove: [], containerValues: nil, timeout: 5)) == .accessDenied)
    try fixture.dismiss("p")
    #expect(fixture.shown == ["p.lock"])
  }

  @Test(
    "D12, K1, H4: a protected fallback stays when a hold ends; a member that waited for the hold comes after its own end"
  )
  func protectedFallback_holdEnds_staysUntilItEndsByItself() throws {
    var settings = ItemSettings()
    settings.holds = ["dnd": .postpone]
    let fixture = RulesFixture(
      destinations: [
        Destination(
          name: "board", presenter: .command([Array("board".utf8)]), source: RulesFixture.file("board"),
          isProtected: true),
        Destination(
          name: "memo", presenter: .none, source: RulesFixture.file("memo"), itemSettings: Shared(settings)),
      ], fallbacks: ["main": "board"])
    fixture.pass(0)
    fixture.report(.updateAnswered(1))
    fixture.shows(1)
    let cookie = try fixture.hold("dnd")
    try fixture.present("memo", "", .with(group: "main"))
    _ = fixture.taken()
    try fixture.release(cookie)
    #expect(fixture.taken() == ["hold dnd over"])
    #expect(fixture.machine.selection(of: "main") == "board" && fixture.machine.queuedTags(of: "main") == ["memo"])
    // Another request for the group is refused as before.
    #expect(fixture.refusal(.present("other", id: "", .with(group: "main"))) == .accessDenied)
    fixture.ends(1)
    #expect(fixture.shown == ["memo"] && fixture.phase(2) == "presented")
    try fixture.dismiss("memo")
    #expect(fixture.shown == ["board"])
  }

  @Test("D12: navd does not quit while a protected item is shown; a waiting item is not protected yet")
  func protected_waiting_isNotProtected() throws {
    try fixture.present("x", "", .with(to: "cmd", group: "g"))
    fixture.shows(1)
    try fixture.present("lock", "", .with(ifBusy: .queue))
    try fixture.machine.checkShutDown()
    try fixture.dismiss("lock")
    #expect(fixture.shown == ["x"])
    try fixture.dismiss("x")
    fixture.goes(1)
    try fixture.show("lock", "", ItemOptions())
    #expect(throws: Refusal.self) { try fixture.machine.checkShutDown() }
  }
}

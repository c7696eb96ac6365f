import DBusValues
import PresentationModel
import Testing

@testable import PresentationRules

/// N3: items whose windows are gone while their programs run on.
struct WindowsGoneTests {
  private let fixture: RulesFixture

  init() {
    func panel(_ name: String, restart: RestartRule? = nil) -> Destination {
      var settings = ItemSettings()
      settings.restart = restart
      return Destination(
        name: name, presenter: .command([[1]]), group: "panels", source: RulesFixture.file(name),
        itemSettings: restart == nil ? nil : Shared(settings), window: WindowFollowing())
    }
    fixture = RulesFixture(destinations: [
      panel("mixer"), panel("wifi"), panel("browser", restart: RestartRule(.onFailure)),
    ])
  }

  private func show(_ binding: BindingID) throws -> Handle {
    let handle = try fixture.show(binding, "", ItemOptions())
    _ = fixture.taken()
    return handle
  }

  @Test("N3: the slot is nil at once, and the end comes with the result of the program")
  func windows_gone_emptySlotBeforeTheEnd() throws {
    let mixer = try show("mixer")
    fixture.report(.windowsGone(mixer, isFinal: true))
    #expect(fixture.handle("mixer") == nil)
    #expect(fixture.machine.selection(of: "panels") == nil)
    #expect(fixture.phase(mixer) == "dismissing")
    #expect(fixture.ending(mixer) == nil)
    fixture.report(.ended(mixer, failed: false, result: ["status": .int32(0)]))
    #expect(fixture.ending(mixer)?.reason == .closed)
    #expect(fixture.ending(mixer)?.result == ["status": .int32(0)])
  }

  @Test("N3, P16: an item that asks its user asks no more when its windows are gone")
  func windows_goneWhileAsking_askNoMore() throws {
    let mixer = try show("mixer")
    try fixture.dismiss("mixer")
    fixture.report(.asking(mixer, message: "Save?"))
    _ = fixture.taken()
    fixture.report(.windowsGone(mixer, isFinal: true))
    #expect(fixture.taken().contains("asking 1 no more"))
  }

  @Test("N3: the same item, and the next member of the group, begin before the old program has ended")
  func windows_gone_letOthersBegin() throws {
    let mixer = try show("mixer")
    fixture.report(.windowsGone(mixer, isFinal: true))
    try fixture.present("mixer")
    #expect(fixture.phase(2) == "presenting")
    fixture.shows(2)
    try fixture.present("wifi")
    #expect(fixture.phase(3) == "waiting")
    // The program is asked to close; its windows go, and it does not end.
    fixture.report(.windowsGone(2, isFinal: true))
    #expect(fixture.phase(3) == "presenting")
    #expect(fixture.phase(2) == "dismissing")
    fixture.report(.ended(2, failed: false, result: [:]))
    fixture.report(.ended(mixer, failed: false, result: [:]))
    #expect(fixture.ending(2)?.reason == .deselected)
    #expect(fixture.ending(mixer)?.reason == .closed)
  }

  @Test("N3: a program that crashes with its windows has failed")
  func windows_goneByCrash_areFailure() throws {
    let mixer = try show("mixer")
    fixture.report(.windowsGone(mixer, isFinal: true))
    fixture.report(.ended(mixer, failed: true, result: ["signal": .string("SIGSEGV")]))
    #expect(fixture.ending(mixer)?.reason == .failed)
    #expect(fixture.ending(mixer)?.result["error"] == .string("its program crashed (SIGSEGV)"))
  }

  @Test("N3, P14: without a result, the presentation ends after its grace, and no program is ended")
  func result_missing_endsAfterGrace() throws {
    let mixer = try show("mixer")
    fixture.report(.windowsGone(mixer, isFinal: true))
    _ = fixture.taken()
    fixture.pass(Destination.defaultGrace)
    #expect(fixture.ending(mixer)?.reason == .closed)
    #expect(fixture.taken() == ["dismissed mixer closed"])
  }

  @Test("N3: the children of an item that its user has closed end before it")
  func windows_goneOfParent_endChildrenFirst() throws {
    let mixer = try show("mixer")
    try fixture.present("mixer.dialog", "", .with(to: "wifi", group: "dialogs"))
    fixture.shows(2)
    fixture.report(.windowsGone(mixer, isFinal: true))
    fixture.report(.ended(mixer, failed: false, result: [:]))
    #expect(fixture.phase(mixer) == "dismissing")
    fixture.goes(2)
    #expect(fixture.ending(2)?.reason == .parent)
    #expect(fixture.ending(mixer)?.reason == .closed)
  }

  @Test("N3, P15: windows that go while children still end force those, and no program is asked to end")
  func windows_goneWhileChildrenEnd_forceThem() throws {
    let mixer = try show("mixer")
    let child = try fixture.show("mixer.dialog", "", .with(to: "bus"))
    try fixture.dismiss("mixer")
    _ = fixture.taken()
    fixture.report(.windowsGone(mixer, isFinal: true))
    #expect(fixture.taken() == ["dismiss \(child) parent forced"])
    fixture.goes(child)
    #expect(fixture.taken() == ["dismissed mixer.dialog parent"])
    fixture.ends(mixer)
    #expect(fixture.taken() == ["dismissed mixer dismissed"])
  }

  @Test("N3: between two windows, toggle and present open the item anew, and the earlier presentation was closed")
  func item_betweenWindows_isOpenedAnew() throws {
    for isToggle in [false, true] {
      let fixture = RulesFixture(destinations: [
        Destination(
          name: "office", presenter: .command([[1]]), source: RulesFixture.file("office"), window: WindowFollowing())
      ])
      let first = try fixture.show("office", "", ItemOptions())
      fixture.report(.windowsGone(first, isFinal: false))
      #expect(fixture.phase(first) == "presented")
      if isToggle {
        try fixture.ask(.toggle("office", id: "", ItemOptions(), anyID: false))
      } else {
        try fixture.present("office")
      }
      #expect(fixture.handle("office") == 2)
      fixture.report(.ended(first, failed: false, result: [:]))
      #expect(fixture.ending(first)?.reason == .closed)
      #expect(fixture.phase(2) == "presenting")
    }
  }

  @Test("N3: with its next window, the item is on the screen again, and a toggle dismisses it")
  func item_withNextWindow_isDismissed() throws {
    let mixer = try show("mixer")
    fixture.report(.windowsGone(mixer, isFinal: false))
    fixture.report(.windowsBack(mixer))
    try fixture.ask(.toggle("mixer", id: "", ItemOptions(), anyID: false))
    #expect(fixture.handle("mixer") == nil)
    #expect(fixture.phase(mixer) == "dismissing")
  }

  @Test("N3: a window that went before its item was on the screen does not count")
  func item_presentedAfterAWindow_isDismissed() throws {
    try fixture.present("mixer")
    fixture.report(.windowsGone(1, isFinal: false))
    fixture.shows(1)
    try fixture.ask(.toggle("mixer", id: "", ItemOptions(), anyID: false))
    #expect(fixture.handle("mixer") == nil)
  }

  @Test("N3, G8: between two windows, the group is not busy")
  func group_betweenWindows_isNotBusy() throws {
    for policy in [BusyPolicy.queue, .refuse] {
      let mixer = try show("mixer")
      fixture.report(.windowsGone(mixer, isFinal: false))
      try fixture.present("wifi", "", .with(ifBusy: policy))
      let wifi = try #require(fixture.handle("wifi"))
      #expect(fixture.machine.selection(of: "panels") == "wifi")
      fixture.report(.ended(mixer, failed: false, result: [:]))
      #expect(fixture.ending(mixer)?.reason == .deselected)
      fixture.ends(wifi)
    }
  }

  @Test("N3, K3: an item that may be presented again stays until its result is known")
  func item_withRestart_waitsForItsResult() throws {
    let browser = try show("browser")
    fixture.report(.windowsGone(browser, isFinal: true))
    #expect(fixture.handle("browser") == browser)
    fixture.report(.ended(browser, failed: false, result: ["status": .int32(1)]))
    #expect(fixture.handle("browser") == 2)
    #expect(fixture.phase(2) == "waiting")
  }
}

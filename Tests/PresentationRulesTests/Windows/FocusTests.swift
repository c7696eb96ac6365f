import PresentationModel
import Testing

@testable import PresentationRules

/// The focus of windows: raising items that are shown already, and ending items that have lost the focus (N7, N9, N10).
struct FocusTests {
  private let fixture = RulesFixture(destinations: [
    FocusTests.destination("popup", endsUnfocused: true), FocusTests.destination("inner", endsUnfocused: true),
    FocusTests.destination("editor"), FocusTests.destination("member", endsUnfocused: true, group: "g"),
    Destination(name: "plain", presenter: .command([[1]]), source: RulesFixture.file("plain")),
  ])

  private static func destination(
    _ name: String, endsUnfocused: Bool = false, group: BindingID? = nil
  ) -> Destination {
    Destination(
      name: name, presenter: .command([[1]]), group: group, source: RulesFixture.file(name),
      window: WindowFollowing(endsUnfocused: endsUnfocused))
  }

  private func focus(_ handle: Handle?, isOwn: Bool = false) { fixture.report(.focused(handle, isOwn: isOwn)) }

  // MARK: Losing the focus

  @Test("N9: an item that loses the focus to a window of nobody ends as unfocused, and may decline")
  func popup_losingFocus_ends() throws {
    let popup = try fixture.show("popup", "", ItemOptions())
    focus(popup)
    #expect(fixture.taken() == [])
    focus(nil)
    #expect(fixture.taken() == ["dismissing popup", "dismiss 1 unfocused"])
    fixture.declines(popup)
    #expect(fixture.shown == ["popup"])
    focus(popup)
    focus(nil)
    fixture.goes(popup)
    #expect(fixture.ending(popup)?.reason == .unfocused)
  }

  @Test("N9: an item that never had the focus, or was not told to end without it, stays")
  func item_withoutFocus_stays() throws {
    try fixture.show("popup", "", ItemOptions())
    let editor = try fixture.show("editor", "", ItemOptions())
    focus(editor)
    focus(nil)
    #expect(fixture.taken() == [])
    #expect(fixture.shown == ["editor", "popup"])
  }

  @Test("N9: a focus that moves to a child is no loss for the parent; a loss of the child is a loss for both")
  func popup_losingFocusToChild_stays() throws {
    let popup = try fixture.show("popup", "", ItemOptions())
    let child = try fixture.show("popup.child", "", .with(to: "inner"))
    focus(popup)
    focus(child)
    #expect(fixture.taken() == [])
    focus(popup)
    #expect(fixture.taken() == ["dismissing popup.child", "dismiss 2 unfocused"])
    fixture.goes(child)
    let next = try fixture.show("popup.child", "", .with(to: "inner"))
    focus(next)
    focus(nil)
    fixture.goes(next)
    fixture.goes(popup)
    #expect(fixture.ending(next)?.reason == .unfocused)
    #expect(fixture.ending(popup)?.reason == .unfocused)
  }

  @Test("N9: a loss of the focus that navd has caused itself, or before the item is presented, does not count")
  func loss_causedByNavd_isNone() throws {
    let popup = try fixture.show("popup", "", ItemOptions())
    focus(popup)
    focus(nil, isOwn: true)
    #expect(fixture.taken() == [])
    try fixture.present("inner")
    focus(2)
    focus(nil)
    #expect(fixture.shown == ["inner", "popup"])
  }

  @Test("N9: a focus that navd has taken away is not lost a second time")
  func loss_afterNavdTookTheFocus_isNone() throws {
    let popup = try fixture.show("popup", "", ItemOptions())
    focus(popup)
    fixture.report(.noFocus(isOwn: true))
    focus(nil)
    #expect(fixture.taken() == [] && fixture.shown == ["popup"])
  }

  // MARK: The toggle race

  @Test("N10: a toggle within 300 ms after the loss presents nothing: it is the click that took the focus")
  func toggle_afterLoss_presentsNothing() throws {
    let popup = try fixture.show("popup", "", ItemOptions())
    focus(popup)
    focus(nil)
    fixture.goes(popup)
    fixture.pass(300)
    #expect(try fixture.ask(.toggle("popup", id: "", ItemOptions(), anyID: false)) == .toggled(presented: false, nil))
    #expect(fixture.shown == [])
    fixture.pass(1)
    #expect(try fixture.ask(.toggle("popup", id: "", ItemOptions(), anyID: false)) == .toggled(presented: true, 2))
  }

  @Test("N10: a loss 300 ms later leaves the earlier one in its click")
  func toggle_afterTwoLosses_presentsNothing() throws {
    for name in ["popup", "inner"] as [BindingID] {
      let handle = try fixture.show(name, "", ItemOptions())
      focus(handle)
      focus(nil)
      fixture.goes(handle)
      if name == "popup" { fixture.pass(300) }
    }
    #expect(try fixture.ask(.toggle("popup", id: "", ItemOptions(), anyID: false)) == .toggled(presented: false, nil))
  }

  @Test(
    "N10: a toggle of the group's member presents nothing, either; other requests and other names are not concerned")
  func toggleSelection_afterLoss_selectsNothing() throws {
    let member = try fixture.show("member", "", ItemOptions())
    focus(member)
    focus(nil)
    let toggle = Request.Operation.toggleSelection("g", tag: "member", binding: nil, id: nil, ItemOptions())
    #expect(try fixture.ask(toggle) == .selected(false))
    #expect(try fixture.ask(.toggle("popup", id: "", ItemOptions(), anyID: false)) == .toggled(presented: true, 2))
    try fixture.present("member")
    #expect(fixture.shown == ["member", "popup"])
  }

  @Test("N9, N10: an item that ended because no window has the focus is opened by the next toggle")
  func toggle_afterLossToNoWindow_presents() throws {
    let popup = try fixture.show("popup", "", ItemOptions())
    focus(popup)
    fixture.report(.focusLost)
    #expect(fixture.shown == ["popup"])
    fixture.report(.noFocus(isOwn: false))
    fixture.goes(popup)
    #expect(fixture.ending(popup)?.reason == .unfocused)
    #expect(try fixture.ask(.toggle("popup", id: "", ItemOptions(), anyID: false)) == .toggled(presented: true, 2))
  }

  // MARK: Raising

  @Test(
    "N7: with raise, a toggle raises an item that has just lost the focus to no window, and dismisses it once it has the focus"
  )
  func toggle_raisingWithoutFocus_raises() throws {
    let editor = try fixture.show("editor", "", ItemOptions())
    focus(editor)
    fixture.report(.focusLost)
    try fixture.raise(.toggle("editor", id: "", ItemOptions(), anyID: false))
    #expect(fixture.taken() == ["raise 1"])
    focus(editor, isOwn: true)
    try fixture.raise(.toggle("editor", id: "", ItemOptions(), anyID: false))
    #expect(fixture.taken() == ["dismissing editor", "dismiss 1 dismissed"])
  }

  @Test("N7: with raise, a request raises an item that is shown already, and changes nothing else")
  func present_raising_raisesWhatIsShown() throws {
    try fixture.show("editor", "", ItemOptions())
    try fixture.raise(.present("editor", id: "", ItemOptions()))
    #expect(fixture.taken() == ["raise 1"])
    try fixture.raise(.present("popup", id: "", ItemOptions()))
    #expect(fixture.taken() == ["presenting popup", "present 2 popup"])
    // This item has no windows that navd knows.
    try fixture.show("plain", "", ItemOptions())
    try fixture.raise(.present("plain", id: "", ItemOptions()))
    #expect(fixture.taken() == [])
  }

  @Test("N7: an item that a toggle presents, or a request with raise, is to be seen")
  func presentation_askedForByKey_mustBeSeen() throws {
    try fixture.present("editor")
    #expect(fixture.machine.current(at: "editor")?.mustBeSeen == false)
    try fixture.ask(.toggle("plain", id: "", ItemOptions(), anyID: false))
    #expect(fixture.machine.current(at: "plain")?.mustBeSeen == true)
    _ = try fixture.apply([Request(.present("popup", id: "", ItemOptions()), raises: true)])
    #expect(fixture.machine.current(at: "popup")?.mustBeSeen == true)
  }

  @Test("N7: an item that has waited in a queue need not be seen, since its key was pressed long ago")
  func presentation_servedByQueue_needNotBeSeen() throws {
    let first = try fixture.show("member", "", ItemOptions())
    let options = ItemOptions.with(to: "editor", group: "g", ifBusy: .queue)
    try fixture.ask(.toggle("editor", id: "", options, anyID: false))
    #expect(fixture.phase(2) == "waiting")
    #expect(fixture.machine.current(at: "editor")?.mustBeSeen == true)
    try fixture.dismiss("member")
    fixture.goes(first)
    #expect(fixture.phase(2) == "presenting")
    #expect(fixture.machine.current(at: "editor")?.mustBeSeen == false)
  }

  @Test("N7: a raising toggle dismisses an item only if it has the focus")
  func toggle_raising_dismissesOnlyWithFocus() throws {
    let editor = try fixture.show("editor", "", ItemOptions())
    let toggle = Request.Operation.toggle("editor", id: "", ItemOptions(), anyID: false)
    #expect(try fixture.raise(toggle) == .toggled(presented: true, editor))
    #expect(fixture.taken() == ["raise 1"])
    focus(editor, isOwn: true)
    #expect(try fixture.raise(toggle) == .toggled(presented: false, nil))
    #expect(fixture.taken() == ["dismissing editor", "dismiss 1 dismissed"])
  }

  @Test("N7: a raising selection raises the selected member; its toggle deselects it only with the focus")
  func select_raising_raisesSelectedMember() throws {
    let member = try fixture.show("member", "", ItemOptions())
    try fixture.raise(.select("g", tag: "member", binding: nil, id: nil, ItemOptions()))
    #expect(fixture.taken() == ["raise 1"])
    let toggle = Request.Operation.toggleSelection("g", tag: "member", binding: nil, id: nil, ItemOptions())
    #expect(try fixture.raise(toggle) == .selected(true))
    focus(member)
    #expect(try fixture.raise(toggle) == .selected(false))
  }

  @Test("N7: a raising selection that has to queue raises no other member")
  func toggleSelection_raisingIntoTheQueue_raisesNoOther() throws {
    try fixture.show("member", "", ItemOptions())
    try fixture.raise(.toggleSelection("g", tag: "other", binding: nil, id: nil, .with(ifBusy: .queue)))
    #expect(fixture.taken() == ["group g member other · other", "waiting g.other"])
  }
}

extension RulesFixture {
  @discardableResult
  fileprivate func raise(_ operation: Request.Operation) throws(Refusal) -> Reply {
    try apply([Request(operation, raises: true)])[0]
  }
}

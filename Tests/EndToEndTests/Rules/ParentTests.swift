import CoordinatorAPI
import DBus
import DBusValues
import TestSupport
import Testing
import TextFormats

// Parents and children with a real presenter, and the order in which they appear and end (C2 to C6).

private typealias Rows = CoordinatorInterface

/// A request for `Apply` that presents an item on the screen.
private func present(_ binding: String, _ id: String = "") -> TransactionRequest {
  TransactionRequest("Present", [.string(binding), .string(id), Screen.options().value])
}

@Test("C4: replacing a child leaves its parent untouched")
func parent_ofAChildThatIsReplaced_isUntouched() throws {
  let screen = try Screen(Session())
  let a = try screen.show("a", "A")
  try screen.show("a.b", "B")
  try screen.session.present("a.b", "C", Screen.options())
  try screen.expect([
    "phase a.b B dismissing", "phase a.b C waiting", "dismiss a.b B replaced", "gone a.b B",
    "dismissed a.b B replaced", "phase a.b C presenting", "present a.b C", "shown a.b C", "presented a.b C",
  ])
  #expect(try screen.presentation("a") == a)
  #expect(try screen.session.call(Rows.members, ("parent", "a")).map(\.fields.1) == ["C"])
}

@Test("C4: dismissing the middle one of three nested items dismisses its child first and leaves its parent")
func parent_inTheMiddleDismissed_endsAfterItsChildAndLeavesItsParent() throws {
  let screen = try Screen(Session())
  for binding in ["a", "a.b", "a.b.c"] { try screen.show(binding) }
  screen.presenter.isAnswering = false
  #expect(try screen.session.dismiss("a.b"))
  try screen.expect(["phase a.b dismissing", "phase a.b.c dismissing", "dismiss a.b.c parent"])
  // The slots are empty at once, and the ends are announced one by one.
  #expect(try screen.shown() == ["a"])
  screen.answer("dismiss a.b.c parent")
  try screen.expect(["gone a.b.c", "dismissed a.b.c parent", "dismiss a.b dismissed"])
  screen.answer("dismiss a.b dismissed")
  try screen.expect(["gone a.b", "dismissed a.b dismissed"])
  #expect(try screen.shown() == ["a"])
}

@Test("C3: replacing a parent dismisses the child, then the parent, then presents the replacement")
func parent_replaced_endsAfterItsChildAndBeforeItsReplacement() throws {
  let screen = try Screen(Session())
  try screen.show("a", "A")
  try screen.show("a.b", "B")
  screen.presenter.isAnswering = false
  try screen.session.present("a", "D", Screen.options())
  try screen.expect([
    "phase a A dismissing", "phase a.b B dismissing", "phase a D waiting", "dismiss a.b B parent",
  ])
  screen.answer("dismiss a.b B parent")
  try screen.expect(["gone a.b B", "dismissed a.b B parent", "dismiss a A replaced"])
  screen.answer("dismiss a A replaced")
  try screen.expect(["gone a A", "dismissed a A replaced", "phase a D presenting", "present a D"])
  screen.answer("present a D")
  try screen.expect(["shown a D", "presented a D"])
  #expect(try screen.shown() == ["a D"])
}

@Test("C2: four nested items presented in one request in the wrong order are presented outermost first")
func parent_ofADeepLink_isPresentedBeforeItsChildren() throws {
  let screen = try Screen(Session())
  screen.presenter.isAnswering = false
  let (replies, _) = try screen.session.call(
    Rows.apply, ([present("a.b.c.d"), present("a.b"), present("a"), present("a.b.c")], [:]))
  #expect(replies.count == 4)
  try screen.expect([
    "phase a.b.c.d waiting", "phase a.b waiting", "phase a presenting", "phase a.b.c waiting", "present a",
  ])
  screen.answer("present a")
  try screen.expect(["shown a", "presented a", "phase a.b presenting", "present a.b"])
  screen.answer("present a.b")
  try screen.expect(["shown a.b", "presented a.b", "phase a.b.c presenting", "present a.b.c"])
  screen.answer("present a.b.c")
  try screen.expect(["shown a.b.c", "presented a.b.c", "phase a.b.c.d presenting", "present a.b.c.d"])
  screen.answer("present a.b.c.d")
  try screen.expect(["shown a.b.c.d", "presented a.b.c.d"])

  screen.presenter.isAnswering = true
  try screen.session.dismiss("a")
  try screen.expect([
    "phase a dismissing", "phase a.b dismissing", "phase a.b.c dismissing", "phase a.b.c.d dismissing",
    "dismiss a.b.c.d parent", "gone a.b.c.d", "dismissed a.b.c.d parent", "dismiss a.b.c parent", "gone a.b.c",
    "dismissed a.b.c parent", "dismiss a.b parent", "gone a.b", "dismissed a.b parent", "dismiss a dismissed",
    "gone a", "dismissed a dismissed",
  ])
}

@Test("C2: a deep link applied by navctl starts commands outermost first")
func parent_ofADeepLinkOfCommands_isStartedBeforeItsChildren() throws {
  let session = try Session(destinations: ["actor": JournaledCommand.destination(endingAfter: 10)])
  let bindings = ["a.b.c.d", "a.b", "a", "a.b.c"]
  let list = bindings.map { "[\"Present\",\"\($0)\",\"\",{\"destination\":\"actor\"}]" }
  let watcher = try session.watch()
  #expect(try session.navctl("apply", "-", input: "[\(list.joined(separator: ","))]").exitCode == 0)
  try session.wait("all are presented") { watcher.lines.last == "presented a.b.c.d" }
  try session.wait("all have started") { session.journalLines.count == 4 }
  #expect(
    watcher.lines.filter { $0.hasPrefix("presented") }
      == ["presented a", "presented a.b", "presented a.b.c", "presented a.b.c.d"])
  #expect(try session.navctl("dismiss", "a").exitCode == 0)
  try session.wait("all have ended") { watcher.lines.last == "dismissed a dismissed" }
  #expect(
    session.journalLines.dropFirst(4).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
      == ["a.b.c.d", "a.b.c", "a.b", "a"].flatMap { ["term \($0)", "end \($0)"] })
  #expect(watcher.hasAllSerials)
}

@Test(
  "C6: a child that waits for its parent is never presented if the parent is dismissed; it ends with the reason “parent”"
)
func parent_dismissedWhileItsChildWaits_endsTheChild() throws {
  let screen = try Screen(Session())
  screen.presenter.isAnswering = false
  try screen.session.present("a", "", Screen.options())
  try screen.expect(["phase a presenting", "present a"])
  let child = try screen.session.present("a.b", "", Screen.options())
  try screen.expect(["phase a.b waiting"])
  let wait = screen.session.begin(Rows.wait, (child, "gone"))
  try screen.session.dismiss("a")
  try screen.expect(["dismissed a.b parent", "phase a dismissing", "dismiss a dismissed"])
  #expect(try screen.session.answer(to: wait).0 == "parent")
  // The late answer to the first call is ignored (P4).
  screen.answer("present a")
  try screen.expect(["shown a"])
  screen.answer("dismiss a dismissed")
  try screen.expect(["gone a", "dismissed a dismissed"])
  #expect(try screen.session.state()["presentations"] == [])
}

@Test("C5: a parent can have two alerts at once, and each is dismissed alone")
func parent_ofTwoAlerts_hasBothAtOnce() throws {
  let screen = try Screen(Session())
  try screen.show("a")
  screen.presenter.isAnswering = false
  let options = Screen.options(["from": .string("a"), "style": .string("alert")])
  let first = try screen.session.present("alert[0]", "x", options)
  try screen.expect(["phase alert[0] x presenting", "present alert[0] x"])
  try screen.session.present("alert[1]", "y", options)
  try screen.expect(["phase alert[1] y presenting", "present alert[1] y"])
  screen.answer("present alert[1] y", "present alert[0] x")
  try screen.expect(["shown alert[1] y", "shown alert[0] x", "presented alert[1] y", "presented alert[0] x"])
  #expect(
    try screen.session.call(Rows.members, ("parent", "a")).map(\.fields.0) == ["alert[0]", "alert[1]"])

  #expect(try screen.session.answer(to: screen.close(first)).0)
  try screen.expect(["dismissed alert[0] x closed"])
  #expect(try screen.shown() == ["a", "alert[1] y"])

  // Siblings are dismissed together, and their parent after the last of them.
  try screen.session.present("alert[0]", "z", options)
  _ = try screen.happened(2)
  screen.answer("present alert[0] z")
  _ = try screen.happened(2)
  try screen.session.dismiss("a")
  try screen.expect([
    "phase a dismissing", "phase alert[1] y dismissing", "phase alert[0] z dismissing", "dismiss alert[1] y parent",
    "dismiss alert[0] z parent",
  ])
  screen.answer("dismiss alert[0] z parent")
  try screen.expect(["gone alert[0] z", "dismissed alert[0] z parent"])
  screen.answer("dismiss alert[1] y parent")
  try screen.expect(["gone alert[1] y", "dismissed alert[1] y parent", "dismiss a dismissed"])
  screen.answer("dismiss a dismissed")
  try screen.expect(["gone a", "dismissed a dismissed"])
}

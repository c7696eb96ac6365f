import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Exclusive groups with real presenters and commands: one member at a time, whatever arrives at once (G1 to G9).

private typealias Rows = CoordinatorInterface

/// The options of a group member that the screen presents.
private func member(_ group: String, _ more: Properties = [:]) -> Properties {
  Screen.options(more.merging(["group": .string(group)]) { $1 })
}

extension Session {
  fileprivate func select(_ tag: String, _ options: Properties = Screen.options()) throws {
    try call(Rows.select, ("g", tag, options))
  }

  fileprivate func selection() throws -> String? { try state()["groups"]?["g"]?["selection"]?.string }
}

@Test(
  "G1: the next member is presented only after the previous member has ended; members selected in between are never presented"
)
func group_selectionDuringDismissal_waitsForItsEnd() throws {
  let screen = try Screen(Session())
  screen.presenter.isAnswering = false
  try screen.session.select("a")
  try screen.expect(["selection g a", "group g a ·", "phase g.a presenting", "present g.a"])
  try screen.session.select("b")
  try screen.expect([
    "selection g b", "group g a b ·", "phase g.a dismissing", "phase g.b waiting", "dismiss g.a deselected",
  ])
  try screen.session.select("c")
  try screen.expect(["selection g c", "group g a b c ·", "dismissed g.b deselected", "phase g.c waiting"])
  screen.answer("dismiss g.a deselected")
  try screen.expect(["gone g.a", "dismissed g.a deselected", "phase g.c presenting", "present g.c"])
  screen.answer("present g.c")
  try screen.expect(["shown g.c", "presented g.c"])
}

/// Requires of events that no member is presented before the one before it has ended.
/// - Returns: the members that were presented, and those that have not ended.
private func expectOneAtATime(_ lines: [String]) -> (shown: [String], live: Set<String>) {
  var live: Set<String> = []
  var shown: [String] = []
  for line in lines {
    let words = line.split(separator: " ").map(String.init)
    switch (words[0], words.last) {
    case ("phase", "presenting"):
      #expect(live.isEmpty, "\(line) while \(live)")
      live.insert(words[1])
      shown.append(words[1])
    case ("dismissed", _):
      live.remove(words[1])
      #expect(words[2] == "deselected")
    default: break
    }
  }
  return (shown, live)
}

@Test(
  "G1, G2: of 50 members selected 20 ms apart, with a presenter that needs 120 ms to dismiss, one is shown at a time, and the last stays"
)
func group_ofFiftySelectedQuickly_showsOneAtATimeAndTheLastInTheEnd() throws {
  let session = try Session(destinations: ["actor": JournaledCommand.destination(endingAfter: 120)])
  let watcher = try session.watch()
  var members = (0..<50).map { "m\($0)" }
  members.shuffle()
  var rest = members[...]
  var answered = 0
  func selectNext() {
    guard let tag = rest.popFirst() else { return }
    session.client.call(
      Rows.select, on: CoordinatorNames.bus, at: CoordinatorNames.object,
      ("g", tag, ["destination": .string("actor")]), timeout: nil
    ) { if case .success = $0 { answered += 1 } }
    _ = session.loop.timer(after: .milliseconds(20)) { selectNext() }
  }
  selectNext()
  let last = "g.\(members[49])"
  try session.wait("the last one is presented") { watcher.lines.last == "presented \(last)" }
  #expect(answered == 50)
  try session.wait(for: "start ", of: last)

  let (shown, live) = expectOneAtATime(watcher.lines)
  #expect(live == [last])
  // The 50 selections take a second, and each member shown took 120 ms to end.
  #expect(shown.count < 25)
  #expect(watcher.lines.filter { $0.hasPrefix("dismissed") }.count == 49)
  #expect(watcher.lines.filter { $0.hasPrefix("selection") } == members.map { "selection g \($0)" })
  #expect(watcher.hasAllSerials)

  // In the journal, each command started after the previous one had ended. A command may end before it writes anything.
  let acts = session.journalLines.map { $0.split(separator: " ").prefix(2).map(String.init) }
  for (index, act) in acts.enumerated() where act[0] == "start" && index > 0 {
    #expect(acts[index - 1][0] == "end", "\(acts)")
  }
  #expect(acts.last == ["start", last])
  #expect(session.processes().map(\.binding) == [last])
  #expect(try session.state()["presentations"]?.array?.count == 1)
}

@Test("G4: 30 or 31 concurrent toggles of one tag have the same effect as sequential ones", arguments: [30, 31])
func group_concurrentToggles_haveTheEffectOfSequentialOnes(count: Int) throws {
  let screen = try Screen(Session())
  try screen.session.select("x")
  _ = try screen.happened(5)
  screen.presenter.isAnswering = false
  let clients = try (0..<count).map { _ in try screen.session.connect() }
  let calls = clients.map {
    screen.session.begin(Rows.toggleSelection, ("g", "x", Screen.options()), by: $0)
  }
  // Each caller receives the outcome of its own call.
  let selected = try calls.map { try screen.session.answer(to: $0).0 }
  #expect(selected.count { $0 } == count / 2)

  let isSelected = count % 2 == 0
  var events: [String] = ["selection g", "phase g.x dismissing"]
  for toggle in 1..<count {
    events += toggle % 2 == 1 ? ["selection g x", "phase g.x waiting"] : ["selection g", "dismissed g.x deselected"]
  }
  var happened = try screen.happened(events.count + 1)
  // The position of the only call among the events depends on how the requests were read from the bus.
  happened.removeAll { $0 == "dismiss g.x deselected" }
  #expect(happened == events)
  #expect(try screen.session.selection() == (isSelected ? "x" : nil))

  screen.answer("dismiss g.x deselected")
  try screen.expect(
    ["gone g.x", "dismissed g.x deselected"] + (isSelected ? ["phase g.x presenting", "present g.x"] : []))
}

@Test(
  "G5: a member that the user closes at the moment of its deselection ends once; Closed and Dismiss cross on the bus")
func group_memberClosedDuringDeselection_keepsTheNewSelection() throws {
  let screen = try Screen(Session())
  let x = try screen.show("x", "", ["group": .string("g")])
  screen.presenter.isAnswering = false
  try screen.session.present("y", "", member("g"))
  try screen.expect([
    "selection g y", "group g x y ·", "phase x dismissing", "phase y waiting", "dismiss x deselected",
  ])
  // The report Closed completes the dismissal in progress, with the reason of that dismissal (P12).
  #expect(try screen.session.answer(to: screen.close(x)).0)
  try screen.expect(["dismissed x deselected", "phase y presenting", "present y"])
  // This is the late answer to a presentation that has ended.
  screen.answer("dismiss x deselected", "present y")
  try screen.expect(["gone x", "shown y", "presented y"])
  #expect(try screen.session.selection() == "y")
}

@Test(
  "G5: a member closed by the user and deselected at the same time ends once, in either order, and the new selection stays"
)
func group_memberClosedAndDeselectedAtOnce_endsOnce() throws {
  let screen = try Screen(Session())
  let session = screen.session
  for round in 0..<20 {
    let old = try screen.show("old", "\(round)", ["group": .string("g")])
    // The calls are in the order in which the bus reads them.
    let calls = (
      screen.close(old), session.begin(Rows.present, ("new", "\(round)", member("g")))
    )
    _ = try session.answer(to: calls.0)
    let new = try session.answer(to: calls.1).0
    #expect(try session.call(Rows.wait, (new, "presented")).0 == "")
    let (reason, _) = try session.ending(of: old)
    #expect(["closed", "deselected"].contains(reason))
    let happened = try screen.happened()
    #expect(happened.filter { $0.hasPrefix("dismissed") } == ["dismissed old \(round) \(reason)"])
    #expect(happened.last == "presented new \(round)")
    #expect(try session.selection() == "new")
    #expect(try screen.shown() == ["new \(round)"])
  }
  #expect(screen.watcher.hasAllSerials)
}

@Test("G8, G9: a queue is served by priority, then by age; no member is closed for a queued one")
func group_queue_isServedByPriorityAndAge() throws {
  let screen = try Screen(Session())
  let session = screen.session
  try session.select("x")
  try screen.expect([
    "selection g x", "group g x ·", "phase g.x presenting", "present g.x", "shown g.x", "presented g.x",
  ])
  for (tag, priority) in [("a", 0), ("b", 5), ("c", -1), ("d", 5)] as [(String, Int32)] {
    try session.select(tag, Screen.options(["if-busy": .string("queue"), "priority": .int32(priority)]))
  }
  try screen.expect([
    "group g a x · a", "phase g.a waiting", "group g a b x · b a", "phase g.b waiting", "group g a b c x · b a c",
    "phase g.c waiting", "group g a b c d x · b d a c", "phase g.d waiting",
  ])
  #expect(
    try session.call(Rows.members, ("group", "g")).map(\.fields.0) == ["g.x", "g.a", "g.b", "g.c", "g.d"])

  // The selection ends in every way: deselected, dismissed, closed by its user, and because its presenter leaves.
  try session.call(Rows.deselect, ("g", "", [:]))
  try screen.expect([
    "selection g b", "group g a b c d x · d a c", "phase g.x dismissing", "dismiss g.x deselected", "gone g.x",
    "dismissed g.x deselected", "phase g.b presenting", "present g.b", "shown g.b", "presented g.b",
  ])
  try session.dismiss("g.b")
  try screen.expect([
    "selection g d", "group g a b c d x · a c", "phase g.b dismissing", "dismiss g.b dismissed", "gone g.b",
    "dismissed g.b dismissed", "phase g.d presenting", "present g.d", "shown g.d", "presented g.d",
  ])
  let closing = screen.close(try screen.presentation("g.d"))
  #expect(try session.answer(to: closing).0)
  try screen.expect([
    "selection g a", "group g a b c d x · c", "dismissed g.d closed", "phase g.a presenting", "present g.a",
    "shown g.a", "presented g.a",
  ])
  // A member removed from the queue was never presented. Clearing a group also clears its queue.
  try session.call(Rows.dismissAll, ["group": .string("g")])
  try screen.expect([
    "selection g", "group g a b c d x ·", "dismissed g.c dismissed", "phase g.a dismissing", "dismiss g.a dismissed",
    "gone g.a", "dismissed g.a dismissed",
  ])
  #expect(try screen.shown() == [])
}

@Test("G8: if-busy=refuse fails with Busy and changes nothing, not even the serial")
func group_busy_refusesTheSelection() throws {
  let screen = try Screen(Session())
  try screen.show("x", "", ["group": .string("g")])
  let before = try screen.session.state()
  let options = member("g", ["if-busy": .string("refuse")])
  let refusals = [
    try screen.session.refusal(Rows.present, ("y", "", options)),
    try screen.session.refusal(Rows.select, ("g", "y", options)),
    try screen.session.refusal(Rows.toggleSelection, ("g", "y", options)),
    try screen.session.refusal(Rows.toggle, ("y", "", options)),
  ]
  for refusal in refusals {
    #expect(refusal?.name == .busy)
    // The error names the tag that is selected, and the alternatives.
    #expect(refusal?.message.contains("“x”") == true && refusal?.message.contains("queue") == true)
  }
  #expect(try screen.session.state() == before)
  try screen.expect([])
  // Without a selection, the member is presented.
  try screen.session.dismiss("x")
  try screen.expect([
    "selection g", "phase x dismissing", "dismiss x dismissed", "gone x", "dismissed x dismissed",
  ])
  try screen.session.present("y", "", options)
  try screen.expect([
    "selection g y", "group g x y ·", "phase y presenting", "present y", "shown y", "presented y",
  ])
}

@Test("G7: a binding that is in one group cannot be selected in another with the same id; with another id it moves")
func group_bindingInAnotherGroup_isRefusedOrMoves() throws {
  let screen = try Screen(Session())
  try screen.show("x", "1", ["group": .string("g")])
  let before = try screen.session.state()
  let refusal = try screen.session.refusal(Rows.present, ("x", "1", member("h")))
  #expect(refusal?.name == .invalidArgument)
  #expect(refusal?.message.contains("group") == true)
  let options = Screen.options(["binding": .string("x"), "id": .string("1")])
  #expect(try screen.session.refusal(Rows.select, ("h", "x", options))?.name == .invalidArgument)
  #expect(try screen.session.state() == before)
  try screen.expect([])

  try screen.session.present("x", "2", member("h"))
  try screen.expect([
    "selection g", "selection h x", "group h x ·", "phase x 1 dismissing", "phase x 2 waiting", "dismiss x 1 replaced",
    "gone x 1", "dismissed x 1 replaced", "phase x 2 presenting", "present x 2", "shown x 2", "presented x 2",
  ])
  #expect(try screen.session.state()["groups"]?["h"]?["selection"] == "x")
}

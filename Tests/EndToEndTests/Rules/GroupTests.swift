import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Exclusive groups with real commands, one at a time, and the signals of a busy group. PresentationRulesTests has
// the rules of groups.

private typealias Rows = CoordinatorInterface

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

@Test("G8: if-busy=refuse fails with Busy and changes nothing, not even the serial")
func group_busy_refusesTheSelection() throws {
  let screen = try Screen(Session())
  try screen.show("x", "", ["group": .string("g")])
  let before = try screen.session.state()
  let options = Screen.options(["group": .string("g"), "if-busy": .string("refuse")])
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

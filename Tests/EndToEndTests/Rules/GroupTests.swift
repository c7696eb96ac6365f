import CoordinatorAPI
import DBus
import DBusValues
import EventLoops
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Exclusive groups with real commands, one at a time. PresentationRulesTests has the rules of groups.

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

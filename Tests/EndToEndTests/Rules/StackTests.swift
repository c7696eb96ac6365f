import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Stacks of commands (S5). The rules of stacks are tested on the state machine alone.

@Test("S5: commands of a path that navctl sets start from the bottom, and end from the top")
func stack_pathsOfCommands_endFromTheTopAndStartFromTheBottom() throws {
  let session = try Session(destinations: [
    "one": JournaledCommand.destination(endingAfter: 10), "two": JournaledCommand.destination(endingAfter: 10),
    "three": JournaledCommand.destination(endingAfter: 10), "four": JournaledCommand.destination(endingAfter: 10),
  ])
  let watcher = try session.watch()
  var known = 0
  /// Sets the path, waits until the state settles, and returns the journal of the commands and the presented bindings.
  func setPath(_ elements: [String], ending: Int, starting: Int) throws -> (ended: [String], presented: [String]) {
    watcher.clear()
    let run = try session.run(program: Session.program("navctl"), ["set-path", "--state", "s"] + elements)
    #expect(run.exitCode == 0, "\(run.errorText)")
    try session.wait("\(ending) have ended, \(starting) have started") {
      session.journalLines.count == known + 2 * ending + starting
        && watcher.lines.filter { $0.hasPrefix("dismissed") }.count == ending
        && watcher.lines.filter { $0.hasPrefix("presented") }.count == starting
    }
    defer { known = session.journalLines.count }
    // The started commands write their first lines in any order.
    let acts = session.journalLines.dropFirst(known).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
    #expect(acts.dropFirst(2 * ending).allSatisfy { $0.hasPrefix("start") })
    return (Array(acts.prefix(2 * ending)), watcher.lines.filter { $0.hasPrefix("presented") })
  }
  let first = try setPath(["one", "two", "three", "four"], ending: 0, starting: 4)
  #expect(first.presented == ["presented one", "presented two", "presented three", "presented four"])
  let second = try setPath(["four", "one", "three", "two"], ending: 4, starting: 4)
  #expect(
    second.ended == [
      "term four", "end four", "term three", "end three", "term two", "end two", "term one", "end one",
    ])
  #expect(second.presented == ["presented four", "presented one", "presented three", "presented two"])
  // The common beginning of both paths is kept.
  let third = try setPath(["four", "one"], ending: 2, starting: 0)
  #expect(third.ended == ["term two", "end two", "term three", "end three"])
  let last = try setPath([], ending: 2, starting: 0)
  #expect(last.ended == ["term one", "end one", "term four", "end four"])
  #expect(try session.navctl("path", "s").exitCode == 4)
}

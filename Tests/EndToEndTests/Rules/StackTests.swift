import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel
import TestSupport
import Testing
import TextFormats

// Stacks with real presenters and commands, driven by one and by two programs (S1 to S8).

private typealias Rows = CoordinatorInterface

extension Screen {
  /// Sets the path of stack `s` and waits until the state settles.
  fileprivate func setPath(_ ids: String...) throws {
    let elements = ids.map { Structure("", $0, Screen.options()) }
    try session.call(Rows.setPath, ("s", elements, [:]))
  }

  fileprivate func push(_ binding: String, by client: Connection? = nil) throws {
    try session.call(Rows.push, ("s", binding, "", Screen.options()), by: client)
  }

  fileprivate func pop(_ count: UInt32, by client: Connection? = nil) throws -> UInt32 {
    try session.call(Rows.pop, ("s", count, [:]), by: client).0
  }

  /// The path of stack `s`, as the log writes it.
  fileprivate func path() throws -> [String] {
    (try session.state()["stacks"]?["s"]?.array ?? []).map {
      [$0["binding"], $0["id"]].compactMap { $0?.string }.filter { !$0.isEmpty }.joined(separator: "=")
    }
  }
}

// The lines that the screen logs for several slots, in their order; a slot is `s[0] 1`.

private func phase(_ phase: String, _ slots: String...) -> [String] { slots.map { "phase \($0) \(phase)" } }

/// Each slot is dismissed when the one before it has ended.
private func popped(_ slots: String...) -> [String] {
  slots.flatMap { ["dismiss \($0) popped", "gone \($0)", "dismissed \($0) popped"] }
}

private func shown(_ slot: String) -> [String] { ["present \(slot)", "shown \(slot)", "presented \(slot)"] }

/// Each slot is presented when the one before it is on the screen.
private func presented(_ slots: String...) -> [String] { slots.flatMap { phase("presenting", $0) + shown($0) } }

@Test(
  "S2, S5: the paths [1,2,3,4], [4,1,3,2], [1,2], [] and [1,1] are dismissed from the top and presented from the bottom"
)
func stack_severalPaths_areDismissedFromTheTopAndPresentedFromTheBottom() throws {
  let screen = try Screen(Session())
  try screen.setPath("1", "2", "3", "4")
  try screen.expect(
    ["path s s[0]=1 s[1]=2 s[2]=3 s[3]=4"] + phase("presenting", "s[0] 1")
      + phase("waiting", "s[1] 2", "s[2] 3", "s[3] 4") + shown("s[0] 1") + presented("s[1] 2", "s[2] 3", "s[3] 4"))

  try screen.setPath("4", "1", "3", "2")
  try screen.expect(
    ["path s s[0]=4 s[1]=1 s[2]=3 s[3]=2"] + phase("dismissing", "s[3] 4", "s[2] 3", "s[1] 2", "s[0] 1")
      + phase("waiting", "s[0] 4", "s[1] 1", "s[2] 3", "s[3] 2") + popped("s[3] 4", "s[2] 3", "s[1] 2", "s[0] 1")
      + presented("s[0] 4", "s[1] 1", "s[2] 3", "s[3] 2"))

  try screen.setPath("1", "2")
  try screen.expect(
    ["path s s[0]=1 s[1]=2"] + phase("dismissing", "s[3] 2", "s[2] 3", "s[1] 1", "s[0] 4")
      + phase("waiting", "s[0] 1", "s[1] 2") + popped("s[3] 2", "s[2] 3", "s[1] 1", "s[0] 4")
      + presented("s[0] 1", "s[1] 2"))

  try screen.setPath()
  try screen.expect(["path s"] + phase("dismissing", "s[1] 2", "s[0] 1") + popped("s[1] 2", "s[0] 1"))
  #expect(try screen.session.state()["stacks"] == [:])

  // A path may contain equal values.
  try screen.setPath("1", "1")
  try screen.expect(
    ["path s s[0]=1 s[1]=1"] + phase("presenting", "s[0] 1") + phase("waiting", "s[1] 1") + shown("s[0] 1")
      + presented("s[1] 1"))
}

@Test("S5: the same paths, set by navctl, start and end commands in that order")
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

@Test(
  "S3: if the user closes the second of five items, the items above are dismissed from the top, and the first stays")
func stack_secondOfFiveClosed_dismissesItemsAbove() throws {
  let screen = try Screen(Session())
  try screen.setPath("1", "2", "3", "4", "5")
  _ = try screen.happened(25)
  let second = try screen.presentation("s[1]")
  screen.presenter.isAnswering = false
  let closing = screen.close(second)
  try screen.expect([
    "path s s[0]=1", "phase s[4] 5 dismissing", "phase s[3] 4 dismissing", "phase s[2] 3 dismissing",
    "phase s[1] 2 dismissing", "dismiss s[4] 5 popped",
  ])
  #expect(try screen.session.answer(to: closing).0)
  #expect(try screen.shown() == ["s[0] 1"])
  screen.answer("dismiss s[4] 5 popped")
  try screen.expect(["gone s[4] 5", "dismissed s[4] 5 popped", "dismiss s[3] 4 popped"])
  screen.answer("dismiss s[3] 4 popped")
  try screen.expect(["gone s[3] 4", "dismissed s[3] 4 popped", "dismiss s[2] 3 popped"])
  // A second report of the closed item changes nothing.
  #expect(!(try screen.session.answer(to: screen.close(second)).0))
  screen.answer("dismiss s[2] 3 popped")
  // The presenter reported the item closed, so Dismiss is not called.
  try screen.expect(["gone s[2] 3", "dismissed s[2] 3 popped", "dismissed s[1] 2 closed"])
  #expect(try screen.path() == ["s[0]=1"])
}

@Test("S8: in a stack used by two programs, each program's screens stay in place")
func stack_usedByTwoPrograms_keepsTheScreensOfEach() throws {
  let screen = try Screen(Session())
  let anna = try screen.session.connect()
  let bert = try screen.session.connect()
  for (client, binding) in [(anna, "anna[0]"), (bert, "bert[0]"), (anna, "anna[1]")] {
    try screen.push(binding, by: client)
  }
  _ = try screen.happened(15)
  let below = [try screen.presentation("anna[0]"), try screen.presentation("bert[0]")]

  // One program pops while the other pushes.
  screen.presenter.isAnswering = false
  try screen.session.dismiss("anna[1]", by: anna)
  try screen.expect(["path s anna[0] bert[0]", "phase anna[1] dismissing", "dismiss anna[1] dismissed"])
  try screen.push("bert[1]", by: bert)
  try screen.expect(["path s anna[0] bert[0] bert[1]", "phase bert[1] waiting"])
  screen.answer("dismiss anna[1] dismissed")
  try screen.expect(["gone anna[1]", "dismissed anna[1] dismissed", "phase bert[1] presenting", "present bert[1]"])
  screen.answer("present bert[1]")
  try screen.expect(["shown bert[1]", "presented bert[1]"])

  // Pop removes the top, whoever pushed it.
  #expect(try screen.pop(1, by: anna) == 1)
  try screen.expect(["path s anna[0] bert[0]", "phase bert[1] dismissing", "dismiss bert[1] popped"])
  screen.answer("dismiss bert[1] popped")
  try screen.expect(["gone bert[1]", "dismissed bert[1] popped"])
  #expect([try screen.presentation("anna[0]"), try screen.presentation("bert[0]")] == below)
  // Neither program can push an item that the other has in the stack (S7).
  #expect(
    try screen.session.refusal(Rows.push, ("s", "anna[0]", "", [:]), by: bert)?.name == .alreadyInStack)
}

@Test("S1, S8: while two programs push and pop concurrently, the path matches the slots, and all changes are announced")
func stack_usedByTwoProgramsConcurrently_matchesItsSlots() throws {
  let screen = try Screen(Session())
  let session = screen.session
  var calls: [() throws -> Void] = []
  for name in ["anna", "bert"] {
    let client = try session.connect()
    for round in 0..<20 {
      let push = session.begin(Rows.push, ("s", "\(name)[\(round)]", "", Screen.options()), by: client)
      calls.append { _ = try session.answer(to: push) }
      guard round % 3 == 2 else { continue }
      let pop = session.begin(Rows.pop, ("s", 2, [:]), by: client)
      calls.append {
        let popped = try session.answer(to: pop).0
        #expect(popped == 2)
      }
    }
  }
  for call in calls { try call() }
  try session.wait("the state settles") {
    screen.watcher.lines.last { $0.hasPrefix("phase") || $0.hasPrefix("presented") }?.hasPrefix("presented") == true
  }
  let happened = try screen.happened()
  let path = try screen.path()
  #expect(path.count == 40 - 2 * 6 * 2)
  #expect(try screen.shown() == path)
  #expect(happened.last { $0.hasPrefix("path") } == (["path s"] + path).joined(separator: " "))
  #expect(screen.watcher.hasAllSerials)
  // The items are dismissed from the top, one at a time: each ended before the next Dismiss.
  let dismissals = happened.filter { $0.hasPrefix("dismiss ") || $0.hasPrefix("gone ") }
  for (call, answer) in zip(dismissals, dismissals.dropFirst()) where call.hasPrefix("dismiss ") {
    #expect(answer == "gone " + call.split(separator: " ")[1])
  }
}

@Test("S8: an item pushed during a pop waits until the popped item has ended")
func stack_pushDuringPop_waitsForThePoppedItem() throws {
  let screen = try Screen(Session())
  try screen.setPath("1", "2", "3")
  _ = try screen.happened(15)
  screen.presenter.isAnswering = false
  #expect(try screen.pop(2) == 2)
  try screen.expect([
    "path s s[0]=1", "phase s[2] 3 dismissing", "phase s[1] 2 dismissing", "dismiss s[2] 3 popped",
  ])
  try screen.push("x")
  try screen.push("y")
  try screen.expect(["path s s[0]=1 x", "phase x waiting", "path s s[0]=1 x y", "phase y waiting"])
  // An item that is being dismissed cannot be popped (P11).
  #expect(try screen.pop(1) == 1)
  try screen.expect(["path s s[0]=1 x", "dismissed y popped"])
  screen.answer("dismiss s[2] 3 popped")
  try screen.expect(["gone s[2] 3", "dismissed s[2] 3 popped", "dismiss s[1] 2 popped"])
  screen.answer("dismiss s[1] 2 popped")
  try screen.expect(["gone s[1] 2", "dismissed s[1] 2 popped", "phase x presenting", "present x"])
  screen.answer("present x")
  try screen.expect(["shown x", "presented x"])
}

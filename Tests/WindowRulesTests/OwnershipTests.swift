import DBusValues
import PresentationModel
import TestSupport
import Testing

@testable import WindowRules

/// The table of docs/windows.md, line by line (N1).
@Suite struct OwnershipTests {
  private typealias Facts = OwnershipFacts

  /// A line of the table: the facts that it is about, and what it says.
  private struct Line {
    let processes: [Facts.Process]
    let origins: [Facts.Origin]
    let patterns: [Facts.Pattern]
    let isNewer: [Bool]
    let takes: [Facts.Takes]
    let owner: Owner

    func covers(_ facts: Facts) -> Bool {
      processes.contains(facts.process) && origins.contains(facts.origin) && patterns.contains(facts.pattern)
        && isNewer.contains(facts.isNewer) && takes.contains(facts.takes)
    }
  }

  private enum Owner { case item, guest, undecided, user }

  private static let processes: [String: Facts.Process] = [
    "not told yet": .untold, "none": .none, "own": .own, "descendant": .descendant, "handed over": .handedOver,
    "twin": .twin, "twin's next": .twinsNext, "foreign": .foreign,
  ]
  private static let origins: [String: Facts.Origin] = [
    "none": .none, "navd's": .made, "the request's": .given, "another": .another,
  ]
  private static let patterns: [String: Facts.Pattern] = [
    "fit": .fits, "do not fit": .doesNotFit, "not written": .unwritten,
  ]
  private static let opened = ["before": false, "after": true]
  private static let takes: [String: Facts.Takes] = [
    "its first": .first, "further ones": .further, "a guest": .guest, "a replacement": .replacement,
    "nothing": .nothing,
  ]
  private static let owners: [String: Owner] = [
    "the item's": .item, "its user's, a guest": .guest, "not decided": .undecided, "its user's": .user,
  ]

  private func lines() throws -> [Line] {
    let rows = try Files.text(inPackage: "docs/windows.md").split(separator: "\n").drop {
      !$0.hasPrefix("| its process | its startup id |")
    }.dropFirst(2).prefix { $0.hasPrefix("|") }
    return try rows.map { row in
      let cells = row.split(separator: "|").map {
        String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      }
      try #require(cells.count == 6, "\(row)")
      func values<Value>(_ index: Int, _ names: [String: Value]) throws -> [Value] {
        if cells[index] == "any" { return Array(names.values) }
        return try cells[index].split(separator: ",").map { word in
          try #require(names[String(word.drop { $0 == " " })], "\(row)")
        }
      }
      return Line(
        processes: try values(0, Self.processes), origins: try values(1, Self.origins),
        patterns: try values(2, Self.patterns), isNewer: try values(3, Self.opened), takes: try values(4, Self.takes),
        owner: try #require(Self.owners[cells[5]], "\(row)"))
    }
  }

  @Test("N1: for all facts, a window's owner is the one in the first line of the table that covers them")
  func owner_ofAllFacts_isThatOfTheTable() throws {
    let lines = try lines()
    var used: Set<Int> = []
    for facts in Self.all {
      let index = try #require(lines.firstIndex { $0.covers(facts) }, "no line covers \(facts)")
      used.insert(index)
      #expect(owner(facts) == lines[index].owner, "\(facts)")
      var dialog = facts
      dialog.isDialog = true
      #expect(owner(dialog) == .item, "\(dialog)")
    }
    #expect(used.count == lines.count, "lines that never count: \(Set(lines.indices).subtracting(used))")
  }

  private func owner(_ facts: Facts) -> Owner {
    switch facts.verdict {
    case .item: .item
    case .guest: .guest
    case .undecided: .undecided
    case .user: .user
    }
  }

  private static var all: [Facts] {
    Facts.Process.allCases.flatMap { process in
      Facts.Origin.allCases.flatMap { origin in
        Facts.Pattern.allCases.flatMap { pattern in
          Facts.Takes.allCases.flatMap { takes in
            [false, true].map {
              Facts(
                isDialog: false, process: process, origin: origin, pattern: pattern, isNewer: $0, takes: takes)
            }
          }
        }
      }
    }
  }
}

/// Windows whose facts come late, in any order (N1).
@Suite struct LateFactTests {
  private let own = WindowProcess(program: one, ancestor: one, started: later)
  private let foreign = WindowProcess(program: nil, ancestor: nil, started: later)
  private let server = WindowProcess(program: nil, ancestor: nil, started: BootTime(milliseconds: 1))

  private func told(_ pid: UInt32, title: String? = nil) -> WindowProperties {
    var properties = WindowProperties()
    (properties.pid, properties.title) = (pid, title)
    return properties
  }

  @Test("N1: a further window of an item's process that only the pattern of another item fits is that one's")
  func window_ofProcessWithTwoItems_goesByPattern() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "app", title: "Inbox")), grace: 2000)
    tracker.opened(window("w1", title: "Inbox", pid: 7), by: own)
    tracker.follow(two, WindowFollowing(WindowPattern(appID: "app", title: "Draft")), grace: 2000)
    let older = WindowProcess(program: one, ancestor: one, started: BootTime(milliseconds: 1))
    tracker.opened(window("w2", title: "Draft", pid: 7), by: older)
    #expect(tracker.owner(of: "w2") == two)
    tracker.opened(window("w3", title: "Settings", pid: 7), by: older)
    #expect(tracker.owner(of: "w3") == one)
  }

  @Test("N1: a window whose process is told after it belongs to its item from then on")
  func process_toldLate_decides() {
    for (process, isItems) in [(own, true), (server, true), (foreign, false)] {
      var tracker = tracker()
      tracker.follow(one, byApp, grace: 2000)
      tracker.opened(window("w1", pid: nil), by: nil)
      #expect(tracker.next() == [])
      tracker.changed("w1", told(7), by: process)
      #expect((tracker.owner(of: "w1") == one) == isItems)
    }
  }

  @Test("N1: an item takes the window that opened first, even if its process is told last")
  func process_toldLast_firstWindowIsTaken() {
    for isItems in [true, false] {
      var tracker = tracker()
      tracker.follow(one, byApp, grace: 2000)
      tracker.opened(window("w1", pid: nil), by: nil)
      tracker.opened(window("w2", pid: 8), by: server)
      #expect(tracker.windows(of: one) == [])
      tracker.changed("w1", told(7), by: isItems ? server : foreign)
      #expect(tracker.windows(of: one).map(\.id) == [isItems ? "w1" : "w2"])
    }
  }

  @Test("N1: a process that the adapter tells after “none” decides, even if it tells all windows again")
  func process_toldAfterNone_decides() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.opened(window("w1", pid: 0), by: nil)
    #expect(tracker.windows(of: one) == [])
    tracker.arrived(all, [window("w1", pid: 7)]) { _ in one }
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }

  @Test("N1: a window that closes before its process was told keeps no other one from its item")
  func window_closedUntold_isNotWaitedFor() {
    var tracker = tracker()
    tracker.follow(one, byApp, grace: 2000)
    tracker.opened(window("w1", pid: nil), by: nil)
    tracker.opened(window("w2", pid: 8), by: server)
    tracker.closed("w1")
    #expect(tracker.windows(of: one).map(\.id) == ["w2"])
  }

  @Test("N2: a program is not ended for want of a window while the process of one has not been told")
  func startTimeout_withUntoldWindow_endsNoProgram() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.programStarted(one)
    tracker.opened(window("w1", pid: nil), by: nil)
    tracker.dismiss(one, isForced: false, because: .failure)
    _ = tracker.next()
    tracker.confirmed(one)
    #expect(tracker.next() == [.report(.dismissAnswered(one, result: [:]))])
  }

  @Test("N5: a dismissal waits for the process of a window that may be the item's, and closes that window")
  func dismissal_withUntoldWindow_closesItWhenTold() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.opened(window("w1", pid: nil), by: nil)
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [])
    tracker.changed("w1", told(7), by: own)
    #expect(tracker.next().contains(.terminate(one)))
  }

  @Test("N5: if the window turns out to be another program's, the dismissal ends the item's")
  func dismissal_withForeignWindow_endsProgram() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(), grace: 2000)
    tracker.opened(window("w1", pid: nil), by: nil)
    tracker.dismiss(one, isForced: false)
    tracker.changed("w1", told(7), by: foreign)
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeToEnd)])
    tracker.timeIsOver(for: one)
    #expect(tracker.next() == [.terminate(one)])
  }

  @Test("N1: a startup id that the request brought proves nothing for a process that navd has not started")
  func startupID_ofLauncher_provesNothingForOthers() {
    for (process, isItems) in [
      (foreign, false), (server, false), (WindowProcess(program: nil, ancestor: one, started: later), true),
    ] {
      for (id, isMade) in [(StartupID.given("id"), false), (.made("id"), true)] {
        var tracker = tracker()
        tracker.follow(one, WindowFollowing(), grace: 2000, startupID: id)
        var properties = window("w1", pid: 7).properties
        properties.startupID = "id"
        tracker.opened(Window(id: "w1", properties), by: process)
        #expect((tracker.owner(of: "w1") == one) == (isItems || isMade))
      }
    }
  }

  @Test("N1: a startup id proves nothing for a window that was open before the item")
  func startupID_ofEarlierWindow_provesNothing() {
    var tracker = tracker()
    var properties = window("w1", pid: 7).properties
    tracker.opened(Window(id: "w1", properties), by: foreign)
    tracker.follow(one, WindowFollowing(), grace: 2000, startupID: .made("id"))
    properties.startupID = "id"
    tracker.changed("w1", properties)
    #expect(tracker.owner(of: "w1") == nil)
  }

  @Test("N1: after a restart, an item takes the window that opened first, whatever the ids are")
  func windows_afterRestart_areTakenInTheirOrder() {
    var tracker = tracker()
    tracker.recover(
      one, byApp, FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000), for: one)
    tracker.arrived(all, ["old", "w9", "w10"].map { window($0, pid: 7) }) { _ in nil }
    _ = tracker.restore(one, windows: [], before: ["old"], beganAt: early, end: nil)
    #expect(tracker.windows(of: one).map(\.id) == ["w9"])
  }

  @Test("N1: a wrapper's child shows the first window of a program of scope “process”, also without a pattern")
  func window_ofChild_isTaken() {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(takesAll: false), grace: 2000)
    tracker.opened(window("w1", pid: 7), by: WindowProcess(program: nil, ancestor: one, started: later))
    tracker.opened(window("w2", pid: 7), by: WindowProcess(program: nil, ancestor: one, started: later))
    #expect(tracker.windows(of: one).map(\.id) == ["w1"])
  }
}

/// Windows that the user opens in the program of an item (N1, N3).
@Suite struct SecondWindowTests {
  /// A program of whose windows the item has only the first one.
  private func shown(_ rule: WindowFollowing) -> WindowTracker {
    var tracker = tracker()
    tracker.show(one, rule)
    tracker.opened(window("w2"), program: one)
    _ = tracker.next()
    return tracker
  }

  @Test("N1: it stays its user's when the first one closes soon")
  func window_second_isItsUsersWhenTheFirstCloses() {
    var tracker = shown(WindowFollowing(takesAll: false))
    tracker.closed("w1", at: early)
    #expect(tracker.windows(of: one) == [])
  }

  @Test("N3: with leftover = “end”, the program ends only after its user's window")
  func leftover_withUsersWindow_goesOn() {
    var tracker = shown(WindowFollowing(takesAll: false, endsLeftover: true))
    tracker.closed("w1")
    tracker.timeIsOver(for: one)
    tracker.forget(one)
    #expect(!tracker.next().contains(.confirm(one, milliseconds: 1000)))
    tracker.closed("w2")
    #expect(tracker.next() == [.confirm(one, milliseconds: 1000)])
    tracker.confirmed(one)
    #expect(tracker.next() == [.terminate(one), .wait(one, milliseconds: 2000)])
  }

  @Test("N3: a window that its user opens just before the program is to end keeps it")
  func leftover_withNewWindow_goesOn() {
    var tracker = tracker()
    tracker.show(one, WindowFollowing(takesAll: false, endsLeftover: true))
    tracker.closed("w1")
    tracker.timeIsOver(for: one)
    _ = tracker.next()
    tracker.opened(window("w2"), program: one)
    tracker.confirmed(one)
    #expect(tracker.next() == [])
  }

  @Test("N6: with kill, a program that shows its user's window is not killed")
  func grace_overWithUsersWindow_killsNothing() {
    var tracker = shown(WindowFollowing(takesAll: false, kills: true))
    tracker.dismiss(one, isForced: false)
    tracker.closeAnswered("w1")
    tracker.graceIsOver(for: one)
    _ = tracker.next()
    tracker.confirmed(one)
    #expect(
      tracker.next() == [
        .report(
          .declined(one, message: "its program still shows a window of its user's, and is not ended"))
      ])
  }
}

/// A window that its user has opened in the same moment as an item.
@Suite struct SameMomentTests {
  /// Programs of the user's own: one that was started just before the item, and one that ran for long.
  private let users = WindowProcess(program: nil, ancestor: nil, started: BootTime(milliseconds: 999_999))
  private let server = WindowProcess(program: nil, ancestor: nil, started: BootTime(milliseconds: 1))
  private let own = WindowProcess(program: one, ancestor: one, started: early)

  private func starting(takesAll: Bool = true) -> WindowTracker {
    var tracker = tracker()
    tracker.follow(one, WindowFollowing(WindowPattern(appID: "app"), takesAll: takesAll), grace: 2000)
    tracker.programStarted(one)
    return tracker
  }

  @Test("N1: a window of a program that was just started waits for one of the command's own, which is the item's")
  func window_ofProgramJustStarted_waitsForOwn() {
    var tracker = starting()
    tracker.opened(window("users", pid: 7), by: users)
    #expect(tracker.next() == [.wait(one, milliseconds: WindowTracker.timeOfDoubt)])
    tracker.opened(window("own", pid: 8), by: own)
    #expect(tracker.next() == [.presented(one)])
    #expect(tracker.windows(of: one).map(\.id) == ["own"])
  }

  @Test("N1: a window of a program that was just started is the item's once the command has handed over, or opens none")
  func window_ofProgramJustStarted_isTakenLater() {
    for handsOver in [true, false] {
      var tracker = starting()
      tracker.opened(window("server", pid: 7), by: users)
      _ = tracker.next()
      if handsOver {
        tracker.programEnded(one, failed: false, result: ["status": .int32(0)])
      } else {
        tracker.timeIsOver(for: one)
      }
      #expect(tracker.next() == [.presented(one)])
    }
  }

  @Test(
    "N1: a window of another program is its user's again when the command opens its own, however many the item takes",
    arguments: [true, false])
  func window_beforeThatOfTheCommand_isUsers(takesAll: Bool) {
    var tracker = starting(takesAll: takesAll)
    tracker.opened(window("users", pid: 7, focused: true), by: server)
    _ = tracker.next()
    tracker.opened(window("own", pid: 8), by: own)
    #expect(tracker.next() == [.report(.focused(nil, isOwn: false))])
    #expect(tracker.windows(of: one).map(\.id) == ["own"])
    tracker.dismiss(one, isForced: false)
    #expect(tracker.next() == [.close(window: "own")])
  }

  @Test("N1, R2: it is so after a restart of navd, too")
  func window_beforeThatOfTheCommandAndARestart_isUsers() {
    var former = starting()
    let users = window("users", pid: 7)
    former.opened(users, by: server)
    #expect(former.isGuessed(one))
    var tracker = tracker([users])
    tracker.recover(
      one, byApp, FollowingSettings(destination: "app", grace: 2000, startTimeout: 10_000), for: one)
    _ = tracker.restore(
      one, windows: [users], before: [], beganAt: early, end: nil, isPresented: true, isGuessed: former.isGuessed(one))
    let soon = BootTime(milliseconds: early.milliseconds + 100)
    tracker.opened(window("own", pid: 8), by: WindowProcess(program: one, ancestor: one, started: soon))
    #expect(tracker.windows(of: one).map(\.id) == ["own"])
  }

  @Test("N3: a program that goes on after its last window takes none of another program, which is its user's")
  func window_ofServerAfterTheLast_isUsers() {
    var tracker = starting()
    tracker.opened(window("own", pid: 8), by: own)
    tracker.closed("own")
    tracker.opened(window("users", pid: 7), by: server)
    #expect(tracker.owner(of: "users") == nil)
  }

  @Test("N1: a command that has handed over may open other windows later")
  func window_laterOfTheCommand_givesNothingBack() {
    var tracker = starting()
    tracker.opened(window("server", pid: 7), by: server)
    tracker.opened(window("later", pid: 8), by: WindowProcess(program: one, ancestor: one, started: later))
    #expect(tracker.windows(of: one).map(\.id) == ["server", "later"])
  }

  @Test("N2: an item that is dismissed before its window closes none of another program, unless its command hands over")
  func window_duringDismissal_isUsersUnlessHandedOver() {
    var tracker = starting()
    tracker.dismiss(one, isForced: false)
    tracker.opened(window("w1", pid: 7), by: server)
    _ = tracker.next()
    #expect(tracker.owner(of: "w1") == nil)
    var handingOver = tracker
    handingOver.programEnded(one, failed: false, result: ["status": .int32(0)])
    #expect(handingOver.next() == [.close(window: "w1")])
    tracker.timeIsOver(for: one)
    let result: Properties = ["signal": .string("SIGTERM")]
    tracker.programEnded(one, failed: true, result: result)
    #expect(tracker.next() == [.terminate(one), .report(.dismissAnswered(one, result: result))])
    #expect(tracker.owner(of: "w1") == nil)
  }
}

import DBusValues
import Testing

@testable import CoordinatorDaemon
@testable import DBus

// The client of systemd's user manager: whether there is one, the states of units, and jobs.

private let mixer = try! UnitName("mixer.service")

/// A client of a scripted manager, and everything that it reports.
private final class ManagerFixture {
  let bus: BusFixture
  let manager: SystemdManager
  var presences: [SystemdManager.Presence] = []
  var outcomes: [String] = []

  init() throws {
    bus = try BusFixture()
    manager = SystemdManager(bus.connection)
    manager.onPresenceChanged = { [unowned self] in presences.append(manager.presence) }
  }

  /// Adds a manager to the bus, and waits until the client knows it.
  func addSystemd() throws -> FakeSystemd {
    let systemd = try FakeSystemd(bus)
    try bus.wait { manager.isPresent }
    return systemd
  }

  func start() {
    manager.start(mixer) { [unowned self] outcome in
      switch outcome {
      case .finished(let result): outcomes.append(result)
      case .refused(let error): outcomes.append("\(error.name)")
      }
    }
  }

  /// Whether the client is subscribed to signals about jobs.
  var receivesJobs: Bool { bus.connection.rules.subscriptions.contains { $0.rule.text.contains("JobRemoved") } }
}

@Test func systemdManager_noManagerOnTheBus_isAbsent() throws {
  let fixture = try ManagerFixture()
  var known = 0
  fixture.manager.whenKnown { known += 1 }
  #expect(fixture.manager.presence == .unknown)
  #expect(known == 0)
  try fixture.bus.settle()
  #expect(fixture.presences == [.absent])
  #expect(known == 1)
  fixture.manager.whenKnown { known += 1 }
  #expect(known == 2)
}

@Test(arguments: [("252.38-1~deb12u1", 252), ("unknown", nil)] as [(String, Int?)])
func systemdManager_managerOnTheBus_isPresentWithItsRelease(version: String, release: Int?) throws {
  let fixture = try ManagerFixture()
  _ = try FakeSystemd(fixture.bus, version: version)
  try fixture.bus.wait { fixture.manager.presence != .unknown && fixture.manager.isPresent }
  #expect(fixture.manager.presence == .present(version: release))
}

@Test func systemdManager_silentManager_isAbsentAfterThreeSecondsUntilItAnswers() throws {
  let bus = try BusFixture()
  let systemd = try FakeSystemd(bus, isSilent: true)
  let manager = SystemdManager(bus.connection)
  try bus.settle()
  #expect(manager.presence == .unknown)
  try bus.advance(by: .milliseconds(2999))
  #expect(manager.presence == .unknown)
  try bus.advance(by: .milliseconds(1))
  #expect(manager.presence == .absent)
  systemd.answerCalls()
  try bus.wait { manager.isPresent }
  // A manager that leaves without an answer is not reported a second time.
  var presences = 0
  manager.onPresenceChanged = { presences += 1 }
  systemd.connection.close()
  try bus.settle()
  try bus.advance(by: .seconds(5))
  #expect(manager.presence == .absent)
  #expect(presences == 1)
}

@Test func systemdManager_managerThatLeavesAndComesBack_isFollowed() throws {
  let fixture = try ManagerFixture()
  try fixture.bus.settle()
  let first = try fixture.addSystemd()
  first.connection.close()
  // The manager may have left for an update, so nobody is told yet.
  try fixture.bus.wait { fixture.manager.presence == .unknown }
  let second = try fixture.addSystemd()
  #expect(fixture.presences == [.absent, .present(version: 252), .present(version: 252)])
  try fixture.bus.advance(by: .seconds(5))
  #expect(fixture.manager.isPresent)
  second.connection.close()
  try fixture.bus.wait { !fixture.manager.isPresent }
  try fixture.bus.advance(by: .seconds(5))
  #expect(fixture.presences.last == .absent)
}

// MARK: Units

@Test func unitWatch_changes_areReportedOnceAndMerged() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  var changes = 0
  let watch = fixture.manager.watch(mixer) { changes += 1 }
  try fixture.bus.settle()
  #expect(systemd.calls == ["Subscribe"])
  #expect(watch.state == UnitState())
  try systemd.announce(mixer, ["ActiveState": .string("active"), "MainPID": .uint32(7), "Unrelated": .string("x")])
  try fixture.bus.settle()
  #expect(watch.state == UnitState(active: "active", mainProcess: 7))
  // The same state comes again, with a property of another type.
  try systemd.announce(mixer, ["ActiveState": .string("active"), "Result": .int32(3)])
  try fixture.bus.settle()
  #expect(changes == 1)
  try systemd.announce(
    mixer,
    [
      "ActiveState": .string("failed"), "Result": .string("signal"), "MainPID": .uint32(0), "ExecMainCode": .int32(2),
      "ExecMainStatus": .int32(9),
    ])
  try fixture.bus.settle()
  #expect(watch.state == UnitState(active: "failed", result: "signal", exitCode: 2, exitStatus: 9))
  #expect(watch.state.hasEnded)
  #expect(changes == 2)
}

@Test func unitWatch_otherUnitOrOtherSender_isIgnored() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  let watch = fixture.manager.watch(mixer) {}
  let stranger = try fixture.bus.connect()
  try fixture.bus.settle()
  try systemd.announce(try UnitName("other.service"), ["ActiveState": .string("active")])
  try stranger.emit(
    PropertyAccessing.propertiesChanged, from: mixer.path, (Systemd.unit.text, ["ActiveState": .string("active")], []))
  try fixture.bus.settle()
  #expect(watch.state.active == nil)
}

@Test func unitWatch_cancelled_reportsNothingAndLeavesNoSubscription() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  var changes = 0
  let watch = fixture.manager.watch(mixer) { changes += 1 }
  try fixture.bus.settle()
  watch.cancel()
  try systemd.announce(mixer, ["ActiveState": .string("active")])
  try fixture.bus.settle()
  #expect(changes == 0)
  #expect(fixture.bus.connection.rules.subscriptions.isEmpty)
}

@Test func unitWatch_refreshed_hasTheProcessBeforeTheState() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  systemd.set(mixer, active: "active", process: 7)
  var processes: [UInt32?] = []
  var watch: UnitWatch?
  watch = fixture.manager.watch(mixer) {
    if watch?.state.active == "active" { processes.append(watch?.state.mainProcess) }
  }
  var isAnswered = false
  fixture.manager.refresh(try #require(watch)) { isAnswered = true }
  try fixture.bus.wait { isAnswered }
  #expect(processes == [7])
}

@Test func unitWatch_refreshOfUnknownUnit_isAnsweredWithoutAState() throws {
  let fixture = try ManagerFixture()
  _ = try fixture.addSystemd()
  let watch = fixture.manager.watch(mixer) {}
  var isAnswered = false
  fixture.manager.refresh(watch) { isAnswered = true }
  try fixture.bus.wait { isAnswered }
  #expect(watch.state.active == nil)
}

@Test func unitWatch_managerComesBack_isSubscribedAndRefreshed() throws {
  let fixture = try ManagerFixture()
  let first = try fixture.addSystemd()
  let watch = fixture.manager.watch(mixer) {}
  try first.announce(mixer, ["ActiveState": .string("active")])
  try fixture.bus.settle()
  first.connection.close()
  try fixture.bus.wait { !fixture.manager.isPresent }
  let second = try FakeSystemd(fixture.bus)
  second.set(mixer, active: "failed")
  try fixture.bus.wait { watch.state.active == "failed" }
  #expect(second.calls == ["Subscribe"])
}

// MARK: Jobs

@Test("A job's end counts whether it is sent after or before the answer to the call", arguments: [false, true])
func job_finished_isReportedOnce(isEarly: Bool) throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  fixture.start()
  try fixture.bus.wait { systemd.calls == ["ResetFailedUnit mixer.service", "Subscribe", "StartUnit mixer.service"] }
  let job = try systemd.accept()
  if !isEarly { try fixture.bus.settle() }
  #expect(fixture.outcomes == [])
  try systemd.finish(job)
  try fixture.bus.wait { !fixture.outcomes.isEmpty }
  try systemd.finish(job, "failed")
  try fixture.bus.settle()
  #expect(fixture.outcomes == ["done"])
  #expect(!fixture.receivesJobs)
}

@Test func job_refused_isReportedWithTheError() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  fixture.start()
  try fixture.bus.wait { systemd.calls.count == 3 }
  #expect(fixture.receivesJobs)
  try systemd.refuse(Systemd.noSuchUnit, "Unit mixer.service not found.")
  try fixture.bus.settle()
  #expect(fixture.outcomes == ["\(Systemd.noSuchUnit)"])
  #expect(!fixture.receivesJobs)
}

@Test func job_callWithoutAnswer_timesOutAndALateAnswerIsIgnored() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  fixture.start()
  try fixture.bus.wait { systemd.calls.count == 3 }
  try fixture.bus.advance(by: .seconds(24))
  #expect(fixture.outcomes == [])
  try fixture.bus.advance(by: .seconds(1))
  #expect(fixture.outcomes == ["\(ErrorName.timedOut)"])
  try systemd.finish(try systemd.accept())
  try fixture.bus.settle()
  #expect(fixture.outcomes.count == 1)
  #expect(!fixture.receivesJobs)
}

@Test func job_managerLeavesBeforeItsAnswer_isRefused() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  fixture.start()
  try fixture.bus.wait { systemd.calls.count == 3 }
  try fixture.bus.close(systemd.connection)
  #expect(fixture.outcomes == [])
  try fixture.bus.advance(by: .seconds(5))
  #expect(fixture.outcomes == ["\(ErrorName.noReply)"])
}

@Test func job_managerLeavesBeforeItsAnswerAndComesBack_isRequestedAgain() throws {
  let fixture = try ManagerFixture()
  let first = try fixture.addSystemd()
  fixture.start()
  try fixture.bus.wait { first.calls.count == 3 }
  first.connection.close()
  try fixture.bus.wait { !fixture.manager.isPresent }
  let second = try fixture.addSystemd()
  try fixture.bus.wait { second.calls.last == "StartUnit mixer.service" }
  try second.finish(try second.accept())
  try fixture.bus.wait { !fixture.outcomes.isEmpty }
  #expect(fixture.outcomes == ["done"])
}

@Test("A start and a stop that a manager has not accepted are requested in their order from the next one")
func job_managerLeavesBeforeSeveralAnswers_areRequestedInTheirOrder() throws {
  let fixture = try ManagerFixture()
  let first = try fixture.addSystemd()
  fixture.start()
  fixture.manager.stop(mixer) { _ in }
  try fixture.bus.wait { first.calls.last == "StopUnit mixer.service" }
  first.connection.close()
  try fixture.bus.wait { !fixture.manager.isPresent }
  let second = try fixture.addSystemd()
  let jobs = ["StartUnit mixer.service", "StopUnit mixer.service"]
  try fixture.bus.wait { second.calls.filter(jobs.contains).count == 2 }
  #expect(second.calls.filter(jobs.contains) == jobs)
}

@Test("A service that the manager has created although its answer was lost is not started twice")
func job_managerTookTheCallBeforeItLeft_isDone() throws {
  let fixture = try ManagerFixture()
  let first = try fixture.addSystemd()
  var outcomes: [String] = []
  fixture.manager.startTransient(mixer, [], accepted: {}) {
    if case .finished(let result) = $0 { outcomes.append(result) }
  }
  try fixture.bus.wait { first.calls.last == "StartTransientUnit mixer.service" }
  first.connection.close()
  try fixture.bus.wait { !fixture.manager.isPresent }
  let second = try fixture.addSystemd()
  try fixture.bus.wait { second.calls.last == "StartTransientUnit mixer.service" }
  try second.refuse(Systemd.unitExists, "Unit mixer.service was already loaded.")
  try fixture.bus.settle()
  #expect(outcomes == ["done"])
}

@Test func job_managerLeavesForGood_isRefused() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  fixture.start()
  try fixture.bus.wait { systemd.calls.count == 3 }
  _ = try systemd.accept()
  try fixture.bus.settle()
  try fixture.bus.close(systemd.connection)
  #expect(fixture.outcomes == [])
  try fixture.bus.advance(by: .seconds(5))
  #expect(fixture.outcomes == ["\(ErrorName.noReply)"])
  #expect(!fixture.receivesJobs)
}

@Test("A job that ends while the manager is away is done, since the manager does not know it when it is back")
func job_endedWhileTheManagerWasAway_isDone() throws {
  let fixture = try ManagerFixture()
  let first = try fixture.addSystemd()
  fixture.start()
  fixture.start()
  try fixture.bus.wait { first.calls.count == 5 }
  _ = try first.accept()
  let second = try first.accept()
  try fixture.bus.settle()
  first.connection.close()
  try fixture.bus.wait { !fixture.manager.isPresent }
  let systemd = try FakeSystemd(fixture.bus)
  systemd.continues(second, of: mixer)
  try fixture.bus.wait { fixture.manager.isPresent }
  try fixture.bus.settle()
  #expect(fixture.outcomes == ["done"])
  try systemd.finish(second, "failed")
  try fixture.bus.settle()
  #expect(fixture.outcomes == ["done", "failed"])
  #expect(!fixture.receivesJobs)
}

@Test("L1: a manager that is back is asked about a job once, however long its answer takes")
func job_endedWhileTheManagerWasAway_isAskedAboutOnce() throws {
  let fixture = try ManagerFixture()
  let first = try fixture.addSystemd()
  fixture.start()
  try fixture.bus.wait { first.calls.count == 3 }
  let job = try first.accept()
  try fixture.bus.settle()
  first.connection.close()
  try fixture.bus.wait { !fixture.manager.isPresent }
  let systemd = try FakeSystemd(fixture.bus, isSilentLater: true)
  // The number of the job now belongs to another unit.
  systemd.continues(job, of: try UnitName("other.service"))
  try fixture.bus.wait { fixture.manager.isPresent }
  try fixture.bus.settle()
  let calls = fixture.bus.connection.openCallCount
  for _ in 0..<4 { try fixture.bus.advance(by: .seconds(25)) }
  #expect(fixture.outcomes == [] && fixture.bus.connection.openCallCount == calls)
  systemd.answerCalls()
  try fixture.bus.settle()
  #expect(fixture.outcomes == ["done"])
  #expect(!fixture.receivesJobs)
}

@Test func job_withoutAManager_isRefusedAndStartsNone() throws {
  let fixture = try ManagerFixture()
  fixture.start()
  try fixture.bus.settle()
  #expect(fixture.outcomes == ["\(ErrorName.nameHasNoOwner)"])
}

@Test func job_endsOfOtherJobs_areIgnored() throws {
  let fixture = try ManagerFixture()
  let systemd = try fixture.addSystemd()
  fixture.start()
  fixture.start()
  try fixture.bus.wait { systemd.calls.count == 5 }
  try systemd.finish("/org/freedesktop/systemd1/job/99", "other")
  let first = try systemd.accept()
  let second = try systemd.accept()
  try fixture.bus.settle()
  try systemd.finish(second, "second")
  try fixture.bus.settle()
  #expect(fixture.outcomes == ["second"])
  #expect(fixture.receivesJobs)
  try systemd.finish(first, "first")
  try fixture.bus.settle()
  #expect(fixture.outcomes == ["second", "first"])
}

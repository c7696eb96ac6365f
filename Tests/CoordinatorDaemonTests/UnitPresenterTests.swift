import DBusValues
import PresentationModel
import PresentationRules
import Testing

@testable import CoordinatorDaemon
@testable import DBus

// Units of systemd as presenters: their start, their end, managers that leave, and adoption (D5).

private let mixer = try! UnitName("mixer.service")
private let handle = Handle(1)
private let statesOfUnits = "“systemctl --user status 'mixer.service'”"

/// A unit presenter with a scripted manager.
private final class UnitFixture {
  let bus: BusFixture
  let manager: SystemdManager
  let presenter: UnitPresenter
  private let log = ReportLog()
  var reports: [Report] {
    get { log.reports }
    set { log.reports = newValue }
  }

  init(_ bus: BusFixture) throws {
    self.bus = bus
    manager = SystemdManager(bus.connection)
    presenter = UnitPresenter(manager, log: bus.logger, reports: log)
  }

  /// A presenter whose manager is known.
  static func withSystemd() throws -> (UnitFixture, FakeSystemd) {
    let bus = try BusFixture()
    let systemd = try FakeSystemd(bus)
    let fixture = try UnitFixture(bus)
    try bus.wait { fixture.manager.isPresent }
    return (fixture, systemd)
  }

  func present(_ number: UInt64 = 1, unit: String = "mixer.service", id: String = "1") throws {
    presenter.present(try .example(number, .unit(unit), id: id), [:])
    try bus.settle()
  }

  /// Presents the unit, and finishes the manager's job for it.
  func presentWhole(_ systemd: FakeSystemd) throws {
    systemd.set(mixer, active: "active", process: 7)
    try present()
    try systemd.finish(try systemd.accept())
    try bus.settle()
    try #require(reports == [.ready(handle), .presentAnswered(handle, error: nil)])
    reports = []
  }

  func dismiss(_ number: UInt64 = 1) throws {
    presenter.dismiss(Handle(number), .dismissed, isRequested: true, animated: true, isForced: false)
    try bus.settle()
  }

  func adopt(_ presentations: [Presentation]) throws -> [Handle: Survival] {
    var survivals: [Handle: Survival]?
    presenter.adopt(
      presentations.map { Remembered(presentation: $0, memory: [:], shownAs: $0.handle) }, from: .example()
    ) {
      survivals = $0
    }
    try bus.wait { survivals != nil }
    return survivals ?? [:]
  }

  /// The error of the only report.
  func error() throws -> String {
    guard case .presentAnswered(handle, let error?)? = reports.first, reports.count == 1 else {
      throw UnexpectedReports(reports: reports)
    }
    return error
  }
}

private struct UnexpectedReports: Error {
  let reports: [Report]
}

@Test("D5: the job that starts the unit is the acknowledgement", arguments: [false, true])
func unitPresenter_jobDone_isPresented(endsBeforeTheAnswer: Bool) throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  systemd.set(mixer, active: "active", process: 7)
  try fixture.present()
  #expect(systemd.calls == ["Subscribe", "ResetFailedUnit mixer.service", "StartUnit mixer.service"])
  #expect(fixture.reports == [])
  let job = try systemd.accept()
  if !endsBeforeTheAnswer { try fixture.bus.settle() }
  try systemd.finish(job)
  try fixture.bus.settle()
  #expect(fixture.reports == [.ready(handle), .presentAnswered(handle, error: nil)])
  #expect(fixture.presenter.platform(of: handle) == ["unit": .string("mixer.service"), "pid": .uint64(7)])
}

@Test func unitPresenter_jobFailed_hasFailedWithTheUnitsResult() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.present()
  let job = try systemd.accept()
  try systemd.announce(mixer, ["ActiveState": .string("failed"), "Result": .string("exit-code")])
  try fixture.bus.settle()
  try systemd.finish(job, "failed")
  try fixture.bus.settle()
  #expect(
    try fixture.error() == "the unit mixer.service was not started: expected the job's result “done”, found “failed”, "
      + "“exit-code”; see \(statesOfUnits)")
  #expect(fixture.presenter.platform(of: handle) == [:])
}

@Test func unitPresenter_jobRefused_hasFailedWithTheManagersMessage() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.present()
  try systemd.refuse(Systemd.noSuchUnit, "Unit mixer.service not found.")
  try fixture.bus.settle()
  #expect(try fixture.error() == "Unit mixer.service not found.")
}

@Test func unitPresenter_noAnswer_hasFailedAndALateAnswerIsIgnored() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.present()
  try fixture.bus.advance(by: .seconds(25))
  #expect(try fixture.error().contains("StartUnit: no reply within 25"))
  try systemd.finish(try systemd.accept())
  try systemd.announce(mixer, ["ActiveState": .string("active")])
  try systemd.announce(mixer, ["ActiveState": .string("inactive")])
  try fixture.bus.settle()
  #expect(fixture.reports.count == 1)
}

@Test func unitPresenter_managerLeavesBeforeItsAnswer_hasFailed() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.present()
  try fixture.bus.close(systemd.connection)
  #expect(fixture.reports.isEmpty)
  try fixture.bus.advance(by: .seconds(5))
  #expect(!(try fixture.error()).isEmpty)
}

@Test func unitPresenter_noManager_hasFailedAndSaysSo() throws {
  let fixture = try UnitFixture(try BusFixture())
  try fixture.present()
  #expect(
    try fixture.error() == "cannot start the unit mixer.service: no user manager on the bus (org.freedesktop.systemd1)")
}

@Test func unitPresenter_silentManager_waitsUntilThePresenceIsKnown() throws {
  let bus = try BusFixture()
  let systemd = try FakeSystemd(bus, isSilent: true)
  let fixture = try UnitFixture(bus)
  try fixture.present(1)
  try fixture.present(2, unit: "other.service")
  // The second presentation is dismissed before it starts.
  try fixture.dismiss(2)
  #expect(fixture.reports == [.dismissAnswered(Handle(2), result: [:])])
  systemd.answerCalls()
  try bus.settle()
  #expect(systemd.calls == ["Subscribe", "ResetFailedUnit mixer.service", "StartUnit mixer.service"])
}

@Test("D5: a unit shows one presentation at a time, and another one after its end")
func unitPresenter_unitInUse_isRefused() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  try fixture.present(2)
  #expect(
    fixture.reports == [
      .presentAnswered(
        Handle(2),
        error: "the unit mixer.service is shown already, by presentation 1; use another unit or dismiss that one")
    ])
  fixture.presenter.forget(handle)
  try fixture.present(3)
  #expect(systemd.calls.count { $0 == "StartUnit mixer.service" } == 2)
}

@Test func unitPresenter_invalidUnitName_hasFailedAndSaysWhy() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.present(unit: "mixer@{id}.service", id: "")
  #expect(
    try fixture.error() == "unit name “mixer@.service”: expected an instance after “@”, found the template "
      + "“mixer@.service”")
  #expect(systemd.calls == [])
}

@Test(
  "D5: a unit that becomes inactive has closed its item, and a unit that fails has failed it, once",
  arguments: [
    ("inactive", false, [:]), ("failed", true, ["error": .string("the unit mixer.service failed: exit-code")]),
  ] as [(String, Bool, Properties)])
func unitPresenter_unitEnds_isReportedOnce(active: String, failed: Bool, result: Properties) throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  for _ in 0..<2 {
    try systemd.announce(mixer, ["ActiveState": .string(active), "Result": .string("exit-code")])
    try systemd.announce(mixer, ["ActiveState": .string("activating")])
  }
  try fixture.bus.settle()
  #expect(fixture.reports == [.ended(handle, failed: failed, result: result)])
  #expect(fixture.bus.connection.rules.subscriptions.isEmpty)
}

@Test("D5: the error of a unit names the lack of memory")
func unitPresenter_unitKilledForMemory_saysWhy() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  try systemd.announce(mixer, ["ActiveState": .string("failed"), "Result": .string("oom-kill")])
  try fixture.bus.settle()
  let error = "the unit mixer.service failed: the system ran out of memory (oom-kill)"
  #expect(fixture.reports == [.ended(handle, failed: true, result: ["error": .string(error)])])
}

@Test("N3: a unit with a job may be restarted")
func unitPresenter_unitWithJob_isInJob() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  #expect(!fixture.presenter.isInJob(handle))
  for (number, isInJob) in [(UInt32(7), true), (0, false)] {
    try systemd.announce(mixer, ["Job": .structure([.uint32(number), .objectPath("/org/freedesktop/systemd1/job/7")])])
    try fixture.bus.settle()
    #expect(fixture.presenter.isInJob(handle) == isInJob)
  }
}

@Test("D5: a restarting unit stays presented")
func unitPresenter_unitRestarts_isNotReported() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  try systemd.announce(mixer, ["ActiveState": .string("activating"), "MainPID": .uint32(0)])
  try systemd.announce(mixer, ["ActiveState": .string("active"), "MainPID": .uint32(8)])
  try fixture.bus.settle()
  #expect(fixture.reports == [])
  #expect(fixture.presenter.platform(of: handle)["pid"] == .uint64(8))
}

// MARK: Ending

@Test func unitPresenter_stopJobDone_isDismissedOnce() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  try fixture.dismiss()
  #expect(systemd.calls.last == "StopUnit mixer.service")
  #expect(fixture.reports == [])
  let job = try systemd.accept()
  // The change of the unit may come before the end of the job.
  try systemd.announce(mixer, ["ActiveState": .string("inactive")])
  try systemd.finish(job)
  try fixture.bus.settle()
  #expect(fixture.reports == [.dismissAnswered(handle, result: [:])])
  #expect(fixture.presenter.platform(of: handle) == [:])
}

@Test func unitPresenter_stopJobCancelled_waitsForTheEnd() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  try fixture.dismiss()
  try systemd.finish(try systemd.accept(), "canceled")
  try fixture.bus.settle()
  #expect(fixture.reports == [])
  fixture.presenter.kill(handle)
  try fixture.bus.settle()
  #expect(systemd.calls.last == "KillUnit mixer.service all 9")
  try systemd.announce(mixer, ["ActiveState": .string("failed")])
  try fixture.bus.settle()
  #expect(fixture.reports == [.dismissAnswered(handle, result: [:])])
}

@Test func unitPresenter_stopOfUnknownUnit_isDismissed() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  try fixture.dismiss()
  try systemd.refuse(Systemd.noSuchUnit, "Unit mixer.service not loaded.")
  try fixture.bus.settle()
  #expect(fixture.reports == [.dismissAnswered(handle, result: [:])])
}

@Test func unitPresenter_stopRefused_countsAsGoneAndIsLogged() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  try fixture.dismiss()
  try systemd.refuse(.accessDenied, "not allowed")
  try fixture.bus.settle()
  #expect(fixture.reports == [.dismissAnswered(handle, result: ["error": .string("not allowed")])])
  #expect(
    fixture.bus.log.lines == [
      "a unit could not be stopped, and counts as gone: not allowed presentation=1 unit=mixer.service"
    ])
}

@Test func unitPresenter_abandoned_isLoggedAndForgotten() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.presentWhole(systemd)
  try fixture.dismiss()
  fixture.presenter.abandon(handle)
  fixture.presenter.forget(handle)
  try systemd.finish(try systemd.accept())
  try systemd.announce(mixer, ["ActiveState": .string("inactive")])
  try fixture.bus.settle()
  #expect(fixture.reports == [])
  #expect(fixture.bus.log.contains("not even by SIGKILL"))
  #expect(fixture.bus.connection.rules.subscriptions.isEmpty)
}

@Test func unitPresenter_dismissedWhileStarting_reportsTheDismissalOnly() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.present()
  let start = try systemd.accept()
  try fixture.dismiss()
  let stop = try systemd.accept()
  try systemd.finish(start, "canceled")
  try systemd.finish(stop)
  try fixture.bus.settle()
  #expect(fixture.reports == [.dismissAnswered(handle, result: [:])])
}

@Test func unitPresenter_dismissOfUnknownPresentation_isAnswered() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  try fixture.dismiss(9)
  fixture.presenter.kill(Handle(9))
  #expect(fixture.reports == [.dismissAnswered(Handle(9), result: [:])])
  #expect(systemd.calls == [])
}

// MARK: After a restart

@Test("R2: an active unit is taken over, and its end is reported")
func unitPresenter_adopted_isShownIfItsUnitIsActive() throws {
  let (fixture, systemd) = try UnitFixture.withSystemd()
  systemd.set(mixer, active: "activating")
  systemd.set(try UnitName("ended.service"), active: "inactive")
  let survivals = try fixture.adopt([
    .example(1, .unit("mixer.service"), phase: .presented), .example(2, .unit("ended.service"), phase: .presented),
    .example(3, .unit("ended.service"), phase: .presenting), .example(4, .unit("unknown.service"), phase: .presented),
  ])
  #expect(
    survivals == [
      Handle(1): .shown, Handle(2): .gone(result: [:]), Handle(3): .toBeShown, Handle(4): .gone(result: [:]),
    ])
  try systemd.announce(mixer, ["ActiveState": .string("inactive")])
  try fixture.bus.settle()
  #expect(fixture.reports == [.ended(handle, failed: false, result: [:])])
}

@Test func unitPresenter_adoptedWithoutAManager_isGone() throws {
  let fixture = try UnitFixture(try BusFixture())
  let survivals = try fixture.adopt([.example(1, .unit("mixer.service"), phase: .presented)])
  #expect(survivals == [handle: .gone(result: [:])])
  #expect(try fixture.adopt([]) == [:])
}

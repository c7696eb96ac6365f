import CoordinatorAPI
import DBus
import DBusValues
import Glibc
import TestSupport
import Testing

// navd with a fake service manager, which shows behaviour of systemd that is rare or differs between its releases.

private typealias Rows = CoordinatorInterface

/// A fake of systemd's manager: it owns the bus name, and only logs the units that it starts and stops.
private final class FakeManager {
  private static let name: InterfaceName = "org.freedesktop.systemd1.Manager"
  private static let path: ObjectPath = "/org/freedesktop/systemd1"
  private static let version = Property<String>(name, "Version", emitsChanged: .const)
  private static let subscribe = Method(name, "Subscribe")
  private static let reset = Method(name, "ResetFailedUnit", in: Arg<String>("name"))
  private static let start = Method(
    name, "StartUnit", in: Arg<String>("name"), Arg<String>("mode"), out: Arg<ObjectPath>("job"))
  private static let stop = Method(
    name, "StopUnit", in: Arg<String>("name"), Arg<String>("mode"), out: Arg<ObjectPath>("job"))
  private static let startTransient = Method(
    name, "StartTransientUnit", in: Arg<String>("name"), Arg<String>("mode"),
    Arg<[Structure<String, Value>]>("properties"), Arg<[Structure<String, [Structure<String, Value>]>]>("aux"),
    out: Arg<ObjectPath>("job"))
  private static let jobRemoved = Signal(
    name, "JobRemoved", Arg<UInt32>("id"), Arg<ObjectPath>("job"), Arg<String>("unit"), Arg<String>("result"))

  let connection: Connection
  private(set) var log: [String] = []
  /// Whether jobs are complete when they are created. JobRemoved is then sent before the reply.
  var isQuick = true
  private var jobs: UInt32 = 0
  private var held: [() -> Void] = []

  init(_ session: Session, version: String) throws {
    connection = try session.connect()
    let members: [any InterfaceMember] = [
      Self.version, Self.subscribe, Self.reset, Self.start, Self.stop, Self.startTransient, Self.jobRemoved,
    ]
    let object = ImplementedInterface(Interface(Self.name, members: members))
    object.implement(Self.version) { _ in version }
    object.implement(Self.subscribe) { _, call in call.reply() }
    object.implement(Self.reset) { _, call in call.reply() }
    object.implement(Self.start) { [unowned self] input, call in work("start", input.0, call) }
    object.implement(Self.stop) { [unowned self] input, call in work("stop", input.0, call) }
    object.implement(Self.startTransient, takesDescriptors: true) { [unowned self] input, call in
      log.append("transient \(input.0)")
      call.fail(DBusError(name: "org.freedesktop.systemd1.UnitExists", message: "Unit \(input.0) exists."))
    }
    connection.export(Self.path, [object])
    var isOwner = false
    connection.requestName("org.freedesktop.systemd1") { result in isOwner = (try? result.get()) != nil }
    try session.wait("the fake manager owns its bus name") { isOwner }
  }

  private func work(_ what: String, _ unit: String, _ call: Call<ObjectPath>) {
    log.append("\(what) \(unit)")
    jobs += 1
    let (id, job) = (jobs, ObjectPath("\(Self.path)/job/\(jobs)")!)
    let end = { [unowned self] in
      try? connection.emit(Self.jobRemoved, from: Self.path, (id, job, unit, "done"))
    }
    // Signals of a turn are sent before its replies.
    if isQuick { end() } else { held.append { end() } }
    call.reply(job)
  }

  /// Completes all jobs.
  func endJobs() {
    let ends = held
    held = []
    for end in ends { end() }
  }
}

private let destinations = ["mixer": "unit = \"mixer.service\"\n"]

@Test(
  "D5: a job that is complete before the reply to StartUnit acknowledges the presentation too",
  arguments: [true, false])
func manager_jobThatEndsEarly_isNotMissed(isQuick: Bool) throws {
  let session = try Session(destinations: destinations, starting: false)
  let manager = try FakeManager(session, version: "252.38-1~deb12u1")
  manager.isQuick = isQuick
  try session.start()
  let watcher = try session.watch()
  let path = try session.present("mixer")
  try session.wait("the presenter is called") { manager.log == ["start mixer.service"] }
  if !isQuick {
    _ = try session.call(Rows.getState, ())
    #expect(watcher.lines == ["phase mixer presenting"])
    manager.endJobs()
  }
  try session.wait("it is presented") { watcher.lines.last == "presented mixer" }
  try session.dismiss("mixer")
  try session.wait("StopUnit is called") { manager.log.last == "stop mixer.service" }
  manager.endJobs()
  #expect(try session.ending(of: path).reason == "dismissed")
}

@Test("P14: a unit that does not end within its grace, and not when it is killed either, is given up; the log says so")
func manager_whoseUnitDoesNotEnd_isLogged() throws {
  let session = try Session(destinations: ["mixer": "unit = \"mixer.service\"\ngrace = \"50ms\"\n"], starting: false)
  let manager = try FakeManager(session, version: "252")
  try session.start()
  let path = try session.present("mixer")
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  manager.isQuick = false
  try session.dismiss("mixer")
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result["error"] == .string("no answer to its dismissal within its grace period"))
  try session.wait("navd logs that it could not be stopped") {
    session.navd?.errorText.contains("could not be stopped, not even by SIGKILL") == true
  }
}

@Test(
  "A manager older than systemd 250 is not used, because it cannot keep a process tree together",
  arguments: ["249.11-0ubuntu3", "what"])
func manager_tooOld_isNotUsed(version: String) throws {
  let session = try Session(starting: false)
  let manager = try FakeManager(session, version: version)
  try session.start()
  try session.wait("navd logs the version") { session.navd?.errorText.contains("older than systemd 250") == true }
  let (reason, _) = try session.ending(of: session.present("fact", "1", ["command": ["true"].value]))
  #expect(reason == "closed")
  #expect(manager.log == [])
}

@Test("A manager that does not answer delays commands only until a timeout")
func manager_thatDoesNotAnswer_isNotWaitedFor() throws {
  let session = try Session(starting: false)
  let silent = try session.startBlackHole("org.freedesktop.systemd1")
  defer { silent.send(SIGKILL) }
  try session.start()
  // An item that is dismissed meanwhile is never presented.
  let never = try session.present("never", "", ["command": ["true"].value])
  try session.dismiss("never")
  #expect(try session.ending(of: never).reason == "dismissed")
  let (reason, _) = try session.ending(of: session.present("fact", "1", ["command": ["true"].value]))
  #expect(reason == "closed")
  #expect(session.navd?.errorText.contains("commands run as processes of navd's own") == true)
}

@Test("If the manager refuses to start a command, navd itself starts the command and logs the reason")
func manager_thatRefuses_isReplacedByNavd() throws {
  let session = try Session(starting: false)
  let manager = try FakeManager(session, version: "252")
  try session.start()
  let path = try session.present("fact", "1", ["command": ["sh", "-c", "exit 4"].value])
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "closed")
  #expect(result["status"] == .int32(4))
  #expect(manager.log == ["transient app-navd-fact@1.service"])
  #expect(session.navd?.errorText.contains("Unit app-navd-fact@1.service exists.") == true)
}

@Test("A manager that starts later is used from then on, and no longer after its end")
func manager_startingAndEnding_isFollowed() throws {
  let session = try Session(destinations: destinations)
  try session.wait("navd logs that there is no manager") {
    session.navd?.errorText.contains("the bus has no user manager") == true
  }
  let manager = try FakeManager(session, version: "252")
  try session.wait("navd logs that there is a manager") {
    session.navd?.errorText.contains("services of the user manager, systemd 252") == true
  }
  let path = try session.present("mixer")
  #expect(try session.call(Rows.wait, (path, "presented")).0 == "")
  manager.connection.close()
  try session.wait("navd logs that the manager has ended") {
    session.navd?.errorText.components(of: "the bus has no user manager") == 3
  }
  // Nobody can stop the unit now, and nobody waits for it.
  try session.dismiss("mixer")
  let (reason, result) = try session.ending(of: path)
  #expect(reason == "dismissed")
  #expect(result["error"] != nil)
  #expect(session.navd?.errorText.contains("could not be stopped") == true)
}

extension String {
  /// The number of parts between occurrences of `separator`.
  fileprivate func components(of separator: String) -> Int {
    split(separator: separator, omittingEmptySubsequences: false).count
  }
}

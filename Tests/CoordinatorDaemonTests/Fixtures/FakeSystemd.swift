import DBus
import DBusValues
import EventLoops
import Processes
import Testing

@testable import CoordinatorDaemon

/// The user's service manager, scripted by a test: it answers calls, finishes jobs and announces changes when the test says so, in
/// any order. It starts no process.
final class FakeSystemd {
  typealias JobCall = Call<ObjectPath>
  private static let version = Property<String>(Systemd.Manager.name, "Version", emitsChanged: .const)
  private static let activeState = Property<String>(Systemd.unit, "ActiveState")
  private static let jobUnit = Property<Structure<String, ObjectPath>>(Systemd.job, "Unit", emitsChanged: .const)
  private static let mainProcess = Property<UInt32>(Systemd.service, "MainPID")
  private static let locksLimit = Property<UInt64>(Systemd.service, "LimitLOCKSSoft")
  private static let environment = Property<[String]>(Systemd.service, "Environment")

  let connection: Connection
  /// The calls received, such as `StartUnit mixer.service`.
  private(set) var calls: [String] = []
  /// The properties of the last StartTransientUnit.
  private(set) var transientProperties: [String: Value] = [:]
  private var unanswered: [JobCall] = []
  private var lastJob: UInt32 = 0
  private struct Unit {
    var active: String
    var process: UInt32
    var locksLimit: UInt64
    var environment: [String]
  }
  private var units: [ObjectPath: Unit] = [:]

  /// The caller whose calls stay unanswered.
  private var silencedCaller: BusName?

  /// - Parameters:
  ///   - isSilent: whether calls stay unanswered until ``answerCalls()``.
  ///   - isSilentLater: the same for those that come after the question for its version.
  init(
    _ bus: BusFixture, version: String = "252.38-1~deb12u1", isSilent: Bool = false, isSilentLater: Bool = false
  ) throws {
    connection = try bus.connect()
    if isSilent { silence(bus.connection.uniqueName) }
    let object = ImplementedInterface(
      Interface(
        Systemd.Manager.name,
        members: [
          Self.version, Systemd.Manager.subscribe, Systemd.Manager.startUnit, Systemd.Manager.stopUnit,
          Systemd.Manager.startTransientUnit, Systemd.Manager.killUnit, Systemd.Manager.resetFailedUnit,
          Systemd.Manager.jobRemoved,
        ] as [any InterfaceMember]))
    object.implement(Self.version) { [unowned self, caller = bus.connection.uniqueName] _ in
      if isSilentLater { silence(caller) }
      return version
    }
    object.implement(Systemd.Manager.subscribe) { [unowned self] _, call in
      calls.append("Subscribe")
      call.reply()
    }
    object.implement(Systemd.Manager.resetFailedUnit) { [unowned self] unit, call in
      calls.append("ResetFailedUnit \(unit)")
      call.reply()
    }
    object.implement(Systemd.Manager.killUnit) { [unowned self] input, call in
      calls.append("KillUnit \(input.0) \(input.1) \(input.2)")
      call.reply()
    }
    object.implement(Systemd.Manager.startUnit) { [unowned self] input, call in job("StartUnit \(input.0)", call) }
    object.implement(Systemd.Manager.stopUnit) { [unowned self] input, call in job("StopUnit \(input.0)", call) }
    object.implement(Systemd.Manager.startTransientUnit, takesDescriptors: true) { [unowned self] input, call in
      transientProperties = Dictionary(input.2.map { $0.fields }) { $1 }
      job("StartTransientUnit \(input.0)", call)
    }
    connection.export(Systemd.path, [object])
    bus.keep(self)
    try bus.own(Systemd.name, connection)
  }

  private func job(_ name: String, _ call: JobCall) {
    calls.append(name)
    unanswered.append(call)
  }

  /// Answers the calls that a silent manager has received, and from now on all calls.
  func answerCalls() { silencedCaller.map(connection.resume) }

  private func silence(_ caller: BusName) {
    silencedCaller = caller
    connection.suspend(caller)
  }

  /// Answers the oldest unanswered call for a job with a new job.
  @discardableResult
  func accept() throws -> ObjectPath {
    try #require(!unanswered.isEmpty, "no call for a job: \(calls)")
    lastJob += 1
    let job = try #require(ObjectPath("\(Systemd.path)/job/\(lastJob)"))
    unanswered.removeFirst().reply(job)
    return job
  }

  /// Answers the oldest unanswered call for a job with an error.
  func refuse(_ name: ErrorName, _ message: String) throws {
    try #require(!unanswered.isEmpty, "no call for a job: \(calls)")
    unanswered.removeFirst().fail(DBusError(name: name, message: message))
  }

  /// Sends the end of a job. A signal overtakes the answers of the same turn.
  func finish(_ job: ObjectPath, _ result: String = "done") throws {
    try connection.emit(Systemd.Manager.jobRemoved, from: Systemd.path, (lastJob, job, "", result))
  }

  /// Adds a job that the manager had before it was re-executed.
  func continues(_ job: ObjectPath, of unit: UnitName) {
    let object = ImplementedInterface(Interface(Systemd.job, members: [Self.jobUnit]))
    object.implement(Self.jobUnit) { _ in Structure(unit.text, unit.path) }
    connection.export(job, [object])
  }

  /// Sends a change of a unit's properties.
  func announce(_ unit: UnitName, _ properties: Properties) throws {
    try connection.emit(PropertyAccessing.propertiesChanged, from: unit.path, (Systemd.unit.text, properties, []))
  }

  /// Sets the state with which the manager answers questions about a unit, without sending a change.
  /// - Parameters:
  ///   - marker: that of the command that it was started for.
  ///   - isMarked: whether its processes carry the command's mark; if not, they have a variable.
  func set(_ unit: UnitName, active: String, process: UInt32 = 0, of marker: ByteString? = nil, isMarked: Bool = true) {
    let new = Unit(
      active: active, process: process,
      locksLimit: marker.flatMap { isMarked ? DescentMark($0).number : nil } ?? .max,
      environment: marker.map { ["NAVD_ID=1", "\(CommandPresenter.markerVariable)=\($0)"] } ?? [])
    if units.updateValue(new, forKey: unit.path) != nil { return }
    let states = ImplementedInterface(Interface(Systemd.unit, members: [Self.activeState]))
    states.implement(Self.activeState) { [unowned self] path in units[path]?.active }
    let service = ImplementedInterface(
      Interface(
        Systemd.service, members: [Self.mainProcess, Self.locksLimit, Self.environment] as [any InterfaceMember]))
    service.implement(Self.mainProcess) { [unowned self] path in units[path]?.process }
    service.implement(Self.locksLimit) { [unowned self] path in units[path]?.locksLimit }
    service.implement(Self.environment) { [unowned self] path in units[path]?.environment }
    connection.export(unit.path, [states, service])
  }
}

import DBusValues
import EventLoops
import Glibc
import PresentationModel

/// The properties of a unit, as far as the manager has sent them since the unit was first watched.
struct UnitState: Hashable, Sendable {
  /// `active`, `activating`, `inactive`, `failed`, …; nil until known.
  var active: String?
  /// The reason why the unit is no longer active, such as `success` or `exit-code`.
  var result: String?
  /// The process id of the service's main process, while it runs.
  var mainProcess: UInt32?
  /// `si_code` and `si_status` (`waitid(2)`) of the main process, after its end.
  var exitCode: Int32 = 0
  var exitStatus: Int32 = 0
  /// Whether a job of the unit waits or runs. A unit that is restarted is inactive with a job.
  var hasJob = false
  /// Whether somebody has asked the manager to stop or restart the unit since it last started.
  private(set) var wasStopped = false
  /// Whether the conditions of the unit's file were met at its last start; nil until known.
  var meetsConditions: Bool?

  /// Whether the unit neither runs nor starts, nor is about to start again.
  var hasEnded: Bool { (active == "inactive" || active == "failed") && !hasJob }

  /// The exit status of the service's main process.
  var status: ProcessStatus {
    switch exitCode {
    case Int32(CLD_EXITED): .exited(code: exitStatus)
    case Int32(CLD_KILLED), Int32(CLD_DUMPED): .signaled(signal: exitStatus)
    default: .unknown
    }
  }

  /// The manager's reason for the end, if it says more than the exit status.
  var failure: String? {
    switch result {
    case "oom-kill": "the system ran out of memory (oom-kill)"
    case "timeout": "a time limit of its unit has passed (timeout)"
    case "watchdog": "it gave its watchdog no sign of life (watchdog)"
    case "start-limit-hit": "it was started too often (start-limit-hit)"
    case "resources": "the system lacks resources for it (resources)"
    default: nil
    }
  }

  init(
    active: String? = nil, result: String? = nil, mainProcess: UInt32? = nil, exitCode: Int32 = 0, exitStatus: Int32 = 0
  ) {
    (self.active, self.result, self.mainProcess) = (active, result, mainProcess)
    (self.exitCode, self.exitStatus) = (exitCode, exitStatus)
  }

  mutating func merge(_ properties: Properties) {
    func text(_ name: String) -> String? { properties[name].flatMap { String(value: $0) } }
    active = text("ActiveState") ?? active
    result = text("Result") ?? result
    if let pid = properties["MainPID"].flatMap({ UInt32(value: $0) }) { mainProcess = pid == 0 ? nil : pid }
    exitCode = properties["ExecMainCode"].flatMap { Int32(value: $0) } ?? exitCode
    exitStatus = properties["ExecMainStatus"].flatMap { Int32(value: $0) } ?? exitStatus
    if case .structure(let job)? = properties["Job"] { hasJob = job.first != .uint32(0) }
    meetsConditions = properties["ConditionResult"].flatMap { Bool(value: $0) } ?? meetsConditions
    switch active {
    // A unit that stops by itself has no job.
    case "deactivating": if hasJob { wasStopped = true }
    case "active", "activating", "reloading": wasStopped = false
    default: break
    }
  }
}

/// A condition of a unit's file (`systemd.unit(5)`, *Conditions and Asserts*).
struct UnitCondition: CustomStringConvertible {
  let description: String
  /// Whether systemd has checked the condition, and it was not met.
  let isUnmet: Bool

  /// Reads a structure of the name, whether it triggers, whether it is negated, the parameter, and
  /// the result, which is negative if the condition was not met.
  fileprivate init?(_ value: Value) {
    guard case .structure(let fields) = value, fields.count == 5, let name = String(value: fields[0]),
      let isNegated = Bool(value: fields[2]), let parameter = String(value: fields[3]),
      let result = Int32(value: fields[4])
    else { return nil }
    description = "\(name)=\(isNegated ? "!" : "")\(parameter)"
    isUnmet = result < 0
  }
}

extension [UnitCondition] {
  init?(_ value: Value) {
    guard case .array(_, let elements) = value else { return nil }
    self = elements.compactMap(UnitCondition.init)
  }
}

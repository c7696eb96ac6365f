import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules
import Processes

/// A command that the user's manager runs as a service. If the manager refuses it, or leaves, navd itself runs or keeps it.
final class ServiceCommand: RunningCommand, LaunchObserver {
  /// The way in which the command runs.
  private enum Way {
    /// It runs or starts as the unit.
    case unit(UnitWatch)
    /// navd searches for its processes, because the manager cannot be asked any more or knows only a part of them.
    case search
    /// Another command has taken its place: processes of navd itself, or a unit started once more.
    case other(any RunningCommand)
    /// It has not begun, has ended, or is given up.
    case nothing
  }

  /// How far the unit has come.
  private enum Phase: Comparable {
    /// The manager has not accepted the start. A unit of another navd may have the name, and nothing is done with that unit.
    case requested
    /// The unit is this command's. Its state may be from before the start: a new unit is reported as inactive first.
    case own
    /// The unit's state is a result of this start.
    case underWay
    /// The unit has ended, and navd searches for processes that have moved out of it.
    case ending
  }

  /// Requests that wait. Each includes the requests before it.
  private enum Request: Comparable { case none, terminate, kill, abandon }

  /// The start of a program.
  private struct Start {
    let launch: Launch
    let program: String
    private var directory: String { launch.command.directory.description }

    /// The reason why a service without a main process was not started; nil if its program was executed, and has ended.
    func failure(_ state: UnitState) -> String? {
      switch state.status {
      // Failures before the execution are exit codes that a program could have, too (`systemd.exec(5)`, *Process Exit
      // Codes*), so the file and the directory decide. With navd's properties, only these two can occur.
      case .exited(code: 203): ByteString(program).isExecutable ? nil : "cannot be executed"
      case .exited(code: 200): access(directory, X_OK) == 0 ? nil : "could not be started in \(directory)"
      case .unknown: "could not be started (\(state.result ?? "unknown reason"))"
      case .signaled where state.hasRunThePlaceholder:
        "was not started, since the user manager has read its units again"
      case .exited, .signaled: nil
      }
    }
  }

  private unowned let launcher: ServiceLauncher
  private weak var observer: (any LaunchObserver)?
  private let handle: Handle
  private var launched: RememberedLaunch
  private let unit: UnitName
  private var way = Way.nothing
  private var phase = Phase.requested
  /// The request that is carried out once the manager has accepted the start, or navd has found the processes.
  private var waiting = Request.none
  private var reader: OutputReader?
  /// The start, until the program was executed; nil for a command that was found running.
  private var pending: Start?
  private var nextCheck: Timer?
  /// The main process, as far as the manager has told it.
  private var pid: UInt32?
  /// Whether the observer has received the result of the start.
  private var isStarted = false
  private var isStopping = false
  /// The exit status of the service's main process, if other processes outside of the service still run.
  private var status: ProcessStatus?

  init(_ launcher: ServiceLauncher, _ handle: Handle, _ launched: RememberedLaunch, _ observer: any LaunchObserver) {
    self.launcher = launcher
    self.handle = handle
    self.launched = launched
    self.observer = observer
    unit = launched.unit!
  }

  private var watch: UnitWatch? { if case .unit(let watch) = way { watch } else { nil } }
  private var other: (any RunningCommand)? { if case .other(let command) = way { command } else { nil } }
  private var isSearching: Bool { if case .search = way { true } else { false } }
  /// Whether the unit is known to be this command's.
  private var isOwn: Bool { phase >= .own }

  // MARK: Starting

  func start(_ given: ServiceProperties, _ launch: Launch) throws(SystemError) {
    pending = Start(launch: launch, program: given.program)
    var properties = given.list
    do throws(SystemError) {
      let input = Descriptor(owning: try launch.command.openInput())
      properties.append(Structure("StandardInputFileDescriptor", .descriptor(input)))
      if launch.scope == .tree {
        reader = try OutputReader.create(launched.output, loop: launcher.loop)
        let output = Descriptor(owning: try launched.output.openForCommand())
        properties.append(Structure("StandardOutputFileDescriptor", .descriptor(output)))
      }
      if let errors = launch.errors {
        properties.append(Structure("StandardErrorFileDescriptor", .descriptor(errors)))
        // Processes that are left behind write to the same descriptor.
        if launch.scope == .process {
          properties.append(Structure("StandardOutputFileDescriptor", .descriptor(errors)))
        }
      }
    } catch {
      launched.output.remove()
      throw error
    }
    way = .unit(launcher.manager.watch(unit) { [weak self] in self?.changed() })
    launcher.manager.startTransient(unit, properties) { [self] in
      accepted()
    } _: { [self] end in
      switch end {
      case .finished where isOwn: started()
      // A repeated start found a unit of its name, perhaps of the first attempt.
      case .finished:
        launcher.manager.askWhether(unit, isOf: launched.marker) { [self] isOwn in
          switch isOwn {
          case true?:
            accepted()
            started()
          case false?:
            refused(DBusError(name: Systemd.unitExists, message: "Unit \(unit) already exists."), launch)
          case nil: refused(DBusError(name: .noReply, message: "no answer about the unit \(unit)"), launch)
          }
        }
      case .refused(let error): refused(error, launch)
      }
    }
  }

  private func accepted() {
    phase = .own
    guard watch != nil else { return }
    // The manager may have told the unit's state before it has answered.
    changed()
    let request = waiting
    waiting = .none
    if request != .none { terminate() }
    if request == .kill { kill() }
  }

  private func started() {
    guard watch != nil else {
      // The manager could not be asked to stop a unit that it had not started, and no process was found.
      if isStopping { launcher.manager.stop(unit) { _ in } }
      return
    }
    phase = max(phase, .underWay)
    changed()
  }

  /// Starts the command directly, unless the manager may have started it despite the error.
  private func refused(_ error: DBusError, _ launch: Launch) {
    guard watch != nil, let observer else { return }
    release()
    switch error.name {
    case .noReply, .timedOut, .disconnected:
      // The manager has not answered, and may have started the service.
      launcher.manager.askWhether(unit, isOf: launched.marker, within: nil) { [launcher, unit] isOwn in
        if isOwn == true { launcher.manager.stop(unit) { _ in } }
      }
      launched.output.remove()
      observer.started(handle, error: "the user manager did not start it: \(error.message)")
    case .limitsExceeded:
      // The manager is present but could not be asked; the command must not escape it.
      launched.output.remove()
      observer.started(handle, error: "the user manager cannot be asked to start it: \(error.message)")
    case _ where isStopping:
      launched.output.remove()
      observer.started(handle, error: nil)
      observer.ended(handle, ProcessResult(status: .unknown, output: nil))
    default: replace(by: launcher.startDirectly(launch, error, for: observer))
    }
  }

  /// The unit of a recorded command.
  enum RecordedUnit { case own, ended, another }

  /// Takes over a service of the previous navd.
  func resume(_ completion: @escaping (RecordedUnit) -> Void) {
    isStarted = true
    let watch = launcher.manager.watch(unit) { [weak self] in self?.changed() }
    way = .unit(watch)
    var isRunning: Bool { watch.state.active != nil && !watch.state.hasEnded }
    func found(_ unit: RecordedUnit) {
      if unit != .own { release() }
      completion(unit)
    }
    launcher.manager.refresh(watch) { [self] in
      guard isRunning else { return found(.ended) }
      launcher.manager.askWhether(unit, isOf: launched.marker) { [self] isOwn in
        guard isOwn == true else { return found(isOwn == nil ? .ended : .another) }
        guard isRunning else { return found(.ended) }
        phase = .own
        if launched.scope == .tree { reader = try? .resume(launched.output, loop: launcher.loop) }
        changed()
        found(.own)
      }
    }
  }

  // MARK: State changes

  private func changed() {
    guard isOwn, phase < .ending, let state = watch?.state else { return }
    pid = state.mainProcess
    // The manager no longer reports the main process when navd has to find it.
    if launched.scope == .process, let pid, launched.first?.pid != pid_t(pid) {
      launched.first = ProcessIdentity(of: pid_t(pid))
    }
    switch state.active {
    // A manager that was away, and reports only this, may be another one that never started the unit.
    case "inactive" where phase == .underWay && !isStopping && state.result == nil: handOver()
    case "inactive", "failed":
      if phase == .underWay { ended(state) }
    case nil: break
    default:
      phase = .underWay
      if !isStarted, state.active == "active" { checkExecution() }
    }
  }

  /// Reports the start once the process executes the program; before that, the execution can still fail.
  private func checkExecution() {
    guard let state = watch?.state, !isStarted, nextCheck?.isPending != true else { return }
    // Without a main process, the service's other processes prove that the program was executed.
    let execution: ExecutionState =
      if let pid = state.mainProcess {
        ExecutionState(
          of: pid_t(pid), CommandPresenter.markerVariable, is: launched.marker,
          placeholder: ServiceProperties.placeholder)
      } else {
        pending?.failure(state) == nil ? .executed : .ended
      }
    switch execution {
    case .executed:
      isStarted = true
      pending = nil
      observer?.started(handle, error: nil)
    case .forked: nextCheck = launcher.loop.timer(after: .milliseconds(5)) { [weak self] in self?.checkExecution() }
    // The manager will report the end.
    case .ended: break
    }
  }

  private func ended(_ state: UnitState) {
    phase = .ending
    findMoved { [self] moved in
      if moved.isEmpty { return reportEnd(state) }
      status = state.status
      pending = nil
      handOver(isStopping ? .terminate : .none)
    }
  }

  private func reportEnd(_ state: UnitState) {
    if !isStarted, !isStopping, state.hasRunThePlaceholder, let pending, let observer {
      release()
      return replace(by: launcher.launch(pending.launch, for: observer))
    }
    let result = ProcessResult(status: state.status, output: reader?.finish())
    release()
    if !isStarted {
      if !isStopping, let pending, let error = pending.failure(state) {
        launched.output.remove()
        observer?.started(handle, error: "\(pending.program): \(error); see “journalctl --user -u '\(unit)'”")
        return
      }
      observer?.started(handle, error: nil)
    }
    observer?.ended(handle, result)
  }

  /// Ends all activity through the manager.
  private func release() {
    nextCheck?.cancel()
    watch?.cancel()
    way = .nothing
    reader = nil
    launcher.forget(self)
  }

  private func replace(by command: (any RunningCommand)?) { way = command.map(Way.other) ?? .nothing }

  /// Finds processes that descend from the command and are outside of its unit, for example in a scope made by `systemd-run --scope`.
  /// - Parameter found: not called if this object no longer uses the manager by then.
  private func findMoved(_ found: @escaping ([ProcessOrigin]) -> Void) {
    guard launched.scope == .tree else { return found([]) }
    launcher.findProcesses(of: launched.marker) { [self] processes in
      if watch != nil { found(processes.filter { !isInService($0) }) }
    }
  }

  private func isInService(_ process: ProcessOrigin) -> Bool {
    process.controlGroups.contains(ByteString(unit.text))
  }

  func managerLeft() { handOver(isStopping ? max(waiting, .terminate) : waiting) }

  /// Lets navd search for the processes itself, because the manager cannot be asked any more or knows only a part of the command.
  /// - Parameter request: the action on the processes when they are found.
  private func handOver(_ request: Request = .none) {
    guard watch != nil, let observer else { return }
    release()
    (way, waiting) = (.search, request)
    launcher.direct.adopt([handle: launched], for: self) { [self] commands in
      let (found, request) = (commands[handle], waiting)
      replace(by: found)
      if request == .abandon {
        _ = found?.abandon()
        return
      }
      if !isStarted {
        isStarted = true
        if found == nil, request == .none, let pending {
          // The manager has left the bus before it started the command.
          return replace(by: launcher.launch(pending.launch, for: observer))
        }
        observer.started(handle, error: nil)
      }
      switch (found, request) {
      case (nil, _): ended(handle, ProcessResult(status: .unknown, output: launched.output.read()))
      case (let found?, .terminate): found.terminate()
      case (let found?, .kill): found.kill()
      case (_?, _): break
      }
    }
  }

  private func wait(for request: Request) { waiting = max(waiting, request) }

  // MARK: The observer of what navd itself keeps

  func started(_ handle: Handle, error: String?) { observer?.started(handle, error: error) }

  func ended(_ handle: Handle, _ result: ProcessResult) {
    observer?.ended(handle, ProcessResult(status: status ?? result.status, output: result.output))
  }

  // MARK: Ending

  func terminate() {
    if let other { return other.terminate() }
    isStopping = true
    if isSearching { return wait(for: .terminate) }
    guard isOwn else {
      // A manager that is away may have started the command, or may start it when it is back.
      return launcher.manager.isPresent ? wait(for: .terminate) : handOver(.terminate)
    }
    // A command that has not started has no processes outside of its unit.
    guard isStarted else { return stop() }
    findMoved { [self] moved in
      if !moved.isEmpty { handOver(.terminate) } else if phase < .ending { stop() }
    }
  }

  private func stop() {
    launcher.manager.stop(unit) { [self] end in
      guard case .refused = end else { return }
      handOver()
      if isSearching { wait(for: .terminate) } else { other?.terminate() }
    }
  }

  func kill() {
    if let other { return other.kill() }
    if isSearching || !isOwn { wait(for: .kill) } else { launcher.manager.kill(unit, launched.scope) }
  }

  func abandon() -> String {
    if let other { return other.abandon() }
    if isSearching { wait(for: .abandon) } else { release() }
    return "the unit \(unit)"
  }

  func includes(_ process: ProcessOrigin) -> Bool {
    if let other { return other.includes(process) }
    switch launched.scope {
    case .tree: return isOwn && isInService(process) || process.descends(from: launched.marker)
    // The manager may report the process after its first window. The process has hardly started others by then.
    case .process: return pid.map { process.pid == pid_t($0) } ?? (!isStarted && isOwn && isInService(process))
    }
  }

  var remembered: RememberedLaunch { other?.remembered ?? launched }

  var platform: Properties {
    if let other { return other.platform }
    var all: Properties = ["unit": .string(unit.text)]
    if let pid { all[StateEntry.keys.pid] = UInt64(pid) }
    return all
  }
}

extension UnitState {
  /// The exit status of the service's main process.
  fileprivate var status: ProcessStatus {
    switch exitCode {
    case Int32(CLD_EXITED): .exited(code: exitStatus)
    case Int32(CLD_KILLED), Int32(CLD_DUMPED): .signaled(signal: exitStatus)
    default: .unknown
    }
  }

  fileprivate var hasRunThePlaceholder: Bool { status == .signaled(signal: ServiceProperties.placeholderSignal) }
}

import CLinux
import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRules
import Processes

/// Runs commands as transient services of the user's manager: each has a cgroup that ends as a whole, a journal, and a
/// name by which the next navd finds it.
final class ServiceLauncher: CommandLauncher {
  /// The first release with `ExitType=cgroup`, with which a service ends when its last process ends, not its first (D3).
  static let leastVersion = 250

  fileprivate let manager: SystemdManager
  /// The launcher of the commands that the manager cannot start. It also adopts the commands of a manager that is gone.
  fileprivate let direct: DirectLauncher
  fileprivate let loop: EventLoop
  private let log: Logger
  private var running: [ObjectIdentifier: Service] = [:]
  /// The completions of the next search through all processes, by the marks of their commands.
  private var searches: [DescentMark: [([ProcessOrigin]) -> Void]] = [:]
  private let processes: (Set<DescentMark>) -> [DescentMark: [ProcessOrigin]]

  /// - Parameter processes: searches all processes; replaced by tests.
  init(
    loop: EventLoop, _ manager: SystemdManager, direct: DirectLauncher, log: Logger,
    processes: @escaping (Set<DescentMark>) -> [DescentMark: [ProcessOrigin]] = DescentMark.processes
  ) {
    self.loop = loop
    self.manager = manager
    self.direct = direct
    self.log = log
    self.processes = processes
  }

  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)? {
    do throws(SpawnError) {
      let program = try launch.command.program()
      guard let properties = ServiceProperties(launch, program, leavingOutInherited: OwnService.isService) else {
        return direct.launch(
          launch, because: "the user manager accepts only UTF-8, and variable names of letters, digits and “_”",
          for: observer)
      }
      let service = Service(self, launch.handle, RememberedLaunch(of: launch), observer)
      do throws(SystemError) { try service.start(properties, launch) } catch { throw .failed(error) }
      running[ObjectIdentifier(service)] = service
      return service
    } catch {
      observer.started(launch.handle, error: error.description)
      return nil
    }
  }

  func adopt(
    _ remembered: [Handle: RememberedLaunch], for observer: any LaunchObserver,
    found: @escaping ([Handle: any RunningCommand]) -> Void
  ) {
    var services: [Handle: any RunningCommand] = [:]
    var others = remembered
    var unanswered = remembered.values.count { $0.unit != nil }
    let finish = { [direct] in
      // The remaining commands may have been started directly.
      direct.adopt(others, for: observer) { found(services.merging($0) { first, _ in first }) }
    }
    guard unanswered > 0 else { return finish() }
    for (handle, command) in remembered where command.unit != nil {
      resume(command, of: handle, for: observer) { found in
        unanswered -= 1
        switch found {
        case .running(let service):
          services[handle] = service
          others[handle] = nil
        // No process of this unit is the command's.
        case .another: others[handle]?.unit = nil
        case .ended: break
        }
        if unanswered == 0 { finish() }
      }
    }
  }

  /// The state in which a service of the previous navd was found.
  private enum Found {
    case running(Service)
    case ended
    /// A unit with this name runs, and belongs to another navd.
    case another
  }

  /// Finds a service of the previous navd, which may have been an earlier release.
  private func resume(
    _ command: RememberedLaunch, of handle: Handle, for observer: any LaunchObserver,
    _ completion: @escaping (Found) -> Void
  ) {
    let service = Service(self, handle, command, observer)
    service.resume { [weak self] unit in
      if unit == .own {
        self?.running[ObjectIdentifier(service)] = service
        completion(.running(service))
      } else if let self, let former = command.formerUnit {
        var command = command
        (command.unit, command.formerUnit) = (former, nil)
        resume(command, of: handle, for: observer) { found in
          if case .ended = found, unit == .another { completion(.another) } else { completion(found) }
        }
      } else {
        completion(unit == .another ? .another : .ended)
      }
    }
  }

  /// Makes navd itself keep the commands, which still run.
  func managerLeft() { for service in Array(running.values) { service.managerLeft() } }

  /// Finds the processes that descend from a command. The next turn searches all processes once for all commands asked about,
  /// because there may be thousands of both.
  fileprivate func findProcesses(of marker: ByteString, _ found: @escaping ([ProcessOrigin]) -> Void) {
    if searches.isEmpty {
      loop.soon { [weak self] in
        guard let self else { return }
        let searches = self.searches
        self.searches = [:]
        let found = processes(Set(searches.keys))
        for (mark, completions) in searches { for completion in completions { completion(found[mark] ?? []) } }
      }
    }
    searches[DescentMark(marker), default: []].append(found)
  }

  fileprivate func forget(_ service: Service) { running[ObjectIdentifier(service)] = nil }

  fileprivate func startDirectly(_ launch: Launch, _ error: DBusError, for observer: any LaunchObserver)
    -> (any RunningCommand)?
  {
    let reason = "the user manager does not start it: \(error.message)"
    if direct.isAllowed {
      log.warning("navd itself starts a command: \(reason)", metadata: ["presentation": "\(launch.handle)"])
    }
    return direct.launch(launch, because: reason, for: observer)
  }
}

extension RememberedLaunch {
  fileprivate init(of launch: Launch) {
    self.init(marker: launch.marker, output: launch.output, unit: launch.unit, scope: launch.scope)
  }
}

private final class Service: RunningCommand, LaunchObserver {
  private unowned let launcher: ServiceLauncher
  private weak var observer: (any LaunchObserver)?
  private let handle: Handle
  private var launched: RememberedLaunch
  private let unit: UnitName
  /// The subscription to the unit; nil after the end of the service, and while navd itself keeps the command.
  private var watch: UnitWatch?
  private var reader: OutputReader?
  private var program = ""
  private var directory = ""
  /// The command, unless it was found running.
  private var launch: Launch?
  /// The main process, as far as the manager has told it.
  private var pid: UInt32?
  /// Whether the unit is known to be this command's. Until the manager has accepted the start, a unit of another navd may have
  /// its name, and nothing is done with that unit.
  private var isOwn = false
  /// The request that came before the manager accepted the start, and is carried out then.
  private var postponed = Request.none
  /// Whether the unit's state is a result of this start: a new unit is reported as inactive first.
  private var isUnderWay = false
  /// Whether the observer has received the result of the start.
  private var isStarted = false
  private var isStopping = false
  /// Whether the service has ended, and navd searches for processes that have moved out of it.
  private var isEnding = false
  private var nextCheck: Timer?
  /// The command, if it runs as processes of navd itself: the manager refused it, or has left.
  private var direct: (any RunningCommand)?
  /// The request for the processes that navd searches for when the manager cannot be asked; nil while there is no such search.
  private var searchedFor: Request?

  /// The exit status of the service's main process, if other processes outside of the service still run.
  private var status: ProcessStatus?

  /// Requests that wait. Each includes the requests before it.
  enum Request: Int { case none, terminate, kill, abandon }

  init(_ launcher: ServiceLauncher, _ handle: Handle, _ launched: RememberedLaunch, _ observer: any LaunchObserver) {
    self.launcher = launcher
    self.handle = handle
    self.launched = launched
    self.observer = observer
    unit = launched.unit!
  }

  // MARK: Starting

  func start(_ given: ServiceProperties, _ launch: Launch) throws(SystemError) {
    self.launch = launch
    program = given.program
    directory = launch.command.directory.text ?? ""
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
    watch = launcher.manager.watch(unit) { [weak self] in self?.changed() }
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
    isOwn = true
    guard watch != nil else { return }
    // The manager may have told the unit's state before it has answered.
    changed()
    let request = postponed
    postponed = .none
    if request != .none { terminate() }
    if request == .kill { kill() }
  }

  private func started() {
    guard watch != nil else {
      // The manager could not be asked to stop a unit that it had not started, and no process was found.
      if isStopping { launcher.manager.stop(unit) { _ in } }
      return
    }
    isUnderWay = true
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
    default: direct = launcher.startDirectly(launch, error, for: observer)
    }
  }

  /// The unit of a recorded command.
  enum RecordedUnit { case own, ended, another }

  /// Takes over a service of the previous navd.
  func resume(_ completion: @escaping (RecordedUnit) -> Void) {
    isStarted = true
    let watch = launcher.manager.watch(unit) { [weak self] in self?.changed() }
    self.watch = watch
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
        self.isOwn = true
        if launched.scope == .tree { reader = try? .resume(launched.output, loop: launcher.loop) }
        changed()
        found(.own)
      }
    }
  }

  // MARK: State changes

  private func changed() {
    guard isOwn, !isEnding, let state = watch?.state else { return }
    pid = state.mainProcess
    // The manager no longer reports the main process when navd has to find it.
    if launched.scope == .process, let pid, launched.first?.pid != pid_t(pid) {
      launched.first = ProcessIdentity(of: pid_t(pid))
    }
    switch state.active {
    // A manager that was away, and reports only this, may be another one that never started the unit.
    case "inactive" where isUnderWay && !isStopping && state.result == nil: handOver()
    case "inactive", "failed":
      if isUnderWay { ended(state) }
    case nil: break
    default:
      isUnderWay = true
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
        state.failureToStart(program, in: directory) == nil ? .executed : .ended
      }
    switch execution {
    case .executed:
      isStarted = true
      launch = nil
      observer?.started(handle, error: nil)
    case .forked: nextCheck = launcher.loop.timer(after: .milliseconds(5)) { [weak self] in self?.checkExecution() }
    // The manager will report the end.
    case .ended: break
    }
  }

  private func ended(_ state: UnitState) {
    isEnding = true
    findMoved { [self] moved in
      if moved.isEmpty { return reportEnd(state) }
      status = state.status
      launch = nil
      handOver(isStopping ? .terminate : .none)
    }
  }

  private func reportEnd(_ state: UnitState) {
    if !isStarted, !isStopping, state.hasRunThePlaceholder, let launch, let observer {
      release()
      direct = launcher.launch(launch, for: observer)
      return
    }
    let result = ProcessResult(status: state.status, output: reader?.finish())
    release()
    if !isStarted {
      if !isStopping, let error = state.failureToStart(program, in: directory) {
        launched.output.remove()
        observer?.started(handle, error: "\(program): \(error); see “journalctl --user -u '\(unit)'”")
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
    watch = nil
    reader = nil
    launcher.forget(self)
  }

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

  func managerLeft() { handOver(isStopping && postponed == .none ? .terminate : postponed) }

  /// Lets navd search for the processes itself, because the manager cannot be asked any more or knows only a part of the command.
  /// - Parameter request: the action on the processes when they are found.
  func handOver(_ request: Request = .none) {
    guard watch != nil, let observer else { return }
    release()
    searchedFor = request
    launcher.direct.adopt(launched, of: handle, for: self) { [self] found in
      let request = searchedFor ?? .none
      searchedFor = nil
      direct = found
      if request == .abandon {
        _ = found?.abandon()
        return
      }
      if !isStarted {
        isStarted = true
        if found == nil, request == .none, let launch {
          // The manager has left the bus before it started the command.
          direct = launcher.launch(launch, for: observer)
          return
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

  /// Postpones a request while navd searches for the processes.
  /// - Returns: whether the request is postponed until they are found.
  private func postpone(_ request: Request) -> Bool {
    guard let searchedFor else { return false }
    if request.rawValue > searchedFor.rawValue { self.searchedFor = request }
    return true
  }

  // MARK: The observer of what navd itself keeps

  func started(_ handle: Handle, error: String?) { observer?.started(handle, error: error) }

  func ended(_ handle: Handle, _ result: ProcessResult) {
    observer?.ended(handle, ProcessResult(status: status ?? result.status, output: result.output))
  }

  // MARK: Ending

  func terminate() {
    if let direct { return direct.terminate() }
    isStopping = true
    if postpone(.terminate) { return }
    guard isOwn else {
      // A manager that is away may have started the command, or may start it when it is back.
      return launcher.manager.isPresent ? wait(for: .terminate) : handOver(.terminate)
    }
    // A command that has not started has no processes outside of its unit.
    guard isStarted else { return stop() }
    findMoved { [self] moved in
      if !moved.isEmpty { handOver(.terminate) } else if !isEnding { stop() }
    }
  }

  private func stop() {
    launcher.manager.stop(unit) { [self] end in
      guard case .refused = end else { return }
      handOver()
      if !postpone(.terminate) { direct?.terminate() }
    }
  }

  func kill() {
    if let direct { return direct.kill() }
    if postpone(.kill) { return }
    if isOwn { launcher.manager.kill(unit, launched.scope) } else { wait(for: .kill) }
  }

  /// Carries out a request once the manager has accepted the start.
  private func wait(for request: Request) {
    if request.rawValue > postponed.rawValue { postponed = request }
  }

  func abandon() -> String {
    if let direct { return direct.abandon() }
    if !postpone(.abandon) { release() }
    return "the unit \(unit)"
  }

  func includes(_ process: ProcessOrigin) -> Bool {
    if let direct { return direct.includes(process) }
    switch launched.scope {
    case .tree: return isOwn && isInService(process) || process.descends(from: launched.marker)
    // The manager may report the process after its first window. The process has hardly started others by then.
    case .process: return pid.map { process.pid == pid_t($0) } ?? (!isStarted && isOwn && isInService(process))
    }
  }

  var remembered: RememberedLaunch { direct?.remembered ?? launched }

  var platform: Properties {
    if let direct { return direct.platform }
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

  /// The reason why a service without a main process was not started; nil if its program was executed, and has ended.
  fileprivate func failureToStart(_ program: String, in directory: String) -> String? {
    switch status {
    // Failures before the execution are exit codes that a program could have, too (`systemd.exec(5)`, *Process Exit
    // Codes*), so the file and the directory decide. With navd's properties, only these two can occur.
    case .exited(code: 203): ByteString(program).isExecutable ? nil : "cannot be executed"
    case .exited(code: 200): access(directory, X_OK) == 0 ? nil : "could not be started in \(directory)"
    case .unknown: "could not be started (\(result ?? "unknown reason"))"
    case .signaled where hasRunThePlaceholder: "was not started, since the user manager has read its units again"
    case .exited, .signaled: nil
    }
  }
}

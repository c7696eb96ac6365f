import DBus
import DBusValues
import EventLoops
import Glibc
import PresentationModel
import PresentationRules
import Processes

/// A command that the user's manager runs as a service. If the manager refuses it, or leaves, navd itself runs or keeps it.
final class ServiceCommand: RunningCommand {
  private enum State {
    /// The manager has not accepted the start. A unit of another navd may have the name, and nothing is done with that unit.
    case requested(Requested)
    /// The unit is this command's.
    case running(Running)
    /// The unit has ended, and navd searches for processes that have moved out of it.
    case leaving(Running)
    /// navd searches for the processes, because the manager cannot be asked any more or knows only a part of them.
    case searching(Search)
    /// Another command has taken its place: processes of navd itself, or a unit started once more.
    case replaced(by: any RunningCommand, isStopped: Bool)
    /// It has not begun, has ended, or is given up.
    case over(isStopped: Bool)
  }

  private struct Requested {
    let watch: UnitWatch
    let reader: OutputReader?
    let start: Start
    /// The request that is carried out once the manager has accepted the start.
    var request = Request.none
  }

  private struct Running {
    let watch: UnitWatch
    let reader: OutputReader?
    /// The start; nil once its result was reported.
    var start: Start?
    var isStopping = false
    /// Whether the unit's state is a result of this start. Before that, a new unit is reported as inactive.
    var isUnderWay = false
    /// The main process, as far as the manager has told it.
    var pid: UInt32?
    var nextCheck: Timer?
  }

  private struct Search {
    let start: Start?
    let pid: UInt32?
    /// The request that is carried out once navd has found the processes.
    var request: Request
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

  private let launcher: ServiceLauncher
  private weak var observer: (any LaunchObserver)?
  private let handle: Handle
  private let unit: UnitName
  private var launched: RememberedLaunch
  private var state = State.over(isStopped: false)

  init(
    _ launcher: ServiceLauncher, _ handle: Handle, _ unit: UnitName, _ launched: RememberedLaunch,
    _ observer: any LaunchObserver
  ) {
    self.launcher = launcher
    self.handle = handle
    self.unit = unit
    self.launched = launched
    self.observer = observer
  }

  // MARK: Starting

  func start(_ given: ServiceProperties, _ launch: Launch) throws(SystemError) {
    var properties = given.list
    var reader: OutputReader?
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
    let watch = launcher.manager.watch(unit) { [weak self] in self?.changed() }
    state = .requested(
      Requested(watch: watch, reader: reader, start: Start(launch: launch, program: given.program)))
    var isAccepted = false
    launcher.manager.startTransient(unit, properties) { [self] in
      isAccepted = true
      accepted()
    } _: { [self] end in
      switch end {
      case .finished where isAccepted: started()
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
    guard case .requested(let requested) = state else { return }
    let request = requested.request
    state = .running(
      Running(
        watch: requested.watch, reader: requested.reader, start: requested.start, isStopping: request >= .terminate))
    // The manager may have told the unit's state before it has answered.
    changed()
    if request >= .terminate { terminate() }
    if request == .kill { kill() }
  }

  private func started() {
    switch state {
    case .running(var running):
      running.isUnderWay = true
      state = .running(running)
      changed()
    // The manager could not be asked to stop a unit that it had not started.
    case .searching, .replaced, .over: if isStopping { launcher.manager.stop(unit) { _ in } }
    case .requested, .leaving: break
    }
  }

  /// Starts the command directly, unless the manager may have started it despite the error.
  private func refused(_ error: DBusError, _ launch: Launch) {
    guard isOfManager, let observer else { return }
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
      observer.ended(handle, ProcessResult(status: .unknown, output: nil), nil)
    default: replace(by: launcher.startDirectly(launch, error, for: observer))
    }
  }

  /// The unit of a recorded command.
  enum RecordedUnit { case own, ended, another }

  /// Takes over a service of the previous navd.
  func resume(_ completion: @escaping (RecordedUnit) -> Void) {
    let watch = launcher.manager.watch(unit) { [weak self] in self?.changed() }
    var isRunning: Bool { watch.state.active != nil && !watch.state.hasEnded }
    func found(_ unit: RecordedUnit) {
      if unit != .own { watch.cancel() }
      completion(unit)
    }
    launcher.manager.refresh(watch) { [self] in
      guard isRunning else { return found(.ended) }
      launcher.manager.askWhether(unit, isOf: launched.marker) { [self] isOwn in
        guard isOwn == true else { return found(isOwn == nil ? .ended : .another) }
        guard isRunning else { return found(.ended) }
        let reader = launched.scope == .tree ? try? OutputReader.resume(launched.output, loop: launcher.loop) : nil
        state = .running(Running(watch: watch, reader: reader))
        changed()
        found(.own)
      }
    }
  }

  // MARK: State changes

  private func changed() {
    guard case .running(var running) = state else { return }
    let unitState = running.watch.state
    running.pid = unitState.mainProcess
    // The manager no longer reports the main process when navd has to find it.
    if launched.scope == .process, let pid = running.pid, launched.first?.pid != pid_t(pid) {
      launched.first = ProcessIdentity(of: pid_t(pid))
    }
    let wasUnderWay = running.isUnderWay
    if let active = unitState.active, active != "inactive", active != "failed" { running.isUnderWay = true }
    state = .running(running)
    switch unitState.active {
    // A manager that was away, and reports only this, may be another one that never started the unit.
    case "inactive" where unitState.hasEnded && wasUnderWay && !running.isStopping && unitState.result == nil:
      handOver()
    case "inactive", "failed": if unitState.hasEnded, wasUnderWay { ended(running, unitState) }
    case "active": checkExecution()
    default: break
    }
  }

  /// Reports the start once the process executes the program; before that, the execution can still fail.
  private func checkExecution() {
    guard case .running(var running) = state, let start = running.start, running.nextCheck?.isPending != true else {
      return
    }
    // Without a main process, the service's other processes prove that the program was executed.
    let execution: ExecutionState =
      if let pid = running.watch.state.mainProcess {
        ExecutionState(
          of: pid_t(pid), CommandPresenter.markerVariable, is: launched.marker,
          placeholder: ServiceProperties.placeholder)
      } else {
        start.failure(running.watch.state) == nil ? .executed : .ended
      }
    switch execution {
    case .executed:
      running.start = nil
      state = .running(running)
      observer?.started(handle, error: nil)
    case .forked:
      running.nextCheck = launcher.loop.timer(after: .milliseconds(5)) { [weak self] in self?.checkExecution() }
      state = .running(running)
    // The manager will report the end.
    case .ended: break
    }
  }

  private func ended(_ running: Running, _ unitState: UnitState) {
    state = .leaving(running)
    findMoved { [self] moved in
      guard case .leaving(var running) = state else { return }
      if moved.isEmpty { return reportEnd(of: running, unitState) }
      launched.status = unitState.status
      let wasStarted = running.start == nil
      running.start = nil
      state = .leaving(running)
      if !wasStarted { observer?.started(handle, error: nil) }
      handOver(running.isStopping ? .terminate : .none)
    }
  }

  private func reportEnd(of running: Running, _ unitState: UnitState) {
    if !running.isStopping, unitState.hasRunThePlaceholder, let start = running.start, let observer {
      release()
      return replace(by: launcher.launch(start.launch, for: observer))
    }
    let result = ProcessResult(status: unitState.status, output: running.reader?.finish())
    let cause = unitState.wasStopped ? ManagerCause.stopped : unitState.failure.map(ManagerCause.failed)
    release()
    if let start = running.start {
      if !running.isStopping, let error = start.failure(unitState) {
        launched.output.remove()
        observer?.started(handle, error: "\(start.program): \(error); see “journalctl --user -u '\(unit)'”")
        return
      }
      observer?.started(handle, error: nil)
    }
    observer?.ended(handle, result, cause)
  }

  /// Whether the manager starts, runs or ends the unit.
  private var isOfManager: Bool {
    switch state {
    case .requested, .running, .leaving: true
    case .searching, .replaced, .over: false
    }
  }

  private var isStopping: Bool {
    switch state {
    case .requested(let requested): requested.request >= .terminate
    case .running(let running), .leaving(let running): running.isStopping
    case .searching(let search): search.request >= .terminate
    case .replaced(_, let isStopped), .over(let isStopped): isStopped
    }
  }

  /// Ends all activity through the manager.
  private func release() {
    switch state {
    case .requested(let requested): requested.watch.cancel()
    case .running(let running), .leaving(let running):
      running.nextCheck?.cancel()
      running.watch.cancel()
    case .searching, .replaced, .over: break
    }
    state = .over(isStopped: isStopping)
    launcher.forget(self)
  }

  private func replace(by command: (any RunningCommand)?) {
    if let command { state = .replaced(by: command, isStopped: isStopping) }
  }

  /// Finds processes that descend from the command and are outside of its unit, for example in a scope made by `systemd-run --scope`.
  /// - Parameter found: not called if this object no longer uses the manager by then.
  private func findMoved(_ found: @escaping ([ProcessOrigin]) -> Void) {
    guard launched.scope == .tree else { return found([]) }
    launcher.findProcesses(of: launched.marker) { [self] processes in
      if isOfManager { found(processes.filter { !isInService($0) }) }
    }
  }

  private func isInService(_ process: ProcessOrigin) -> Bool {
    process.controlGroups.contains(ByteString(unit.text))
  }

  func managerLeft() {
    switch state {
    case .requested(let requested): handOver(requested.request)
    case .running(let running), .leaving(let running): handOver(running.isStopping ? .terminate : .none)
    case .searching, .replaced, .over: break
    }
  }

  /// Lets navd search for the processes itself, because the manager cannot be asked any more or knows only a part of the command.
  /// - Parameter request: the action on the processes when they are found.
  private func handOver(_ request: Request = .none) {
    guard let observer else { return }
    let search: Search
    switch state {
    case .requested(let requested): search = Search(start: requested.start, pid: nil, request: request)
    case .running(let running), .leaving(let running):
      search = Search(start: running.start, pid: running.pid, request: request)
    case .searching, .replaced, .over: return
    }
    release()
    state = .searching(search)
    launcher.direct.adopt([handle: launched], for: observer) { [self] commands in
      guard case .searching(let search) = state else { return }
      found(commands[handle], search, observer)
    }
  }

  private func found(_ command: (any RunningCommand)?, _ search: Search, _ observer: any LaunchObserver) {
    state = .over(isStopped: isStopping)
    replace(by: command)
    if search.request == .abandon {
      _ = command?.abandon()
      return
    }
    if let start = search.start {
      // The manager has left the bus before it started the command.
      if command == nil, search.request == .none {
        return replace(by: launcher.launch(start.launch, for: observer))
      }
      observer.started(handle, error: nil)
    }
    guard let command else {
      let status = launched.status ?? .unknown
      return observer.ended(handle, ProcessResult(status: status, output: launched.output.read()), nil)
    }
    if search.request == .terminate { command.terminate() }
    if search.request == .kill { command.kill() }
  }

  // MARK: Ending

  func terminate() {
    switch state {
    case .requested(var requested):
      // A manager that is away may have started the command, or may start it when it is back.
      guard launcher.manager.isPresent else { return handOver(.terminate) }
      requested.request = max(requested.request, .terminate)
      state = .requested(requested)
    case .running(var running):
      running.isStopping = true
      state = .running(running)
      // A command that has not started has no processes outside of its unit.
      guard running.start == nil else { return stop() }
      findMoved { [self] moved in
        if !moved.isEmpty { handOver(.terminate) } else if case .running = state { stop() }
      }
    case .leaving(var running):
      running.isStopping = true
      state = .leaving(running)
    case .searching(var search):
      search.request = max(search.request, .terminate)
      state = .searching(search)
    case .replaced(let command, _): command.terminate()
    case .over: state = .over(isStopped: true)
    }
  }

  private func stop() {
    launcher.manager.stop(unit) { [self] end in
      guard case .refused = end else { return }
      if isOfManager { handOver(.terminate) } else { terminate() }
    }
  }

  func kill() {
    switch state {
    case .requested(var requested):
      requested.request = max(requested.request, .kill)
      state = .requested(requested)
    case .running, .leaving: launcher.manager.kill(unit, launched.scope)
    case .searching(var search):
      search.request = max(search.request, .kill)
      state = .searching(search)
    case .replaced(let command, _): command.kill()
    case .over: break
    }
  }

  func abandon() -> String {
    switch state {
    case .replaced(let command, _): return command.abandon()
    case .searching(var search):
      search.request = .abandon
      state = .searching(search)
    case .requested, .running, .leaving, .over: release()
    }
    return "the unit \(unit)"
  }

  func includes(_ process: ProcessOrigin) -> Bool {
    switch state {
    case .running(let running), .leaving(let running):
      switch launched.scope {
      case .tree: isInService(process) || process.descends(from: launched.marker)
      // The manager may report the process after its first window. The process has hardly started others by then.
      case .process: running.pid.map { process.pid == pid_t($0) } ?? (running.start != nil && isInService(process))
      }
    case .requested, .over: launched.scope == .tree && process.descends(from: launched.marker)
    case .searching(let search):
      switch launched.scope {
      case .tree: process.descends(from: launched.marker)
      case .process: search.pid.map { process.pid == pid_t($0) } ?? false
      }
    case .replaced(let command, _): command.includes(process)
    }
  }

  var isInJob: Bool {
    switch state {
    case .running(let running): running.watch.state.hasJob
    case .replaced(let command, _): command.isInJob
    case .requested, .leaving, .searching, .over: false
    }
  }

  var remembered: RememberedLaunch {
    if case .replaced(let command, _) = state { command.remembered } else { launched }
  }

  var platform: Properties {
    var all: Properties = ["unit": .string(unit.text)]
    switch state {
    case .running(let running), .leaving(let running):
      if let pid = running.pid { all[StateEntry.keys.pid] = UInt64(pid) }
    case .searching(let search): if let pid = search.pid { all[StateEntry.keys.pid] = UInt64(pid) }
    case .replaced(let command, _): return command.platform
    case .requested, .over: break
    }
    return all
  }
}

extension UnitState {
  fileprivate var hasRunThePlaceholder: Bool { status == .signaled(signal: ServiceProperties.placeholderSignal) }
}

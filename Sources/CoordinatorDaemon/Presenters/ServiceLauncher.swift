// Why this file exists: where the session has a service manager, a command is a service: with a cgroup that dies as a
// whole, a journal, and a name by which it is found again.

import CLinux
import DBus
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationRules
import Processes

/// Runs commands as transient services of the user's manager.
final class ServiceLauncher: CommandLauncher {
  /// `ExitType=cgroup`, without which a service ends with its first process and not with its last (D3).
  static let leastVersion = 250

  fileprivate let manager: SystemdManager
  /// For what cannot be said to a manager, and for what one has left behind.
  fileprivate let direct: DirectLauncher
  fileprivate let loop: EventLoop
  private let log: Logger
  private var running: [Handle: Service] = [:]
  /// How long a manager that left may take to come back: it does when it is updated.
  private let absenceLimit: Duration
  private var absence: Timer?

  init(
    loop: EventLoop, _ manager: SystemdManager, direct: DirectLauncher, log: Logger,
    absenceLimit: Duration = .seconds(5)
  ) {
    self.absenceLimit = absenceLimit
    self.loop = loop
    self.manager = manager
    self.direct = direct
    self.log = log
  }

  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)? {
    do throws(SpawnError) {
      let program = try launch.command.program()
      guard let call = ServiceCall(launch, program, leavingOutInherited: OwnService.isService) else {
        return direct.launch(
          launch, because: "the user manager cannot be told of what is no UTF-8, or of variables of such names",
          for: observer)
      }
      let service = Service(self, launch.handle, RememberedLaunch(launch, call.unit), observer)
      do throws(SystemError) { try service.start(call, launch) } catch { throw .failed(error) }
      running[launch.handle] = service
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
      // What is no service may have been started directly.
      direct.adopt(others, for: observer) { found(services.merging($0) { first, _ in first }) }
    }
    guard unanswered > 0 else { return finish() }
    for (handle, command) in remembered where command.unit != nil {
      let service = Service(self, handle, command, observer)
      service.resume { [weak self] isRunning in
        unanswered -= 1
        if isRunning {
          services[handle] = service
          others[handle] = nil
          self?.running[handle] = service
        }
        if unanswered == 0 { finish() }
      }
    }
  }

  /// The unit that a presentation's command runs as, by which it is found again. nil where there is no such name.
  static func unit(_ binding: BindingID, _ handle: Handle) -> UnitName? {
    let end = "-\(handle).service"
    let start = "navd-" + UnitName.escaped(binding.text.utf8)
    return try? UnitName(String(start.prefix(UnitName.mostBytes - end.utf8.count)) + end)
  }

  /// The manager has left the bus, and what it keeps goes on. Should it not come back, navd keeps that itself.
  func managerLeft() {
    absence?.cancel()
    guard !running.isEmpty else { return }
    absence = loop.timer(after: absenceLimit) { [weak self] in
      guard let self, !manager.isPresent else { return }
      for service in Array(running.values) { service.handOver() }
    }
  }

  fileprivate func forget(_ handle: Handle) { running[handle] = nil }

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
  fileprivate init(_ launch: Launch, _ unit: UnitName) {
    self.init(marker: launch.marker, output: launch.output, unit: unit)
  }
}

/// How a command is said to the manager.
private struct ServiceCall {
  /// As in `navd-counter.fact-17.service`, for people who look for it.
  let unit: UnitName
  let program: String
  /// All but the descriptors.
  let properties: [Structure<String, Value>]

  /// - Returns: nil where it cannot be said: what goes over the bus is UTF-8.
  init?(_ launch: Launch, _ program: ByteString, leavingOutInherited: Bool) {
    let arguments = launch.command.arguments.compactMap(\.text)
    guard let program = program.text, arguments.count == launch.command.arguments.count,
      let directory = launch.command.directory.text,
      let unit = ServiceLauncher.unit(launch.binding, launch.handle)
    else { return nil }
    var environment: [String] = []
    for (name, value) in launch.command.environment {
      let isInherited = launch.inherited.contains(name)
      if isInherited, leavingOutInherited { continue }
      if let name = name.text, let value = value.text, Self.isVariable(name) {
        environment.append("\(name)=\(value)")
      } else if !isInherited {
        return nil
      }
      // The functions that some shells export are no variables to the manager.
    }
    environment.append("\(CommandPresenter.markerVariable)=\(launch.marker)")
    self.unit = unit
    self.program = program
    // As they are: nothing in them stands for a variable.
    let execution = Structure(program, arguments, ["no-env-expand"])
    // So that a dismissal is completed even if navd is not there to do it. 0 would be for ever.
    let grace = max(1, launch.grace).multipliedReportingOverflow(by: 1000)
    properties = [
      Structure("Description", .string(Self.description(launch))), Structure("Slice", .string("app.slice")),
      // Not “exec”: such a service would be ended if its first process ends before the manager knows that it was executed,
      // whatever that has left behind.
      Structure("Type", .string("simple")), Structure("ExitType", .string("cgroup")),
      Structure("ExecStartEx", [execution].value), Structure("Environment", environment.value),
      Structure("WorkingDirectory", .string(directory)),
      // Were output said to go to the journal, too, both would go where the descriptor for output leads.
      Structure("StandardOutput", .string("null")), Structure("StandardError", .string("journal")),
      Structure("KillMode", .string("control-group")), Structure("SendSIGHUP", .boolean(false)),
      Structure("TimeoutStopUSec", .uint64(grace.overflow ? .max : grace.partialValue)),
      // As the kernel has it, which is not what services get unasked.
      Structure("IgnoreSIGPIPE", .boolean(false)),
      // Only one of them was too greedy, and the others are not to go with it.
      Structure("OOMPolicy", .string("continue")), Structure("CollectMode", .string("inactive-or-failed")),
    ]
  }

  /// One line, whatever the id holds.
  private static func description(_ launch: Launch) -> String {
    let words = "navd: \(launch.binding) \(launch.id)".unicodeScalars
    return String(String.UnicodeScalarView(words.filter { $0.properties.generalCategory != .control }))
  }

  /// What the manager takes for a variable's name.
  private static func isVariable(_ name: String) -> Bool {
    BindingID.isName(name) && !name.utf8.contains(UInt8(ascii: "-"))
  }
}

extension ByteString {
  fileprivate var text: String? { String(validating: bytes, as: UTF8.self) }
}

/// A command that runs as a service.
private final class Service: RunningCommand {
  private unowned let launcher: ServiceLauncher
  private weak var observer: (any LaunchObserver)?
  private let handle: Handle
  private var launched: RememberedLaunch
  private let unit: UnitName
  /// Nil once it is over, or no longer the manager's.
  private var watch: UnitWatch?
  private var reader: OutputReader?
  private var program = ""
  private var directory = ""
  /// Whether what is told of the unit is about our start of it: a new one is first told to be inactive.
  private var isUnderWay = false
  /// Whether the observer knows how the start went.
  private var isStarted = false
  private var isStopping = false
  private var nextLook: Timer?
  /// The command, if it runs as processes of navd itself: the manager refused it, or has left.
  private var direct: (any RunningCommand)?
  /// The request for the processes that navd searches for, now that the manager cannot be asked; nil while there is
  /// no such search.
  private var searchedFor: Request?

  /// Requests during the search. Each includes those before it.
  private enum Request: Int { case none, terminate, kill, abandon }

  init(_ launcher: ServiceLauncher, _ handle: Handle, _ launched: RememberedLaunch, _ observer: any LaunchObserver) {
    self.launcher = launcher
    self.handle = handle
    self.launched = launched
    self.observer = observer
    unit = launched.unit!
  }

  // MARK: Starting

  func start(_ call: ServiceCall, _ launch: Launch) throws(SystemError) {
    program = call.program
    directory = launch.command.directory.text ?? ""
    let reader = try OutputReader.create(launched.output, loop: launcher.loop)
    var properties = call.properties
    do throws(SystemError) {
      let input = Descriptor(owning: try launch.command.openInput())
      let output = Descriptor(owning: try launched.output.openForCommand())
      properties.append(Structure("StandardInputFileDescriptor", .descriptor(input)))
      properties.append(Structure("StandardOutputFileDescriptor", .descriptor(output)))
    } catch {
      launched.output.remove()
      throw error
    }
    self.reader = reader
    watch = launcher.manager.watch(unit) { [weak self] in self?.changed() }
    launcher.manager.startTransient(unit, properties) { [self] end in
      switch end {
      case .removed:
        isUnderWay = true
        changed()
      case .refused(let error): refused(error, launch)
      }
    }
  }

  /// The manager would not start it.
  private func refused(_ error: DBusError, _ launch: Launch) {
    guard watch != nil, let observer else { return }
    letGo()
    switch error.name {
    case .noReply, .timedOut, .disconnected:
      // It may have been started all the same.
      launcher.manager.stop(unit) { _ in }
      launched.output.remove()
      observer.started(handle, error: "the user manager did not start it: \(error.message)")
    default: direct = launcher.startDirectly(launch, error, for: observer)
    }
  }

  /// Takes over what an earlier navd has started.
  /// - Parameter completion: whether it runs.
  func resume(_ completion: @escaping (Bool) -> Void) {
    isStarted = true
    let watch = launcher.manager.watch(unit) { [weak self] in self?.changed() }
    self.watch = watch
    launcher.manager.ask(about: watch) { [self] in
      guard watch.state.active != nil, !watch.state.hasEnded else {
        letGo()
        return completion(false)
      }
      isUnderWay = true
      reader = try? .resume(launched.output, loop: launcher.loop)
      completion(true)
    }
  }

  // MARK: What becomes of it

  private func changed() {
    guard let state = watch?.state else { return }
    switch state.active {
    case "inactive", "failed":
      if isUnderWay { ended(state) }
    case nil: break
    default:
      isUnderWay = true
      if !isStarted, state.active == "active" { lookAtProcess() }
    }
  }

  /// Tells that it was started once its process is the program's: before that it may yet fail to be executed.
  private func lookAtProcess() {
    guard let state = watch?.state, !isStarted, nextLook?.isPending != true else { return }
    // One that has ended, and left something behind, was a program.
    let execution: ExecutionState =
      if let pid = state.mainProcess {
        ExecutionState(of: pid_t(pid), CommandPresenter.markerVariable, is: launched.marker)
      } else {
        state.failureToStart(program, in: directory) == nil ? .executed : .ended
      }
    switch execution {
    case .executed:
      isStarted = true
      observer?.started(handle, error: nil)
    case .forked: nextLook = launcher.loop.timer(after: .milliseconds(5)) { [weak self] in self?.lookAtProcess() }
    // How it ended the manager will say.
    case .ended: break
    }
  }

  private func ended(_ state: UnitState) {
    let result = ProcessResult(status: state.status, output: reader?.finish())
    letGo()
    if !isStarted {
      if !isStopping, let error = state.failureToStart(program, in: directory) {
        launched.output.remove()
        observer?.started(handle, error: "\(program): \(error); “journalctl --user -u '\(unit)'” says more")
        return
      }
      observer?.started(handle, error: nil)
    }
    observer?.ended(handle, result)
  }

  /// The manager is no longer asked about it.
  private func letGo() {
    nextLook?.cancel()
    watch?.cancel()
    watch = nil
    reader = nil
    launcher.forget(handle)
  }

  /// The manager cannot be asked any more: navd searches for the processes itself.
  func handOver() {
    guard watch != nil, let observer else { return }
    letGo()
    searchedFor = Request.none
    launcher.direct.adopt(launched, of: handle, for: observer) { [self] found in
      let request = searchedFor ?? .none
      searchedFor = nil
      direct = found
      if request == .abandon {
        _ = found?.abandon()
        return
      }
      if !isStarted {
        isStarted = true
        observer.started(handle, error: nil)
      }
      switch (found, request) {
      case (nil, _): observer.ended(handle, ProcessResult(status: .unknown, output: launched.output.read()))
      case (let found?, .terminate): found.terminate()
      case (let found?, .kill): found.kill()
      case (_?, _): break
      }
    }
  }

  /// - Returns: whether the processes are being searched for; the request is carried out when they are found.
  private func postpone(_ request: Request) -> Bool {
    guard let searchedFor else { return false }
    if request.rawValue > searchedFor.rawValue { self.searchedFor = request }
    return true
  }

  // MARK: Ending

  func terminate() {
    if let direct { return direct.terminate() }
    isStopping = true
    if postpone(.terminate) { return }
    launcher.manager.stop(unit) { [self] end in
      guard case .refused = end else { return }
      handOver()
      if !postpone(.terminate) { direct?.terminate() }
    }
  }

  func kill() {
    if let direct { return direct.kill() }
    if !postpone(.kill) { launcher.manager.kill(unit) }
  }

  func abandon() -> String {
    if let direct { return direct.abandon() }
    if !postpone(.abandon) { letGo() }
    return "the unit \(unit)"
  }

  var remembered: RememberedLaunch { direct?.remembered ?? launched }

  var platform: Properties {
    if let direct { return direct.platform }
    var all: Properties = ["unit": .string(unit.text)]
    if let pid = watch?.state.mainProcess { all["pid"] = .uint64(UInt64(pid)) }
    return all
  }
}

extension UnitState {
  /// How the service's main process ended.
  fileprivate var status: ProcessStatus {
    switch exitCode {
    case Int32(CLD_EXITED): .exited(code: exitStatus)
    case Int32(CLD_KILLED), Int32(CLD_DUMPED): .signaled(signal: exitStatus)
    default: .unknown
    }
  }

  /// Why a service whose program nobody has seen was not started; nil if it was, and has ended already.
  fileprivate func failureToStart(_ program: String, in directory: String) -> String? {
    switch status {
    // The manager says what goes wrong before the program is there as the status that a program might have had
    // (`systemd.exec(5)`, *Process Exit Codes*). Of what it is told to do here, these two can go wrong.
    case .exited(code: 203): ByteString(program).isExecutable ? nil : "cannot be executed"
    case .exited(code: 200): access(directory, X_OK) == 0 ? nil : "could not be started in \(directory)"
    case .unknown: "could not be started (\(result ?? "for no reason that is known"))"
    case .exited, .signaled: nil
    }
  }
}

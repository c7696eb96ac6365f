import CLinux
import CoordinatorAPI
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRules
import Processes

/// Shows items by running commands: as services if the user has a service manager, otherwise as child processes of navd. An item
/// is shown as long as a process in its command's scope lives (D3).
final class CommandPresenter: ProgramPresenter, LaunchObserver {
  /// The environment variable that identifies the processes of a command.
  static let markerVariable: ByteString = "NAVD_MARKER"

  private let manager: SystemdManager
  private let direct: any CommandLauncher
  private let services: any CommandLauncher
  /// The launcher of new commands; nil until the manager's presence is known.
  private(set) var launcher: (any CommandLauncher)?
  /// The way in which commands run, with the reason.
  private(set) var summary = "navd does not know yet whether there is a user manager"
  private let loop: EventLoop
  private let runtime: RuntimeDirectory
  private let errors: CommandErrors
  private let outputLimit: Int
  /// The variables that clients have given for all commands (K6).
  private let environment: () -> [String: String]
  private let log: Logger
  /// The part of a command's marker that is unique to the record; the handle is the other part.
  private let token: String
  private let remember: (Handle, Properties) -> Void
  private let report: (Report) -> Void
  private var running: [Handle: any RunningCommand] = [:]
  /// Presentations to start once the manager's presence is known.
  private var waiting: Set<Handle> = []
  /// The output of commands whose results are not on record yet.
  private var outputs: [Handle: OutputCapture] = [:]
  /// The output of commands that outlive their items, by their markers (N3).
  private var drains: [ByteString: OutputDrain] = [:]

  /// - Parameters:
  ///   - token: identifies the record among all records.
  ///   - outputLimit: the number of bytes of standard output that become part of a result (D6).
  ///   - remember: records the data with which the next navd adopts a command.
  init(
    loop: EventLoop,
    manager: SystemdManager, direct: any CommandLauncher, services: any CommandLauncher, runtime: RuntimeDirectory,
    token: String, outputLimit: Int, environment: @escaping () -> [String: String] = { [:] }, log: Logger,
    remember: @escaping (Handle, Properties) -> Void, report: @escaping (Report) -> Void
  ) {
    self.loop = loop
    self.manager = manager
    self.direct = direct
    self.services = services
    self.token = token
    self.remember = remember
    self.runtime = runtime
    errors = CommandErrors(loop, runtime, manager)
    self.outputLimit = outputLimit
    self.environment = environment
    self.log = log
    self.report = report
  }

  /// Creates a presenter that starts real processes, and makes navd the reaper of their orphans.
  convenience init(
    loop: EventLoop, manager: SystemdManager, runtime: RuntimeDirectory, token: String, outputLimit: Int,
    environment: @escaping () -> [String: String], log: Logger, remember: @escaping (Handle, Properties) -> Void,
    report: @escaping (Report) -> Void
  ) {
    let supervisor = ProcessSupervisor(loop: loop, markerVariable: Self.markerVariable)
    let direct = DirectLauncher(supervisor, isAllowed: !OwnService.isRestricted)
    self.init(
      loop: loop, manager: manager, direct: direct,
      services: ServiceLauncher(loop: loop, manager, direct: direct, log: log),
      runtime: runtime, token: token, outputLimit: outputLimit, environment: environment, log: log, remember: remember,
      report: report)
    do throws(SystemError) {
      try supervisor.reapOrphans()
    } catch {
      log.warning("orphaned processes of commands may not be found: \(error)")
    }
    do throws(SystemError) {
      try supervisor.raiseDescriptorLimit()
    } catch {
      log.warning("only a few hundred commands can run at once: \(error)")
    }
  }

  /// Chooses the launcher of new commands by the presence and version of the manager.
  func managerChanged() {
    let before = launcher
    let ownProcesses =
      direct.isAllowed
      ? "commands run as processes of navd's own" : "commands cannot be started, since navd's unit restricts navd"
    switch manager.presence {
    case .unknown: return
    case .absent:
      launcher = direct
      summary = "\(ownProcesses); the bus has no user manager"
    case .present(let version) where version ?? 0 < ServiceLauncher.leastVersion:
      launcher = direct
      summary = "\(ownProcesses); the user manager is older than systemd \(ServiceLauncher.leastVersion)"
    case .present(let version):
      launcher = services
      summary = "commands run as services of the user manager, systemd \(version ?? 0)"
    }
    if launcher !== before { log.notice("\(summary)") }
    if before === services, launcher !== services { services.managerLeft() }
  }

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    waiting.insert(handle)
    manager.whenKnown { [self] in
      guard waiting.remove(handle) != nil, let launcher else { return }
      var launch = launch(of: presentation, properties)
      launch.errors = errors.begin(launch.marker, unit: launcher === services ? launch.unit : nil)
      outputs[handle] = launch.output
      running[handle] = launcher.launch(launch, for: self)
      rememberFirst(of: handle)
    }
  }

  /// Records the first process, once it is known.
  private func rememberFirst(of handle: Handle) {
    if let first = running[handle]?.remembered.first { remember(handle, first.properties) }
  }

  // MARK: Launch observer

  func started(_ handle: Handle, error: String?) {
    guard let error else {
      rememberFirst(of: handle)
      return report(.presentAnswered(handle, error: nil))
    }
    running[handle] = nil
    _ = errors.finish(marker(of: handle))
    // `ended` also completes a dismissal that came before the start.
    report(.ended(handle, failed: true, result: ["error": .string("could not be started: \(error)")]))
  }

  func ended(_ handle: Handle, _ result: ProcessResult) {
    running[handle] = nil
    var properties = result.properties
    let lastLine = errors.finish(marker(of: handle))
    if result.status.isFailure { properties[PresentationResult.keys.error] = lastLine }
    report(.ended(handle, failed: result.hasCrashed, result: properties))
  }

  func forget(_ handle: Handle) { outputs.removeValue(forKey: handle)?.remove() }

  // MARK: Ending

  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool, isForced: Bool) {
    waiting.remove(handle)
    guard let command = running[handle] else {
      report(.dismissAnswered(handle, result: [:]))
      return
    }
    command.terminate()
  }

  func kill(_ handle: Handle) { running[handle]?.kill() }

  func abandon(_ handle: Handle) {
    guard let command = running.removeValue(forKey: handle) else { return }
    _ = errors.finish(marker(of: handle))
    log.error(
      "a command could not be ended, not even by SIGKILL, and counts as gone: \(command.abandon())",
      metadata: ["presentation": "\(handle)"])
  }

  func platform(of handle: Handle) -> Properties { running[handle]?.platform ?? [:] }

  func runs(_ handle: Handle, _ process: ProcessOrigin) -> Bool { running[handle]?.includes(process) ?? false }

  func hasStarted(_ handle: Handle, _ process: ProcessOrigin) -> Bool {
    runs(handle, process) || process.descends(from: marker(of: handle))
  }

  /// The startup id in the request, from a launcher or a window manager; otherwise an id of navd's own. A requester that is a
  /// command of navd's inherits an id, which says nothing about this item.
  func startupID(of presentation: Presentation) -> String? {
    let own = "\(Self.startupIDPrefix)\(marker(of: presentation.handle))"
    guard let given = presentation.item.environment[ItemCommand.startupIDVariable], !given.isEmpty,
      !given.hasPrefix(Self.startupIDPrefix)
    else { return own }
    return given
  }

  private static let startupIDPrefix = "navd-"

  // MARK: After a restart

  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    var launches: [Handle: RememberedLaunch] = [:]
    for (presentation, memory) in remembered.map({ ($0.presentation, $0.memory) }) {
      let handle = presentation.handle
      let output = output(of: handle)
      outputs[handle] = output
      // The existence of a unit with this name tells whether the command was started as a service.
      launches[handle] = RememberedLaunch(
        marker: marker(of: handle), output: output, unit: .command(of: presentation.application, handle),
        formerUnit: .formerCommand(at: presentation.binding, handle),
        first: recovered.isSameBoot ? ProcessIdentity(memory) : nil,
        scope: presentation.item.destination?.scope ?? .tree)
    }
    removeLeftovers()
    errors.resume(Dictionary(uniqueKeysWithValues: launches.values.map { ($0.marker, $0.unit) }))
    guard !launches.isEmpty else { return completion([:]) }
    manager.whenKnown { [self] in
      (launcher ?? direct).adopt(launches, for: self) { [self] commands in
        running.merge(commands) { $1 }
        for command in commands.values.map(\.remembered) {
          if let unit = command.unit { errors.rename(command.marker, to: unit) }
        }
        var survivals: [Handle: Survival] = [:]
        for presentation in remembered.map(\.presentation) {
          survivals[presentation.handle] = survival(of: presentation, isFound: commands[presentation.handle] != nil)
        }
        completion(survivals)
      }
    }
  }

  private func survival(of presentation: Presentation, isFound: Bool) -> Survival {
    if isFound { return .shown }
    _ = errors.finish(marker(of: presentation.handle))
    let output = output(of: presentation.handle)
    // A service leaves no trace of its start; a command without a trace that was about to start counts as not started.
    if presentation.phase == .presenting, !output.wasStarted { return .toBeShown }
    return .gone(result: ProcessResult(status: .unknown, output: output.read()).properties)
  }

  /// Removes the output of commands whose ends are on record, and reads the output of those that still run.
  private func removeLeftovers() {
    let kept = Set(outputs.keys.map { marker(of: $0) })
    // The file of errors is followed until no process writes into it any more.
    let left = runtime.names(beginningWith: token + "-").compactMap { name -> ByteString? in
      guard let dot = name.lastIndex(of: "."), name[dot...] != ErrorFiles.suffix.description[...] else { return nil }
      return ByteString(String(name[..<dot]))
    }
    for marker in Set(left).subtracting(kept) {
      drains[marker] = OutputDrain(of: OutputCapture(path: runtime.path(marker), limit: 0), loop: loop) { [weak self] in
        self?.drains[marker] = nil
      }
    }
  }

  private func marker(of handle: Handle) -> ByteString { ByteString("\(token)-\(handle)") }

  private func output(of handle: Handle) -> OutputCapture {
    OutputCapture(path: runtime.path(marker(of: handle)), limit: outputLimit)
  }

  // MARK: The command

  private func launch(of presentation: Presentation, _ properties: Properties) -> Launch {
    let handle = presentation.handle
    let extra = [ByteString(ItemCommand.startupIDVariable): ByteString(startupID(of: presentation) ?? "")]
    let item = ItemCommand(
      presentation.item.content, at: presentation.binding, handle, properties, session: environment(), extra: extra
    ) {
      $0.destination?.content.arguments(for: $0, at: presentation.binding, home: $1) ?? []
    }
    var command = item.command
    if let input = presentation.item.input { command.input = input }
    return Launch(
      handle: handle, binding: presentation.binding, id: presentation.item.id, application: presentation.application,
      command: command,
      scope: presentation.item.destination?.scope ?? .tree, given: item.given, marker: marker(of: handle),
      output: output(of: handle),
      grace: presentation.item.destination?.grace ?? Destination.defaultGrace)
  }
}

extension Destination {
  /// The program and its arguments as declared; nil if the item has no command.
  var command: [[UInt8]]? { if case .command(let arguments, _) = presenter { arguments } else { nil } }
  var scope: CommandScope { if case .command(_, let scope) = presenter { scope } else { .tree } }
}

extension ProcessIdentity {
  /// The process, as written to the record.
  fileprivate var properties: Properties { ["pid": .int32(pid), "start-time": .uint64(startTime)] }

  /// - Returns: nil if the record has no process.
  fileprivate init?(_ memory: Properties) {
    guard case .int32(let pid)? = memory["pid"], pid > 0, case .uint64(let startTime)? = memory["start-time"] else {
      return nil
    }
    self.init(pid: pid, startTime: startTime)
  }
}

extension ProcessStatus {
  /// Whether the command is known to have failed.
  fileprivate var isFailure: Bool {
    switch self {
    case .exited(let code): code != 0
    case .signaled: true
    case .unknown: false
    }
  }
}

extension ProcessResult {
  /// Whether a signal ended the first process.
  fileprivate var hasCrashed: Bool { if case .signaled = status { true } else { false } }

  /// The result as `Wait` returns it (D6).
  fileprivate var properties: Properties {
    var all: Properties = [:]
    switch status {
    case .exited(let code): all[PresentationResult.keys.status] = code
    case .signaled(let number): all[PresentationResult.keys.signal] = signalName(number)
    case .unknown: break
    }
    if let output {
      all[PresentationResult.keys.output] = output.bytes
      if output.isTruncated { all[PresentationResult.keys.outputTruncated] = true }
    }
    return all
  }
}

/// A signal's name, such as `SIGTERM`; its number if it has none.
func signalName(_ number: Int32) -> String {
  sigabbrev_np(number).map { "SIG" + String(cString: $0) } ?? String(number)
}

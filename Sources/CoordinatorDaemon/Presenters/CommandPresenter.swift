import CLinux
import CoordinatorAPI
import DBusValues
import EventLoops
import Glibc
import Logging
import PresentationModel
import PresentationRules
import Processes
import WindowRules

/// Shows items by running commands: as services if the user has a service manager, otherwise as child processes of navd. An item
/// is shown as long as a process in its command's scope lives (D3).
final class CommandPresenter: ProcessPresenter, LaunchObserver {
  /// The environment variable that identifies the processes of a command.
  static let markerVariable: ByteString = "NAVD_MARKER"

  let launchers: CommandLaunchers
  private let outputs: CommandOutputs
  private let errors: CommandErrors
  /// The variables that clients have given for all commands (K6).
  var environment: [String: String] = [:]
  private let log: Logger
  private let reports: any ReportReceiver
  private var running: [Handle: any RunningCommand] = [:]
  /// The command lines, which count also after the commands have handed over.
  private var commandLines: [Handle: [ByteString]] = [:]
  /// The commands that have ended while they are adopted; nil otherwise.
  private var endedEarly: Set<Handle>?
  /// Presentations to start once the manager's presence is known.
  private var waiting: Set<Handle> = []

  init(
    _ launchers: CommandLaunchers, _ outputs: CommandOutputs, _ errors: CommandErrors,
    log: Logger, reports: any ReportReceiver
  ) {
    self.launchers = launchers
    self.outputs = outputs
    self.errors = errors
    self.log = log
    self.reports = reports
  }

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    waiting.insert(handle)
    launchers.whenKnown { [self] launcher in
      guard waiting.remove(handle) != nil else { return }
      var launch = launch(of: presentation, properties)
      launch.errors = errors.begin(
        launch.marker, unit: launchers.hasUnits(launcher) ? launch.unit : nil,
        of: presentation.item.destinationName ?? presentation.binding.text)
      commandLines[handle] = launch.command.arguments
      running[handle] = launcher.launch(launch, for: self)
      rememberFirst(of: handle)
    }
  }

  /// Does nothing: a command gets its item once, at its start (D8).
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?) {}

  /// Records the first process, once it is known.
  private func rememberFirst(of handle: Handle) {
    if let first = running[handle]?.remembered.first { reports.remember(first.properties, of: handle) }
  }

  // MARK: Launch observer

  func started(_ handle: Handle, error: String?) {
    guard let error else {
      rememberFirst(of: handle)
      return reports.take(.presentAnswered(handle, error: nil))
    }
    running[handle] = nil
    _ = errors.finish(outputs.marker(of: handle))
    // `ended` also completes a dismissal that came before the start.
    reports.take(.ended(handle, failed: true, result: ["error": .string("could not be started: \(error)")]))
  }

  func ended(_ handle: Handle, _ result: ProcessResult, _ cause: ManagerCause?) {
    running[handle] = nil
    endedEarly?.insert(handle)
    var properties = result.properties
    var hasFailed = result.hasCrashed
    let lastLine = errors.finish(outputs.marker(of: handle))
    switch cause {
    case .stopped:
      hasFailed = false
      properties[PresentationResult.keys.stopped] = true
    case .failed(let error):
      hasFailed = true
      properties[PresentationResult.keys.error] = error
    case nil: if result.status.isFailure { properties[PresentationResult.keys.error] = lastLine }
    }
    reports.take(.ended(handle, failed: hasFailed, result: properties))
  }

  func forget(_ handle: Handle) {
    commandLines[handle] = nil
    outputs.remove(handle)
  }

  // MARK: Ending

  func dismiss(_ handle: Handle, _ reason: Reason, isRequested: Bool, animated: Bool, isForced: Bool) {
    waiting.remove(handle)
    guard let command = running[handle] else {
      reports.take(.dismissAnswered(handle, result: [:]))
      return
    }
    command.terminate()
  }

  func kill(_ handle: Handle) { running[handle]?.kill() }

  func abandon(_ handle: Handle) {
    guard let command = running.removeValue(forKey: handle) else { return }
    _ = errors.finish(outputs.marker(of: handle))
    log.error(
      "a command could not be ended, not even by SIGKILL, and counts as gone: \(command.abandon())",
      metadata: ["presentation": "\(handle)"])
  }

  func platform(of handle: Handle) -> Properties { running[handle]?.platform ?? [:] }

  func runs(_ handle: Handle, _ process: ProcessOrigin) -> Bool { running[handle]?.includes(process) ?? false }

  func hasStarted(_ handle: Handle, _ process: ProcessOrigin) -> Bool {
    runs(handle, process) || process.descends(from: outputs.marker(of: handle))
  }

  func repeats(_ handle: Handle, _ process: ProcessOrigin) -> Bool {
    commandLines[handle].map { process.repeats($0) } ?? false
  }

  func isInJob(_ handle: Handle) -> Bool { running[handle]?.isInJob == true }

  /// The startup id in the request, from a launcher or a window manager; otherwise an id of navd's own. A requester that is a
  /// command of navd's inherits an id, which says nothing about this item.
  func startupID(of presentation: Presentation) -> StartupID? {
    let own = "\(Self.startupIDPrefix)\(outputs.marker(of: presentation.handle))"
    guard let given = presentation.item.environment[ItemCommand.startupIDVariable], !given.isEmpty,
      !given.hasPrefix(Self.startupIDPrefix)
    else { return .made(own) }
    return .given(given)
  }

  private static let startupIDPrefix = "navd-"

  // MARK: After a restart

  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void
  ) {
    var launches: [Handle: RememberedLaunch] = [:]
    for (presentation, memory) in remembered.map({ ($0.presentation, $0.memory) }) {
      let handle = presentation.handle
      // The existence of a unit with this name tells whether the command was started as a service.
      launches[handle] = RememberedLaunch(
        marker: outputs.marker(of: handle), output: outputs.keep(handle),
        unit: .command(of: presentation.application, handle),
        first: recovered.isSameBoot ? ProcessIdentity(memory) : nil,
        scope: presentation.item.destination?.scope ?? .tree)
    }
    outputs.removeLeftovers()
    errors.resume(Dictionary(uniqueKeysWithValues: launches.values.map { ($0.marker, $0.unit) }))
    guard !launches.isEmpty else { return completion([:]) }
    launchers.whenKnown { [self] launcher in
      endedEarly = []
      launcher.adopt(launches, for: self) { [self] commands in
        let running = commands.filter { endedEarly?.contains($0.key) == false }
        endedEarly = nil
        self.running.merge(running) { $1 }
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
    _ = errors.finish(outputs.marker(of: presentation.handle))
    let output = outputs[presentation.handle]
    // A service leaves no trace of its start; a command without a trace that was about to start counts as not started.
    if presentation.phase == .presenting, !output.wasStarted { return .toBeShown }
    return .gone(result: ProcessResult(status: .unknown, output: output.read()).properties)
  }

  // MARK: The command

  private func launch(of presentation: Presentation, _ properties: Properties) -> Launch {
    let handle = presentation.handle
    let extra = [ByteString(ItemCommand.startupIDVariable): ByteString(startupID(of: presentation)?.text ?? "")]
    let item = ItemCommand(
      presentation.item.content, at: presentation.binding, handle, properties, session: environment, extra: extra
    ) {
      $0.destination?.content.arguments(for: $0, at: presentation.binding, home: $1) ?? []
    }
    var command = item.command
    if let input = presentation.item.input { command.input = input }
    return Launch(
      handle: handle, binding: presentation.binding, id: presentation.item.id, application: presentation.application,
      command: command,
      scope: presentation.item.destination?.scope ?? .tree, given: item.given, marker: outputs.marker(of: handle),
      output: outputs.keep(handle),
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

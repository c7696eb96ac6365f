// Why this file exists: a command is shown while its process tree lives; starting it, and ending the tree, is all there
// is to it (D3).

import CLinux
import CoordinatorAPI
import DBusValues
import EventLoop
import Glibc
import Logging
import Presentation
import Processes

/// Shows items by running programs: as services where the user has a manager of those, else as processes of navd's own.
final class CommandPresenter: Presenter, LaunchObserver {
  /// The variable by which the processes of a command are known again.
  static let markerVariable: ByteString = "NAVD_MARKER"
  /// What the daemon's own manager told the daemon alone.
  private static let privateVariables: [ByteString] = [
    "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "INVOCATION_ID", "JOURNAL_STREAM", "LISTEN_FDNAMES", "LISTEN_FDS",
    "LISTEN_PID", "MANAGERPID", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC",
  ]

  private let manager: SystemdManager
  private let direct: DirectLauncher
  private let services: ServiceLauncher
  /// One of the two; nil until it is known whether there is a manager.
  private var launcher: (any CommandLauncher)?
  private let runtime: RuntimeDirectory
  private let outputLimit: Int
  private let log: Logger
  private let report: (Report) -> Void
  private var running: [Handle: any RunningCommand] = [:]
  /// What is to be started as soon as it is known how.
  private var waiting: Set<Handle> = []

  /// - Parameter outputLimit: how many bytes of standard output become part of a result (D6).
  init(
    loop: EventLoop, manager: SystemdManager, runtime: RuntimeDirectory, outputLimit: Int, log: Logger,
    report: @escaping (Report) -> Void
  ) {
    self.manager = manager
    let keeper = ProcessKeeper(loop: loop, markerVariable: Self.markerVariable)
    direct = DirectLauncher(keeper)
    services = ServiceLauncher(loop: loop, manager, direct: direct, log: log)
    self.runtime = runtime
    self.outputLimit = outputLimit
    self.log = log
    self.report = report
    do throws(SystemError) {
      try keeper.reapOrphans()
    } catch {
      log.warning("what commands leave behind may not be found: \(error)")
    }
    do throws(SystemError) {
      try keeper.raiseDescriptorLimit()
    } catch {
      log.warning("only some hundred commands can run at once: \(error)")
    }
  }

  /// How commands are started from now on follows from whether there is a manager.
  func managerChanged() {
    let before = launcher
    let how: Logger.MetadataValue
    switch manager.presence {
    case .unknown: return
    case .absent:
      launcher = direct
      how = "commands run as processes of navd's own; the bus has no user manager"
    case .present(let version) where version ?? 0 < ServiceLauncher.leastVersion:
      launcher = direct
      how = """
        commands run as processes of navd's own; the user manager is older than systemd \(ServiceLauncher.leastVersion)
        """
    case .present(let version):
      launcher = services
      how = "commands run as services of the user manager, systemd \(version ?? 0)"
    }
    if launcher !== before { log.notice("\(how)") }
    if before === services, launcher !== services { services.managerLeft() }
  }

  func present(_ presentation: Presentation, _ properties: Properties) {
    let handle = presentation.handle
    waiting.insert(handle)
    manager.whenKnown { [self] in
      guard waiting.remove(handle) != nil, let launcher else { return }
      running[handle] = launcher.launch(launch(of: presentation, properties), for: self)
    }
  }

  // MARK: What launchers tell

  func started(_ handle: Handle, error: String?) {
    guard let error else { return report(.presentAnswered(handle, error: nil)) }
    running[handle] = nil
    // Which also ends what was told to go before it came.
    report(.ended(handle, failed: true, result: ["error": .string(error)]))
  }

  func ended(_ handle: Handle, _ result: ProcessResult) {
    running.removeValue(forKey: handle)?.remembered.output.remove()
    report(.ended(handle, failed: result.hasCrashed, result: result.properties))
  }

  // MARK: Ending

  func dismiss(_ handle: Handle, _ reason: Reason, animated: Bool) {
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
    log.error(
      "a command could not be ended, not even by SIGKILL; it counts as gone: \(command.abandon())",
      metadata: ["presentation": "\(handle)"])
  }

  func platform(of handle: Handle) -> Properties { running[handle]?.platform ?? [:] }

  // MARK: After a restart

  /// By what a later navd finds the command of a presentation; nil where it has none, or none yet.
  func remembered(_ handle: Handle) -> RememberedLaunch? { running[handle]?.remembered }

  /// Finds the commands that an earlier navd has started (R2); from then on they are as those that this one starts.
  /// - Parameter found: called once with those that still run.
  func adopt(_ remembered: [Handle: RememberedLaunch], found: @escaping (Set<Handle>) -> Void) {
    manager.whenKnown { [self] in
      (launcher ?? direct).adopt(remembered, for: self) { [self] commands in
        running.merge(commands) { $1 }
        found(Set(commands.keys))
      }
    }
  }

  // MARK: What is run

  private func launch(of presentation: Presentation, _ properties: Properties) -> Launch {
    let marker = ByteString("\(runtime.token)-\(presentation.handle)")
    let (command, inherited) = command(for: presentation, properties)
    return Launch(
      handle: presentation.handle, binding: presentation.binding, id: presentation.item.id, command: command,
      inherited: inherited, marker: marker, output: OutputCapture(path: runtime.path(marker), limit: outputLimit),
      grace: presentation.item.destination?.grace ?? Destination.standardGrace)
  }

  /// The destination's command, or the one that came with the request; and which of its variables are navd's own.
  private func command(
    for presentation: Presentation, _ properties: Properties
  ) -> (Processes.Command, inherited: Set<ByteString>) {
    let item = presentation.item
    var environment = ProcessEnvironment.ofThisProcess()
    for name in Self.privateVariables { environment[name] = nil }
    var given =
      [
        "NAVD_BINDING": ByteString(presentation.binding.text), "NAVD_ID": ByteString(item.id),
        "NAVD_PRESENTATION": ByteString(presentation.handle.description),
      ] as ProcessEnvironment
    for (name, value) in item.environment where given[ByteString(name)] == nil {
      given[ByteString(name)] = ByteString(value)
    }
    let inherited = Set(environment.keys).subtracting(given.keys)
    environment.merge(given) { $1 }

    var told = properties
    told["binding"] = .string(presentation.binding.text)
    told["id"] = .string(item.id)
    told["presentation"] = .uint64(presentation.handle.number)
    let arguments = item.destination?.arguments(binding: presentation.binding, id: item.id, value: item.value) ?? []
    let command = Command(
      arguments.map { ByteString($0) }, environment: environment,
      directory: item.directory.map { ByteString($0) } ?? environment["HOME"] ?? "/",
      input: Array((JSON(told).text + "\n").utf8))
    return (command, inherited)
  }
}

extension ProcessResult {
  /// Whether the first process ended by a signal.
  fileprivate var hasCrashed: Bool { if case .signaled = status { true } else { false } }

  /// As `Wait` hands it out (D6).
  fileprivate var properties: Properties {
    var all: Properties = [:]
    switch status {
    case .exited(let code): all["status"] = .int32(code)
    case .signaled(let number): all["signal"] = .string(SignalName.text(of: number))
    case .unknown: break
    }
    if let output {
      all["output"] = .bytes(output.bytes)
      if output.isTruncated { all["output-truncated"] = .boolean(true) }
    }
    return all
  }
}

/// Names of signals, as people write them.
private enum SignalName {
  static func text(of number: Int32) -> String {
    guard let name = sigabbrev_np(number) else { return String(number) }
    return "SIG" + String(cString: name)
  }
}

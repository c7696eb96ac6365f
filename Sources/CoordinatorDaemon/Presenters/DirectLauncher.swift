import DBusValues
import EventLoops
import PresentationModel
import PresentationRules
import Processes

/// Runs commands as child processes of navd where no service manager can run them (`docs/architecture.md`).
final class DirectLauncher: CommandLauncher {
  private let supervisor: ProcessSupervisor
  /// Whether this launcher may be used. A unit that restricts navd forbids it, because child processes inherit the restrictions.
  let isAllowed: Bool

  init(_ supervisor: ProcessSupervisor, isAllowed: Bool) {
    self.supervisor = supervisor
    self.isAllowed = isAllowed
  }

  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)? {
    self.launch(
      launch, because: "the bus has no user manager of systemd \(ServiceLauncher.leastVersion) or newer", for: observer)
  }

  /// - Parameter reason: the reason why the manager does not start the command.
  func launch(
    _ launch: Launch, because reason: String, for observer: any LaunchObserver
  ) -> (any RunningCommand)? {
    guard isAllowed else {
      observer.started(
        launch.handle,
        error:
          "\(reason); navd cannot start it either, since the command would inherit the restrictions of navd's unit "
          + "(hardening.conf)"
      )
      return nil
    }
    do throws(SpawnError) {
      let tree = try supervisor.spawn(
        launch.command, marker: launch.marker, output: launch.output, errors: launch.errors?.number,
        isWholeTree: launch.scope == .tree)
      let command = DirectCommand(tree, launch.output, launch.scope)
      observer.started(launch.handle, error: nil)
      command.reportEnd(of: launch.handle, to: observer)
      return command
    } catch {
      observer.started(launch.handle, error: error.description)
      return nil
    }
  }

  func adopt(
    _ remembered: [Handle: RememberedLaunch], for observer: any LaunchObserver,
    found: @escaping ([Handle: any RunningCommand]) -> Void
  ) {
    var running: [Handle: DirectCommand] = [:]
    var unanswered = remembered.count
    guard unanswered > 0 else { return found([:]) }
    // The supervisor finds all commands of a turn in one scan, and reports them over several turns.
    for (handle, remembered) in remembered {
      let command = RememberedCommand(
        marker: remembered.marker, first: remembered.first, output: remembered.output,
        service: remembered.unit.map { ByteString($0.text) }, isWholeTree: remembered.scope == .tree)
      supervisor.adopt(command) { tree in
        running[handle] = tree.map { DirectCommand($0, remembered.output, remembered.scope, status: remembered.status) }
        unanswered -= 1
        if unanswered == 0 { finish() }
      }
    }
    func finish() {
      found(running)
      for (handle, command) in running { command.reportEnd(of: handle, to: observer) }
    }
  }
}

/// A command that runs as processes of navd's own.
private final class DirectCommand: RunningCommand {
  private let tree: ProcessTree
  private let output: OutputCapture
  private let scope: CommandScope
  /// The exit status of the first process, if it had ended before the tree was found.
  private let status: ProcessStatus?

  init(_ tree: ProcessTree, _ output: OutputCapture, _ scope: CommandScope, status: ProcessStatus? = nil) {
    self.tree = tree
    self.output = output
    self.scope = scope
    self.status = status
  }

  /// Reports the command's end from now on. An end since the command was found is reported at once.
  func reportEnd(of handle: Handle, to observer: any LaunchObserver) {
    tree.onExit = { [weak observer, status] result in
      observer?.ended(handle, ProcessResult(status: status ?? result.status, output: result.output), nil)
    }
  }

  func terminate() { tree.terminate() }
  func kill() { tree.kill() }

  func abandon() -> String {
    let pids = tree.processes().map(\.pid)
    _ = tree.abandon()
    return "the processes \(pids)"
  }

  func includes(_ process: ProcessOrigin) -> Bool { tree.includes(process) }

  var remembered: RememberedLaunch {
    RememberedLaunch(marker: tree.marker, output: output, first: tree.first, scope: scope)
  }

  var platform: Properties { tree.main.map { ["pid": .uint64(UInt64($0.pid))] } ?? [:] }
}

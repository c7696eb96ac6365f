import DBusValues
import PresentationRules
import Processes

/// Runs commands as child processes of navd, where no service manager can (`docs/processes.md`).
final class DirectLauncher: CommandLauncher {
  private let keeper: ProcessKeeper
  /// Not if navd's unit restricts navd, since child processes inherit the restrictions.
  let isAllowed: Bool

  init(_ keeper: ProcessKeeper, isAllowed: Bool) {
    self.keeper = keeper
    self.isAllowed = isAllowed
  }

  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)? {
    self.launch(
      launch, because: "the bus has no user manager of systemd \(ServiceLauncher.leastVersion) or newer", for: observer)
  }

  /// - Parameter reason: why the manager does not start the command.
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
      let tree = try keeper.spawn(launch.command, marker: launch.marker, output: launch.output)
      let kept = KeptTree(tree, launch.handle, launch.output, observer)
      observer.started(launch.handle, error: nil)
      return kept
    } catch {
      observer.started(launch.handle, error: error.description)
      return nil
    }
  }

  func adopt(
    _ remembered: [Handle: RememberedLaunch], for observer: any LaunchObserver,
    found: @escaping ([Handle: any RunningCommand]) -> Void
  ) {
    let all = Array(remembered)
    let trees = keeper.adopt(
      all.map { RememberedCommand(marker: $0.value.marker, first: $0.value.first, output: $0.value.output) })
    var running: [Handle: any RunningCommand] = [:]
    for (command, tree) in zip(all, trees) {
      if let tree { running[command.key] = KeptTree(tree, command.key, command.value.output, observer) }
    }
    found(running)
  }
}

/// A command that runs as a tree of navd's child processes.
private final class KeptTree: RunningCommand {
  private let tree: ProcessTree
  private let output: OutputCapture

  init(_ tree: ProcessTree, _ handle: Handle, _ output: OutputCapture, _ observer: any LaunchObserver) {
    self.tree = tree
    self.output = output
    tree.onExit = { [weak observer] result in observer?.ended(handle, result) }
  }

  func terminate() { tree.terminate() }
  func kill() { tree.kill() }

  func abandon() -> String {
    let pids = tree.processes().map(\.pid)
    _ = tree.abandon()
    return "the processes \(pids)"
  }

  var remembered: RememberedLaunch { RememberedLaunch(marker: tree.marker, output: output, first: tree.first) }

  var platform: Properties { tree.first.map { ["pid": .uint64(UInt64($0.pid))] } ?? [:] }
}

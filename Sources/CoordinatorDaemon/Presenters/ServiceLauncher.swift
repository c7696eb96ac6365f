import DBus
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRules
import Processes

/// Runs commands as transient services of the user's manager: each has a cgroup that ends as a whole, a journal, and a
/// name by which the next navd finds it.
final class ServiceLauncher: CommandLauncher {
  /// The first release with `ExitType=cgroup`, with which a service ends when its last process ends, not its first (D3).
  static let leastVersion = 250

  let manager: SystemdManager
  /// The launcher of the commands that the manager cannot start. It also adopts the commands of a manager that is gone.
  let direct: DirectLauncher
  let loop: EventLoop
  private let log: Logger
  private var running: [ObjectIdentifier: ServiceCommand] = [:]
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
      let service = ServiceCommand(self, launch.handle, launch.unit, RememberedLaunch(of: launch), observer)
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
    for (handle, command) in remembered {
      guard let unit = command.unit else { continue }
      resume(unit, command, of: handle, for: observer) { found in
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
    case running(ServiceCommand)
    case ended
    /// A unit with this name runs, and belongs to another navd.
    case another
  }

  /// Finds a service of the previous navd.
  private func resume(
    _ unit: UnitName, _ command: RememberedLaunch, of handle: Handle, for observer: any LaunchObserver,
    _ completion: @escaping (Found) -> Void
  ) {
    let service = ServiceCommand(self, handle, unit, command, observer)
    service.resume { [weak self] recorded in
      if recorded == .own {
        self?.running[ObjectIdentifier(service)] = service
        completion(.running(service))
      } else {
        completion(recorded == .another ? .another : .ended)
      }
    }
  }

  /// Makes navd itself keep the commands, which still run.
  func managerLeft() { for service in Array(running.values) { service.managerLeft() } }

  /// Finds the processes that descend from a command. The next turn searches all processes once for all commands asked about,
  /// because there may be thousands of both.
  func findProcesses(of marker: ByteString, _ found: @escaping ([ProcessOrigin]) -> Void) {
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

  func forget(_ service: ServiceCommand) { running[ObjectIdentifier(service)] = nil }

  func startDirectly(_ launch: Launch, _ error: DBusError, for observer: any LaunchObserver)
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

import EventLoops
import Logging
import Processes

/// The two launchers of commands, and the choice between them: services of the user's manager if there is one that can run them,
/// otherwise processes of navd's own.
final class CommandLaunchers {
  private let manager: SystemdManager
  private let direct: any CommandLauncher
  private let services: any CommandLauncher
  private let log: Logger
  /// The launcher of new commands; nil until the manager's presence is known.
  private(set) var current: (any CommandLauncher)?
  /// The way in which commands run, with the reason.
  private(set) var summary = "navd does not know yet whether there is a user manager"

  init(_ manager: SystemdManager, direct: any CommandLauncher, services: any CommandLauncher, log: Logger) {
    self.manager = manager
    self.direct = direct
    self.services = services
    self.log = log
    manager.onPresenceChanged = { [weak self] in self?.choose() }
  }

  /// Creates the launchers of real processes, and makes navd the reaper of their orphans.
  convenience init(_ manager: SystemdManager, loop: EventLoop, log: Logger) {
    let supervisor = ProcessSupervisor(loop: loop, markerVariable: CommandPresenter.markerVariable)
    let direct = DirectLauncher(supervisor, isAllowed: !OwnService.isRestricted)
    self.init(
      manager, direct: direct, services: ServiceLauncher(loop: loop, manager, direct: direct, log: log), log: log)
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

  /// Calls `body` with the launcher, now or later, once the manager's presence is known.
  func whenKnown(_ body: @escaping (any CommandLauncher) -> Void) {
    manager.whenKnown { [self] in body(current ?? direct) }
  }

  /// Whether a launcher runs commands as units.
  func hasUnits(_ launcher: any CommandLauncher) -> Bool { launcher === services }

  /// Chooses by the presence and version of the manager.
  private func choose() {
    let before = current
    let ownProcesses =
      direct.isAllowed
      ? "commands run as processes of navd's own" : "commands cannot be started, since navd's unit restricts navd"
    switch manager.presence {
    case .unknown: return
    case .absent:
      current = direct
      summary = "\(ownProcesses); the bus has no user manager"
    case .present(let version) where version ?? 0 < ServiceLauncher.leastVersion:
      current = direct
      summary = "\(ownProcesses); the user manager is older than systemd \(ServiceLauncher.leastVersion)"
    case .present(let version):
      current = services
      summary = "commands run as services of the user manager, systemd \(version ?? 0)"
    }
    if current !== before { log.notice("\(summary)") }
    if before === services, current !== services { services.managerLeft() }
  }
}

import CoordinatorCore
import EventLoops
import Logging
import PresentationModel
import PresentationRules
import Processes

/// Runs the commands that say whether the programs of presented items still work, and reports those that do not (D21).
final class CheckRunner: Feature {
  /// A presented item with a check.
  private final class Checked {
    let binding: BindingID
    var item: Shared<Item>
    let check: ProgramCheck
    var failures: UInt32 = 0
    var timer: Timer?
    var running: OccasionCommand?

    init(_ binding: BindingID, _ item: Shared<Item>, _ check: ProgramCheck) {
      (self.binding, self.item, self.check) = (binding, item, check)
    }
  }

  private let loop: EventLoop
  private let runtime: RuntimeDirectory
  private let token: String
  private let log: Logger
  private let launcher: () -> (any CommandLauncher)?
  private let environment: () -> [String: String]
  private let reports: any ReportReceiver
  private var checked: [Handle: Checked] = [:]

  /// - Parameters:
  ///   - launcher: the launcher of new commands; nil until the manager's presence is known.
  ///   - environment: the variables that clients have given for all commands (K6).
  init(
    loop: EventLoop, runtime: RuntimeDirectory, token: String, log: Logger, reports: any ReportReceiver,
    launcher: @escaping () -> (any CommandLauncher)?, environment: @escaping () -> [String: String]
  ) {
    (self.loop, self.runtime, self.token, self.log) = (loop, runtime, token, log)
    (self.reports, self.launcher, self.environment) = (reports, launcher, environment)
  }

  /// Follows an item that an earlier navd presented.
  func follow(_ presentation: Presentation) {
    guard presentation.phase == .presented else { return }
    follow(presentation.handle, presentation.binding, presentation.item)
  }

  func note(_ happening: Happening, in machine: borrowing StateMachine) {
    guard case .event(_, let change) = happening else { return }
    switch change.event {
    case .presented(let handle, let binding, _, let item): follow(handle, binding, item)
    case .updated(let handle, _, _, let item, _): checked[handle]?.item = item
    case .phase(let handle, _, _, .dismissing), .dismissed(let handle, _, _, _, _): forget(handle)
    case .declined(let handle, _, _, _):
      if let presentation = machine.presentation(handle) { follow(presentation) }
    default: break
    }
  }

  private func follow(_ handle: Handle, _ binding: BindingID, _ item: Shared<Item>) {
    guard let check = item.destination?.itemSettings?.check, checked[handle] == nil else { return }
    checked[handle] = Checked(binding, item, check)
    schedule(handle)
  }

  private func forget(_ handle: Handle) { checked.removeValue(forKey: handle)?.timer?.cancel() }

  private func schedule(_ handle: Handle) {
    guard let one = checked[handle] else { return }
    one.timer = loop.timer(after: .milliseconds(Int64(clamping: one.check.interval))) { [weak self] in
      self?.check(handle)
    }
  }

  private func check(_ handle: Handle) {
    guard let one = checked[handle] else { return }
    guard let launcher = launcher() else { return schedule(handle) }
    let limit = min(OccasionCommand.timeLimit, .milliseconds(Int64(clamping: one.check.interval)))
    let command = OccasionCommand("check", one.check.command, handle, one.binding, one.item, within: limit)
    one.running = command
    command.start(by: launcher, loop, marker: ByteString("\(token)-\(handle)-check"), runtime, environment()) {
      [weak self, weak one] failure in
      one?.running = nil
      // The item may have ended meanwhile.
      guard let self, let one, checked[handle] === one else { return }
      one.failures = failure == nil ? 0 : one.failures + 1
      guard let failure, one.failures >= one.check.failures else { return schedule(handle) }
      let times = one.failures == 1 ? "" : " \(one.failures) times, the last time"
      log.warning("\(command): failed\(times): \(failure); the item ends as failed")
      reports.take(.hung(handle, error: "it hangs: its check failed\(times): \(failure)"))
      schedule(handle)
    }
  }
}

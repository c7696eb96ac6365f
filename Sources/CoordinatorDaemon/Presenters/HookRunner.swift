import CoordinatorCore
import DBusValues
import EventLoops
import Logging
import PresentationModel
import PresentationRules
import Processes

/// Runs the commands that files declare for when an item was presented, and for when it has ended (D14). Nothing waits for them
/// or fails because of them; their failures are logged.
final class HookRunner: Feature {
  private static let mostInATurn = 8
  private static let mostAtOnce = 64

  private let loop: EventLoop
  private let runtime: RuntimeDirectory
  private let token: String
  private let maxCount: Int
  private let log: Logger
  /// The launcher of new commands; nil until the manager's presence is known.
  private let launcher: () -> (any CommandLauncher)?
  /// The variables that clients have given for all commands (K6).
  private let environment: () -> [String: String]
  /// The presented items whose ends have a command.
  private var presented: [Handle: (binding: BindingID, item: Shared<Item>)] = [:]
  private var waiting: [OccasionCommand] = []
  private var running: [ObjectIdentifier: OccasionCommand] = [:]
  /// Whether the log says that commands are left out.
  private var isLeavingOut = false

  init(
    loop: EventLoop, runtime: RuntimeDirectory, token: String, maxCount: Int, log: Logger,
    launcher: @escaping () -> (any CommandLauncher)?, environment: @escaping () -> [String: String]
  ) {
    self.loop = loop
    self.runtime = runtime
    self.token = token
    self.maxCount = maxCount
    self.log = log
    self.launcher = launcher
    self.environment = environment
  }

  /// Whether every command was started. Before that, the end of navd would also end the commands.
  var isIdle: Bool { waiting.isEmpty && running.values.allSatisfy(\.isStarted) }

  /// Follows an item that an earlier navd presented.
  func follow(_ presentation: Presentation) {
    guard presentation.presentedAt != nil else { return }
    follow(presentation.handle, presentation.binding, presentation.item)
  }

  private func follow(_ handle: Handle, _ binding: BindingID, _ item: Shared<Item>) {
    guard item.destination?.itemSettings?.onDismiss != nil else { return }
    presented[handle] = (binding, item)
  }

  func note(_ happening: Happening, in machine: borrowing StateMachine) {
    if case .event(_, let change) = happening { note(change.event) }
  }

  /// Notes the commands that a change asks for. They start at the end of the turn, when the change is on record.
  func note(_ event: Change.Event) {
    switch event {
    case .presented(let handle, let binding, _, let item):
      follow(handle, binding, item)
      guard let settings = item.destination?.itemSettings, let command = settings.onPresent else { return }
      add(OccasionCommand("on-present", command, handle, binding, item))
    case .updated(let handle, let binding, _, let item, _):
      if presented[handle] != nil { presented[handle] = (binding, item) }
    case .dismissed(let handle, let binding, _, let reason, _):
      guard let item = presented.removeValue(forKey: handle)?.item,
        let command = item.destination?.itemSettings?.onDismiss
      else { return }
      add(OccasionCommand("on-dismiss", command, handle, binding, item, reason: reason))
    default: break
    }
  }

  private func add(_ hook: OccasionCommand) {
    guard waiting.count + running.count < maxCount else {
      if !isLeavingOut {
        log.warning("\(hook): left out, since \(maxCount) such commands run or wait (limit “entries”)")
      }
      isLeavingOut = true
      return
    }
    isLeavingOut = false
    waiting.append(hook)
  }

  /// Starts some of the waiting commands. Those of one destination run one at a time, in the order of the events. Call it at the
  /// end of each turn.
  /// - Parameter isLast: whether navd quits, and waits for no command to end.
  func startSome(isLast: Bool = false) {
    guard !waiting.isEmpty, let launcher = launcher() else { return }
    var busy = isLast ? [] : Set(running.values.map(\.destination))
    func next() -> Int? {
      running.count < Self.mostAtOnce ? waiting.firstIndex { !busy.contains($0.destination) } : nil
    }
    for _ in 0..<Self.mostInATurn {
      guard let index = next() else { return }
      let hook = waiting.remove(at: index)
      running[ObjectIdentifier(hook)] = hook
      if !isLast { busy.insert(hook.destination) }
      let marker = ByteString("\(token)-\(hook.handle)-\(hook.occasion)")
      hook.start(by: launcher, loop, marker: marker, runtime, environment()) { [weak self] failure in
        guard let self else { return }
        if let failure { log.warning("\(hook): \(failure)") }
        running[ObjectIdentifier(hook)] = nil
      }
    }
    // The end of a running command causes another turn.
    if next() != nil { loop.soon {} }
  }
}

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
  static let timeLimit = Duration.seconds(30)
  /// Time between SIGTERM and SIGKILL, in milliseconds.
  fileprivate static let grace: UInt64 = 2000

  private let loop: EventLoop
  private let runtime: RuntimeDirectory
  private let token: String
  private let maxCount: Int
  /// The variables that clients have given for all commands (K6).
  var environment: [String: String] = [:]
  private let log: Logger
  /// The launcher of new commands; nil until the manager's presence is known.
  private let launcher: () -> (any CommandLauncher)?
  /// The presented items whose ends have a command.
  private var presented: [Handle: (binding: BindingID, item: Shared<Item>)] = [:]
  private var waiting: [Hook] = []
  private var running: [ObjectIdentifier: Hook] = [:]
  /// Whether the log says that commands are left out.
  private var isLeavingOut = false

  init(
    loop: EventLoop, runtime: RuntimeDirectory, token: String, maxCount: Int, log: Logger,
    launcher: @escaping () -> (any CommandLauncher)?
  ) {
    self.loop = loop
    self.runtime = runtime
    self.token = token
    self.maxCount = maxCount
    self.log = log
    self.launcher = launcher
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
      add(Hook("on-present", command, handle, binding, item))
    case .updated(let handle, let binding, _, let item, _):
      if presented[handle] != nil { presented[handle] = (binding, item) }
    case .dismissed(let handle, let binding, _, let reason, _):
      guard let item = presented.removeValue(forKey: handle)?.item,
        let command = item.destination?.itemSettings?.onDismiss
      else { return }
      add(Hook("on-dismiss", command, handle, binding, item, reason: reason))
    default: break
    }
  }

  private func add(_ hook: Hook) {
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
      hook.start(by: launcher, loop, marker: marker, runtime, environment) { [weak self] failure in
        guard let self else { return }
        if let failure { log.warning("\(hook): \(failure)") }
        running[ObjectIdentifier(hook)] = nil
      }
    }
    // The end of a running command causes another turn.
    if next() != nil { loop.soon {} }
  }
}

/// A command of a file, with its occasion.
final class Hook: LaunchObserver, CustomStringConvertible {
  let occasion: String
  let handle: Handle
  private let binding: BindingID
  private let item: Shared<Item>
  private let arguments: [[UInt8]]
  private let reason: Reason?
  /// The longest time that it may take.
  private let timeLimit: Duration
  private var running: (any RunningCommand)?
  private var output: OutputCapture?
  private var limit: Timer?
  private(set) var isStarted = false
  private var isLate = false
  /// Receives the reason of a failure; nil if the command succeeded.
  private var completion: ((String?) -> Void)?

  init(
    _ occasion: String, _ arguments: [[UInt8]], _ handle: Handle, _ binding: BindingID, _ item: Shared<Item>,
    reason: Reason? = nil, within timeLimit: Duration = HookRunner.timeLimit
  ) {
    self.timeLimit = timeLimit
    self.occasion = occasion
    self.arguments = arguments
    self.handle = handle
    self.binding = binding
    self.item = item
    self.reason = reason
  }

  var destination: String { item.destination?.name ?? "" }

  var description: String { "\(occasion) of “\(binding)” (presentation \(handle))" }

  func start(
    by launcher: any CommandLauncher, _ loop: EventLoop, marker: ByteString, _ runtime: RuntimeDirectory,
    _ environment: [String: String], _ completion: @escaping (String?) -> Void
  ) {
    self.completion = completion
    let output = OutputCapture(path: runtime.path(marker), limit: 0)
    self.output = output
    let command = ItemCommand(
      item.content, at: binding, handle, item.entry(parent: nil).properties, session: environment,
      extra: reason.map { ["NAVD_REASON": ByteString($0.rawValue)] } ?? [:]
    ) { item, home in Destination.expanded(arguments, for: item, at: binding, home: home) }
    limit = loop.timer(after: timeLimit) { [weak self] in
      self?.isLate = true
      self?.running?.terminate()
      self?.limit = loop.timer(after: .milliseconds(HookRunner.grace)) { self?.running?.kill() }
    }
    // With the scope “process”, the command's output goes where navd's errors go, and processes that it leaves behind live on.
    running = launcher.launch(
      Launch(
        handle: handle, binding: binding, id: item.id, application: destination, occasion: occasion,
        command: command.command, scope: .process,
        given: command.given, marker: marker, output: output, grace: HookRunner.grace), for: self)
  }

  func started(_ handle: Handle, error: String?) {
    isStarted = true
    if let error { end("could not be started: \(error)") }
  }

  func ended(_ handle: Handle, _ result: ProcessResult, _ cause: ManagerCause?) {
    switch result.status {
    case _ where isLate: end("ended after \(timeLimit.components.seconds) s, the longest that it may take")
    case .exited(code: 0), .unknown: end(nil)
    case .exited(let code): end("exit status \(code)")
    case .signaled(let number): end("ended by \(signalName(number))")
    }
  }

  private func end(_ failure: String?) {
    limit?.cancel()
    output?.remove()
    let completion = completion
    self.completion = nil
    completion?(failure)
  }
}

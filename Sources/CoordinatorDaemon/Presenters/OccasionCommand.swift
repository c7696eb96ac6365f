import CoordinatorCore
import DBusValues
import EventLoops
import PresentationModel
import PresentationRules
import Processes

/// A command of a destination's file that shows nothing: it runs on an occasion, such as “on-present” or “check”.
final class OccasionCommand: LaunchObserver, CustomStringConvertible {
  /// The longest time that such a command may take, if nothing says less.
  static let timeLimit = Duration.seconds(30)
  /// Time between SIGTERM and SIGKILL, in milliseconds.
  private static let grace: UInt64 = 2000

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
    reason: Reason? = nil, within timeLimit: Duration = OccasionCommand.timeLimit
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
      self?.limit = loop.timer(after: .milliseconds(Self.grace)) { self?.running?.kill() }
    }
    // The scope “process” sends the command's output to navd's standard error, and lets processes live that the command leaves behind.
    running = launcher.launch(
      Launch(
        handle: handle, binding: binding, id: item.id, application: destination, occasion: occasion,
        command: command.command, scope: .process,
        given: command.given, marker: marker, output: output, grace: Self.grace), for: self)
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

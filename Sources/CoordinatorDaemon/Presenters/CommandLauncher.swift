import DBusValues
import EventLoops
import PresentationModel
import PresentationRules
import Processes

/// A command to start for a presentation.
struct Launch {
  let handle: Handle
  let binding: BindingID
  let id: String
  /// The application that the command runs, for the name of its unit.
  let application: String
  /// The part that distinguishes this unit from the one that shows the item, such as “on-present”; empty for the latter.
  var occasion = ""
  let command: Command
  let scope: CommandScope
  /// The variables of the command that do not come from navd's environment alone.
  let given: Set<ByteString>
  /// A value in the environment of the command's first process, unique among all commands of the user.
  let marker: ByteString
  let output: OutputCapture
  /// The command's standard error; nil for navd's own, or the journal of the command's unit.
  var errors: Descriptor?
  /// Time between SIGTERM and SIGKILL, in milliseconds.
  let grace: UInt64

  /// The command's unit, if the service manager runs it.
  var unit: UnitName { .command(of: application, handle, occasion: occasion) }
}

extension Presentation {
  /// The application that the item's command runs: the destination's desktop file, or else the destination, or else, for the
  /// command of a request, the binding.
  var application: String {
    if let id = self.item.destination?.itemSettings?.desktop { return id }
    guard let name = self.item.destination?.name, !name.isEmpty else { return self.binding.text }
    return name
  }
}

/// The data by which the next navd finds a command that this one has started or was about to start (R2, R6).
struct RememberedLaunch: Hashable, Sendable {
  var marker: ByteString
  var output: OutputCapture
  /// The command's unit, if the service manager runs it.
  var unit: UnitName?
  /// The first process, if navd itself has started it, or if the command consists of it alone.
  var first: ProcessIdentity?
  /// The exit status of the first process, if it is known and other processes of the command still run.
  var status: ProcessStatus?
  var scope = CommandScope.tree
}

/// A command that runs or starts.
protocol RunningCommand: AnyObject {
  /// Sends SIGTERM to all processes in the command's scope.
  func terminate()
  /// Sends SIGKILL to all processes in the command's scope.
  func kill()
  /// Stops watching the command; its end is not reported.
  /// - Returns: the command's processes or unit, for the log.
  func abandon() -> String
  /// Whether a process is in the command's scope.
  func includes(_ process: ProcessOrigin) -> Bool
  /// Whether the manager of its unit has a job with it.
  var isInJob: Bool { get }
  var remembered: RememberedLaunch { get }
  /// The command's process id and unit, by the keys of the state.
  var platform: Properties { get }
}

/// The cause of a command's end that the service manager knows, beside the exit status.
enum ManagerCause {
  /// Somebody has stopped the command's unit.
  case stopped
  /// The manager has ended the command for a reason, such as “the system ran out of memory”.
  case failed(String)
}

/// Receives the results of starting and running commands.
protocol LaunchObserver: AnyObject {
  /// - Parameter error: the reason why the command could not be started, and no more reports follow; nil if it runs.
  func started(_ handle: Handle, error: String?)
  /// Reports that all processes in the command's scope have ended.
  /// - Parameter cause: nil if the exit status says all.
  func ended(_ handle: Handle, _ result: ProcessResult, _ cause: ManagerCause?)
}

/// Starts commands, and watches them until all processes of their scopes have ended.
protocol CommandLauncher: AnyObject {
  /// - Returns: nil if the command could not be started; the observer has received the error.
  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)?

  /// Finds the commands of the previous navd that still run (R2). The observer receives only their ends.
  /// - Parameter found: called once, now or later, with the commands found.
  func adopt(
    _ remembered: [Handle: RememberedLaunch], for observer: any LaunchObserver,
    found: @escaping ([Handle: any RunningCommand]) -> Void)

  /// Whether navd's own unit permits it to start commands this way.
  var isAllowed: Bool { get }

  /// Keeps the running commands without the service manager, which has left the bus for good.
  func managerLeft()
}

extension RunningCommand {
  var isInJob: Bool { false }
}

extension CommandLauncher {
  var isAllowed: Bool { true }
  func managerLeft() {}
}

import DBusValues
import PresentationModel
import PresentationRules
import Processes

/// A command to start for a presentation.
struct Launch {
  let handle: Handle
  let binding: BindingID
  let id: String
  /// The application that it runs, for the name of its unit.
  let application: String
  /// What distinguishes its unit from the one that shows the item, such as “on-present”; empty for the latter.
  var occasion = ""
  let command: Processes.Command
  let scope: CommandScope
  /// Those of the command's variables that do not come from navd's environment alone.
  let given: Set<ByteString>
  /// A value in the environment of the command's first process, unique among all commands of the user.
  let marker: ByteString
  let output: OutputCapture
  /// Its standard error; nil for navd's own, or the journal of its unit.
  var errors: Descriptor?
  /// Time between SIGTERM and SIGKILL, in milliseconds.
  let grace: UInt64

  /// Its unit, if the service manager runs it.
  var unit: UnitName { .command(of: application, handle, occasion: occasion) }
}

extension Presentation {
  /// The application that its command runs: that of the destination's desktop file, the destination, or else, for the command of a
  /// request, the binding.
  var application: String {
    if let id = self.item.destination?.itemSettings?.desktop { return id }
    guard let name = self.item.destination?.name, !name.isEmpty else { return self.binding.text }
    return name
  }
}

/// The data by which the next navd finds a command that this one has started, or was about to start (R2, R6).
struct RememberedLaunch: Hashable, Sendable {
  var marker: ByteString
  var output: OutputCapture
  /// The command's unit, if the service manager runs it.
  var unit: UnitName?
  /// The name that the unit has if an earlier release started it.
  var formerUnit: UnitName?
  /// The first process, if navd itself has started it, or if it is all that belongs to the command.
  var first: ProcessIdentity?
  var scope = CommandScope.tree
}

/// A command that runs or starts.
protocol RunningCommand: AnyObject {
  /// Sends SIGTERM to all processes of its scope.
  func terminate()
  /// Sends SIGKILL to all processes of its scope.
  func kill()
  /// Stops watching it; its end is not reported.
  /// - Returns: its processes or unit, for the log.
  func abandon() -> String
  /// Whether a process belongs to its scope.
  func includes(_ process: ProcessOrigin) -> Bool
  var remembered: RememberedLaunch { get }
  /// Its process id and unit, by the keys of the state.
  var platform: Properties { get }
}

/// Receives the results of starting and running commands.
protocol LaunchObserver: AnyObject {
  /// - Parameter error: why the command could not be started, and nothing follows; nil if it runs.
  func started(_ handle: Handle, error: String?)
  /// All processes of the command's scope have ended.
  func ended(_ handle: Handle, _ result: ProcessResult)
}

/// Starts commands, and watches them until all processes of their scopes have ended.
protocol CommandLauncher: AnyObject {
  /// - Returns: nil if the command could not be started; the observer has received the error.
  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)?

  /// Finds the commands of the previous navd that still run (R2). The observer receives their ends only.
  /// - Parameter found: called once, now or later, with the commands found.
  func adopt(
    _ remembered: [Handle: RememberedLaunch], for observer: any LaunchObserver,
    found: @escaping ([Handle: any RunningCommand]) -> Void)

  /// Whether navd's own unit permits it to start commands this way.
  var isAllowed: Bool { get }

  /// Keeps the running commands without the service manager, which has left the bus for good.
  func managerLeft()
}

extension CommandLauncher {
  var isAllowed: Bool { true }
  func managerLeft() {}
}

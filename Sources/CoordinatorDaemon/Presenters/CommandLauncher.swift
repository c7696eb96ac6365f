// Why this file exists: a command may be started by navd itself or by the user's service manager, and the presenter of
// commands speaks to both in the same words.

import DBusValues
import PresentationModel
import PresentationRules
import Processes

/// A command that is to be started for a presentation.
struct Launch {
  let handle: Handle
  let binding: BindingID
  let id: String
  let command: Processes.Command
  /// The variables of the command that are navd's own, and were not given for it.
  let inherited: Set<ByteString>
  /// Of no other command, of this or any other navd of the user: its processes have it in their environment.
  let marker: ByteString
  let output: OutputCapture
  /// How long it may take to end when it is told to, in milliseconds.
  let grace: UInt64
}

/// What a later navd finds a command by that this one has started, or was about to (R2, R6).
struct RememberedLaunch: Hashable, Sendable {
  var marker: ByteString
  var output: OutputCapture
  /// The unit that it runs as, where a service manager keeps it.
  var unit: UnitName?
  /// The process that was started, once there is one, where navd keeps it.
  var first: ProcessIdentity?
}

/// A command that was started, or is being started.
protocol RunningCommand: AnyObject {
  /// Sends SIGTERM to all of it.
  func terminate()
  /// Sends SIGKILL to all of it.
  func kill()
  /// Takes it as gone although it is not; nobody is told of its end.
  /// - Returns: what is known of where it is, for the log.
  func abandon() -> String
  var remembered: RememberedLaunch { get }
  /// What there is to know of how it runs, by the names that the state uses.
  var platform: Properties { get }
}

/// Who wants to know what becomes of commands.
protocol LaunchObserver: AnyObject {
  /// - Parameter error: why it could not be started, and then nothing follows; nil: it runs.
  func started(_ handle: Handle, error: String?)
  /// Nothing of it is left.
  func ended(_ handle: Handle, _ result: ProcessResult)
}

/// Starts commands and keeps them until nothing of them is left.
protocol CommandLauncher: AnyObject {
  /// - Returns: the command; nil if it could not be started, and the observer was told so.
  func launch(_ launch: Launch, for observer: any LaunchObserver) -> (any RunningCommand)?

  /// Finds what an earlier navd has started, as far as it still runs (R2); `started` is not called for it.
  /// - Parameter found: called once, from this call or later, with what was found.
  func adopt(
    _ remembered: [Handle: RememberedLaunch], for observer: any LaunchObserver,
    found: @escaping ([Handle: any RunningCommand]) -> Void)
}

import DBusValues
import PresentationModel
import PresentationRules
import Processes
import WindowRules

/// A live presentation of the previous navd.
struct Remembered {
  let presentation: Presentation
  /// The data that its presenter has recorded; empty if there is none.
  let memory: Properties
  /// The presentation that the program shows; nil if the program is parked, or was parked and does not show an item again yet (N8).
  let shownAs: Handle?
}

/// Takes what presenters say, on its way to the rules and to the record.
protocol ReportReceiver: AnyObject {
  func take(_ report: Report)
  /// Records the data with which the next navd finds a presentation again. It replaces earlier data.
  func remember(_ memory: Properties, of handle: Handle)
}

/// Shows the items of one kind of destination, and sends each result as a `Report`. Every `present` and every `dismiss` is
/// answered or followed by `ended`. Superfluous reports are harmless.
protocol Presenter: AnyObject {
  /// Shows an item.
  /// - Parameter properties: the item as every presenter receives it.
  func present(_ presentation: Presentation, _ properties: Properties)
  /// Updates a shown item (D8).
  /// - Parameter author: the client that has changed the item.
  func update(_ presentation: Presentation, _ properties: Properties, author: Client?)
  /// Ends a presentation.
  /// - Parameters:
  ///   - isRequested: whether a request of a client ends it, and no rule alone.
  ///   - isForced: whether the presenter must not decline (P15). A forced call may follow one that was not forced.
  func dismiss(_ handle: Handle, _ reason: Reason, isRequested: Bool, animated: Bool, isForced: Bool)
  /// Ends a presentation by force, after its grace time (P14).
  func kill(_ handle: Handle)
  /// Gives up a presentation that did not end even by force (P14).
  func abandon(_ handle: Handle)
  /// Releases all data of a presentation whose end is on record.
  func forget(_ handle: Handle)
  /// The facts about the program that shows the presentation (its unit, its process), by the keys of the state.
  func platform(of handle: Handle) -> Properties
}

/// A presenter that arranges the windows of items.
protocol WindowArranger: Presenter {
  /// Brings the presentation to the front (N7).
  func raise(_ handle: Handle)
  /// Brings the presentation's windows to their user's place, with the focus (N11).
  /// - Parameter output: the output that the request names; nil for the place in use.
  func bring(_ handle: Handle, to output: String?)
  /// Moves the presentation to another output (U2), or to another place on it (N15).
  func move(_ presentation: Presentation)
}

/// A presenter whose items outlive navd.
protocol ProgramPresenter: Presenter {
  /// Takes over the presentations of the previous navd (R2), as if this presenter had shown them. Called once, before
  /// anything else.
  /// - Parameter completion: called once, now or later; presentations that it does not name count as gone.
  func adopt(
    _ remembered: [Remembered], from recovered: RecoveredSession, _ completion: @escaping ([Handle: Survival]) -> Void)
}

/// A presenter that starts and ends programs, whose processes it knows.
protocol ProcessPresenter: ProgramPresenter {
  /// Whether a process belongs to the program that shows the presentation (N1).
  func runs(_ handle: Handle, _ process: ProcessOrigin) -> Bool
  /// Whether a process descends from the program that was started for the presentation, whatever the command's scope (N1).
  func hasStarted(_ handle: Handle, _ process: ProcessOrigin) -> Bool
  /// Whether the command of the presentation is also that of a process (N1).
  func repeats(_ handle: Handle, _ process: ProcessOrigin) -> Bool
  /// Whether the manager of the program's unit has a job with it: the unit is restarted, or about
  /// to end (N3).
  func isInJob(_ handle: Handle) -> Bool
  /// The startup id that the program gets; nil if it gets none (N1).
  func startupID(of presentation: Presentation) -> StartupID?
}

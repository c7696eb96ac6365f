import DBusValues
import PresentationModel
import PresentationRules

/// The surroundings of a ``CoordinatorService``: its clocks, presenters, record and listeners. The daemon has one on the bus, the Swift
/// library has one inside the program.
package protocol CoordinatorHost: AnyObject {
  /// The time on the monotonic clock.
  var now: Instant { get }
  /// The time on the wall clock, in microseconds since 1970.
  var wallClock: UInt64 { get }
  /// Limits that the host adds to those of the rules, by name.
  var limits: [String: UInt64] { get }

  // MARK: Requests

  /// Answers a call with the value of `body` once its client is known to be allowed to make the requests.
  /// - Parameter isTransaction: whether a refusal names the index of its request.
  /// - Throws: `Refusal` where nobody is allowed to.
  func authorize<Output>(
    _ requests: [Request], isTransaction: Bool, _ call: some ServiceCall<Output>,
    _ body: @escaping () throws(Refusal) -> Output
  ) throws(Refusal)
  /// Answers a call with the value of `body` once its client is known to be allowed to register presenters.
  func authorizePresenter<Output>(
    _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output)
  /// Throws `notRecorded` where a change could not be recorded (R1).
  func requireRecord() throws(Refusal)
  /// Reads the configuration files again.
  /// - Throws: `Refusal` with the code `invalidConfiguration`.
  func reload() throws(Refusal)
  /// Notes that the state machine ends everything, and that the host ends after it (R5).
  func willQuit()

  // MARK: Clients

  /// Calls `CoordinatorService.clientLeft` when the client leaves the bus; calling this again changes nothing.
  func follow(_ client: Client)
  /// Finds out which program a client is, and calls `CoordinatorService.identify`, now or later.
  func identify(_ client: Client)

  // MARK: Presenters

  /// Whether the client is the presenter that shows a presentation (D11).
  func isPresenter(_ client: Client, of handle: Handle) -> Bool
  /// The keys of ``StateEntry`` that only the presenter knows, such as the process.
  func platform(of handle: Handle) -> Properties
  /// Carries commands out in their order, after the input's announcements.
  func carryOut(_ commands: [Command])

  // MARK: Announcements

  /// Announces that a presentation exists, before the events about it.
  func announceCreation(of handle: Handle)
  /// Announces an event. `change` is the change that it tells of.
  func announce(_ event: StateEvent, _ change: Change)
  /// Announces that `Destinations` has another answer.
  func announceDestinations()
  /// Calls `CoordinatorService.expire` at that time, and forgets the earlier time.
  func setAlarm(at time: Instant)
}

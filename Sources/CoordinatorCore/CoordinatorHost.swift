import DBusValues
import PresentationModel
import PresentationRules

/// The environment of a ``CoordinatorService``: clocks, presenters, record and listeners. The daemon implements it on the bus, and the
/// Swift library inside the program.
package protocol CoordinatorHost: AnyObject {
  /// The monotonic clock.
  var now: Instant { get }
  /// The wall clock, in microseconds since 1970.
  var wallClock: UInt64 { get }
  /// The host's own limits, by name, besides those of the state machine.
  var limits: [String: UInt64] { get }
  /// The id of the record, to which serials belong; nil if the state is not recorded.
  var recordID: String? { get }
  /// Facts about the host, for a user in trouble.
  var diagnosis: Diagnosis { get }

  // MARK: Requests

  /// Answers a call with the value of `body` after its client is authorized to make the requests.
  /// - Parameters:
  ///   - isTransaction: whether a refusal gives the index of its request.
  ///   - body: gets the trust in the client, and the requests with the host's knowledge of outputs
  ///     (L3, U1). If it refuses with `Refusal.needsTrust`, it is called again when the client is
  ///     known. It returns nil if it answers the call itself, later.
  /// - Throws: `Refusal` if no client may make the requests.
  func authorize<Output>(
    _ requests: [Request], isTransaction: Bool, _ call: some ServiceCall<Output>,
    _ body: @escaping (Trust, [Request]) throws(Refusal) -> Output?
  ) throws(Refusal)
  /// Answers a call with the value of `body` after its client is authorized to make it.
  func authorize<Output>(
    _ privilege: ServicePrivilege, _ call: some ServiceCall<Output>, _ body: @escaping () throws(Refusal) -> Output?)
  /// - Throws: `Refusal` with the code `notRecorded` if changes cannot be recorded (R1).
  func requireRecord() throws(Refusal)
  /// Reads the configuration files again.
  /// - Throws: `Refusal` with the code `invalidConfiguration`.
  func reload() throws(Refusal)
  /// Takes in what has changed on the host: the facts of the session, and the configuration files, which are read again. It is called
  /// before each request that may depend on them, so it must be cheap when nothing has changed.
  func takeInChanges()
  /// Prepares to quit. It is called before the state machine ends everything; the host exits after that (R5).
  func willQuit()

  /// Notes that a group's fallback cannot be selected (K1).
  func note(_ refused: RefusedFallback)

  // MARK: Clients

  /// Has `CoordinatorService.clientLeft` called when the client leaves the bus. Idempotent.
  func follow(_ client: Client)
  /// Looks up the process of a client, then calls `CoordinatorService.identify`.
  func identify(_ client: Client)

  // MARK: Presenters

  /// Whether the client shows the presentation as its presenter (D11).
  func isPresenter(_ client: Client, of handle: Handle) -> Bool
  /// The keys of ``StateEntry`` that only the presenter knows, such as the process.
  func platform(of handle: Handle) -> Properties
  /// Carries out commands in their order, after the announcements of the same input.
  func carryOut(_ commands: [PresenterCommand])

  // MARK: Announcements

  /// Announces that a presentation exists, before the events about it.
  func announceCreation(of handle: Handle)
  /// Announces an event and its change.
  func announce(_ event: StateEvent, _ change: Change)
  /// Announces that the answer of `Destinations` changed.
  func announceDestinations()
  /// Calls `CoordinatorService.expire` at a time, which replaces the earlier one.
  func setAlarm(at time: Instant)
}

/// The privileges of clients outside of any sandbox, besides their requests (L3).
package enum ServicePrivilege: Sendable {
  case holding, registeringPresenters, importingEnvironment
}

extension CoordinatorHost {
  package var recordID: String? { nil }

  package func takeInChanges() {}

  package func note(_ refused: RefusedFallback) {}
}

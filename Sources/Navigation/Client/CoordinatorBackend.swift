import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// Carries out the contract, on a bus or inside the program.
protocol CoordinatorBackend: Sendable {
  /// Makes a call of the contract.
  /// - Parameter starts: whether the call starts a coordinator if none is running.
  /// - Returns: the answer, and the number of the coordinator that has given it (``Moment``).
  func ask<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> (answer: Output, coordinator: Int)

  /// Waits until a presentation is shown or has ended, or until it has ended.
  /// - Returns: the reply of `Wait`.
  func wait(
    for presentation: PresentationHandle, _ phase: WaitPhase
  ) async throws(NavigationError) -> (String, Properties)

  /// Makes a call of the window-system adapter's contract.
  /// - Throws: `refused` with `notSupported` if there is no adapter.
  @discardableResult
  func callWindowSystem<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input
  ) async throws(NavigationError) -> Output

  /// The events of the window system from now on.
  /// - Throws: as `callWindowSystem`.
  func windowEvents() async throws(NavigationError) -> AsyncStream<WindowEvent>

  /// The notices from now on; ``Following`` checks them for gaps.
  func notices() async -> AsyncStream<Notice>

  /// Registers a host that shows the items of a destination, until `stopServing` or the end of the program.
  func serve(
    _ destination: String, _ options: DestinationOptions, by host: any PresenterHost
  ) async throws(NavigationError)

  /// Unregisters the host of a destination, unless another host was registered later. Its presentations stay.
  func stopServing(_ destination: String, by host: any PresenterHost) async throws(NavigationError)

  /// Ends the connection; unanswered calls fail.
  func close() async
}

extension CoordinatorBackend {
  /// Makes a call of the contract, whichever coordinator answers.
  func call<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> Output { try await ask(method, input, starts: starts).answer }
}

/// A message of a coordinator to its listeners.
enum Notice: Sendable {
  /// The whole state; it supersedes earlier notices.
  case state(StateSnapshot, Moment)
  case event(StateEvent)
  /// A whole state was dropped, and later serials may be lower.
  case missed
  /// No more notices follow.
  case failed(NavigationError)
}

/// Shows items in this program (D4). The main actor isolates the protocol as a whole: an unisolated
/// function would return by way of another executor, and a later request of the program could
/// overtake its answer.
@MainActor
protocol PresenterHost: AnyObject, Sendable {
  /// Returns when the item is on screen. An error ends the presentation as failed (D7).
  func present(_ item: PresentedItem) async throws(ShowingError)
  func update(_ presentation: PresentationHandle, item: Properties) async
  /// Returns when the presentation is gone, with the result for clients that wait.
  func dismiss(_ presentation: PresentationHandle, _ options: DismissalOptions) async throws(Declined) -> Properties
  /// Whether the host shows nothing, and will show nothing.
  var isOver: Bool { get async }
  /// Handles the refusal of the registration by a later coordinator.
  func registrationRefused(_ error: NavigationError) async
}

/// The reason why a screen cannot be shown.
struct ShowingError: Error, CustomStringConvertible {
  let why: String

  var description: String { why }
}

// Why this file exists: a coordinator is on the bus, or inside the program; what is asked of it is the same.

import CoordinatorAPI
import DBus
import DBusValues
import PresentationModel

/// Carries out the contract.
protocol CoordinatorBackend: Sendable {
  /// Makes a call of the contract.
  /// - Parameter starts: whether a coordinator is started for it where none runs.
  func call<Input: Sendable, Output: Sendable>(
    _ method: Method<Input, Output>, _ input: Input, starts: Bool
  ) async throws(NavigationError) -> Output

  /// What happens from now on; ``Following`` makes sense of it.
  func notices() async -> AsyncStream<Notice>

  /// Has the coordinator show the items of a destination by this host, as long as the program is there.
  func serve(
    _ destination: String, _ options: DestinationOptions, by host: any PresenterHost
  ) async throws(NavigationError)

  /// What is shown of the destination stays; nothing more is.
  func stopServing(_ destination: String) async throws(NavigationError)

  /// Ends it; calls that have no answer yet fail.
  func close() async
}

/// Something that a coordinator told.
enum Notice: Sendable {
  /// The whole state; what was told before does not count any more.
  case state(StateSnapshot, serial: UInt64)
  case event(StateEvent)
  /// There is no way to hear more.
  case failed(NavigationError)
}

/// Shows items in this program (rule D4).
protocol PresenterHost: AnyObject, Sendable {
  /// Returns when it is on screen; an error ends the presentation as failed (D7).
  /// - Parameter serial: of the state that the coordinator has told before it asked for this.
  func present(_ item: PresentedItem, after serial: UInt64) async throws(ShowingError)
  func update(_ presentation: PresentationHandle, item: Properties) async
  /// Returns when it is gone, with the result for those who wait.
  func dismiss(_ presentation: PresentationHandle, reason: String, animated: Bool) async -> Properties
}

/// Why a screen could not be shown, for those who wait for it.
struct ShowingError: Error {
  let why: String
}

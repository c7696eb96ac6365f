// Why this file exists: a piece of state drives what is presented, and what becomes of that is written back into it; a
// driver knows both sides of one piece.

import CoordinatorAPI
import DBusValues

/// Keeps what is presented and a piece of state the same.
@MainActor
protocol Driver: AnyObject {
  /// The destination of what the program shows itself; nil where others show it.
  var ownDestination: String? { get }

  /// Whether something that is presented at a binding is this driver's.
  func drives(_ binding: String) -> Bool

  /// Reads the state, and says what is to be asked for so that what is presented follows. Not called again before the answer.
  func changes(_ transaction: Transaction, onChange: @escaping @MainActor @Sendable (Transaction) -> Void)
    -> [Coordinator.Change]

  /// What was asked for was accepted; a reply a change.
  /// - Parameter serial: of the state after it.
  func accepted(_ replies: [[Value]], serial: UInt64)

  /// What takes back what is there and nobody wants any more, each by itself; it is told once.
  func leftovers() -> [Coordinator.Change]

  /// Nothing of what was asked for was done; the state is to say what is so.
  /// - Returns: whether that is to be told; not where it comes of what has just ended, of which there is news.
  func refused(_ name: CoordinatorError.Name) -> Bool

  /// What was asked for did not arrive, or nobody knows; it will be asked for again.
  func postponed()

  /// There is a presentation at one of its bindings, by whomever.
  /// - Parameter destination: who shows it.
  func appeared(_ presentation: PresentationHandle, id: String, destination: String?)

  /// A presentation at one of its bindings is gone.
  func ended(_ presentation: PresentationHandle, _ reason: NavigationReason)

  /// The item of a presentation at one of its bindings was changed, by whomever.
  /// - Parameter serial: of the state after that.
  func updated(_ presentation: PresentationHandle, value: Properties, serial: UInt64)

  /// Another coordinator has come, which counts from the beginning.
  func forgetSerials()

  /// The whole state, since events are missing.
  /// - Parameter client: who this program is in it.
  /// - Returns: what was shown, and is gone by that.
  func reconcile(_ state: NavigationState, client: String) -> [PresentationHandle]

  /// The screen of a presentation that the coordinator wants to have shown; nil where that is not to be said yet: the state
  /// has moved on, and may come back before the presentation is told to go.
  /// - Throws: where nothing in the program says that it is to be shown.
  func screen(
    for presentation: PresentationHandle, binding: String, id: String
  ) throws(ShowingError) -> (any Screen)?

  /// The state is not driven any more, nor written to.
  /// - Returns: what dismisses all that is shown.
  func farewell() -> [Coordinator.Change]

  /// Whether there is nothing left of which it would have to hear.
  var isOver: Bool { get }
}

extension PresentationOptions {
  /// These, for what only this program drives.
  func owned(in transaction: Transaction) -> PresentationOptions {
    var options = self
    options.isOwned = true
    options.animated = options.animated ?? transaction.animated
    return options
  }
}

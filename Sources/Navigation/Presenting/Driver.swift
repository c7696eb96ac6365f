// Why this file exists: a piece of state drives what is presented, and what becomes of that is written back into it; a
// driver knows both sides of one piece.

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

  /// Nothing of what was asked for was done; the state is to say what is so.
  func refused()

  /// What was asked for did not arrive, or nobody knows; it will be asked for again.
  func postponed()

  /// A presentation at one of its bindings is gone.
  func ended(_ presentation: PresentationHandle, _ reason: NavigationReason)

  /// The item of a presentation at one of its bindings was changed, by whomever.
  func updated(_ presentation: PresentationHandle, value: Properties)

  /// The whole state, since events are missing.
  /// - Returns: what was shown, and is gone by that.
  func reconcile(_ state: NavigationState) -> [PresentationHandle]

  /// The screen of a presentation that the coordinator wants to have shown; nil where the state has moved on, and it will be
  /// told to go at once.
  func screen(
    for presentation: PresentationHandle, binding: String, id: String
  ) throws(ShowingError) -> (any Screen)?

  /// What dismisses all that is shown.
  func farewell() -> [Coordinator.Change]
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

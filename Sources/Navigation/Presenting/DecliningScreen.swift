/// A screen that may have to stay, such as one with text that is not saved: it is asked before it is to disappear.
///
///     func prepareToDisappear(_ showing: Showing) async throws {
///       guard hasChanges else { return }
///       try await showing.ask("Discard the changes?")
///       guard await userAgrees() else { throw Declined("the text is not saved") }
///     }
public protocol DecliningScreen: Screen {
  /// Prepares to disappear, and returns when nothing is in the way of that; then `disappear` is called. It may ask its user, with
  /// ``Showing/ask(_:)``.
  ///
  /// A forced dismissal does not ask. If one comes meanwhile, the task is cancelled and `disappear` is called at once; what this does
  /// then has no effect. See ``Showing/isForced``.
  /// - Throws: any error to stay on the screen (P15): ``Declined`` with a message for clients that watch. The message of another
  ///   error is its description.
  func prepareToDisappear(_ showing: Showing) async throws
}

/// The refusal of a screen to disappear (P15). The state that presents it gets its item back, and so does the state of everything that
/// was being dismissed and has to stay because of it.
public struct Declined: Error, Hashable, Sendable {
  /// The reason, for clients that watch; empty for none.
  public let message: String

  /// - Parameter message: the reason, for clients that watch; at most the limit `id` of bytes, the rest is cut off.
  public init(_ message: String = "") { self.message = message }
}

import DBusValues

/// A screen that may have to stay, such as one with unsaved text. It is asked before it disappears.
///
///     final class Editor: DecliningScreen {
///       private let draft: Draft
///       init(_ draft: Draft) { self.draft = draft }
///
///       func appear(_ showing: Showing) async throws {}
///       func disappear(_ showing: Showing, animated: Bool) async -> Properties { [:] }
///
///       func prepareToDisappear(_ showing: Showing) async throws {
///         guard draft.isChanged else { return }
///         try await showing.ask("Discard the changes?")
///         guard await draft.userDiscards() else { throw Declined("the text is not saved") }
///       }
///     }
public protocol DecliningScreen: Screen {
  /// Prepares to disappear, and returns when nothing prevents it; then `disappear` is called. The screen may ask its user with
  /// ``Showing/ask(_:)``. The coordinator waits for as long as this takes.
  ///
  /// A forced dismissal does not ask. If one comes meanwhile, the task is cancelled and `disappear` is called at once; the outcome of
  /// this function then has no effect. See ``Showing/isForced``.
  /// - Throws: any error to stay on the screen: ``Declined`` with a message for watching clients,
  ///   or another error, whose description is the message (P15).
  func prepareToDisappear(_ showing: Showing) async throws

  /// Prepares for another value of its item, which another program has asked for. When this returns, the value is written into the
  /// state. Until then, and if it throws, the state keeps its value; it then counts for the other program, too. A screen whose user
  /// has typed something may ask its user here. By default every value is accepted at once.
  ///
  ///     func prepareToChange(_ showing: Showing, to value: Properties) async throws {
  ///       guard !hasChanges else { throw Declined("the text is not saved") }
  ///     }
  ///
  /// - Parameters:
  ///   - showing: the presentation that the screen shows.
  ///   - value: the proposed value, as on the bus.
  /// - Throws: any error to keep the value that the state has.
  func prepareToChange(_ showing: Showing, to value: Properties) async throws
}

extension DecliningScreen {
  public func prepareToChange(_ showing: Showing, to value: Properties) async throws {}
}

/// The refusal of a screen to disappear (P15). The state that presents the screen gets its item back. The same happens to the state
/// of every other item that was being dismissed and has to stay because of the screen.
///
///     func prepare() async throws { guard await userAgrees() else { throw Declined("the text is not saved") } }
///     do { try await prepare() } catch let declined as Declined { print(declined.message) }
public struct Declined: Error, Hashable, Sendable {
  /// The reason, for watching clients; empty for none.
  public let message: String

  /// - Parameter message: the reason, for watching clients. Text beyond the limit `text` of bytes is cut off.
  public init(_ message: String = "") { self.message = message }
}

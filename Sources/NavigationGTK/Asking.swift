#if canImport(CGTK)
  public import Navigation
  import Observation

  extension Showing {
    /// Asks the user with an alert over the screen, and returns the action of the pressed button; nil for Escape, and for a button
    /// without an action. For the `prepare` of a screen with unsaved text; the coordinator then waits until the user has answered
    /// (P16).
    ///
    ///     WindowScreen("Note") { showing in editor(showing) } prepare: { showing in
    ///       guard draft.isChanged else { return }
    ///       let question = Dialog<Answer>("Discard the changes?") {
    ///         Dialog.Button("Keep editing", role: .cancel)
    ///         Dialog.Button("Discard", role: .destructive, action: Answer.discard)
    ///       }
    ///       guard try await showing.answer(to: question) == .discard else { throw Declined("the note is not saved") }
    ///     }
    ///
    /// - Throws: `CancellationError` if the screen must disappear meanwhile, and the question disappears with it.
    public func answer<Action>(to dialog: Dialog<Action>) async throws -> Action? {
      let question = Question(dialog)
      let (ends, end) = AsyncStream.makeStream(of: Void.self)
      var answer: Action?
      let presence = present(dialog: Bindable(question, .own("question")).dialog) { _ in
        end.finish()
      } onAction: { action, _ in
        answer = action
      }
      // The loop also ends when the task is cancelled.
      for await _ in ends {}
      presence.cancel()
      try Task.checkCancellation()
      return answer
    }
  }

  @MainActor @Observable
  private final class Question<Action: Hashable & Codable & Sendable>: Navigable {
    static var memberNames: MemberNames<Question<Action>> { [\.dialog: "dialog"] }
    var dialog: Dialog<Action>?
    init(_ dialog: Dialog<Action>) { self.dialog = dialog }
  }
#endif

#if canImport(CGTK)
  public import Navigation
  import Observation

  extension Showing {
    /// Asks the user with an alert over the screen, and returns the action of the pressed button;
    /// nil for Escape, and for a button without an action. The `prepare` of a screen with unsaved
    /// text calls this; the coordinator then waits until the user has answered (P16).
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
    /// If no coordinator can be reached, or it refuses the question, the user is asked all the same.
    ///
    /// - Throws: `CancellationError` if the screen must disappear meanwhile, and the question disappears with it.
    public func answer<Action>(to dialog: Dialog<Action>) async throws -> Action? {
      if presentationSource.isOver { throw CancellationError() }
      let question = Question(dialog)
      let (ends, end) = AsyncStream.makeStream(of: Void.self)
      var answer: Action?
      func take(_ button: Dialog<Action>.Button?) {
        answer = button?.action
        end.finish()
      }
      var presence: Presence?
      // The alert of which no coordinator knows.
      var alert: (any Alert)?
      presence = present(dialog: Bindable(question, .own("question")).dialog) {
        end.finish()
      } onAction: { action, _ in
        answer = action
      } onUnshown: { [weak self] in
        guard alert == nil else { return }
        alert = dialog.alert(over: self?.window) { button, _ in take(button) }
        presence?.cancel()
      } content: { [weak self] dialog in
        AlertScreen(dialog, over: self?.window) { take($0) }
      }
      presence?.atEnd { if alert == nil { end.finish() } }
      // The loop also ends when the task is cancelled.
      for await _ in ends {}
      presence?.cancel()
      presence = nil
      alert?.close()
      alert = nil
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

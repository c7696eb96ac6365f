import Navigation
import Observation

/// The text of a note while it is edited, until it is saved. A page with a draft asks its user before it disappears.
@MainActor @Observable
final class Draft {
  enum Answer { case save, discard, stay }

  /// The text; nil if nothing has to be saved.
  var text: String?
  private(set) var isAsking = false
  @ObservationIgnored private var answer: CheckedContinuation<Answer, Never>?

  func answer(_ answer: Answer) {
    self.answer?.resume(returning: answer)
    self.answer = nil
    isAsking = false
  }

  /// Asks the user whether to save the draft. A forced dismissal removes the question, and discards the draft.
  /// - Throws: `Declined` if the user stays.
  func settle(_ showing: Showing, save: () -> Void) async throws {
    guard text != nil else { return }
    // The coordinator then waits until the user has answered.
    try await showing.ask("Save the changes?")
    isAsking = true
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { answer in
        self.answer = answer
        if Task.isCancelled { self.answer(.discard) }
      }
    } onCancel: {
      Task { @MainActor in self.answer(.discard) }
    }
    switch answer {
    case .save: save()
    case .discard: break
    case .stay: throw Declined("the note is not saved")
    }
  }
}

import Navigation
import Observation

/// The text of a note as it is typed, until it is saved. A page with a draft asks its user before it disappears.
@MainActor @Observable
final class Draft {
  enum Answer { case save, discard, stay }

  /// nil if nothing has to be saved.
  var text: String?
  private(set) var isAsking = false
  @ObservationIgnored private var answer: CheckedContinuation<Answer, Never>?

  func answer(_ answer: Answer) {
    self.answer?.resume(returning: answer)
    self.answer = nil
    isAsking = false
  }

  /// Asks the user what to do with it. A forced dismissal takes the question away, and discards it.
  /// - Throws: `Declined` if the user stays.
  func settle(_ showing: Showing, save: () -> Void) async throws {
    guard text != nil else { return }
    // The coordinator then waits for as long as the user thinks.
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

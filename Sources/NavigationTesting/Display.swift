import Navigation
import Observation

/// A simulated display: the screens shown, a log, and switches that make screens slow or faulty.
///
///     let display = Display()
///     navigator.present(item: $model.note) { note in RecordingScreen("note \(note.id)", on: display) }
///     model.note = Note(id: 7)
///     try await navigator.settle(within: .seconds(10))
///     assert(display.names == ["note 7"] && display.screens.count == 1 && display.log == ["+note 7"])
///
/// Screens behave as a test wants it:
///
///     display.slow = ["note 8"]               // It does not appear yet. It began to: `appearing`, and perhaps it was `cancelled`.
///     display.uncancellable = ["note 8"]      // It goes on although it was dismissed.
///     display.refused = ["note 9"]            // It throws.
///     display.stuck = ["note 7"]              // It does not disappear yet.
///     display.asking = ["note 7"]             // It asks its user, who has not answered.
///     display.declining = ["note 7"]          // It stays. It was asked: `disappearing`.
///     model.note = Note(id: 8)
///     try await until { display.disappearing == ["note 7"] || display.appearing == ["note 8"] }
///     assert(display.cancelled.isEmpty)
@MainActor @Observable
public final class Display {
  /// Creates an empty display.
  public init() {}

  /// The screens that have appeared and not disappeared.
  public var screens: [RecordingScreen] = []
  /// The log of events: `+name` for a screen that appeared, `-name` for one that disappeared, `-!name` for one that did so without
  /// animation, and `xname` for one that its user closed.
  public var log: [String] = []
  /// The reasons of ended presentations, as passed to onDismiss.
  ///
  ///     navigator.present(isPresented: $model.isOpen) { RecordingScreen("main", on: display) }.onDismiss(display.end)
  ///     try await display["main"]?.close()
  ///     try await until { display.ends == [.closed] }
  public var ends: [NavigationReason] = []
  /// The errors of failed presentations.
  ///
  ///     display.refused = ["main"]
  ///     navigator.present(isPresented: $model.isOpen) { RecordingScreen("main", on: display) }.onDismiss(display.end)
  ///     try await until { display.errors == ["there is no room"] }
  public var errors: [String] = []

  /// Records an end; to be used as onDismiss.
  ///
  ///     navigator.present(isPresented: $model.isOpen) { RecordingScreen("main", on: display) }.onDismiss(display.end)
  public func end(_ dismissal: Dismissal) {
    ends.append(dismissal.reason)
    if let error = dismissal.error { errors.append("\(error)") }
  }

  /// The notes that a test takes for itself.
  ///
  ///     RecordingScreen("main", on: display) { _ in display.notes.append("main is there") }
  public var notes: [String] = []
  /// The names of screens that were asked to disappear.
  public var disappearing: [String] = []
  /// The names of screens that do not disappear while they are in this set.
  public var stuck: Set<String> = []
  /// The names of screens that ask their user before they disappear. The user does not answer while they are in this set.
  public var asking: Set<String> = []
  /// The names of screens that decline to disappear after their user has answered.
  public var declining: Set<String> = []
  /// The names of screens that throw in `appear`.
  public var refused: Set<String> = []
  /// The names of screens that do not appear while they are in this set.
  public var slow: Set<String> = []
  /// The names of screens that ignore cancellation while they appear.
  public var uncancellable: Set<String> = []
  /// The names of slow screens that have begun to appear.
  public var appearing: [String] = []
  /// The names of slow screens whose appearance was cancelled.
  public var cancelled: [String] = []

  /// The names of ``screens``.
  public var names: [String] { screens.map(\.name) }
  /// The screen with a name.
  ///
  ///     try await display["main"]?.close()
  public subscript(name: String) -> RecordingScreen? { screens.last { $0.name == name } }

  /// Removes a screen, and logs the way in which it has gone.
  func take(_ screen: RecordingScreen, _ how: String) {
    guard screens.contains(where: { $0 === screen }) else { return }
    screens.removeAll { $0 === screen }
    log.append("\(how)\(screen.name)")
  }

  /// Returns when a screen may appear.
  func wait(for name: String) async throws {
    guard slow.contains(name) else { return }
    appearing.append(name)
    try await withTaskCancellationHandler {
      while slow.contains(name), uncancellable.contains(name) || !Task.isCancelled { await change() }
      if !uncancellable.contains(name) { try Task.checkCancellation() }
    } onCancel: {
      Task { @MainActor in cancelled.append(name) }
    }
  }

  /// Returns when a screen's user has answered, or is no longer asked.
  func answer(for name: String) async {
    await withTaskCancellationHandler {
      while asking.contains(name), !Task.isCancelled { await change() }
    } onCancel: {
      Task { @MainActor in cancelled.append(name) }
    }
  }

  /// Returns at the next change of the display's state.
  func change() async {
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = (screens, stuck, asking, slow, cancelled)
      } onChange: {
        Task { @MainActor in continuation.resume() }
      }
    }
  }
}

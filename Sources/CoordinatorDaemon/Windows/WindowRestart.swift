import DBusValues
import PresentationModel
import PresentationRules
import WindowRules

/// A presentation of the previous navd, with the fate of its program. The windows that are left
/// decide how it continues (R2).
struct WindowRestart {
  private let presentation: Presentation
  private let memory: WindowMemory
  private let isParked: Bool
  private let program: Survival

  /// - Parameter program: the fate of the program.
  init(_ remembered: Remembered, _ program: Survival) {
    presentation = remembered.presentation
    memory = WindowMemory(remembered.memory)
    isParked = remembered.shownAs == nil
    self.program = program
  }

  /// Whether the previous navd had started the program.
  var wasStarted: Bool {
    switch program {
    case .toBeShown, .awaited: false
    case .gone, .shown: true
    }
  }

  /// Gives the presentation to the tracker, which has announced it before.
  func survival(in tracker: inout WindowTracker) -> Survival {
    let handle = presentation.handle
    guard wasStarted else {
      tracker.notStarted(handle)
      return .toBeShown
    }
    // An item that is being dismissed takes no window that has opened meanwhile, which may be its user's.
    let before = presentation.phase.dismissal != nil ? nil : memory.before
    let hasWindows = tracker.restore(
      handle, on: presentation.item.output, windows: memory.windows, before: before, beganAt: memory.began,
      hidden: memory.hidden, hasHadWindow: memory.hasHadWindow,
      showedWindowOfUser: memory.showedWindowOfUser, hasLost: memory.hasLost, end: endOfProgram,
      isPresented: presentation.presentedAt != nil, isGuest: memory.isGuest, isGuessed: memory.isGuessed)
    let end = tracker.end(of: handle)
    if isParked {
      guard hasWindows || end == nil else {
        tracker.drop(handle)
        return .gone(result: end ?? [:])
      }
      return presentation.phase == .presenting ? .toBeShown : .shown
    }
    if hasWindows { return .shown }
    // The item still waits for its first window, or was dismissed while it waited.
    if memory.windows.isEmpty, presentation.presentedAt == nil {
      return presentation.phase == .presenting ? .toBeShown : .shown
    }
    guard let end else { return .shown }
    tracker.drop(handle)
    return .gone(result: end)
  }

  private var endOfProgram: Properties? { if case .gone(let result) = program { result } else { nil } }
}

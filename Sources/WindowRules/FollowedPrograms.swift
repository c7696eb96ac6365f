import PresentationModel

/// The programs whose windows are followed, by the handles for which they were started.
///
/// An event of a window concerns its own program, and those that an index names. An adapter may
/// tell as many events as it likes, beside as many programs as there may be.
struct FollowedPrograms {
  private(set) var all: [Handle: WindowFollower] = [:]
  /// The programs by what they wait for.
  private var waiting: [WindowFollower.Interest: Set<Handle>] = [:]

  subscript(handle: Handle) -> WindowFollower? {
    get { all[handle] }
    _modify {
      let before = all[handle]?.interest
      defer { note(handle, before, all[handle]?.interest) }
      yield &all[handle]
    }
  }

  private mutating func note(
    _ handle: Handle, _ before: WindowFollower.Interest?, _ now: WindowFollower.Interest?
  ) {
    guard before != now else { return }
    if let before { waiting[before]?.remove(handle) }
    if let now { waiting[now, default: []].insert(handle) }
  }

  /// The programs that wait for something.
  func waiting(for interest: WindowFollower.Interest) -> Set<Handle> { waiting[interest] ?? [] }

  /// The programs, the oldest first.
  var sorted: [(key: Handle, value: WindowFollower)] { all.sorted { $0.key < $1.key } }
}

extension WindowFollower {
  /// The events that may concern a program although they are about windows of others, or of nobody.
  enum Interest: CaseIterable {
    /// A window that may be the presentation's first one.
    case firstWindow
    /// A dialog that asks the user about the dismissal.
    case dialog
    /// The end of the windows that its user has in the program.
    case lastWindow
  }

  var interest: Interest? {
    switch stage {
    case .awaiting, .withdrawing: .firstWindow
    case .closing: .dialog
    case .leaving: waitsForLastWindow ? .lastWindow : nil
    default: takes == .first || takes == .replacement ? .firstWindow : nil
    }
  }

  /// Whether what is left of the program is to end, unless its user has a window there (N3).
  var waitsForLastWindow: Bool {
    guard case .leaving = stage else { return false }
    return rule.endsLeftover && isRunning && !hasLost && !isLeftoverEnding
  }
}

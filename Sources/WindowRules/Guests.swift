import PresentationModel

// MARK: Guests (N12)

extension WindowTracker {
  /// Milliseconds after the end of a command that has handed over, in which it may open a window, before a window that was there before
  /// counts as the answer.
  static let timeToOpen: UInt64 = 500

  /// Whether the windows of a presentation are its user's, and stay after it.
  public func isGuest(_ handle: Handle) -> Bool { followed[program(of: handle)]?.guest != nil }

  /// Waits for the window that a command with the exit status 0 may have left to another program, before a guest is sought among the
  /// windows that are there.
  mutating func awaitHandedOver(_ handle: Handle) {
    guard let following = followed[handle], !following.hasSoughtGuest else { return }
    if windows.all.values.contains(where: { isFree($0, for: handle) && mayBeGuest($0, of: handle) }) {
      effects.append(.wait(handle, milliseconds: Self.timeToOpen))
    } else {
      followed[handle]!.hasSoughtGuest = true
      // The window of a slow program may follow.
      if following.isLate { effects.append(.wait(handle, milliseconds: Self.timeBetweenWindows)) }
    }
  }

  /// Seeks a guest anew when a window opens late that may be one: that of a program that its user has just started.
  mutating func seekGuestAgain(_ id: String) {
    let window = windows[id]!
    for handle in concerned(by: window).sorted() {
      guard let following = followed[handle], following.isAwaiting, following.hasHandedOver, following.hasSoughtGuest,
        facts(of: window, for: handle).process == .twin, mayBeGuest(window, of: handle)
      else { continue }
      followed[handle]!.hasSoughtGuest = false
      awaitHandedOver(handle)
    }
  }

  private func mayBeGuest(_ window: TrackedWindow, of handle: Handle) -> Bool {
    facts(of: window, for: handle, takes: .guest).verdict != .user
  }

  /// Shows a window that its user had before, if exactly one fits that nobody owns: the command has asked its program to show it.
  /// - Returns: whether there is one.
  mutating func seekGuest(for handle: Handle) -> Bool {
    guard followed[handle]?.hasHandedOver == true, capabilities != nil else { return false }
    followed[handle]!.hasSoughtGuest = true
    var found: [String] = []
    for window in windows.all.values where isFree(window, for: handle) && window.properties.parent ?? "" == "" {
      switch facts(of: window, for: handle, takes: .guest).verdict {
      case .guest, .item: found.append(window.id)
      // It may fit, too.
      case .undecided: return false
      case .user: break
      }
    }
    followed[handle]!.haveSeveralFit = found.count > 1
    guard found.count == 1 else { return false }
    if let other = owner(of: found[0]) { giveUpGuest(of: other) }
    // It is brought to its user anyway. To raise it first would take the user to it.
    followed[handle]!.mustBeSeen = false
    give(found[0], to: handle, as: followed[handle]!.rule.adopts ? nil : .init(isReplaceable: true))
    noteFocus(of: found[0])
    show(found[0], of: handle)
    return true
  }

  /// Whether a window is nobody's, or the guest of a program that is parked or shows another item of the destination: its program has
  /// been asked to show it again.
  private func isFree(_ window: TrackedWindow, for handle: Handle) -> Bool {
    guard case .presentation(let other) = window.owner else { return window.owner == .none }
    guard other != handle, let following = followed[other], following.guest != nil else { return false }
    switch (following.stage, following.role) {
    case (.parked, .parked(claimant: nil)): return true
    case (.shown, .presentation):
      let destination = following.settings.destination
      return !destination.isEmpty && destination == followed[handle]!.settings.destination
    default: return false
    }
  }

  /// Ends what shows a guest, since another item shows the guest from now on.
  private mutating func giveUpGuest(of program: Handle) {
    leaveWindows(of: program)
    if followed[program]!.isParked { letGuestGo(program) } else { lastWindowClosed(program) }
  }

  /// Brings a window to the front that was there before, also a hidden one.
  private mutating func show(_ id: String, of handle: Handle) {
    let properties = windows[id]!.properties
    if properties.hidden == true || properties.minimized == true, capabilities?.contains(.hide) == true {
      followed[handle]!.showing.insert(id)
      effects.append(.show(window: id))
    }
    bring(handle, to: followed[handle]!.output)
  }

  /// Lets a guest go, since the presentation has a window of its own.
  mutating func dropGuest(of handle: Handle) {
    guard followed[handle]?.guest != nil else { return }
    followed[handle]!.guest = nil
    leaveWindows(of: handle)
  }

  /// Gives the windows of other programs back to their user, since the command has a window of its own.
  mutating func dropGuess(of handle: Handle) {
    followed[handle]!.isGuessed = false
    let others = followed[handle]!.windows.filter { windows[$0]?.process?.program != handle }
    for id in others {
      windows[id]?.owner = .none
      followed[handle]!.placedOn[id] = nil
      noteFocus(of: id)
    }
    followed[handle]!.windows.removeAll(where: others.contains)
    effects.append(.windowsChanged(handle))
  }

  /// Gives windows back to their user.
  private mutating func leaveWindows(of handle: Handle) {
    for id in followed[handle]!.windows { windows[id]?.owner = .none }
    followed[handle]!.windows = []
    effects.append(.windowsChanged(handle))
  }

  /// Dismisses a presentation that shows a guest: the window is hidden where that can be done, and otherwise stays where it is.
  mutating func dismissGuest(_ handle: Handle, isForced: Bool, isFinal: Bool) {
    // If it stays after all, later windows are its user's.
    followed[handle]!.guest?.isReplaceable = false
    if !isFinal, mayPark, capabilities?.contains(.hide) == true {
      hide(handle, isForced: isForced)
    } else {
      letGuestGo(handle)
    }
  }

  /// Ends a presentation, and leaves its guest where it is. A hidden one is shown.
  mutating func letGuestGo(_ handle: Handle) {
    uncoverWindows(of: handle)
    leaveWindows(of: handle)
    followed[handle]!.stage = .leaving
    effects.append(.stopWaiting(handle))
    reportDismissal(of: handle, result: followed[handle]!.result)
  }
}

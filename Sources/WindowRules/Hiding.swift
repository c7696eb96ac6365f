import PresentationModel

// MARK: Hiding (N8)

extension WindowTracker {
  /// Whether a dismissal hides the windows.
  func mayHide(_ following: WindowFollower) -> Bool {
    following.rule.hides && !following.rule.kills && mayPark
  }

  /// Whether one more program may be parked.
  var mayPark: Bool { followed.all.values.count { $0.isParked } < maxParked }

  /// Whether the windows are hidden, and no request to them is open.
  func isResting(_ handle: Handle) -> Bool {
    if case .parked? = followed[handle]?.stage { true } else { false }
  }

  /// Hides the windows. The user need not be asked, so a forced dismissal also hides them where it can.
  mutating func hide(_ handle: Handle, isForced: Bool) {
    followed[handle]!.mustHide = isForced
    if isForced, capabilities?.contains(.hide) != true { return force(handle) }
    guard isAble(to: .hide, "hidden", handle) else { return }
    let windows = followed[handle]!.windows
    followed[handle]!.showing = []
    arriving.subtract(windows)
    followed[handle]!.stage = .hiding(Set(windows))
    effects.append(.windowsChanged(handle))
    effects += windows.map { .hide(window: $0) }
  }

  /// Notes that a window is hidden.
  public mutating func hidden(_ id: String) {
    guard let handle = owner(of: id), case .hiding(var waiting)? = followed[handle]?.stage else { return }
    waiting.remove(id)
    followed[handle]!.stage = .hiding(waiting)
    parkIfHidden(handle)
  }

  mutating func parkIfHidden(_ handle: Handle) {
    guard let following = followed[handle], case .hiding(let waiting) = following.stage, waiting.isEmpty else { return }
    let presentation = presentation(of: handle)
    claims[presentation] = nil
    followed[handle]!.stage = .parked
    followed[handle]!.role = .parked(claimant: nil)
    effects += [
      .windowsChanged(handle), .report(following.guest == nil ? .hidden(presentation) : .guestHidden(presentation)),
    ]
  }

  /// Notes that a window cannot be hidden.
  public mutating func hideRefused(_ id: String, _ message: String) {
    guard let handle = owner(of: id), case .hiding? = followed[handle]?.stage else { return }
    keepShown(handle, "\(name(of: id)) cannot be hidden: \(message)")
  }

  /// Shows windows that cannot be hidden. They stay, or their program ends if the dismissal is forced.
  mutating func keepShown(_ handle: Handle, _ message: String) {
    if followed[handle]!.mustHide, followed[handle]!.guest == nil { return force(handle) }
    show(handle)
    if followed[handle]!.mustHide { return letGuestGo(handle) }
    keep(handle, message)
  }

  /// Asks for the windows of a program to be shown. If the window system leaves before it has done so, the next one is asked.
  private mutating func show(_ program: Handle) {
    let windows = followed[program]!.windows
    followed[program]!.showing.formUnion(windows)
    expect(windows)
    effects += windows.map { .show(window: $0) }
  }

  /// Notes that a window was shown.
  public mutating func shown(_ id: String) {
    guard let handle = owner(of: id), followed[handle]?.showing.remove(id) != nil else { return }
    followed[handle]!.mayBeHidden.remove(id)
    effects.append(.windowsChanged(handle))
  }

  /// Notes that a window is hidden no longer. If nobody has asked for that, it was the user of a parked program, by the compositor's own
  /// key or a taskbar.
  mutating func noteShown(_ id: String) {
    guard let program = owner(of: id), isResting(program), case .parked(claimant: nil)? = followed[program]?.role
    else { return }
    report(.parkedShown(program))
  }

  /// The windows of an item that may be hidden, although it is not parked, for the record.
  public func hiddenWindows(of program: Handle) -> Set<String> {
    guard let following = followed[program], !following.isParked else { return [] }
    return following.isHiding ? Set(following.windows) : following.showing.union(following.mayBeHidden)
  }

  /// Whether a window of an item was hidden, or was to be hidden or shown again when the window system left.
  func mayBeHidden(_ id: String) -> Bool {
    if windows[id]?.isToBeShown == true { return true }
    guard let handle = owner(of: id), let following = followed[handle] else { return false }
    return following.isHiding || following.showing.contains(id) || following.mayBeHidden.contains(id)
  }

  /// Shows the windows of an item that ends, as far as they may be hidden: nobody else could show them.
  mutating func uncoverWindows(of program: Handle) {
    guard let following = followed[program] else { return }
    for id in following.windows where mayBeHidden(id) {
      if capabilities?.contains(.hide) != true {
        windows[id]?.isToBeShown = true
      } else if following.guest != nil || following.isHiding || following.mayBeHidden.contains(id) {
        effects.append(.show(window: id))
      }
    }
  }

  /// The windows that the next window system shows, since their items were given up while none could. They are on record.
  public var windowsToShow: [Window] {
    leftHidden + windows.toBeShown.sorted().map { Window(id: $0, windows[$0]!.properties) }
  }

  /// Has the first window system show windows that the previous navd has given up.
  public mutating func showLater(_ windows: [Window]) { leftHidden += windows.prefix(Self.maxWindows) }

  /// Asks for the windows of items that were given up while there was no window system.
  /// - Parameters:
  ///   - all: every window.
  ///   - unknown: the windows that may be earlier ones under other ids.
  mutating func showGivenUp(among all: [Window], unknown: [Window]) {
    guard capabilities?.contains(.hide) == true else { return }
    let hidden = Dictionary(all.map { ($0.id, $0.properties.hidden == true) }, uniquingKeysWith: { $1 })
    effects += leftHidden.filter { hidden[$0.id] == true }.map { .show(window: $0.id) }
    showHidden(leftHidden.filter { hidden[$0.id] == nil }, among: unknown)
    leftHidden = []
    for id in windows.ranked where windows.toBeShown.contains(id) {
      windows[id]!.isToBeShown = false
      effects.append(.show(window: id))
    }
  }

  /// Notes that a window cannot be shown.
  public mutating func showRefused(_ id: String) {
    shown(id)
    arriving.remove(id)
  }

  /// Asks for windows that a former window system may have left hidden.
  mutating func showLeftOver(_ program: Handle) {
    guard let following = followed[program], case .shown = following.stage else { return }
    effects += following.windows.filter(following.showing.contains).map { .show(window: $0) }
  }

  /// Notes that a presentation will show a parked program again, once it is known whether there is a window system.
  public mutating func claim(_ program: Handle, for handle: Handle) {
    claims[handle] = program
    if followed[program]?.isParked == true { followed[program]!.role = .parked(claimant: handle) }
  }

  /// Whether a presentation shows a program that was parked.
  func isShown(_ handle: Handle) -> Bool {
    if case .presentation(handle)? = claims[handle].flatMap({ followed[$0]?.role }) { true } else { false }
  }

  mutating func giveUpClaim(_ handle: Handle) {
    guard let program = claims.removeValue(forKey: handle) else { return }
    if case .parked(handle)? = followed[program]?.role { followed[program]!.role = .parked(claimant: nil) }
    // A program that ended before it could be claimed was released already, and the claim has called for it again.
    if followed[program] == nil { effects.append(.released(program)) }
  }

  /// Shows the windows of a parked program again, with the focus, for the presentation that claims it.
  /// - Parameters:
  ///   - output: see ``request(_:_:_:output:mustBeSeen:)``.
  ///   - comesHere: whether the windows come to where their user is; nil leaves that to the destination.
  ///   - placement: see ``place(_:_:)``.
  /// - Returns: whether there are windows.
  public mutating func showAgain(
    _ handle: Handle, on output: String? = nil, comesHere: Bool? = nil, _ placement: WindowPlacement? = nil
  ) -> Bool {
    guard let program = claims[handle], case .parked(handle)? = followed[program]?.role,
      !followed[program]!.windows.isEmpty
    else { return false }
    place(handle, placement)
    let following = followed[program]!
    followed[program]!.role = .presentation(handle)
    followed[program]!.stage = .shown
    effects.append(.stopWaiting(program))
    followed[program]!.isReplacing.formUnion(following.windows)
    // A window that is shown where it was hidden may take its user there.
    let isSummoned = output == nil && comesHere ?? following.rule.comesHere && capabilities?.contains(.summon) == true
    if isSummoned {
      followed[program]!.showing.formUnion(following.windows)
      bring(handle, to: nil)
    } else {
      show(program)
      move(handle, to: output)
    }
    effects += [.windowsChanged(program), .presented(handle)]
    let takesFocus = following.rule.placement.takesFocus != false
    if !isSummoned, takesFocus, capabilities?.contains(.activate) == true { raise(handle) }
    return true
  }

  /// Shows the windows of a parked program again, and leaves them to their user, since navd ends and the program does not.
  public mutating func releaseParked(_ program: Handle) {
    if followed[program]?.isParked == true { release(program) }
  }

  /// Ends a parked program.
  /// - Parameter isForced: whether its user must not be asked.
  public mutating func endParked(_ program: Handle, isForced: Bool) {
    guard let following = followed[program], following.isParked else { return report(.parkedEnded(program)) }
    if following.guest != nil { return letGuestGo(program) }
    if isForced {
      if showsWindowOfUser(program) { return reportDeclining(of: program, Self.userMessage) }
      if following.closing?.isForced != true { force(program) }
    } else if isResting(program) {
      askToClose(program)
    } else if let dialog = following.closing?.dialogs.min() {
      reportAsking(of: program, windows[dialog]?.properties.title ?? "")
    }
  }
}

import DBusValues
import PresentationModel

// MARK: After a restart

extension WindowTracker {
  /// Announces a presentation of the previous navd, or a program that it has parked. If its program ends, the report waits until
  /// `restore`.
  /// - Parameters:
  ///   - program: the handle for which the program was started.
  ///   - presentation: the presentation that shows the program; nil if it is parked.
  ///   - windows: the windows that it had.
  public mutating func recover(
    _ program: Handle, _ rule: WindowFollowing, _ settings: FollowingSettings, for presentation: Handle?,
    windows: [Window] = []
  ) {
    recorded[program] = windows
    namesOfRecorded = nil
    if let presentation, presentation != program { claims[presentation] = program }
    followed[program] = WindowFollower(
      .recovered, rule, settings, output: nil,
      for: presentation.map { .presentation($0) } ?? .parked(claimant: nil))
    findDisplay(of: program)
  }

  /// Notes that the previous navd did not start a presentation that it was about to start.
  public mutating func notStarted(_ handle: Handle) { followed[handle] = nil }

  /// The result of a program that has ended; nil while it runs.
  public func end(of program: Handle) -> Properties? {
    guard case .ended(_, let result)? = followed[program]?.program else { return nil }
    return result
  }

  /// Takes over what the previous navd has begun. Call it when the windows are known, or when there is no window system.
  /// - Parameters:
  ///   - output: see ``request(_:_:_:output:)``.
  ///   - recorded: the windows that the presentation had.
  ///   - before: the value of ``windowsBefore(_:)`` of the previous navd; nil if it is not on record. Then windows that are there now
  ///     may belong to others.
  ///   - beganAt: the time at which the presentation began; nil if it is not on record.
  ///   - hidden: the value of ``hiddenWindows(of:)`` of the previous navd. They are shown again.
  ///   - hasHadWindow: the value of ``hasHadWindow(_:)`` of the previous navd.
  ///   - showedWindowOfUser: the value of ``showedWindowOfUser(_:)`` of the previous navd.
  ///   - hasLost: the value of ``hasLost(_:)`` of the previous navd.
  ///   - end: the result of the program; nil if it has not ended.
  ///   - isPresented: whether the presentation was on the screen.
  ///   - isGuest: whether the windows were there before the presentation, and stay after it (N12).
  ///   - isGuessed: the value of ``isGuessed(_:)`` of the previous navd.
  /// - Returns: whether the presentation has windows now.
  public mutating func restore(
    _ program: Handle, on output: String? = nil, windows recorded: [Window], before: Set<String>?,
    beganAt: BootTime?, hidden: Set<String> = [], hasHadWindow: Bool = false,
    showedWindowOfUser: Bool = false, hasLost: Bool = false,
    end: Properties?, isPresented: Bool = false, isGuest: Bool = false, isGuessed: Bool = false
  ) -> Bool {
    let handle = program
    guard var following = followed[handle] else { return false }
    following.beginning.order = order
    following.beginning.time = beganAt ?? BootTime(milliseconds: 0)
    following.output = output
    following.beginning.earlierWindows = before
    following.beginning.isRestored = true
    following.stage = .awaiting
    if let end { following.program = .ended(failed: false, end) } else { following.isStarted = true }
    let (names, doubt) = recognition(of: recorded, before: before)
    for window in recorded {
      let id: String?
      if capabilities == nil {
        windows[window.id] = TrackedWindow(
          id: window.id, properties: window.properties, order: 0, rank: nextRank(), process: nil)
        id = window.id
      } else if windows[window.id] != nil {
        id = window.id
      } else {
        id = names[window.id]
      }
      guard let id, windows[id]!.owner == .none else { continue }
      windows[id]!.owner = .presentation(handle)
      following.windows.append(id)
      if hidden.contains(window.id) {
        following.showing.insert(id)
        following.mayBeHidden.insert(id)
      }
    }
    if !following.windows.isEmpty {
      following.stage = following.isParked ? .parked : .shown
    } else if recorded.contains(where: doubt.isAbout), !following.isParked, following.isRunning {
      following.stage = .unseen
    } else if !recorded.isEmpty, following.isRunning {
      following.stage = .settling
      effects.append(.wait(handle, milliseconds: Self.timeToEnd))
    } else if isPresented {
      following.stage = .unseen
    }
    if following.isParked || following.rule.hides {
      let lost = recorded.filter { names[$0.id] == nil && windows[$0.id] == nil }
      showHidden(lost, among: windows.all.values.map { Window(id: $0.id, $0.properties) })
    }
    following.hasLost = hasLost || recorded.contains { doubt.isAbout($0) && names[$0.id] == nil }
    following.hasHadWindow = hasHadWindow || !recorded.isEmpty
    following.showedWindowOfUser = capabilities == nil ? showedWindowOfUser : showsWindowOfUser(program)
    if isGuest { following.guest = .init(isReplaceable: false) }
    following.isGuessed = isGuessed
    // The previous navd ended while the window stayed behind.
    following.staysBehind = !isPresented && following.paintsBehind
    following.hasSettled = true
    followed[handle] = following
    comeForward(handle)
    effects.append(.windowsChanged(handle))
    if capabilities != nil {
      showLeftOver(handle)
      dropEarlierWindowsOfOtherIDs(of: handle)
    }
    if recorded.isEmpty, following.takesWindows { assignAll() }
    if followed[handle]?.isAwaiting == true {
      if following.hasHandedOver { awaitHandedOver(handle) } else { expectWindow(of: handle) }
    }
    return !(followed[handle]?.windows.isEmpty ?? true)
  }

  /// Forgets the windows before a restored presentation if none of them is there: the adapter may
  /// have given all windows other ids, so that an earlier window looks like a new one.
  private mutating func dropEarlierWindowsOfOtherIDs(of handle: Handle) {
    let present = windows.all
    dropEarlierWindows(of: handle) { present[$0] != nil }
  }

  /// The same when an adapter has come, of which all windows are known, and not taken over yet.
  mutating func dropEarlierWindowsOfOtherIDs(among present: Set<String>) {
    for handle in followed.all.keys { dropEarlierWindows(of: handle, unless: present.contains) }
  }

  private mutating func dropEarlierWindows(of handle: Handle, unless isThere: (String) -> Bool) {
    guard let beginning = followed[handle]?.beginning, beginning.isRestored, let earlier = beginning.earlierWindows,
      !earlier.isEmpty, !earlier.contains(where: isThere)
    else { return }
    followed[handle]!.beginning.earlierWindows = nil
  }

  /// The new ids of recorded windows, if the adapter has new ids, and the windows that may belong to others.
  private mutating func recognition(
    of own: [Window], before: Set<String>?
  ) -> (names: [String: String], doubt: Recognition) {
    guard capabilities != nil, !own.isEmpty, before?.contains(where: { windows[$0] != nil }) != true else {
      return ([:], .none)
    }
    let recorded = namesOfRecorded ?? recognizeRecorded()
    namesOfRecorded = recorded
    guard case .changed(let names) = recorded else { return ([:], .none) }
    let unnamed = own.filter { names[$0.id] == nil }
    return (names, unnamed.isEmpty ? .none : Recognition(unnamed, windowsOfNobody))
  }

  /// The ids of all windows on record, as the adapter has them now.
  enum RecordedNames {
    /// The adapter has not changed its ids.
    case unchanged
    /// The new ids, by those on record, as far as they are certain.
    case changed([String: String])
  }

  private func recognizeRecorded() -> RecordedNames {
    // They are those of all presentations that the previous navd followed. Other windows are not on
    // record.
    let before = recorded.values.flatMap(\.self)
    if before.contains(where: { windows[$0.id] != nil }) { return .unchanged }
    return .changed(
      Recognition.names(
        of: before, among: windowsOfNobody, tellsProcesses: capabilities?.contains(.pid) == true))
  }

  private var windowsOfNobody: [Window] {
    windows.all.filter { $0.value.owner == .none }.map { Window(id: $0.key, $0.value.properties) }
  }
}

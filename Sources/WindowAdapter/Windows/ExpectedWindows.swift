import CoordinatorAPI
import EventLoops
import Glibc
import PresentationModel
import Processes

/// A window that is expected, and is not to get the focus when it opens.
struct UnfocusedWindow: Hashable {
  /// The presentation whose program opens it.
  let presentation: ByteString
  /// The pattern that it fits; empty if that is not known.
  let pattern: WindowPattern
}

/// The windows of programs that are about to start, by the presentations of the programs. They are placed as soon as they open (N15).
struct ExpectedWindows {
  /// Cap of the expected windows, beyond which the oldest is forgotten. A program that starts takes seconds, so few wait at once.
  private static let limit = 64
  private static let variable = ByteString(CoordinatorNames.presentationVariable)

  private var announced: [(presentation: ByteString, window: ExpectedWindow)] = []
  /// The windows that are not expected, since they were there before, or belong to other programs.
  private var others: Set<WindowTable.Key> = []
  /// The windows that were placed when they opened, until the coordinator knows them.
  private var placed: [WindowTable.Key: WindowPlacement] = [:]
  /// The windows that are not to have the focus, and have not had it yet, with the ends of the times in which that is so. Some window
  /// managers give it later.
  private var unfocused: [WindowTable.Key: MonotonicInstant] = [:]
  /// The time after which a window gets the focus from its user.
  private static let timeToFocus = Duration.seconds(1)

  /// - Parameter window: without a placement if the window is no longer expected.
  mutating func expect(_ presentation: String, _ window: ExpectedWindow, besides windows: WindowTable) {
    if announced.isEmpty { others = Set(windows.allKeys.filter { windows.process(of: $0) != nil }) }
    announced.removeAll { $0.presentation == ByteString(presentation) }
    if window.placement != WindowPlacement() { announced.append((ByteString(presentation), window)) }
    if announced.count > Self.limit { announced.removeFirst() }
  }

  /// The windows that are not to get the focus when they open.
  var unfocusedWindows: [UnfocusedWindow] {
    announced.filter { $0.window.placement.takesFocus == false }
      .map { UnfocusedWindow(presentation: $0.presentation, pattern: $0.window.pattern) }
  }

  /// The presentation that has started a process; nil if there is none, or if that cannot be known.
  static func presentation(of process: UInt32) -> ByteString? {
    guard process > 1,
      case .value(let presentation) = ProcessTable.variable(variable, of: pid_t(truncatingIfNeeded: process))
    else { return nil }
    return presentation
  }

  /// Notes that the coordinator places a window itself.
  /// - Returns: whether it was placed in this way when it opened. Its user may have moved it since.
  mutating func take(
    _ key: WindowTable.Key, _ placement: WindowPlacement, _ windows: WindowTable, now: MonotonicInstant
  ) -> Bool {
    if placed.removeValue(forKey: key) == placement { return true }
    keepUnfocused(key, placement, windows, now)
    return false
  }

  /// Notes that a window goes to another output, where the coordinator's own placement counts.
  mutating func leaveOutput(_ key: WindowTable.Key) { placed[key] = nil }

  private mutating func keepUnfocused(
    _ key: WindowTable.Key, _ placement: WindowPlacement, _ windows: WindowTable, _ now: MonotonicInstant
  ) {
    if placement.takesFocus == false, windows.focused != key { unfocused[key] = now + Self.timeToFocus }
  }

  /// The expected windows that have opened, or have got the focus since, with what is to be done with them.
  mutating func takeDue(
    _ windows: WindowTable, now: MonotonicInstant
  ) -> [(key: WindowTable.Key, placement: WindowPlacement)] {
    guard !(announced.isEmpty && placed.isEmpty && unfocused.isEmpty) else { return [] }
    var due = takeOpened(windows)
    placed = placed.filter { windows.contains($0.key) }
    unfocused = unfocused.filter { windows.contains($0.key) && now < $0.value }
    for (key, placement) in due {
      placed[key] = placement
      keepUnfocused(key, placement, windows, now)
    }
    if let focused = windows.focused, unfocused.removeValue(forKey: focused) != nil {
      due.append((focused, WindowPlacement(takesFocus: false)))
    }
    return due
  }

  private mutating func takeOpened(_ windows: WindowTable) -> [(key: WindowTable.Key, placement: WindowPlacement)] {
    guard !announced.isEmpty else { return [] }
    others.formIntersection(windows.allKeys)
    var opened: [(key: WindowTable.Key, placement: WindowPlacement)] = []
    for key in windows.allKeys where !others.contains(key) {
      guard let process = windows.process(of: key) else { continue }
      others.insert(key)
      guard let presentation = Self.presentation(of: process),
        let index = announced.firstIndex(where: { $0.presentation == presentation })
      else { continue }
      opened.append((key, announced.remove(at: index).window.placement))
    }
    return opened
  }
}

extension WindowTable {
  /// The process that shows a window; nil if it is not known.
  fileprivate func process(of key: Key) -> UInt32? {
    guard let pid = properties(of: key)?.pid, pid > 1 else { return nil }
    return pid
  }
}
